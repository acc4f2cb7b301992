import Foundation
import Synchronization

/// One of the 256 directories among which the entries of a store are spread.
final class Shard: Sendable {
    let path: String
    private let name: String
    private let root: Directory
    /// Whether a change of names waits until it is on the device.
    private let isDurable: Bool
    private let held = Mutex<Directory?>(nil)
    private let changing = Mutex<Void>(())

    init(_ index: Int, of root: Directory, path: String, isDurable: Bool) {
        name = EntryName.shardName(index)
        self.path = path + "/" + name
        self.root = root
        self.isDurable = isDurable
    }

    var quarantine: Quarantine { Quarantine(root: root) }

    /// The open directory, made if it is missing and `create` is true; `nil` if it is missing.
    ///
    /// - Throws: `.invalidDirectory` if a link or a file has its name.
    func directory(create: Bool) throws(StoreError) -> Directory? {
        if let directory = held.withLock({ $0 }) { return directory }
        return try attempt("opening a directory of entries", directory: path) { () throws(SystemError) in
            let reservation = DescriptorReservation.make(root.layer)
            let directory: Directory
            do throws(SystemError) {
                directory = try root.directory(name, reservation: reservation)
            } catch {
                guard error.isMissing else { throw error }
                guard create else { return nil }
                try root.makeDirectory(name)
                directory = try root.directory(name, reservation: reservation)
            }
            if reservation != nil {
                let former = held.withLock { held in
                    defer { held = directory }
                    return held
                }
                _ = consume former
            }
            return directory
        }
    }

    /// Whether `directory` is still the one that has this shard's name below the store's path.
    func isNamed(_ directory: Directory) throws(StoreError) -> Bool {
        try attempt("looking for a directory of entries", path, directory.isAt(path))
    }

    /// The open directory that has this shard's name now; `nil` if there is none.
    func refreshedDirectory() throws(StoreError) -> Directory? {
        guard let directory = try directory(create: false) else { return nil }
        if try isNamed(directory) { return directory }
        forget(directory)
        return try self.directory(create: false)
    }

    /// Has `body` run while no other caller, in this process or another, changes names in `directory`, which is this
    /// shard's.
    ///
    /// If the store is durable, this then waits until the changes are on the device, unless `waits` is false: then the
    /// caller calls ``wait(for:)`` later.
    ///
    /// The one lock under which a store does I/O: looking at slots and renaming or removing them must be one
    /// step. It is one of 256, held for a few system calls; archives are written, and mostly read, outside of
    /// it.
    func withLock<Result>(
        on directory: Directory,
        waits: Bool = true,
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result = try changing.withLock { _ throws(StoreError) in
            try attempt("locking a directory of entries", path, directory.lock())
            defer { unlock(directory) }
            return try body()
        }
        if waits { try wait(for: directory) }
        return result
    }

    /// Waits until the changes of names in `directory`, which is this shard's, are on the device, if the store is
    /// durable.
    ///
    /// - Parameter includingOthers: Whether to wait for the changes of other processes as well: what they removed without
    ///   waiting would come back in a power failure after a removal here that found nothing.
    func wait(for directory: Directory, includingOthers: Bool = false) throws(StoreError) {
        guard isDurable, includingOthers || directory.hasChanges else { return }
        try attempt("waiting for a directory of entries to be on the device", path) { () throws(SystemError) in
            // The process that made the directory need not have waited for the directory's own name.
            if !directory.isNameSynchronized.load(ordering: .relaxed) {
                try root.synchronize()
                directory.isNameSynchronized.store(true, ordering: .relaxed)
            }
            try directory.synchronize()
        }
    }

    private func unlock(_ directory: Directory) {
        do {
            try directory.unlock()
        } catch {
            // Closing the directory gives the lock back as well, and nothing else would.
            forget(directory)
        }
    }

    private func forget(_ directory: Directory) {
        let former = held.withLock { $0 === directory ? $0.take() : nil }
        _ = consume former
    }
}
