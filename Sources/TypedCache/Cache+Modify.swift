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
    /// - Throws: what `change` throws, and then nothing was changed; ``CacheError`` as a fetch and a save throw: if
    ///   the new value cannot be saved, the old one is gone.
    public func modify<Result>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        _ change: (inout Value?) throws -> Result
    ) throws -> Result {
        let key = try EntryKey(key.cacheKey)
        while true {
            let read = try core.readForChange(key)
            let (result, new): (Result, NewEntry?)
            do {
                (result, new) = try changed(read, key, expiration, tags, change)
            } catch let error as CacheError where error.code == .encodingFailed {
                core.failWrite(key, .ifStill(read?.information))
                throw error
            }
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
            let information = read?.information
            let (result, new): (Result, NewEntry?)
            do {
                (result, new) = try changed(read, key, expiration, tags, change)
            } catch let error as CacheError where error.code == .encodingFailed {
                await core.queues.run(key) { core.failWrite(key, .ifStill(information)) }
                throw error
            }
            let isDone = try await core.queues.trying(key) { () throws(CacheError) in
                try core.replace(information, key, by: new)
            }
            if isDone { return result }
        }
    }

    private func changed<Outcome>(
        _ read: StoredArchive?,
        _ key: EntryKey,
        _ expiration: Expiration?,
        _ tags: Set<String>,
        _ change: (inout Value?) throws -> Outcome
    ) throws -> (outcome: Outcome, new: NewEntry?) {
        let fresh = read.flatMap { core.isFresh(onDisk: $0.information) ? $0 : nil }
        var value = try fresh.map { try Self.decode($0.archive) }
        let outcome = try change(&value)
        guard let value else { return (outcome, nil) }
        let attributes = try attributes(expiration, tags)
        return (outcome, try Self.newEntry(value, key, attributes, sharesValues: sharesValues))
    }
}

extension CacheCore {
    /// What is on disk for a key, expired or not. Blocks on disk I/O.
    func readForChange(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        try checkUsable()
        memory.settleOthers(key)
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
        if let new { return try write(new, .ifStill(former)) }
        if let former { return try remove(key, ifStill: former) }
        if memory.withLock({ $0.isBarred(key) || $0.isUnsaved(key) }) {
            _ = try remove(key)
        } else {
            // Memory may have what another process has removed.
            depart(key)
        }
        return true
    }
}
