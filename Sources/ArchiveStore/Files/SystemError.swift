#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The error number of a system call that failed.
struct SystemError: Error {
    let number: Int32

    /// The number that the last system call of this thread left.
    static var last: SystemError { SystemError(number: errno) }

    /// The system's text for it.
    var text: String {
        // Known numbers give constant strings on every platform; no buffer is shared.
        String(cString: strerror(number))
    }
}

extension StoreError {
    /// `.io`: `error` came while `action` was done to `path`.
    init(_ error: SystemError, path: String, action: String) {
        self.init(.io, path: path, action: action, reason: error.text, errorNumber: error.number)
    }

    /// Whether something that was there before is gone.
    var isMissingFile: Bool { code == .io && errorNumber == ENOENT }
}
