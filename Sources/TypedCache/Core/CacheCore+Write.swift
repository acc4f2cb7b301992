import ArchiveStore
import Foundation

/// A value on its way to disk: its archive, and the entry that memory is to keep.
struct NewEntry: Sendable {
    let archive: [UInt8]
    let attributes: EntryAttributes
    let entry: MemoryEntry

    var key: EntryKey { entry.key }

    /// The entry's information where the disk does not have the entry.
    var information: EntryInformation {
        EntryInformation(
            key: key.text,
            attributes: attributes,
            archiveByteCount: archive.count,
            storedByteCount: archive.count,
            identity: EntryIdentity(attributes) ?? EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
    }
}

/// The entry that a save may take the place of.
enum WriteRule: Sendable {
    /// Any entry, or none.
    case always
    /// The entry that was there when a load began, or none: a write or removal since then stands, one by a tag of the new
    /// entry included.
    case ifUnchanged(since: MemoryTier.Start, lease: (any LoadLease)? = nil)
    /// The very entry that was read, or none.
    case ifStill(EntryInformation?)
    /// The very entry that was read, whose value the new one has in another form.
    case ofTheSameValue(EntryInformation)
}

extension CacheCore {
    /// Saves an entry. Blocks on disk I/O.
    ///
    /// - Parameter keepsUnsaved: whether memory keeps an entry that the disk refuses.
    /// - Returns: whether it was saved; `false` where the rule forbids it.
    /// - Throws: the error of the store's save. The entry that was to be replaced is gone then, but a load leaves it, and so
    ///   does another form of its value.
    @discardableResult
    func write(
        _ new: NewEntry,
        _ rule: WriteRule = .always,
        keepsUnsaved: Bool = false
    ) throws(CacheError) -> Bool {
        try checkUsable()
        let key = new.key
        guard let ticket = beginWrite(key, tags: new.attributes.tags, rule) else { return false }
        let saved: EntryInformation?
        do throws(StoreError) {
            if new.attributes.freshness(at: clock.now) == .useless {
                let isDone = try removeInstead(of: new, since: ticket.start, under: rule)
                ticket.end(isDone ? .remove : .keep)
                return isDone
            }
            let start = ticket.start
            saved = try listeners.observing(.write) { () throws(StoreError) in
                try save(new, since: start, under: rule)
            }
        } catch {
            let tombstone = isOwed(error) ? .keep : removeAfterFailure(key, rule)
            if keepsUnsaved, keepsWithoutStore, !isOwed(error) {
                ticket.end(tombstone, keeping: new.entry, unsaved: new.information)
            } else {
                ticket.end(tombstone)
            }
            throw failure(error, key)
        }
        guard let saved else {
            ticket.end(.keep)
            return false
        }
        finish(ticket, new, as: saved)
        return true
    }

    private func finish(_ ticket: consuming WriteTicket, _ new: NewEntry, as saved: EntryInformation) {
        new.entry.timing?.saved(saved)
        new.entry.version = saved.identity.version
        let hadFormer = ticket.hadFormer
        ticket.end(.remove, keeping: new.entry)
        if hadFormer { recorder.record(.replaced, new.key) }
        recorder.save(new)
    }

    /// Saves an entry without a condition, as ``write(_:_:keepsUnsaved:)`` does, and suspends the task.
    nonisolated(nonsending) func save(_ new: NewEntry) async throws(CacheError) {
        let key = new.key
        guard let remote, !remote.isOwed(key.text), new.attributes.freshness(at: clock.now) != .useless else {
            return try await queues.runThrowing(key) { [self] () throws(CacheError) in _ = try write(new) }
        }
        try checkUsable()
        let ticket = beginWrite(key)
        do throws(StoreError) {
            let saved = try await listeners.observing(.write) { () async throws(StoreError) in
                try await remote.save(new.archive, forKey: key.text, attributes: new.attributes)
            }
            finish(ticket, new, as: saved)
        } catch {
            let isOwed = isOwed(error)
            ticket.end(isOwed ? .keep : await queues.run(key) { [self] in removeAfterFailure(key, .always) })
            throw failure(error, key)
        }
    }

    private func save(
        _ new: NewEntry,
        since start: MemoryTier.Start,
        under rule: WriteRule
    ) throws(StoreError) -> EntryInformation? {
        let condition = condition(new, since: start, under: rule)
        let saved: EntryInformation?
        if case .ifUnchanged(_, let lease?) = rule {
            saved = try lease.save(new.archive, attributes: new.attributes) { condition?(nil) ?? true }
        } else {
            saved = try put(new, if: condition)
        }
        let tags = new.attributes.tags
        guard case .ifUnchanged = rule, let saved,
            memory.withLock({ !$0.isOfThisEpoch(start) || $0.isRemoved(tags, since: start) })
        else { return saved }
        // Everything, or all with one of its tags, was removed while this was saved, maybe just before it got its name.
        do throws(StoreError) {
            try store.removeSave(of: saved)
        } catch {
            invalidate(new.key, tombstone: tombstone(after: error))
            throw error
        }
        return nil
    }

    /// The condition for a save under a rule; `nil` for none. Asked while no other caller can change the entry, so
    /// that a removal comes either before this or after the save.
    private func condition(
        _ new: NewEntry,
        since start: MemoryTier.Start,
        under rule: WriteRule
    ) -> ((EntryInformation?) -> Bool)? {
        let (key, tags) = (new.key, new.attributes.tags)
        return switch rule {
        case .always: nil
        case .ifUnchanged:
            { [memory] _ in memory.withLock { $0.isCurrent(key, start) && !$0.isRemoved(tags, since: start) } }
        case .ifStill(let former): isStill(former, key)
        case .ofTheSameValue(let former): isStill(former, key)
        }
    }

