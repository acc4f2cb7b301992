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

    /// What the system says about it.
    var text: String {
        // Known numbers give constant strings on every platform; no buffer is shared.
        String(cString: strerror(number))
    }

    /// Calls `body` until no signal interrupts it, and throws what else it fails with.
    static func checking<Result: SignedInteger>(_ body: () -> Result) throws(SystemError) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw .last }
        }
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
