import ArchiveStore
import Foundation

/// An entry that memory alone has, because the disk refused it.
struct UnsavedEntry: Sendable {
    let key: EntryKey
    let information: EntryInformation
    /// The older value that the disk has for the key.
    let onDisk: EntryInformation?
}

extension CacheCore {
    // MARK: One entry

    /// Removes the entry for a key. Blocks on disk I/O.
    func remove(_ key: EntryKey) throws(CacheError) -> Bool {
        try checkUsable()
        let ticket = beginWrite(key)
        let wasUnsaved = ticket.wasUnsaved
        return try remove(ticket) { () throws(StoreError) in
            let wasOnDisk = try store.remove(forKey: key.text)
            return (wasOnDisk || wasUnsaved, .remove)
        }
    }

    /// Removes an entry unless another one was saved over it. On a server, a deadline that was moved in the meantime does not
    /// count: see ``ArchiveStore/removeSave(of:where:)``. Blocks on disk I/O.
    ///
    /// - Parameter reach: whether an entry that memory alone has goes, too.
    func remove(
        _ key: EntryKey,
        ifStill entry: EntryInformation,
        reach: MemoryTier.Reach = .disk
    ) throws(CacheError) -> Bool {
        try checkUsable()
        return try remove(beginWrite(key, reach: reach)) { () throws(StoreError) in
            (try store.removeSave(of: entry) != nil, .keep)
        }
    }

    /// Removes an entry that memory alone has, if it is still the one that is there, and the older entry that the disk
    /// had for its key. Blocks on disk I/O.
    func remove(_ entry: UnsavedEntry) throws(CacheError) -> Bool {
        try checkUsable()
        guard memory.takeUnsaved(entry.key, ifStill: entry.information) else { return false }
        return try remove(beginWrite(entry.key, reach: .disk)) { () throws(StoreError) in
            if let former = entry.onDisk { try store.removeSave(of: former) }
            return (true, .keep)
        }
    }

    /// Has `body` remove an entry from disk, and ends the change.
    ///
    /// - Parameter body: returns whether there was an entry.
    private func remove(
        _ ticket: consuming WriteTicket,
        _ body: () throws(StoreError) -> (isRemoved: Bool, tombstone: Tombstones.Change)
    ) throws(CacheError) -> Bool {
        let key = ticket.key
        do throws(StoreError) {
            let (isRemoved, tombstone) = try listeners.observing(.remove, body)
            ticket.end(tombstone)
            if isRemoved { recorder.record(.removed, key) }
            return isRemoved
        } catch {
            ticket.end(tombstone(after: error))
            throw failure(error, key)
        }
    }

    /// The chosen ones among the entries that memory alone has, here and in the other caches, and the older entries that
    /// the disk has for their keys. Blocks on disk I/O.
    func unsavedEntries(where isChosen: (EntryInformation) -> Bool) throws(CacheError) -> [UnsavedEntry] {
        try checkUsable()
        var entries: [UnsavedEntry] = []
        for (key, entry) in memory.unsavedEntries where isChosen(entry) {
            let onDisk = try wrapping(key) { () throws(StoreError) in try information(key) }
            entries.append(UnsavedEntry(key: key, information: entry, onDisk: onDisk))
        }
        return entries
    }

    /// Saves or removes an entry if the entry on disk, or its absence, is still as it was read. Blocks on disk I/O.
    ///
    /// - Parameter new: `nil` to remove.
    /// - Returns: whether it was still the same.
    func replace(_ former: EntryInformation?, _ key: EntryKey, by new: NewEntry?) throws(CacheError) -> Bool {
        if let new { return try write(new, .ifStill(former)) }
        let hasTombstone = memory.tombstones.contains(key)
        // The entry of a key with a tombstone counts as none.
        if let former { return hasTombstone ? false : try remove(key, ifStill: former, reach: .all) }
        if hasTombstone || memory.withLock({ $0.isUnsaved(key) }) {
            _ = try remove(key)
        } else {
            // Memory may have an entry that another process has removed.
            drop(key)
        }
        return true
    }

    // MARK: Many entries

