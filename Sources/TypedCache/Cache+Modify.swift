import ArchiveStore
import Foundation

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
    /// Reads the entry, has `change` change the value, and saves it if the entry is still the one that was read;
    /// otherwise it begins again. No lock is held while `change` runs. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long the entry may be used from now on; `nil` keeps the entry's own expiration, its
    ///     deadline included. Where there is no fresh entry, `nil` is the cache's own default.
    ///   - tags: groups that the entry belongs to from now on; `nil` keeps those that it has.
    ///   - change: is given the value, `nil` if there is none or it has expired, and sets it to the value to save; if
    ///     it sets it to `nil`, the entry is removed. May be called several times, so it should do nothing else.
    /// - Returns: the result of the last call of `change`.
    /// - Throws: the error of `change`, as it is, and then nothing was changed; ``CacheError`` as a fetch and a save
    ///   throw: if the new value cannot be saved, the old one is gone.
    public func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) throws -> Outcome
    ) throws -> Outcome {
        let key = try entryKey(key)
        while true {
            let read = try core.readForChange(key)
            let changed = try changed(read, key, expiration: expiration, tags: tags, change)
            let new: NewEntry?
            do throws(CacheError) {
                new = try changed.entry.get()
            } catch {
                core.failWrite(key, .ifStill(read?.information))
                throw error.named(cache: name, key: key.text)
            }
            if try core.replace(read?.information, key, by: new) { return changed.outcome }
        }
    }

    /// Changes the value for `key` in one step.
    ///
    /// Runs `change` where it was called from, and suspends while the disk is read and written. All else is as for the
    /// synchronous twin.
    public nonisolated(nonsending) func modify<Outcome>(
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String>? = nil,
        _ change: (inout Value?) throws -> Outcome
    ) async throws -> Outcome {
        let key = try entryKey(key)
        let core = core
        while true {
            let read = try await core.queues.runThrowing(key) { () throws(CacheError) in
                try core.readForChange(key)
            }
            let information = read?.information
            let changed = try changed(read, key, expiration: expiration, tags: tags, change)
            let new: NewEntry?
            do throws(CacheError) {
                new = try changed.entry.get()
            } catch {
                await core.queues.run(key) { core.failWrite(key, .ifStill(information)) }
                throw error.named(cache: name, key: key.text)
            }
            let isDone = try await core.queues.runThrowing(key) { () throws(CacheError) in
                try core.replace(information, key, by: new)
            }
            if isDone { return changed.outcome }
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

    /// Has `change` change the value of an entry that was read, and archives the new value.
    ///
    /// - Returns: the result of `change`, and the new entry: `nil` for a removal, or the error of
    ///   archiving, or of `expiration` or `tags`.
    /// - Throws: the error of `change`; ``CacheError`` of decoding.
    private func changed<Outcome>(
        _ read: StoredArchive?,
        _ key: EntryKey,
        expiration: Expiration?,
        tags: Set<String>?,
        _ change: (inout Value?) throws -> Outcome
    ) throws -> (outcome: Outcome, entry: Result<NewEntry?, CacheError>) {
        let former = read.flatMap { core.freshness(of: $0.information) == .fresh ? $0 : nil }
        var value = try decoded(former, key)
        let outcome = try change(&value)
        let entry = Result { () throws(CacheError) in
            let attributes = try attributes(expiration, tags: tags, of: key, keeping: former?.information)
            return try newEntry(value, forKey: key, attributes)
        }
        return (outcome, entry)
    }

    private func decoded(_ stored: StoredArchive?, _ key: EntryKey) throws(CacheError) -> Value? {
        guard let stored else { return nil }
        return try core.naming(key) { () throws(CacheError) in try Self.decode(stored.archive) }
    }

    private func newEntry(
        _ value: Value?,
        forKey key: EntryKey,
        _ attributes: EntryAttributes
    ) throws(CacheError) -> NewEntry? {
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
