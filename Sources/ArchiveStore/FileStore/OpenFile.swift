#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file descriptor that closes when it goes.
///
/// Unsafe code, and why it is sound: the system reads and writes at most the count it is given, from an
/// offset within a buffer of known size that outlives the call.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    deinit {
        close(descriptor)
    }

    /// Closes now and throws what the system has kept to itself since the last write, such as a full quota.
    consuming func closeChecked() throws(SystemError) {
        let descriptor = self.descriptor
        discard self
        // Not again after EINTR: the descriptor may be another file's by then.
        if close(descriptor) != 0, errno != EINTR { throw .last }
    }

    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try SystemError.checking { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Reads `count` bytes from `offset`; fewer if the file ends before.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let output = UnsafeMutableRawBufferPointer(buffer)
            while filled < count {
                let target = UnsafeMutableRawBufferPointer(rebasing: output[filled..<count])
                let step = pread(descriptor, target.baseAddress, target.count, off_t(offset + filled))
                if step > 0 {
                    filled += step
                } else if step == 0 {
                    break
                } else if errno != EINTR {
                    failure = .last
                    break
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        let failure = bytes.withUnsafeBytes { input -> SystemError? in
            var written = 0
            while written < input.count {
                let rest = UnsafeRawBufferPointer(rebasing: input[written...])
                #if canImport(Darwin)
                    let step = Darwin.write(descriptor, rest.baseAddress, rest.count)
                #elseif canImport(Glibc)
                    let step = Glibc.write(descriptor, rest.baseAddress, rest.count)
                #else
                    let step = Musl.write(descriptor, rest.baseAddress, rest.count)
                #endif
                if step >= 0 {
                    written += step
                } else if errno != EINTR {
                    return .last
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Waits until what was written is on the device.
    func synchronize() throws(SystemError) {
        _ = try SystemError.checking { fsync(descriptor) }
    }

    /// Takes the advisory lock of this open file (`flock`), as only one open file can have it.
    ///
    /// - Parameter waits: Whether to wait for it; else `.wouldBlock` is thrown if another one has it.
    func lock(waits: Bool) throws(SystemError) {
        _ = try SystemError.checking { flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
    }

    /// Gives the lock back; closing does so too.
    func unlock() {
        // Fails for no lock that was taken.
        flock(descriptor, LOCK_UN)
    }
}
