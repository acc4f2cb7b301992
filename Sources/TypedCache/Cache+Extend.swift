import ArchiveStore
import Foundation

extension Cache {
    /// Gives the entry for `key` a new deadline, counted from now, and keeps its value.
    ///
    /// ```swift
    /// let isThere = try sessions.extend(forKey: "42", expiration: .after(.seconds(1_800)))
    /// ```
    ///
    /// An entry that has expired but is within a stale window is fresh again then. The entry keeps its date, its tags,
    /// its stale windows and its idle duration. Blocks on disk I/O; nothing is decoded. Counts as no fetch. A value
    /// that memory alone has, because the disk refused it, gets the deadline there.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: when the entry expires from now on; its stale windows are ignored. ``Expiration/afterIdle(_:)``
    ///     moves the deadline by its duration once: whether later fetches move it, and by how much, stays as it was
    ///     saved. To change that, save the value again.
    /// - Returns: whether there was such an entry.
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.invalidExpiration`, `.unsupportedVersion`, or `.io`: then
    ///   the former deadline counts.
    /// - Complexity: O(*n*) in the entry's bytes, which are read and written with the new deadline.
    @discardableResult
    public func extend(forKey key: some CacheKey, expiration: Expiration) throws(CacheError) -> Bool {
        let key = try entryKey(key)
        return try core.extend(key, to: deadline(expiration, key))
    }

    private func deadline(_ expiration: Expiration, _ key: EntryKey) throws(CacheError) -> Date? {
        try core.naming(key) { () throws(CacheError) in
            try expiration.attributes(savedAt: core.clock.now).expiresAt
        }
    }

    /// Gives the entry for `key` a new deadline, counted from now, and keeps its value.
    ///
    /// Suspends while the disk is read and written. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func extend(
        forKey key: some CacheKey,
        expiration: Expiration
    ) async throws(CacheError) -> Bool {
        let key = try entryKey(key)
        let deadline = try deadline(expiration, key)
        let core = core
        return try await core.queues.runThrowing(key) { () throws(CacheError) in try core.extend(key, to: deadline)
        }
    }

    /// Returns the value for `key` with its dates, also if it has expired but is within a stale window; `nil` if there
    /// is none.
    ///
    /// Blocks on disk I/O: memory does not know the dates, and a value that memory alone has is not seen. Loads
    /// nothing, counts as no fetch, and moves no idle deadline.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` as a fetch.
    /// - Complexity: O(*n*) in the entry's bytes.
    public func stored(forKey key: some CacheKey) throws(CacheError) -> StoredValue<Value>? {
        let key = try entryKey(key)
        return try storedValue(core.readServable(key), key)
    }

    /// Returns the value for `key` with its dates, also if it has expired but is within a stale window; `nil` if there
    /// is none.
    ///
    /// Suspends while the disk is read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func stored(
        forKey key: some CacheKey
    ) async throws(CacheError) -> StoredValue<Value>? {
        let key = try entryKey(key)
        let core = core
        let stored = try await core.queues.runThrowing(key) { () throws(CacheError) in try core.readServable(key) }
        return try storedValue(stored, key)
    }

    private func storedValue(_ stored: StoredArchive?, _ key: EntryKey) throws(CacheError) -> StoredValue<Value>? {
        guard let stored else { return nil }
        return StoredValue(
            value: try core.naming(key) { () throws(CacheError) in try Self.decode(stored.archive) },
            storedAt: stored.information.storedAt,
            expiresAt: stored.information.expiresAt,
            isExpired: core.freshness(of: stored.information) != .fresh,
            tags: Set(stored.information.attributes.tags)
        )
    }
}
