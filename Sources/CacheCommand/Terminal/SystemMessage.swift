import Foundation

/// The system's message for an error number, to stand in a sentence.
struct SystemMessage: CustomStringConvertible {
    let description: String

    init(_ number: Int32) {
        description = String(cString: strerror(number))
    }
}
