import Foundation

/// Writes a file as a careful program does by hand: a draft, renamed into place.
struct HandWrittenFile {
    private let draft: String
    private let path: String

    init(in folder: URL) {
        draft = folder.appending(path: "draft").path
        path = folder.appending(path: "entry").path
    }

    func write(_ bytes: [UInt8]) throws {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError.current }
        let written = writeAll(descriptor, bytes)
        guard close(descriptor) == 0, written == bytes.count else { throw POSIXError.current }
        guard rename(draft, path) == 0 else { throw POSIXError.current }
    }

    private func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
        bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
    }
}

extension POSIXError {
    /// The error of the last failed system call.
    fileprivate static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
