import ArchiveStore
import Foundation

extension Cache {
    /// Whether a value is saved for `key` that has not expired.
    ///
    /// May block on disk I/O; nothing is decoded. Counts as no fetch, and moves no idle deadline.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.unsupportedVersion`, or `.io`.
    public func contains(forKey key: some CacheKey) throws(CacheError) -> Bool {
        let key = try entryKey(key)
        return try isKnownFresh(key) ? true : core.freshInformation(key) != nil
    }

    /// Whether a value is saved for `key` that has not expired.
    ///
    /// Suspends only where the disk has to be read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func contains(forKey key: some CacheKey) async throws(CacheError) -> Bool {
        let key = try entryKey(key)
        if try isKnownFresh(key) { return true }
        let core = core
        return try await core.queues.runThrowing(key) { () throws(CacheError) in
            try core.freshInformation(key) != nil
        }
    }

    private func isKnownFresh(_ key: EntryKey) throws(CacheError) -> Bool {
        try checkUsable()
        if followsOthers { try core.followOthers() }
        guard let known = memory.table.entry(forKey: key) else { return false }
        return known.deadline == .infinity || known.isFresh(at: core.now)
    }

    /// How many entries there are that have not expired.
    ///
    /// Blocks on disk I/O. Damaged entries are not counted.
    ///
    /// - Throws: ``CacheError`` with code `.io`.
    /// - Complexity: O(*n*) in the bytes of all entries, for their checksums are checked.
    public func count() throws(CacheError) -> Int { try core.countEntries() }

    /// How many entries there are that have not expired.
    ///
    /// Suspends while the disk is read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func count() async throws(CacheError) -> Int {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.countEntries() }
    }

    /// Lists the entries that have not expired, without decoding their values.
    ///
    /// Does no I/O itself: the cursor reads the disk as you iterate. It is not a `Sequence`: in blocking code, use
    /// ``CacheCursor/all()`` or ``CacheCursor/next()``; in asynchronous code, `for try await`.
    ///
    /// ```swift
    /// var entries = try cache.entries()
    /// while let entry = try entries.next() { print(entry.key, entry.size) }
    /// ```
    ///
    /// - Throws: nothing yet; the cursor throws ``CacheError``, see there.
    /// - Complexity: O(*n*) in the bytes of all entries for the whole listing, for their checksums are checked.
    public func entries() throws(CacheError) -> CacheCursor<CacheEntry> {
        CacheCursor(core) { $0 }
    }

    /// Lists the keys of the entries that have not expired.
    ///
    /// ```swift
    /// let keys = try cache.keys().all()    // an array
    /// ```
    ///
    /// All else is as for ``entries()``.
    public func keys() throws(CacheError) -> CacheCursor<String> {
        CacheCursor(core, element: \.key)
    }

    // MARK: Removing

    /// Removes the entry for `key`, in memory and on disk.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Returns: whether there was an entry, expired or not.
    /// - Throws: ``CacheError`` with code `.invalidKey`, or `.io`: then it is not used by this process any longer,
    ///   but is still on disk.
    @discardableResult
    public func remove(forKey key: some CacheKey) throws(CacheError) -> Bool {
        try core.remove(entryKey(key))
    }

    /// Removes the entry for `key`, in memory and on disk.
    ///
    /// Suspends while it is removed. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func remove(forKey key: some CacheKey) async throws(CacheError) -> Bool {
        let key = try entryKey(key)
        let core = core
        return try await core.queues.runThrowing(key) { () throws(CacheError) in try core.remove(key) }
    }

    /// Removes every entry that is there when the call starts, in memory and on disk.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Throws: ``CacheError`` with code `.io`; entries may be left then.
    /// - Complexity: O(*n*) in the number of entries.
    public func removeAll() throws(CacheError) { try core.removeAll() }

    /// Removes every entry that is there when the call starts, in memory and on disk.
    ///
    /// Suspends while they are removed. All else is as for the synchronous twin.
    public nonisolated(nonsending) func removeAll() async throws(CacheError) {
        let core = core
        try await core.queues.runThrowing { () throws(CacheError) in try core.removeAll() }
    }

    /// Removes every entry that was saved with a tag and is there when the call starts.
    ///
    /// Blocks on disk I/O. Of a value that memory alone has, because the disk refused it, its own tags count; the older
    /// value on disk goes with it. A load that is under way in this process saves no value with this tag; the tasks that
    /// wait for it get the value.
    ///
    /// - Parameter tag: 1 to 256 UTF-8 bytes, compared byte by byte.
    /// - Returns: how many there were.
    /// - Throws: ``CacheError`` with code `.invalidTag`, or `.io`; entries may be left then.
    /// - Complexity: O(*n*) in the number of entries with the tag.
    @discardableResult
    public func removeAll(tagged tag: String) throws(CacheError) -> Int {
        try core.naming { () throws(CacheError) in try EntryTags.check(tag) }
        return try core.removeAll(tagged: tag)
    }

    /// Removes every entry that was saved with a tag and is there when the call starts.
    ///
    /// Suspends while they are removed. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func removeAll(tagged tag: String) async throws(CacheError) -> Int {
        try core.naming { () throws(CacheError) in try EntryTags.check(tag) }
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.removeAll(tagged: tag) }
    }

    /// Removes every entry that has expired and is in no stale window any longer.
    ///
    /// The cache does this by itself once a minute, and never uses such an entry; call this to get their space back at
    /// once. Blocks on disk I/O.
    ///
    /// - Returns: how many there were.
    /// - Throws: ``CacheError`` with code `.io`; entries may be left then.
    /// - Complexity: O(*n*) in the number of entries that are due for removal.
    @discardableResult
    public func removeExpired() throws(CacheError) -> Int { try core.removeExpired() }

    /// Removes every entry that has expired and is in no stale window any longer.
    ///
    /// Suspends while they are removed. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func removeExpired() async throws(CacheError) -> Int {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.removeExpired() }
    }

    /// Evicts the least useful entries on disk until the rest take at most `limit`.
    ///
    /// Index and journal are not counted, see ``DiskSettings/byteLimit``. Blocks on disk I/O.
    ///
    /// - Returns: how many were evicted.
    /// - Throws: ``CacheError`` with code `.io`; more may be left then.
    @discardableResult
    public func trimDisk(to limit: ByteCount) throws(CacheError) -> Int {
        try core.trimDisk(toByteCount: limit.bytes)
    }

    /// Evicts the least useful entries on disk until the rest take at most `limit`.
    ///
    /// Suspends while they are removed. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func trimDisk(to limit: ByteCount) async throws(CacheError) -> Int {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in
            try core.trimDisk(toByteCount: limit.bytes)
        }
    }

    // MARK: Waiting

    /// Waits until all deferred writes are on disk: saves of a cache that writes behind, and idle deadlines that
    /// reading has moved.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Throws: ``CacheError``: the first failure of a deferred save since the last flush; all others were reported.
    public func flush() throws(CacheError) {
        try checkUsable()
        core.queues.drain()
        try core.flush()
    }

    /// Waits until all deferred writes are on disk.
    ///
    /// Suspends the task. All else is as for the synchronous twin.
    public nonisolated(nonsending) func flush() async throws(CacheError) {
        try checkUsable()
        let core = core
        await core.queues.drained()
        try await core.queues.runThrowing { () throws(CacheError) in try core.flush() }
    }
}
