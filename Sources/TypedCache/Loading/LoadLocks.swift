import ArchiveStore
import Synchronization

/// The locks of keys that the loads of a cache have among processes: closing the cache gives them back.
final class LoadLocks: Sendable {
    private let open = RankedMutex<[KeyLocks]>([], rank: CacheLocks.keyLocks)

    /// Opens the locks for a load. Blocks on disk I/O.
    ///
    /// - Throws: `.closed`, `.forked`, `.io`.
    func open(in directory: String, _ usage: StoreUsage) throws(StoreError) -> KeyLocks {
        // Locked in the meantime, for nothing may be opened after the cache was closed.
        try open.withLock { open throws(StoreError) in
            try usage.check()
            let locks = try KeyLocks(directory: directory)
            open.append(locks)
            return locks
        }
    }

    /// Gives the locks of a load back.
    func close(_ locks: KeyLocks) {
        open.withLock { $0.removeAll { $0 === locks } }
        locks.close()
    }

    /// Gives all locks back. Called when the cache is closed, and no more can be opened.
    func closeAll() {
        let open = open.withLock { open in
            defer { open = [] }
            return open
        }
        for locks in open { locks.close() }
    }
}
