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

/// An entry that memory alone has, because the disk refused it.
struct UnsavedEntry: Sendable {
    let key: EntryKey
    let information: EntryInformation
    /// The older value that the disk has for the key.
    let onDisk: EntryInformation?
}

/// The entry that a save may take the place of.
enum WriteRule: Sendable {
    /// Any entry, or none.
    case always
    /// The entry that was there when a load began, or none: a write or removal since then stands.
    case ifUnchanged(since: MemoryTier.Ticket)
    /// The very entry that was read, or none.
    case ifStill(EntryInformation?)
}

extension CacheCore {
    /// Saves an entry. Blocks on disk I/O.
    ///
    /// - Parameter keepsUnsaved: whether memory keeps an entry that the disk refuses.
    /// - Returns: whether it was saved; `false` where the rule forbids it.
    /// - Throws: the error of the store's save. The entry that was to be replaced is gone then, but a load leaves it.
    @discardableResult
    func write(
        _ new: NewEntry,
        _ rule: WriteRule = .always,
        keepsUnsaved: Bool = false
    ) throws(CacheError) -> Bool {
        try checkUsable()
        let key = new.key
        guard let write = beginWrite(key, rule) else { return false }
        let (begun, hadFormer) = (write.ticket, write.former != nil)
        let saved: EntryInformation?
        do throws(StoreError) {
            if let end = new.attributes.usableUntil, end <= clock.now {
                let isDone = try removeInstead(of: new, begun, rule)
                endWrite(key, begun, bar: isDone ? .lifted : .asItWas)
                return isDone
            }
            saved = try listeners.observing(.write) { () throws(StoreError) in try save(new, begun, rule) }
        } catch {
            let bar = removeAfterFailure(key, rule)
            if keepsUnsaved, keepsWithoutStore {
                keep(unsaved: new, begun, bar)
            } else {
                endWrite(key, begun, bar: bar)
            }
            throw failure(error, key)
        }
        guard let saved else {
            endWrite(key, begun, bar: .asItWas)
            return false
        }
        new.entry.timing?.saved(saved)
        release(
            memory.withLock { memory in
                memory.statistics.count(.saved)
                if hadFormer { memory.statistics.count(.replaced) }
                return memory.endWrite(key, begun, bar: .lifted, keeping: new.entry)
            }
        )
        if hadFormer { listeners.tell(.replaced, key) }
        listeners.tell(.saved, key)
        memory.tellOthers(changed: key)
        return true
    }

    /// Ends a write that the disk has refused, and has memory keep the entry.
    private func keep(unsaved new: NewEntry, _ begun: MemoryTier.Ticket, _ bar: MemoryTier.Bar) {
        release(
            memory.withLock { memory in
                let dropped = memory.endWrite(new.key, begun, bar: bar, keeping: new.entry)
                memory.markUnsaved(new.entry, as: new.information)
                return dropped
            }
        )
        memory.tellOthers(changed: new.key, bar: bar)
    }

    private func save(
        _ new: NewEntry,
        _ begun: MemoryTier.Ticket,
        _ rule: WriteRule
    ) throws(StoreError) -> EntryInformation? {
        let condition = condition(new.key, begun, rule)
        let saved = try put(new, if: condition)
        guard case .ifUnchanged = rule, let saved, !memory.withLock({ $0.isOfThisEpoch(begun) }) else {
            return saved
        }
        // Everything was removed while this was saved, maybe just before it got its name.
        try store.remove(saved)
        return nil
    }

    /// The condition for a save under a rule; `nil` for none. Asked while no other caller can change the entry, so
    /// that a removal comes either before this or after the save.
    private func condition(
        _ key: EntryKey,
        _ begun: MemoryTier.Ticket,
        _ rule: WriteRule
    ) -> ((EntryInformation?) -> Bool)? {
        switch rule {
        case .always: nil
        case .ifUnchanged: { [memory] _ in memory.withLock { $0.isCurrent(key, begun) } }
        case .ifStill(let former):
            // The entry of a barred key was read as none.
            { [memory] entry in entry?.identity == former?.identity || memory.withLock { $0.isBarred(key) } }
        }
    }

    /// Removes the former entry instead of saving one that has expired already.
    private func removeInstead(
        of new: NewEntry,
        _ begun: MemoryTier.Ticket,
        _ rule: WriteRule
    ) throws(StoreError) -> Bool {
        guard let condition = condition(new.key, begun, rule) else {
            if try store.remove(forKey: new.key.text) { record(.removed, new.key) }
            return true
        }
        guard let former = try information(new.key) else { return condition(nil) }
        guard condition(former), try store.remove(former) else { return false }
        record(.removed, new.key)
        return true
    }

