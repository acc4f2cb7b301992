import Foundation

/// What the system says about an error number, to stand in a sentence.
struct SystemMessage: CustomStringConvertible {
    let description: String

    init(_ number: Int32) {
        description = String(cString: strerror(number)).lowercased()
    }
}