    /// Removes every entry that is there when the call starts. Blocks on disk I/O.
    func removeAll() throws(CacheError) {
        try checkUsable()
        // Memory is emptied before the disk, so that it does not serve an entry that another process sees to be gone.
        memory.beginRemoval()
        defer { memory.endRemoval() }
        memory.drainSiblings(nil)
        // A save that begins after the removal of everything may fail before this call ends.
        let lastFailure = SaveNumber.last
        try wrapping { () throws(StoreError) in
            try listeners.observing(.remove) { () throws(StoreError) in try store.removeAll() }
        }
        memory.tombstones.removeAll(upTo: lastFailure)
        recorder.record(.removedAll, nil)
    }

    /// Removes every entry that has a tag. Blocks on disk I/O.
    func removeAll(tagged tag: String) throws(CacheError) -> Int {
        try checkUsable()
        // Before any look: a loaded entry is either found, or not saved.
        memory.noteRemoval(tagged: tag)
        var count = 0
        let unsaved = try unsavedEntries { $0.attributes.has(tag: tag) }
        for entry in unsaved where try remove(entry) { count += 1 }
        var batch = WriteBatch(core: self, reach: .tagged(tag))
        var begun: Set<EntryKey> = []
        // The other caches, and values, are released after the store has released its lock.
        let others = memory.siblings
        var formers: [MemoryEntry] = []
        count += try removing(as: .removed, during: .remove, tagged: tag) { removed throws(StoreError) in
            try store.removeAll(tagged: tag) { entry in
                // The entry leaves memory before the disk, so that memory does not serve one that another process sees
                // to be gone, and loads that are under way, here or in the other caches, do not bring it back.
                guard let key = try? EntryKey(entry.key), begun.insert(key).inserted else { return }
                let write = memory.withLock { $0.beginWrite(key, reach: .tagged(tag)) }
                batch.add(key, write)
                if let former = write.former { formers.append(former) }
                for other in others {
                    let former = other.withLock { $0.invalidate(key, reach: .tagged(tag)) }
                    if let former { formers.append(former) }
                }
            } removed: { entry in
                removed(entry)
            }
        }
        return count
    }

    /// Removes every entry that is of no use any longer. Blocks on disk I/O.
    @discardableResult
    func removeExpired() throws(CacheError) -> Int {
        // First: in a forked process, the calls below would wait for threads that do not exist there.
        try checkUsable()
        memory.drainMoves()
        return try removing(as: .expired, during: .sweep) { removed throws(StoreError) in
            try store.removeExpired(at: clock.now, removed: removed)
        }
    }

    /// Does the work of ``removeExpired()`` in the background, and records its error.
    func sweep() {
        do throws(CacheError) {
            try removeExpired()
        } catch {
            // A cache that was closed in the meantime has no failure to tell.
            guard usage.isUsable else { return }
            recorder.record(.failed, nil, cause: error)
        }
    }

    /// Evicts entries on disk until no more than so many bytes are left. Blocks on disk I/O.
    func trimDisk(toByteCount byteCount: Int) throws(CacheError) -> Int {
        try removing(as: storeEviction, during: .remove) { removed throws(StoreError) in
            try store.trim(toByteCount: byteCount, removed: removed)
        }
    }

    /// - Parameter tag: the tag by which a call removes entries; `nil` where they go by themselves.
    private func removing(
        as occurrence: Occurrence,
        during operation: CacheOperation,
        tagged tag: String? = nil,
        _ body: (_ removed: (EntryInformation) -> Void) throws(StoreError) -> Void
    ) throws(CacheError) -> Int {
        try checkUsable()
        var count = 0
        var removed: [EntryKey] = []
        // Not while the store tells of them: it may have locked a part of itself.
        defer { for key in removed { loads.forget(key) } }
        memory.drainSiblings(nil)
        try wrapping { () throws(StoreError) in
            try listeners.observing(operation) { () throws(StoreError) in
                try body { entry in
                    let key = try? EntryKey(entry.key)
                    if let key, let tag {
                        invalidate(key, reach: .tagged(tag))
                        removed.append(key)
                    } else if let key {
                        drop(key)
                    }
                    count += 1
                    recorder.record(occurrence, key)
                }
            }
        }
        return count
    }
}
