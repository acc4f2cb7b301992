import ArchiveStore
import Foundation

// Entries looked at and chosen by their keys, dates, sizes and tags, without their values.

extension Cache {
    /// The key, dates, sizes and tags of the entry for `key`, without its value; `nil` if there is none or it has
    /// expired.
    ///
    /// Blocks on disk I/O: memory does not know the dates and sizes, and a value that memory alone has is not seen.
    /// Counts as no fetch, and moves no idle deadline.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.unsupportedVersion`, or `.io`.
    /// - Complexity: O(*n*) in the entry's bytes, for its checksum is checked; no other entry is looked at.
    public func entry(forKey key: some CacheKey) throws(CacheError) -> CacheEntry? {
        try core.freshInformation(entryKey(key)).map(CacheEntry.init)
    }

    /// The key, dates, sizes and tags of the entry for `key`, without its value; `nil` if there is none or it has
    /// expired.
    ///
    /// Suspends while the disk is read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func entry(forKey key: some CacheKey) async throws(CacheError) -> CacheEntry? {
        let key = try entryKey(key)
        let core = core
        return try await core.queues.runThrowing(key) { () throws(CacheError) in
            try core.freshInformation(key).map(CacheEntry.init)
        }
    }

    /// Lists the keys that begin with a prefix, of entries that have not expired.
    ///
    /// All else is as for ``entries()``: all entries are looked at.
    ///
    /// - Parameter prefix: compared byte by byte; every key begins with the empty one.
    public func keys(withPrefix prefix: String) throws(CacheError) -> CacheCursor<String> {
        CacheCursor(core) { $0.key.utf8.starts(with: prefix.utf8) ? $0.key : nil }
    }

    /// Removes every entry that is chosen, expired or not.
    ///
    /// Blocks on disk I/O. Values that memory alone has, because the disk refused them, are entries here, with the size
    /// of their archives. An entry that is saved while this runs may or may not be looked at. One that is saved over
    /// after it was chosen stays; so does one on disk whose deadline is moved in between, by a read of an entry with an
    /// idle time or by ``extend(forKey:expiration:)``.
    ///
    /// ```swift
    /// let month = Date.now.addingTimeInterval(-30 * 86_400)
    /// try pictures.removeAll { $0.storedAt < month && $0.size > .kibibytes(100) }
    /// ```
    ///
    /// Entries that have expired are chosen from, too, as long as they are on disk, since a fetch that loads may still
    /// return them (``Expiration/servingStale(for:)``). Entries that a newer version wrote cannot be read here, and stay.
    ///
    /// A load that is under way saves no value for a key whose entry is removed. For any other key it does, also if the new
    /// entry would be chosen: it is not there yet. ``removeAll(tagged:)`` and ``removeAll()`` apply to such loads as well.
    ///
    /// - Parameter isChosen: is given each entry once, in no order. It may use the cache.
    /// - Returns: how many were removed, expired ones included.
    /// - Throws: ``CacheError`` with code `.io`; entries may be left then.
    /// - Complexity: O(*n*) in the bytes of all entries, for their checksums are checked.
    @discardableResult
    public func removeAll(where isChosen: (CacheEntry) -> Bool) throws(CacheError) -> Int {
        var count = 0
        let unsaved = try core.unsavedEntries { _ in true }
        for entry in unsaved where isChosen(CacheEntry(entry.information)) {
            if try core.remove(entry) { count += 1 }
        }
        let known = Set(unsaved.map(\.key))
        for part in 0..<core.store.partCount {
            let listing = core.entries(inPart: part, except: known)
            for entry in listing.entries where isChosen(CacheEntry(entry)) {
                if try core.remove(EntryKey(entry.key), ifStill: entry) { count += 1 }
            }
            if let failure = listing.failure { throw failure }
        }
        return count
    }
}

extension Cache {
    /// Removes every entry that is chosen, expired or not.
    ///
    /// Runs `isChosen` where it was called from, and suspends while the disk is read and written. All else is as for
    /// the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func removeAll(
        where isChosen: (CacheEntry) -> Bool
    ) async throws(CacheError) -> Int {
        var count = 0
        let core = core
        let unsaved = try await core.queues.runThrowing { () throws(CacheError) in
            try core.unsavedEntries { _ in true }
        }
        for entry in unsaved where isChosen(CacheEntry(entry.information)) {
            let isRemoved = try await core.queues.runThrowing { () throws(CacheError) in try core.remove(entry) }
            if isRemoved { count += 1 }
        }
        let known = Set(unsaved.map(\.key))
        for part in 0..<core.store.partCount {
            let listing = await core.queues.run { core.entries(inPart: part, except: known) }
            let chosen = listing.entries.filter { isChosen(CacheEntry($0)) }
            if !chosen.isEmpty {
                count += try await core.queues.runThrowing { () throws(CacheError) in
                    var removed = 0
                    for entry in chosen where try core.remove(EntryKey(entry.key), ifStill: entry) { removed += 1 }
                    return removed
                }
            }
            if let failure = listing.failure { throw failure }
        }
        return count
    }

    // MARK: The one object

    /// Whether a cache of one object has one that has not expired.
    ///
    /// - Throws: as ``contains(forKey:)``.
    public func containsObject() throws(CacheError) -> Bool { try contains(forKey: Self.objectKey) }

    /// Whether a cache of one object has one that has not expired.
    ///
    /// Suspends only where the disk has to be read.
    public nonisolated(nonsending) func containsObject() async throws(CacheError) -> Bool {
        try await contains(forKey: Self.objectKey)
    }

    /// Removes the object of a cache of one object.
    ///
    /// - Returns: whether there was one, expired or not.
    /// - Throws: as ``remove(forKey:)``.
    @discardableResult
    public func removeObject() throws(CacheError) -> Bool { try remove(forKey: Self.objectKey) }

    /// Removes the object of a cache of one object.
    ///
    /// Suspends while it is removed.
    @discardableResult
    public nonisolated(nonsending) func removeObject() async throws(CacheError) -> Bool {
        try await remove(forKey: Self.objectKey)
    }
}
