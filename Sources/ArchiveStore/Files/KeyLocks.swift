import CFiles

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Locks of keys that one open file has at a time, in whatever process: the file `.loads` in a store's directory, which
/// stays empty, with a lock for one byte of each key.
///
/// The system gives all of them back when the object goes, and when the process dies, however it does: so there is
/// nothing to tidy up. A key's byte is at 62 bits of its hash. Keys of the same byte wait for each other; within one
/// object, they share the lock.
package final class KeyLocks: Sendable {
    private static let name = ".loads"
    private let file: OpenFile
    private let path: String

    /// Implementation: `open` of the directory, `openat`; never through a link.
    ///
    /// - Throws: `.io`.
    package convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, layer: FileLayer())
    }

    init(directory: String, layer: FileLayer) throws(StoreError) {
        path = directory
        do throws(SystemError) {
            file = try Self.file(in: Directory(path: directory, layer: layer))
        } catch {
            throw StoreError(error, path: path, action: "opening the locks of keys")
        }
    }

    private static func file(in directory: Directory) throws(SystemError) -> OpenFile {
        do throws(SystemError) {
            return try directory.fileForUpdate(name)
        } catch {
            guard error.number == ENOENT else { throw error }
        }
        do throws(SystemError) {
            return try directory.makeFile(name)
        } catch {
            // Made by another process meanwhile.
            guard error.number == EEXIST else { throw error }
            return try directory.fileForUpdate(name)
        }
    }

    /// Takes the lock of a key, if no other object has it; never waits.
    ///
    /// Implementation: `fcntl` with `F_OFD_SETLK`.
    ///
    /// - Throws: `.io`.
    package func tryLock(_ offset: Offset) throws(StoreError) -> Bool {
        do throws(SystemError) {
            _ = try file.layer.call(.lock, file.name) { lock_byte(file.descriptor, offset.value) }
            return true
        } catch {
            if error.number == EAGAIN || error.number == EACCES { return false }
            throw StoreError(error, path: path, action: "locking a key")
        }
    }

    /// Where a key's byte is. Locks of several keys are taken in ascending order, so that no two objects wait for each
    /// other.
    package struct Offset: Comparable, Sendable {
        fileprivate let value: Int64

        package init(key: String) { value = Int64(KeyDigest(hashing: key).high >> 2) }

        package static func < (left: Offset, right: Offset) -> Bool { left.value < right.value }
    }
}
