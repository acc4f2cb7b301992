import ArchiveStore
import Foundation

extension Cache {
    /// Changes the value for `key` in one step: nothing that others save or remove meanwhile is lost, be they other
    /// threads or other processes.
    ///
    /// ```swift
    /// try counters.modify(forKey: "visits") { counter in
    ///     counter = Counter(count: (counter?.count ?? 0) + 1)
    /// }
    /// ```
    ///
    /// Reads the entry, has `change` change the value, and saves it if the entry is still the one that was read;
    /// otherwise it begins anew. No lock is held while `change` runs. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long the entry may be used from now on; `nil` for the cache's own default.
    ///   - tags: groups that the entry belongs to from now on.
    ///   - change: is given the value, `nil` if there is none or it has expired, and leaves what shall be saved; `nil`
    ///     removes the entry. May be called several times, so it should do nothing else.
    /// - Returns: what the last call of `change` returned.
    /// - Throws: what `change` throws, and then nothing was changed; ``CacheError`` as a fetch and a save throw.
    public func modify<Result>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        _ change: (inout Value?) throws -> Result
    ) throws -> Result {
        let key = try EntryKey(key.cacheKey)
        while true {
            let read = try core.readForChange(key)
            let (result, new) = try changed(read, key, expiration, tags, change)
            if try core.replace(read?.information, key, by: new) { return result }
        }
    }

    /// Changes the value for `key` in one step.
    ///
    /// Runs `change` where it was called from, and suspends while the disk is read and written. All else is as for the
    /// synchronous twin.
    public nonisolated(nonsending) func modify<Result>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        _ change: (inout Value?) throws -> Result
    ) async throws -> Result {
        let key = try EntryKey(key.cacheKey)
        let core = core
        while true {
            let read = try await core.queues.trying(key) { () throws(CacheError) in try core.readForChange(key) }
            let (result, new) = try changed(read, key, expiration, tags, change)
            let information = read?.information
            let isDone = try await core.queues.trying(key) { () throws(CacheError) in
                try core.replace(information, key, by: new)
            }
            if isDone { return result }
        }
    }

    private func changed<Result>(
        _ read: StoredArchive?,
        _ key: EntryKey,
        _ expiration: Expiration?,
        _ tags: Set<String>,
        _ change: (inout Value?) throws -> Result
    ) throws -> (Result, NewEntry?) {
        let fresh = read.flatMap { core.isFresh(onDisk: $0.information) ? $0 : nil }
        var value = try fresh.map { try Self.decode($0.archive) }
        let result = try change(&value)
        let new = try value.map {
            try Self.newEntry($0, key, attributes(expiration, tags), sharesValues: sharesValues)
        }
        return (result, new)
    }
}

extension CacheCore {
    /// What is on disk for a key, expired or not. Blocks on disk I/O.
    func readForChange(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        if memory.withLock({ $0.isBarred(key) }) { return nil }
        do throws(StoreError) {
            return try store.fetch(forKey: key.text)
        } catch {
            try ignoreDamage(error, key)
            return nil
        }
    }

    /// Saves or removes an entry if what is on disk is still what was read. Blocks on disk I/O.
    ///
    /// - Parameter new: `nil` to remove.
    /// - Returns: whether it was still the same.
    func replace(_ former: EntryInformation?, _ key: EntryKey, by new: NewEntry?) throws(CacheError) -> Bool {
        let isBarred = memory.withLock { $0.isBarred(key) }
        if let new {
            return try write(new) { isBarred || $0?.identity == former?.identity }
        }
        guard let former else {
            guard isBarred else { return true }
            _ = try remove(key)
            return true
        }
        return try remove(key, ifStill: former)
    }
}
