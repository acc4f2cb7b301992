import CFiles
import Foundation
import Synchronization

/// Locks of keys that one open file has at a time, in any process: the file `.loads` in a store's directory, which
/// stays empty, with a lock for one byte of each key.
///
/// All of them are given back when the object is closed or released. The system gives them back when the process has
/// died in any way, and so have the children that were forked from it and run no other program, since these have copies
/// of the descriptor. So no lock is ever left to tidy up. A key's byte is at 62 bits of its hash. Keys of the same byte
/// wait for each other, but within one object they share the lock.
package final class KeyLocks: Sendable {
    private static let name = ".loads"
    /// Its descriptor is negative once it is closed.
    private let opened: Mutex<OpenFile>
    private let path: String
    private let usage = StoreUsage()

    /// Implementation: `open` of the directory, `openat`; never through a link.
    ///
    /// - Throws: `.io`.
    package convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, layer: FileLayer())
    }

    init(directory: String, layer: FileLayer) throws(StoreError) {
        path = directory
        opened = Mutex(
            try attempt("opening the locks of keys", directory) { () throws(SystemError) in
                try Self.file(in: Directory(path: directory, layer: layer))
            }
        )
    }

    deinit { close() }

    /// Gives all locks back, and closes the file; does nothing in a forked process.
    ///
    /// Implementation: `fcntl` with `F_UNLCK`, which counts for all copies of the descriptor, then `close`.
    package func close() {
        do throws(StoreError) {
            guard try usage.close() else { return }
        } catch {
            // The locks are the parent's.
            return
        }
        opened.withLock { file in
            // If it fails, closing the last copy gives them back.
            _ = unlock_bytes(file.descriptor)
            file = OpenFile(descriptor: -1, name: Self.name, layer: FileLayer())
        }
    }

    private static func file(in directory: Directory) throws(SystemError) -> OpenFile {
        do throws(SystemError) {
            return try directory.fileForUpdate(name)
        } catch {
            guard error.isMissing else { throw error }
        }
        do throws(SystemError) {
            return try directory.makeFile(name)
        } catch {
            // Made by another process in the meantime.
            guard error.isNameTaken else { throw error }
            return try directory.fileForUpdate(name)
        }
    }

    /// Takes the lock of a key, if no other object has it; never waits.
    ///
    /// Implementation: `fcntl` with `F_OFD_SETLK`.
    ///
    /// - Throws: `.closed`, `.forked`, `.io`.
    package func tryLock(_ offset: Offset) throws(StoreError) -> Bool {
        try opened.withLock { file throws(StoreError) in
            try usage.check()
            do throws(SystemError) {
                let descriptor = file.descriptor
                _ = try file.layer.call(.lockByte(descriptor, at: offset.value), Self.name) {
                    lock_byte(descriptor, offset.value)
                }
                return true
            } catch {
                // Systems may say either of a byte that another open file has.
                if error.isLockedByOthers || error.number == EACCES { return false }
                throw StoreError(error, path: path, action: "locking a key")
            }
        }
    }

    /// Where a key's byte is. Locks of several keys are taken in ascending order, so that no two objects wait for each
    /// other.
    package struct Offset: Comparable, Hashable, Sendable {
        fileprivate let value: Int64

        package init(key: String) { value = Int64(KeyDigest(hashing: key).high >> 2) }

        package static func < (left: Offset, right: Offset) -> Bool { left.value < right.value }
    }
}
