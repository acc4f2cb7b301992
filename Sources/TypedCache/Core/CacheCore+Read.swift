import ArchiveStore
import Foundation

/// An entry that was read from disk, and the reading itself, which has to be ended.
struct DiskRead: Sendable {
    let stored: StoredArchive
    /// Whether it is fresh; else it may be served as a stale one only.
    let isFresh: Bool
    /// The entry's timing if its idle deadline is being moved; `nil` if it is not.
    let timing: EntryTiming?
    fileprivate let ticket: MemoryTier.Ticket
}

extension CacheCore {
    /// Reads an entry that may be used. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - expired: whether memory has an entry for the key that has expired.
    ///   - allowsStale: whether an entry may be given that has expired but is within a stale window.
    ///   - countsMiss: whether a miss is recorded; else the caller does so.
    /// - Returns: the read, which has to be ended by ``endRead(_:_:keeping:)``; `nil` if there is no such entry.
    func read(
        _ key: EntryKey,
        expired: Bool = false,
        allowsStale: Bool = false,
        countsMiss: Bool = true
    ) throws(CacheError) -> DiskRead? {
        try checkUsable()
        // First, because a deferred save that fails may bar the key.
        memory.settleOthers(key)
        let (ticket, dropped) = memory.withLock { memory -> (MemoryTier.Ticket?, MemoryEntry?) in
            let dropped = expired ? memory.remove(forKey: key) : nil
            return (memory.isBarred(key) ? nil : memory.beginRead(key), dropped)
        }
        _ = consume dropped
        if let ticket, let read = try read(key, ticket, allowsStale: allowsStale) { return read }
        if countsMiss { record(.missed, key) }
        return nil
    }

    private func read(
        _ key: EntryKey,
        _ ticket: MemoryTier.Ticket,
        allowsStale: Bool
    ) throws(CacheError) -> DiskRead? {
        var isKept = false
        defer { if !isKept { endRead(key, ticket) } }
        follow(key)
        do throws(StoreError) {
            let moving = memory.movingTimings(key)
            let stored = try listeners.observing(.read) { () throws(StoreError) in
                try store.fetch(forKey: key.text)
            }
            guard let stored else { return nil }
            let timing = moving.first { $0.isOf(stored.information) }
            let isFresh = isFresh(onDisk: stored.information, key, moving: moving)
            if !isFresh, dropIfUseless(stored.information, key) { return nil }
            guard isFresh || allowsStale else { return nil }
            isKept = true
            return DiskRead(stored: stored, isFresh: isFresh, timing: timing, ticket: ticket)
        } catch {
            try ignoreDamage(error, key)
            return nil
        }
    }

    /// Ends a reading.
    ///
    /// - Parameter entry: the entry that memory is to keep; `nil` for none.
    func endRead(_ key: EntryKey, _ read: DiskRead, keeping entry: MemoryEntry? = nil) {
        // Reading moves an idle deadline, whether from memory or from disk.
        if let entry { _ = isFresh(entry) }
        endRead(key, read.ticket, keeping: entry)
    }

    private func endRead(
        _ key: EntryKey,
        _ ticket: MemoryTier.Ticket,
        keeping entry: MemoryEntry? = nil
    ) {
        release(memory.withLock { $0.endRead(key, ticket, keeping: entry) })
    }

    /// The information of a fresh entry on disk; `nil` if there is none. Blocks on disk I/O.
    func freshInformation(_ key: EntryKey) throws(CacheError) -> EntryInformation? {
        try checkUsable()
        memory.settleOthers(key)
        if memory.withLock({ $0.isBarred(key) }) { return nil }
        do throws(StoreError) {
            let moving = memory.movingTimings(key)
            guard let entry = try store.information(forKey: key.text) else { return nil }
            let isFresh = isFresh(onDisk: entry, key, moving: moving)
            if !isFresh { _ = dropIfUseless(entry, key) }
            return isFresh ? entry : nil
        } catch {
            try ignoreDamage(error, key)
            return nil
        }
    }

    /// Records and reports a damaged entry, which the store has taken away; throws every other error.
    func ignoreDamage(_ error: StoreError, _ key: EntryKey) throws(CacheError) {
        guard error.code == .corrupted else { throw failure(error, key) }
        depart(key)
        report(.corrupted, key, error)
    }
}