    /// The condition that a key's entry is still as it was read.
    private func isStill(_ former: EntryInformation?, _ key: EntryKey) -> (EntryInformation?) -> Bool {
        // The entry of a key with a tombstone counts as none.
        { [memory] entry in
            memory.tombstones.contains(key) ? former == nil : entry?.identity == former?.identity
        }
    }

    /// Removes the former entry instead of saving one that has expired already.
    private func removeInstead(
        of new: NewEntry,
        since start: MemoryTier.Start,
        under rule: WriteRule
    ) throws(StoreError) -> Bool {
        guard let condition = condition(new, since: start, under: rule) else {
            if try store.remove(forKey: new.key.text) { recorder.record(.removed, new.key) }
            return true
        }
        guard let former = try information(new.key) else { return condition(nil) }
        guard condition(former), try store.remove(former) else { return false }
        recorder.record(.removed, new.key)
        return true
    }

    /// The information of the entry on disk for a key; `nil` if there is none or it is damaged.
    func information(_ key: EntryKey) throws(StoreError) -> EntryInformation? {
        do throws(StoreError) {
            return try store.information(forKey: key.text)
        } catch {
            guard error.code == .corrupted || error.code == .foreign else { throw error }
            report(error, as: .corrupted, of: key)
            return nil
        }
    }

    /// Removes the entry that a failed save was to replace, so that it is not taken for the new one.
    ///
    /// - Returns: `.add` if the entry could not be removed: then the key needs a tombstone.
    private func removeAfterFailure(_ key: EntryKey, _ rule: WriteRule) -> Tombstones.Change {
        do throws(StoreError) {
            switch rule {
            case .always:
                if try store.remove(forKey: key.text) { recorder.record(.removed, key) }
                return .remove
            case .ifStill(let former?):
                if try store.removeSave(of: former) != nil { recorder.record(.removed, key) }
                return .keep
            // A load that fails to save leaves the former entry, and so does another form of its value; a change that read
            // none has none to remove.
            case .ifStill(nil), .ifUnchanged, .ofTheSameValue: return .keep
            }
        } catch {
            if !isUnusable(error) { report(error, as: .failed, of: key) }
            return tombstone(after: error)
        }
    }

    /// Whether a cache was closed during a call, or a call is made in a forked process: then it has changed nothing.
    private func isUnusable(_ error: StoreError) -> Bool { error.code == .closed || error.code == .forked }

    /// Whether a store on a server has not acknowledged a change: it gives no entry of that key until it is undone.
    private func isOwed(_ error: StoreError) -> Bool { remote != nil && error.isUnacknowledged }

    /// Whether an entry that could not be removed is hidden by a tombstone. The store of a server hides it by itself,
    /// and not for longer than needed: another machine may save the key in the meantime.
    func tombstone(after error: StoreError) -> Tombstones.Change {
        isOwed(error) || isUnusable(error) ? .keep : .add
    }

    /// Removes the entry that was to be replaced by a save that failed early. Blocks on disk I/O.
    func failWrite(_ key: EntryKey, _ rule: WriteRule = .always) {
        guard usage.isUsable, let ticket = beginWrite(key, tags: [], rule) else { return }
        ticket.end(removeAfterFailure(key, rule))
    }

    // MARK: Tickets

    /// Begins to change a key's entry; memory loses the entry that it had, here and in the other caches.
    ///
    /// - Returns: `nil` if the loaded value is not wanted any longer.
    private func beginWrite(_ key: EntryKey, tags: [String], _ rule: WriteRule) -> WriteTicket? {
        guard case .ifUnchanged(let load, _) = rule else { return beginWrite(key) }
        guard let begun = memory.withLock({ $0.beginWrite(key, after: load, tags: tags) }) else { return nil }
        loads.forgetFailure(key)
        // If the disk refuses the value, each other cache keeps its own refused value: nothing has changed.
        let reach = MemoryTier.Reach.disk
        prepareWrite(key, reach: reach)
        return WriteTicket(key, begun, reach: reach, core: self)
    }

    /// Begins to change a key's entry without a condition. Otherwise as with a rule.
    ///
    /// - Parameter reach: the entries that are changed.
    func beginWrite(_ key: EntryKey, reach: MemoryTier.Reach = .all) -> WriteTicket {
        let begun = memory.withLock { $0.beginWrite(key, reach: reach) }
        loads.forget(key)
        prepareWrite(key, reach: reach)
        return WriteTicket(key, begun, reach: reach, core: self)
    }

    private func prepareWrite(_ key: EntryKey, reach: MemoryTier.Reach) {
        memory.notifySiblings(changed: key, reach: reach)
        memory.drainSiblings(key)
        foreignChanges?.expect(key)
    }

    /// Called by tickets and batches.
    func endWrite(
        _ key: EntryKey,
        since start: MemoryTier.Start,
        _ tombstone: Tombstones.Change,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil,
        reach: MemoryTier.Reach = .all
    ) {
        // First: no read that begins after the write may bring an entry back that could not be removed.
        memory.tombstones.change(key, tombstone.ending(start))
        release(
            memory.withLock { memory in
                // Only a load has one that is unsaved.
                let isRemoved = memory.isRemoved(unsaved?.attributes.tags ?? [], since: start)
                return memory.endWrite(
                    key,
                    since: start,
                    keeping: isRemoved ? nil : entry,
                    unsaved: unsaved
                )
            }
        )
        memory.notifySiblings(changed: key, reach: reach)
    }
}
