import Foundation

/// A file that was named on the command line and cannot be used.
struct InputError: Error, CustomStringConvertible {
    let path: String
    let cause: any Error

    var description: String {
        switch cause {
        case is DecodingError: "\(path) is no file of results."
        case let error as GateError: "\(path) cannot be used. \(error)"
        default: "\(path) cannot be read: \(cause.localizedDescription)"
        }
    }

    /// Reads a file; the error names the file if reading fails.
    static func naming<Content>(_ path: String, _ read: (URL) throws -> Content) throws(InputError) -> Content {
        do {
            return try read(URL(filePath: path))
        } catch {
            throw InputError(path: path, cause: error)
        }
    }
}
