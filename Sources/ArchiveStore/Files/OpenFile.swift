import CFiles
import Foundation

/// A file descriptor that closes when it goes.
///
/// Unsafe code, and why it is sound: the system reads and writes at most the count it is given, from an
/// offset within a buffer of known size that outlives the call.
struct OpenFile: ~Copyable {
    /// Negative if another owner closes it, or has closed it.
    private(set) var descriptor: Int32
    /// The name by which it was opened, for ``FileLayer``.
    let name: String
    let layer: FileLayer

    deinit {
        guard descriptor >= 0 else { return }
        let (descriptor, name, layer) = (descriptor, name, layer)
        bestEffort("files that were written are closed with a check") {
            try layer.close(.close(descriptor), name) { close(descriptor) }
        }
    }

    /// Closes now and throws an error that the system has held back since the last write, such as a full quota.
    consuming func closeChecked() throws(SystemError) {
        let (descriptor, name, layer) = (descriptor, name, layer)
        release()
        try layer.close(.close(descriptor), name) { close(descriptor) }
    }

    /// Gives the descriptor to another owner, which closes it.
    consuming func release() {
        descriptor = -1
    }

    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        try withUnsafeMutablePointer(to: &status) { status throws(SystemError) in
            _ = try layer.call(.status(descriptor, status), name) { fstat(descriptor, status) }
        }
        return FileStatus(status)
    }

    /// How many names the file has, and how long it is.
    func extent() throws(SystemError) -> (linkCount: Int, byteCount: Int) {
        var linkCount: UInt64 = 0
        var byteCount: Int64 = 0
        try withUnsafeMutablePointer(to: &linkCount) { linkCount throws(SystemError) in
            try withUnsafeMutablePointer(to: &byteCount) { byteCount throws(SystemError) in
                _ = try layer.call(.extent(descriptor, linkCount: linkCount, byteCount: byteCount), name) {
                    file_extent(descriptor, linkCount, byteCount)
                }
            }
        }
        return (Int(clamping: linkCount), Int(clamping: byteCount))
    }

    /// Reads `count` bytes from `offset`; fewer if the file ends before.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](filling: count) { output in
            var filled = 0
            do throws(SystemError) {
                while filled < count {
                    let target = UnsafeMutableRawBufferPointer(rebasing: output[filled..<count])
                    let step = try layer.transfer(
                        .read(descriptor, into: target, at: offset + filled),
                        name,
                        upTo: target.count
                    ) {
                        pread(descriptor, target.baseAddress, $0, off_t(offset + filled))
                    }
                    if step == 0 { break }
                    filled += step
                }
            } catch {
                failure = error
            }
            return filled
        }
        if let failure { throw failure }
        return bytes
    }

    /// How many bytes the file has now; takes half as long as ``status()``.
    func byteCount() throws(SystemError) -> Int {
        // This moves the file's position, which no later read or write of the file uses: each gives its offset.
        Int(try layer.call(.byteCount(descriptor), name) { lseek(descriptor, 0, SEEK_END) })
    }

    /// Cuts off all bytes after the first `byteCount`.
    func truncate(to byteCount: Int) throws(SystemError) {
        _ = try layer.call(.truncate(descriptor, to: byteCount), name) { ftruncate(descriptor, off_t(byteCount)) }
    }

    /// The offset, from `offset` on, of the next bytes that are no hole; `nil` if there are none.
    func nextData(from offset: Int) throws(SystemError) -> Int? {
        do throws(SystemError) {
            return Int(
                try layer.call(.nextData(descriptor, from: offset), name) { next_data(descriptor, Int64(offset)) }
            )
        } catch {
            if error.number == ENXIO { return nil }
            throw error
        }
    }

    /// Gives an empty file so many bytes of blocks, which are its length from then on.
    ///
    /// Throws `EOPNOTSUPP`, on Darwin also `ENOTSUP` or `ENOTTY`, where the file system cannot do so.
    func allocate(_ byteCount: Int) throws(SystemError) {
        _ = try layer.call(.allocate(descriptor, byteCount: byteCount), name) {
            allocate_blocks(descriptor, Int64(byteCount))
        }
    }

    /// Gives the file the blocks of a range, also after its end: writing there needs no more room then. Does nothing where
    /// the file system cannot do so.
    func allocateAhead(_ range: Range<Int>) throws(SystemError) {
        do throws(SystemError) {
            _ = try layer.call(.allocateAhead(descriptor, range), name) {
                allocate_ahead(descriptor, Int64(range.lowerBound), Int64(range.count))
            }
        } catch {
            guard error.isUnsupported else { throw error }
        }
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes) { bytes, _ throws(SystemError) in try write(bytes) }
    }

    /// Writes all of `bytes` from `offset` on.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        try writeAll(bytes) { bytes, done throws(SystemError) in
            let count = try layer.transfer(.write(descriptor, bytes, at: offset + done), name, upTo: bytes.count) {
                pwrite(descriptor, bytes.baseAddress, $0, off_t(offset + done))
            }
            guard count > 0 else { throw SystemError(number: EIO) }
            return count
        }
    }

    private func writeAll(
        _ bytes: [UInt8],
        by step: (_ rest: UnsafeRawBufferPointer, _ done: Int) throws(SystemError) -> Int
    ) throws(SystemError) {
        let failure = bytes.withUnsafeBytes { input -> SystemError? in
            var written = 0
            while written < input.count {
                do throws(SystemError) {
                    written += try step(UnsafeRawBufferPointer(rebasing: input[written...]), written)
                } catch {
                    return error
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Writes some of `bytes`, at least one, and says how many.
    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let count = try layer.transfer(.write(descriptor, bytes, at: nil), name, upTo: bytes.count) { count in
            Foundation.write(descriptor, bytes.baseAddress, count)
        }
        // No system says this of a file; one that did would be asked for ever.
        guard count > 0 else { throw SystemError(number: EIO) }
        return count
    }

    /// Waits until the written bytes and the file's length are on the device; not until its dates are.
    func synchronizeData() throws(SystemError) {
        #if canImport(Darwin)
            try synchronize()
        #else
            _ = try layer.call(.synchronize(descriptor, onlyData: true), name) { fdatasync(descriptor) }
        #endif
    }

    /// Waits until all that was written is on the device.
    func synchronize() throws(SystemError) {
        _ = try layer.call(.synchronize(descriptor, onlyData: false), name) {
            #if canImport(Darwin)
                // `fsync` leaves it in the device's own memory there; not every file system knows more.
                if fcntl(descriptor, F_FULLFSYNC) == 0 { return Int32(0) }
                if !SystemError.last.isUnsupported { return Int32(-1) }
            #endif
            return fsync(descriptor)
        }
    }

    /// Has all that was written reach the device before anything that is written later, such as a rename.
    ///
    /// Waits for the device, where its system has no order without waiting.
    func synchronizeBeforeRename() throws(SystemError) {
        #if canImport(Darwin)
            do throws(SystemError) {
                _ = try layer.call(.synchronize(descriptor, onlyData: false), name) {
                    fcntl(descriptor, F_BARRIERFSYNC)
                }
            } catch {
                guard error.isUnsupported else { throw error }
                try synchronize()
            }
        #else
            try synchronize()
        #endif
    }

    /// Takes the advisory lock of this open file (`flock`), as only one open file can have it.
    ///
    /// - Parameter waits: Whether to wait for it; otherwise `EWOULDBLOCK` is thrown if another open file has it.
    func lock(waits: Bool) throws(SystemError) {
        let flags = waits ? LOCK_EX : LOCK_EX | LOCK_NB
        _ = try layer.call(.lock(descriptor, flags: flags), name) { flock(descriptor, flags) }
    }

    /// Whether another open file has the lock to itself. Takes the lock for a moment, shared with other callers that
    /// only look.
    func isLockedByOthers() throws(SystemError) -> Bool {
        do throws(SystemError) {
            let flags = LOCK_SH | LOCK_NB
            _ = try layer.call(.lock(descriptor, flags: flags), name) { flock(descriptor, flags) }
        } catch {
            if error.isLockedByOthers { return true }
            throw error
        }
        try unlock()
        return false
    }

    /// Gives the lock back; closing does so too.
    func unlock() throws(SystemError) {
        _ = try layer.call(.unlock(descriptor), name) { flock(descriptor, LOCK_UN) }
    }
}
