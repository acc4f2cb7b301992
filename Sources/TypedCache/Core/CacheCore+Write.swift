import ArchiveStore
import Foundation

/// A value on its way to disk: its archive, and what memory shall have of it.
struct NewEntry: Sendable {
    let archive: [UInt8]
    let attributes: EntryAttributes
    let entry: MemoryEntry

    var key: EntryKey { entry.key }

    /// What is known of the entry where the disk does not have it.
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

/// Which entry a save may take the place of.
enum WriteRule: Sendable {
    /// Whatever is there.
    case always
    /// What was there when a load began: what was written or removed since counts.
    case ifUnchanged(since: MemoryTier.Ticket)
    /// The very entry that was read, or none.
    case ifStill(EntryInformation?)
}

extension CacheCore {
    /// Saves an entry. Blocks on disk I/O.
    ///
    /// - Parameter keepsUnsaved: whether memory keeps an entry that the disk refuses.
    /// - Returns: whether it was saved; `false` where the rule forbids it.
    /// - Throws: what a store's save throws. What it was to replace is gone then, but for a load, which leaves it.
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

    /// Asked while nobody else can change the entry, so that a removal comes either before this or after the save.
    private func condition(
        _ key: EntryKey,
        _ begun: MemoryTier.Ticket,
        _ rule: WriteRule
    ) -> ((EntryInformation?) -> Bool)? {
        switch rule {
        case .always: nil
        case .ifUnchanged: { [memory] _ in memory.withLock { $0.isCurrent(key, begun) } }
        case .ifStill(let former):
            // What is barred was read as none.
            { [memory] entry in entry?.identity == former?.identity || memory.withLock { $0.isBarred(key) } }
        }
    }

    /// Does what comes of saving an entry that has expired already.
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

    /// What is on disk for a key; none if it is damaged.
    private func information(_ key: EntryKey) throws(StoreError) -> EntryInformation? {
        do throws(StoreError) {
            return try store.information(forKey: key.text)
        } catch {
            guard error.code == .corrupted else { throw error }
            report(.corrupted, key, error)
            return nil
        }
    }

    /// Removes what was to be replaced, lest it is taken for what was to be saved, and says whether it must be barred.
    private func removeAfterFailure(_ key: EntryKey, _ rule: WriteRule) -> MemoryTier.Bar {
        do throws(StoreError) {
            switch rule {
            case .always:
                if try store.remove(forKey: key.text) { record(.removed, key) }
                return .lifted
            case .ifStill(let former?):
                if try store.remove(former) { record(.removed, key) }
                return .asItWas
            // What a load has not brought is not missing.
            case .ifStill(nil), .ifUnchanged: return .asItWas
            }
        } catch {
            report(.failed, key, error)
            return .set
        }
    }

    /// Removes what a save that failed early was to replace. Blocks on disk I/O.
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

    /// Begins to change a key's entry; what memory had is gone from then on, here and in the other caches.
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

    /// The usable entries that memory alone has, here and in the other caches, and what the disk has for their keys.
    /// Blocks on disk I/O.
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

    /// Removes an entry that memory alone has, if it is still the one that is there, and what the disk had for its key.
    /// Blocks on disk I/O.
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
        // Emptied before the disk is, lest memory serve what another process sees to be gone.
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
                // Out of memory before it is gone from disk, lest memory serve what another process sees to be gone.
                guard let key = try? EntryKey(entry.key), begun[key] == nil else { return }
                let write = memory.withLock { $0.beginWrite(key) }
                begun[key] = write.ticket
                // Values come to their end without the store's lock.
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
        // First: in a forked process, what is asked for here waits for threads that there are not.
        try checkUsable()
        memory.settleMoves()
        return try removing(.expired, .sweep) { removed throws(StoreError) in
            try store.removeExpired(at: clock.now, removed: removed)
        }
    }

    /// Does in the background what ``removeExpired()`` does.
    func sweep() {
        do throws(CacheError) {
            try removeExpired()
        } catch {
            // Closed meanwhile, it has nothing to tell.
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

    /// - Parameter told: keys that count and are told already, for memory alone had an entry.
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
