import ArchiveStore
import Foundation

/// A value on its way to disk: its archive, and what memory shall have of it.
struct NewEntry: Sendable {
    let archive: [UInt8]
    let attributes: EntryAttributes
    let entry: MemoryEntry

    var key: EntryKey { entry.key }
}

extension CacheCore {
    /// Saves an entry. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - load: when the entry's value began to be loaded: what was written or removed since counts.
    ///   - condition: as a store's.
    /// - Returns: whether it was saved; `false` where something else counts.
    /// - Throws: what a store's save throws; then nothing is left for the key.
    @discardableResult
    func write(
        _ new: NewEntry,
        after load: MemoryTier.Ticket? = nil,
        if condition: ((EntryInformation?) -> Bool)? = nil
    ) throws(CacheError) -> Bool {
        let key = new.key
        guard let begun = beginWrite(key, after: load) else { return false }
        follow(key)
        let saved: EntryInformation?
        do throws(StoreError) {
            if let end = new.attributes.usableUntil, end <= clock.now {
                let isDone = try removeInstead(of: new, if: condition)
                endWrite(key, begun, bar: isDone ? .lifted : .asItWas)
                return isDone
            }
            saved = try listeners.observing(.write) { () throws(StoreError) in
                try save(new, begun, isLoaded: load != nil, if: condition)
            }
        } catch {
            // What was there must not be taken for what was to be saved.
            endWrite(key, begun, bar: isRemoved(key) ? .lifted : .set)
            throw CacheError(error)
        }
        guard let saved else {
            endWrite(key, begun, bar: .asItWas)
            return false
        }
        new.entry.timing?.saved(saved)
        release(
            memory.withLock { memory in
                memory.statistics.count(.saved)
                return memory.endWrite(key, begun, bar: .lifted, keeping: new.entry, cost: new.archive.count)
            }
        )
        listeners.tell(.saved, key)
        memory.tellOthers(changed: key)
        return true
    }

    private func save(
        _ new: NewEntry,
        _ begun: MemoryTier.Ticket,
        isLoaded: Bool,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let key = new.key
        guard isLoaded else {
            return try store.save(new.archive, forKey: key.text, attributes: new.attributes, if: condition)
        }
        // Asked while nobody else can change the entry, so that a removal comes either before this or after the save.
        let saved = try store.save(new.archive, forKey: key.text, attributes: new.attributes) { [memory] _ in
            memory.withLock { $0.isCurrent(key, begun) }
        }
        guard let saved, !memory.withLock({ $0.isOfThisEpoch(begun) }) else { return saved }
        // Everything was removed while this was saved, maybe just before it got its name.
        try store.remove(saved)
        return nil
    }