    /// The information of the entry on disk for a key; `nil` if there is none or it is damaged.
    private func information(_ key: EntryKey) throws(StoreError) -> EntryInformation? {
        do throws(StoreError) {
            return try store.information(forKey: key.text)
        } catch {
            guard error.code == .corrupted else { throw error }
            report(.corrupted, key, error)
            return nil
        }
    }

    /// Removes the entry that a failed save was to replace, so that it is not taken for the new one.
    ///
    /// - Returns: `.set` if the key must be barred, because the entry could not be removed.
    private func removeAfterFailure(_ key: EntryKey, _ rule: WriteRule) -> MemoryTier.Bar {
        do throws(StoreError) {
            switch rule {
            case .always:
                if try store.remove(forKey: key.text) { record(.removed, key) }
                return .lifted
            case .ifStill(let former?):
                if try store.remove(former) { record(.removed, key) }
                return .asItWas
            // A load that fails to save leaves the former entry; a change that read none has none to remove.
            case .ifStill(nil), .ifUnchanged: return .asItWas
            }
        } catch {
            report(.failed, key, error)
            return .set
        }
    }

    /// Removes the entry that was to be replaced by a save that failed early. Blocks on disk I/O.
    func failWrite(_ key: EntryKey, _ rule: WriteRule = .always) {
        guard usage.isUsable, let write = beginWrite(key, rule) else { return }
        endWrite(key, write.ticket, bar: removeAfterFailure(key, rule))
    }

    /// Removes the entry for a key. Blocks on disk I/O.
    func remove(_ key: EntryKey) throws(CacheError) -> Bool {
        try checkUsable()
        guard let write = beginWrite(key) else { return false }
        let begun = write.ticket
        do throws(StoreError) {
            let wasOnDisk = try listeners.observing(.remove) { () throws(StoreError) in
                try store.remove(forKey: key.text)
            }
            let isRemoved = wasOnDisk || write.wasUnsaved
            endWrite(key, begun, bar: .lifted)
            if isRemoved { record(.removed, key) }
            return isRemoved
        } catch {
            endWrite(key, begun, bar: .set)
            throw failure(error, key)
        }
    }

    /// Removes an entry if it is still the one that is there. Blocks on disk I/O.
    func remove(_ key: EntryKey, ifStill entry: EntryInformation) throws(CacheError) -> Bool {
        try checkUsable()
        guard let begun = beginWrite(key)?.ticket else { return false }
        do throws(StoreError) {
            let isRemoved = try listeners.observing(.remove) { () throws(StoreError) in try store.remove(entry) }
            endWrite(key, begun, bar: .asItWas)
            if isRemoved { record(.removed, key) }
            return isRemoved
        } catch {
            endWrite(key, begun, bar: .set)
            throw failure(error, key)
        }
    }

    /// Begins to change a key's entry; memory loses the entry that it had, here and in the other caches.
    ///
    /// - Returns: the operation; `nil` if the loaded value is not wanted any more.
    func beginWrite(_ key: EntryKey, _ rule: WriteRule = .always) -> MemoryTier.BegunWrite? {
        let begun = memory.withLock { memory in
            if case .ifUnchanged(let load) = rule { return memory.beginWrite(key, after: load) }
            return memory.beginWrite(key)
        }
        guard let begun else { return nil }
        memory.tellOthers(changed: key, bar: .asItWas)
        memory.settleOthers(key)
        flights.forgetFailure(key)
        follow(key)
        return begun
    }

    func endWrite(_ key: EntryKey, _ ticket: MemoryTier.Ticket, bar: MemoryTier.Bar) {
        release(memory.withLock { $0.endWrite(key, ticket, bar: bar) })
        memory.tellOthers(changed: key, bar: bar)
    }

    /// The usable entries that memory alone has, here and in the other caches, and the older entries that the disk has
    /// for their keys. Blocks on disk I/O.
    func unsavedEntries() throws(CacheError) -> [UnsavedEntry] {
        try checkUsable()
        var entries: [UnsavedEntry] = []
        for (key, entry) in memory.unsavedEntries where isFresh(onDisk: entry) {
            do throws(StoreError) {
                entries.append(UnsavedEntry(key: key, information: entry, onDisk: try information(key)))
            } catch {
                throw failure(error, key)
            }
        }
        return entries
    }

