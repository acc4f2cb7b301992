#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Directory {
    /// Opens the file `name` for reading and writing, made `0600` if it is missing and `create` is true; `nil` if it
    /// is missing. Never waits, whatever kind of file it is.
    func list(_ name: String, create: Bool) throws(SystemError) -> OpenFile? {
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (create ? O_CREAT : 0)
        do {
            let operation = create ? FileLayer.Operation.makeFile : .open
            let descriptor = try layer.call(operation, name) { openat(file.descriptor, name, flags, 0o600) }
            return OpenFile(descriptor: descriptor, name: name, layer: layer)
        } catch {
            if error.number == ENOENT, !create { return nil }
            throw error
        }
    }

    /// How many bytes users like this one may still fill on the volume.
    func freeByteCount() throws(SystemError) -> Int {
        var status = statvfs()
        _ = try layer.call(.status, file.name) { fstatvfs(file.descriptor, &status) }
        let (count, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int(clamping: count)
    }
}

extension OpenFile {
    /// Writes all of `bytes` from `offset`, over what is there.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            written += try layer.transfer(.write, name, bytes.count - written) { count in
                bytes.withUnsafeBytes { input in
                    let rest = UnsafeRawBufferPointer(rebasing: input[written...].prefix(count))
                    return pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
                }
            }
        }
    }
}