    /// Does what comes of saving an entry that has expired already.
    private func removeInstead(
        of new: NewEntry,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> Bool {
        guard let condition else {
            if try store.remove(forKey: new.key.text) { record(.removed, new.key) }
            return true
        }
        let former = try store.information(forKey: new.key.text)
        guard condition(former) else { return false }
        guard let former else { return true }
        guard try store.remove(former) else { return false }
        record(.removed, new.key)
        return true
    }

    /// Removes what a save that failed early was to replace. Blocks on disk I/O.
    func removeAfterFailure(_ key: EntryKey) {
        guard let begun = beginWrite(key) else { return }
        endWrite(key, begun, bar: isRemoved(key) ? .lifted : .set)
    }

    /// Removes the entry for a key. Blocks on disk I/O.
    func remove(_ key: EntryKey) throws(CacheError) -> Bool {
        guard let begun = beginWrite(key) else { return false }
        do throws(StoreError) {
            let isRemoved = try listeners.observing(.remove) { () throws(StoreError) in
                try store.remove(forKey: key.text)
            }
            endWrite(key, begun, bar: .lifted)
            if isRemoved { record(.removed, key) }
            return isRemoved
        } catch {
            endWrite(key, begun, bar: .set)
            throw CacheError(error)
        }
    }

    /// Removes an entry if it is still the one that is there. Blocks on disk I/O.
    func remove(_ key: EntryKey, ifStill entry: EntryInformation) throws(CacheError) -> Bool {
        guard let begun = beginWrite(key) else { return false }
        do throws(StoreError) {
            let isRemoved = try listeners.observing(.remove) { () throws(StoreError) in try store.remove(entry) }
            endWrite(key, begun, bar: .asItWas)
            if isRemoved { record(.removed, key) }
            return isRemoved
        } catch {
            endWrite(key, begun, bar: .set)
            throw CacheError(error)
        }
    }

    /// Begins to change a key's entry; what memory had is gone from then on, here and in the other caches.
    ///
    /// - Returns: `nil` if what was loaded since `load` is not wanted any more.
    private func beginWrite(_ key: EntryKey, after load: MemoryTier.Ticket? = nil) -> MemoryTier.Ticket? {
        let begun = memory.withLock { memory in
            load.map { memory.beginWrite(key, after: $0) } ?? memory.beginWrite(key)
        }
        guard let begun else { return nil }
        memory.tellOthers(changed: key, bar: .asItWas)
        flights.forgetFailure(key)
        return begun.ticket
    }

    private func endWrite(_ key: EntryKey, _ ticket: MemoryTier.Ticket, bar: MemoryTier.Bar) {
        release(memory.withLock { $0.endWrite(key, ticket, bar: bar) })
        memory.tellOthers(changed: key, bar: bar)
    }

    private func isRemoved(_ key: EntryKey) -> Bool {
        do throws(StoreError) {
            try store.remove(forKey: key.text)
            return true
        } catch {
            report(.failed, key, error)
            return false
        }
    }

    // MARK: Many entries

    /// Removes every entry that is there when the call starts. Blocks on disk I/O.
    func removeAll() throws(CacheError) {
        forgetAll()
        // What was read while the disk was being cleared must not stay either.
        defer { forgetAll() }
        do throws(StoreError) {
            try listeners.observing(.remove) { () throws(StoreError) in try store.removeAll() }
        } catch {
            throw CacheError(error)
        }
        memory.withLock { $0.unbarAll() }
        record(.removedAll, nil)
    }

    private func forgetAll() {
        flights.forgetFailures()
        release(memory.withLock { $0.removeAll() })
        memory.tellOthersAllRemoved()
    }

    /// Removes every entry that has a tag. Blocks on disk I/O.
    func removeAll(tagged tag: String) throws(CacheError) -> Int {
        try removing(.removed, .remove) { removed throws(StoreError) in
            try store.removeAll(tagged: tag, removed: removed)
        }
    }

    /// Removes every entry that is of no use any more. Blocks on disk I/O.
    @discardableResult
    func removeExpired() throws(CacheError) -> Int {
        try removing(.expired, .sweep) { removed throws(StoreError) in
            try store.removeExpired(at: clock.now, removed: removed)
        }
    }

    /// Does in the background what ``removeExpired()`` does.
    func sweep() {
        do throws(CacheError) {
            try removeExpired()
        } catch {
            record(.failed, nil, error)
            reporter?(error)
        }
    }

    /// Gives up entries on disk until no more than so many bytes are left. Blocks on disk I/O.
    func trimDisk(toByteCount byteCount: Int) throws(CacheError) -> Int {
        try removing(.evicted(.disk), .remove) { removed throws(StoreError) in
            try store.trim(toByteCount: byteCount, removed: removed)
        }
    }

    private func removing(
        _ kind: CacheEvent.Kind,
        _ operation: CacheOperation,
        _ body: (_ removed: (EntryInformation) -> Void) throws(StoreError) -> Void
    ) throws(CacheError) -> Int {
        var count = 0
        do throws(StoreError) {
            try listeners.observing(operation) { () throws(StoreError) in
                try body { entry in
                    count += 1
                    let key = try? EntryKey(entry.key)
                    if let key { forget(key) }
                    record(kind, key)
                }
            }
        } catch {
            throw CacheError(error)
        }
        return count
    }
}