    /// Removes an entry that memory alone has, if it is still the one that is there, and the older entry that the disk
    /// had for its key. Blocks on disk I/O.
    func remove(_ entry: UnsavedEntry) throws(CacheError) -> Bool {
        try checkUsable()
        guard memory.takeUnsaved(entry.key, ifStill: entry.information) else { return false }
        guard let begun = beginWrite(entry.key)?.ticket else { return false }
        do throws(StoreError) {
            if let former = entry.onDisk {
                try listeners.observing(.remove) { () throws(StoreError) in _ = try store.remove(former) }
            }
            endWrite(entry.key, begun, bar: .asItWas)
            record(.removed, entry.key)
            return true
        } catch {
            endWrite(entry.key, begun, bar: .set)
            throw failure(error, entry.key)
        }
    }

    // MARK: Many entries

    /// Removes every entry that is there when the call starts. Blocks on disk I/O.
    func removeAll() throws(CacheError) {
        try checkUsable()
        // Memory is emptied before the disk, so that it does not serve an entry that another process sees to be gone.
        memory.beginRemoval()
        defer { memory.endRemoval() }
        memory.settleOthers(nil)
        do throws(StoreError) {
            try listeners.observing(.remove) { () throws(StoreError) in try store.removeAll() }
        } catch {
            throw failure(error)
        }
        memory.withLock { $0.unbarAll() }
        record(.removedAll, nil)
    }

    /// Removes every entry that has a tag. Blocks on disk I/O.
    func removeAll(tagged tag: String) throws(CacheError) -> Int {
        try checkUsable()
        var begun: [EntryKey: MemoryTier.Ticket] = [:]
        var formers: [MemoryEntry] = []
        defer { for (key, ticket) in begun { endWrite(key, ticket, bar: .asItWas) } }
        let unsaved = Set(memory.takeUnsaved(tagged: tag) + memory.takeOthersUnsaved(tagged: tag))
        for key in unsaved { record(.removed, key) }
        let removedCount = try removing(.removed, .remove, except: unsaved) { removed throws(StoreError) in
            try store.removeAll(tagged: tag) { entry in
                // The entry leaves memory before the disk, so that memory does not serve one that another process sees
                // to be gone.
                guard let key = try? EntryKey(entry.key), begun[key] == nil else { return }
                let write = memory.withLock { $0.beginWrite(key) }
                begun[key] = write.ticket
                // Values are released after the store has given up its lock.
                if let former = write.former { formers.append(former) }
            } removed: { entry in
                removed(entry)
            }
        }
        return removedCount + unsaved.count
    }

    /// Removes every entry that is of no use any more. Blocks on disk I/O.
    @discardableResult
    func removeExpired() throws(CacheError) -> Int {
        // First: in a forked process, the calls below would wait for threads that do not exist there.
        try checkUsable()
        memory.settleMoves()
        return try removing(.expired, .sweep) { removed throws(StoreError) in
            try store.removeExpired(at: clock.now, removed: removed)
        }
    }

    /// Does the work of ``removeExpired()`` in the background, and records its error.
    func sweep() {
        do throws(CacheError) {
            try removeExpired()
        } catch {
            // A cache that was closed meanwhile has no failure to tell.
            guard usage.isUsable else { return }
            record(.failed, nil, error)
        }
    }

    /// Gives up entries on disk until no more than so many bytes are left. Blocks on disk I/O.
    func trimDisk(toByteCount byteCount: Int) throws(CacheError) -> Int {
        try removing(storeEviction, .remove) { removed throws(StoreError) in
            try store.trim(toByteCount: byteCount, removed: removed)
        }
    }

    /// - Parameter told: keys that were counted and told of already, because memory alone had an entry for them.
    private func removing(
        _ occurrence: Occurrence,
        _ operation: CacheOperation,
        except told: Set<EntryKey> = [],
        _ body: (_ removed: (EntryInformation) -> Void) throws(StoreError) -> Void
    ) throws(CacheError) -> Int {
        try checkUsable()
        var count = 0
        memory.settleOthers(nil)
        do throws(StoreError) {
            try listeners.observing(operation) { () throws(StoreError) in
                try body { entry in
                    let key = try? EntryKey(entry.key)
                    if let key {
                        if occurrence == .removed { forget(key) } else { depart(key) }
                    }
                    if let key, told.contains(key) { return }
                    count += 1
                    record(occurrence, key)
                }
            }
        } catch {
            throw failure(error)
        }
        return count
    }
}
