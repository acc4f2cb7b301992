import ArchiveStore
import Foundation

/// The effect of one call of a closure that changes a value.
private enum ChangedEntry<Outcome, Failure: Error> {
    /// The entry to save, `nil` for a removal, and the closure's result.
    case entry(NewEntry?, Outcome)
    /// The closure has thrown.
    case nothing(Failure)
    /// The new value cannot be archived, so the former one must go.
    case unsavable(CacheError)
}

extension Cache {
    /// Changes the value for `key` in one step: no save or removal that another thread or process makes in the meantime is
    /// lost.
    ///
    /// ```swift
    /// try counters.modify(forKey: "visits") { counter in
    ///     counter = Counter(count: (counter?.count ?? 0) + 1)
    /// }
    /// ```
    ///
    /// Reads the entry, calls `change`, and saves the new value if no other call has changed the entry in the
    /// meantime; otherwise it begins again. No lock is held while `change` runs. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long the entry may be used from now on; `nil` keeps the entry's own expiration, its
    ///     deadline included. If there is no fresh entry, `nil` means the cache's default.
    ///   - tags: groups that the entry belongs to from now on; `nil` keeps its present groups.
    ///   - change: changes the value in place; the value is `nil` if there is none or it has expired, and setting it
    ///     to `nil` removes the entry. May be called several times, so it should have no other effect.
    /// - Returns: the result of the last call of `change`.
    /// - Throws: ``CacheError`` as a fetch and a save throw: if the new value cannot be saved, the old one is gone.
    public func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) -> Outcome
    ) throws(CacheError) -> Outcome {
        try modifying(entryKey(key), expiration: expiration, tags: tags, change).get()
    }

    /// Changes the value for `key` in one step, unless `change` throws.
    ///
    /// - Throws: the error of `change`, unchanged, and then the entry stays as it was. Otherwise as for a `change`
    ///   that does not throw.
    public func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) throws -> Outcome
    ) throws -> Outcome {
        try modifying(entryKey(key), expiration: expiration, tags: tags, change).get()
    }

    /// Changes the value for `key` in one step.
    ///
    /// Runs `change` where it was called from, and suspends while the disk is read and written. All else is as for the
    /// synchronous twin.
    public nonisolated(nonsending) func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) -> Outcome
    ) async throws(CacheError) -> Outcome {
        try await modifying(entryKey(key), expiration: expiration, tags: tags, change).get()
    }

    /// Changes the value for `key` in one step, unless `change` throws. All else is as for the synchronous twin.
    public nonisolated(nonsending) func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) throws -> Outcome
    ) async throws -> Outcome {
        try await modifying(entryKey(key), expiration: expiration, tags: tags, change).get()
    }

    /// Changes a value in one step.
    ///
    /// - Returns: the result of `change`, or its error.
    private func modifying<Outcome, Failure: Error>(
        _ key: EntryKey,
        expiration: Expiration?,
        tags: Set<String>?,
        _ change: (inout Value?) throws(Failure) -> Outcome
    ) throws(CacheError) -> Result<Outcome, Failure> {
        while true {
            let read = try core.readForChange(key)
            switch try changed(read, key, expiration: expiration, tags: tags, change) {
            case .entry(let new, let outcome):
                if try core.replace(read?.information, key, by: new) { return .success(outcome) }
            case .nothing(let error):
                return .failure(error)
            case .unsavable(let error):
                core.failWrite(key, .ifStill(read?.information))
                throw error
            }
        }
    }

    /// As the synchronous twin, but suspends while the disk is read and written.
    private nonisolated(nonsending) func modifying<Outcome, Failure: Error>(
        _ key: EntryKey,
        expiration: Expiration?,
        tags: Set<String>?,
        _ change: (inout Value?) throws(Failure) -> Outcome
    ) async throws(CacheError) -> Result<Outcome, Failure> {
        let core = core
        while true {
            let read = try await core.queues.runThrowing(key) { () throws(CacheError) in
                try core.readForChange(key)
            }
            let information = read?.information
            switch try changed(read, key, expiration: expiration, tags: tags, change) {
            case .entry(let new, let outcome):
                let isDone = try await core.queues.runThrowing(key) { () throws(CacheError) in
                    try core.replace(information, key, by: new)
                }
                if isDone { return .success(outcome) }
            case .nothing(let error):
                return .failure(error)
            case .unsavable(let error):
                await core.queues.run(key) { core.failWrite(key, .ifStill(information)) }
                throw error
            }
        }
    }

    /// The effect of a change on the entry that was read.
    ///
    /// - Throws: ``CacheError`` of decoding the entry.
    private func changed<Outcome, Failure: Error>(
        _ read: StoredArchive?,
        _ key: EntryKey,
        expiration: Expiration?,
        tags: Set<String>?,
        _ change: (inout Value?) throws(Failure) -> Outcome
    ) throws(CacheError) -> ChangedEntry<Outcome, Failure> {
        let former = fresh(read)
        var value = try decoded(former, key)
        let outcome: Outcome
        do throws(Failure) {
            outcome = try change(&value)
        } catch {
            return .nothing(error)
        }
        do throws(CacheError) {
            let new = try newEntry(value, key, replacing: former, expiration: expiration, tags: tags)
            return .entry(new, outcome)
        } catch {
            return .unsavable(error.named(cache: name, key: key.text))
        }
    }

    /// Saves the value of an entry that was read in a form that this program reads, in the place of that entry, with its
    /// expiration; nothing, where it was changed or removed in the meantime. Blocks on disk I/O.
    ///
    /// - Parameter tags: groups that the entry belongs to from now on.
    /// - Throws: ``CacheError`` as a save throws. The entry that was read stays then: it has the same value.
    package func rewrite(
        _ entry: UndecodedEntry,
        as value: Value,
        tags: Set<String>
    ) throws(CacheError) {
        let key = try entryKey(entry.information.key)
        let attributes = try attributes(nil, tags: tags, of: key, keeping: entry.information)
        let new = try core.naming(key) { () throws(CacheError) in
            try Self.newEntry(value, forKey: key, attributes, as: form)
        }
        try core.write(new, .ofTheSameValue(entry.information))
    }

    /// An entry that was read; `nil` if it has expired.
    private func fresh(_ read: StoredArchive?) -> StoredArchive? {
        read.flatMap { core.freshness(of: $0.information) == .fresh ? $0 : nil }
    }

    private func decoded(_ stored: StoredArchive?, _ key: EntryKey) throws(CacheError) -> Value? {
        guard let stored else { return nil }
        return try core.naming(key) { () throws(CacheError) in try Self.decode(stored.archive) }
    }

    /// The entry that replaces a fresh one, or none; `nil` for a removal.
    ///
    /// - Throws: ``CacheError`` of archiving, or of `expiration` or `tags`.
    private func newEntry(
        _ value: Value?,
        _ key: EntryKey,
        replacing former: StoredArchive?,
        expiration: Expiration?,
        tags: Set<String>?
    ) throws(CacheError) -> NewEntry? {
        let attributes = try attributes(expiration, tags: tags, of: key, keeping: former?.information)
        guard let value else { return nil }
        return try Self.newEntry(value, forKey: key, attributes, as: form)
    }

    /// The attributes of an entry that replaces another one now.
    ///
    /// - Parameters:
    ///   - expiration: `nil` for that of the former entry, or the cache's default if there is none.
    ///   - tags: `nil` for those of the former entry.
    private func attributes(
        _ expiration: Expiration?,
        tags: Set<String>?,
        of key: EntryKey,
        keeping former: EntryInformation?
    ) throws(CacheError) -> EntryAttributes {
        guard let former else { return try attributes(expiration, tags: tags ?? [], of: key) }
        let now = core.clock.now
        var attributes = try core.naming(key) { () throws(CacheError) in
            var attributes = try expiration?.attributes(savedAt: now) ?? former.attributes
            attributes.tags = former.attributes.tags
            if let tags { attributes.tags = try EntryTags.check(tags) }
            return attributes
        }
        attributes.storedAt = now
        attributes.serial = nil
        // The change has read the entry, which moves an idle deadline.
        if expiration == nil, let idleTime = attributes.idleTime { attributes.expiresAt = now + idleTime }
        return attributes
    }
}
