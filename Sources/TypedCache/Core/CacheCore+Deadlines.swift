import ArchiveStore
import Foundation

extension CacheCore {
    /// The result of a renewal.
    enum Renewal: Sendable {
        case renewed(EntryInformation)
        /// The entry was removed or saved over meanwhile.
        case gone
        case failed
    }

    /// Whether an entry on disk is fresh or within a stale window.
    func isKept(_ entry: EntryInformation) -> Bool {
        if isFresh(onDisk: entry) { return true }
        let window = max(entry.attributes.staleWhileRevalidate, entry.attributes.staleIfError)
        return entry.expiresAt.map { clock.now < $0.addingTimeInterval(window) } ?? true
    }

    /// Reads an entry that is fresh or within a stale window; counts as no fetch. Blocks on disk I/O.
    func readKept(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        try readForChange(key).flatMap { isKept($0.information) ? $0 : nil }
    }

    /// Gives an entry that is fresh or within a stale window another deadline, and says whether there was one. Blocks
    /// on disk I/O.
    func extend(_ key: EntryKey, to deadline: Date?) throws(CacheError) -> Bool {
        try checkUsable()
        if let entry = memory.unsavedInformation(key) {
            // The entry on disk is older: it must not become fresh.
            return isKept(entry) && memory.extend(unsaved: entry, key, to: deadline)
        }
        if memory.withLock({ $0.isBarred(key) }) { return false }
        memory.settleOthers(key)
        do throws(StoreError) {
            guard let entry = try store.information(forKey: key.text), isKept(entry),
                try moved(entry, to: { deadline }) != nil
            else { return false }
        } catch {
            try ignoreDamage(error, key)
            return false
        }
        // Memory knows the former deadline. A load that is under way counts all the same.
        depart(key)
        return true
    }

    /// Gives the entry that a producer was given another deadline, unless the key was written since the load began.
    /// Blocks on disk I/O.
    func renew(_ entry: EntryInformation, _ key: EntryKey, to deadline: Date?, since load: MemoryTier.Ticket)
        -> Renewal
    {
        guard memory.withLock({ $0.isCurrent(key, load) }) else { return .gone }
        memory.settleOthers(key)
        follow(key)
        do throws(StoreError) {
            return try moved(entry, to: { deadline }).map { .renewed($0) } ?? .gone
        } catch {
            guard error.code == .corrupted else {
                report(.failed, key, error)
                return .failed
            }
            depart(key)
            report(.corrupted, key, error)
            return .gone
        }
    }

    /// Moves the deadline of an entry on disk. Another cache or process that uses the entry too may have moved it: it
    /// is the same entry all the same. Blocks on disk I/O.
    ///
    /// - Parameter isDue: whether to go on where the deadline was moved meanwhile.
    /// - Returns: the entry as it is on disk now; `nil` if it was removed or saved over.
    func moved(
        _ entry: EntryInformation,
        to deadline: () -> Date?,
        isDue: (EntryInformation) -> Bool = { _ in true }
    ) throws(StoreError) -> EntryInformation? {
        var entry = entry
        while true {
            if let moved = try store.moveDeadline(of: entry, to: deadline()) { return moved }
            guard let current = try store.information(forKey: entry.key), current.isSave(of: entry) else {
                return nil
            }
            guard isDue(current) else { return current }
            entry = current
        }
    }
}
