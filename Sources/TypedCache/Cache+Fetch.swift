import ArchiveStore
import Foundation
import KeyedArchive
import Synchronization

extension Cache {
    /// Returns the object of a cache of one object, or `nil` if there is none or it has expired.
    ///
    /// - Throws: as ``fetch(forKey:)``.
    public func fetchObject() throws(CacheError) -> Value? {
        try fetch(forKey: Self.objectKey)
    }

    /// Returns the value saved for `key`, or `nil` if there is none or it has expired.
    ///
    /// Looks in memory, then on disk; may block on disk I/O. An entry whose bytes were damaged counts as none:
    /// it is taken out of the way, counted in ``statistics``, and told to the cache's reporter.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`; `.typeMismatch` if the entry holds another type;
    ///   `.decodingFailed` if the type's own decoding refuses the entry; `.unsupportedVersion` if a newer
    ///   version wrote it; `.io` if the file system fails. The entry stays as it is then.
    /// - Complexity: O(1) for a hit in memory; O(*n*) in the entry's bytes for one on disk.
    public func fetch(forKey key: some CacheKey) throws(CacheError) -> Value? {
        let key = try EntryKey(key.cacheKey)
        guard let found = memory.table.hit(key) else { return try fetchFromDisk(key) }
        if found.deadline != .infinity {
            // The disk is asked, for what is there may be newer than what memory knew.
            if hasPassed(found.deadline) { return try fetchFromDisk(key, expired: true) }
            memory.table.countHit(key)
        }
        return try value(of: found)
    }

    /// - Precondition: the entry was made by this cache's `memoryEntry`.
    private func value(of entry: MemoryEntry) throws(CacheError) -> Value {
        // Unchecked casts, 5 ns instead of 60: the tier belongs to this cache, and only `memoryEntry` makes what
        // is put into it, by the same rule.
        if sharesValues { return unsafeDowncast(entry, to: ValueEntry<Value>.self).value }
        return try decode(unsafeDowncast(entry, to: ArchiveEntry.self).archive)
    }

    /// Returns the value saved for `key` as a subclass of the cache's type.
    ///
    /// ```swift
    /// let lion = try zoo.fetch(SubFamily.self, forKey: "lion")
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type to cast to.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    /// - Returns: the value, or `nil` if there is none or it has expired.
    /// - Throws: ``CacheError`` with code `.typeMismatch` if the value is not of that type, and all that
    ///   ``fetch(forKey:)`` throws.
    public func fetch<T>(_ type: T.Type, forKey key: some CacheKey) throws(CacheError) -> T? {
        guard let value = try fetch(forKey: key) else { return nil }
        guard let typed = value as? T else {
            throw CacheError(.typeMismatch, "the entry is \(Swift.type(of: value)), not \(T.self)")
        }
        return typed
    }

    private func decode(_ archive: [UInt8]) throws(CacheError) -> Value {
        do throws(ArchiveError) {
            return try Value.Wrapper.unarchive(archive)
        } catch {
            throw CacheError(decoding: error)
        }
    }

    private func fetchFromDisk(_ key: EntryKey, expired: Bool = false) throws(CacheError) -> Value? {
        let (ticket, dropped) = memory.withLock { memory -> (MemoryTier.Ticket?, MemoryEntry?) in
            let dropped = expired ? memory.remove(forKey: key) : nil
            if memory.isBarred(key) {
                memory.statistics.misses += 1
                return (nil, dropped)
            }
            return (memory.beginRead(key), dropped)
        }
        _ = consume dropped
        guard let ticket else { return nil }

        var keeping: MemoryEntry?
        var cost = 0
        defer {
            let removed = memory.withLock { $0.endRead(key, ticket, keeping: keeping, cost: cost) }
            _ = consume removed
        }
        guard let stored = try read(key) else {
            memory.withLock { $0.statistics.misses += 1 }
            return nil
        }
        let value = try decode(stored.archive)
        let deadline = stored.information.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        keeping = memoryEntry(value, key, stored.archive, deadline)
        cost = stored.archive.count
        memory.withLock { $0.statistics.diskHits += 1 }
        return value
    }

    /// The entry on disk, if it may be used.
    private func read(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        do throws(StoreError) {
            guard let stored = try store.fetch(forKey: key.text) else { return nil }
            return dropIfExpired(stored.information) ? nil : stored
        } catch {
            try ignoreDamage(error)
            return nil
        }
    }

    /// Whether an entry has expired; then it is removed, unless it was saved over meanwhile.
    func dropIfExpired(_ entry: EntryInformation) -> Bool {
        guard let deadline = entry.expiresAt, hasPassed(deadline.timeIntervalSinceReferenceDate) else {
            return false
        }
        memory.withLock { $0.statistics.expirations += 1 }
        do throws(StoreError) {
            try store.remove(entry)
        } catch {
            // Expired is expired: it stays unused, and the next fetch tries again.
            report(error)
        }
        return true
    }

    /// Counts and reports a damaged entry, which the store has taken away; throws every other error.
    func ignoreDamage(_ error: StoreError) throws(CacheError) {
        guard error.code == .corrupted else { throw CacheError(error) }
        memory.withLock { $0.statistics.corruptions += 1 }
        report(error)
    }
}
