import ArchiveStore
import Foundation

/// One of many entries that are saved by one call.
enum BatchMember: Sendable {
    case new(NewEntry)
    /// It could not be archived.
    case failed(EntryKey, CacheError)

    var key: EntryKey {
        switch self {
        case .new(let new): new.key
        case .failed(let key, _): key
        }
    }

    /// The bytes of its archive; zero if there is none.
    var byteCount: Int {
        if case .new(let new) = self { new.archive.count } else { 0 }
    }
}

extension CacheCore {
    /// Saves entries as ``write(_:_:keepsUnsaved:)`` does, each in place of the entry that is there, but asks the
    /// store once for all of them, and memory's lock is taken once. Blocks on disk I/O.
    ///
    /// - Parameter members: of two for one key, the later one counts.
    /// - Returns: why each of them failed, in their order; `nil` for those that did not.
    /// - Throws: `.closed` and `.forked`, and then nothing was done.
    func write(_ members: [BatchMember]) throws(CacheError) -> [CacheError?] {
        try checkUsable()
        if members.isEmpty { return [] }
        var batch = beginWrites(members.map(\.key))
        let now = clock.now
        var failures = [CacheError?](repeating: nil, count: members.count)
        var entries: [NewEntry] = []
        // The places of members that the store is asked to save.
        var places: [Int] = []
        entries.reserveCapacity(members.count)
        places.reserveCapacity(members.count)
        for (place, member) in members.enumerated() {
            switch member {
            case .failed(let key, let error): failures[place] = error.named(cache: name, key: key.text)
            case .new(let new) where new.attributes.freshness(at: now) == .useless: break
            case .new(let new):
                entries.append(new)
                places.append(place)
            }
        }
        var saved = [NewEntry?](repeating: nil, count: members.count)
        for (new, (place, answer)) in zip(entries, zip(places, save(entries))) {
            switch answer {
            case .success(let information):
                new.entry.timing?.saved(information)
                new.entry.version = information?.identity.version ?? 0
                saved[place] = new
            case .failure(let error): failures[place] = failure(error, new.key)
            }
        }
        end(&batch, of: members, saved: saved, failures: &failures)
        return failures
    }

    /// Ends the writes of a batch: memory keeps the last entry of each key, if it was saved.
    ///
    /// - Parameter saved: the entries that were saved, at their members' places.
    private func end(
        _ batch: inout WriteBatch,
        of members: [BatchMember],
        saved: [NewEntry?],
        failures: inout [CacheError?]
    ) {
        var ends: [WriteBatch.End] = []
        ends.reserveCapacity(saved.count)
        var unsaved: [(key: EntryKey, place: Int)] = []
        let repeatsKeys = batch.count < members.count
        var seen: Set<EntryKey> = []
        // Backwards, because the last member of a key counts.
        for (place, member) in members.enumerated().reversed() {
            if repeatsKeys, !seen.insert(member.key).inserted { continue }
            if let new = saved[place] {
                ends.append(WriteBatch.End(key: new.key, tombstone: .remove, entry: new.entry))
            } else {
                unsaved.append((member.key, place))
            }
        }
        ends.reverse()
        recorder.recordSaves(of: saved.compactMap(\.self), replacing: batch.end(ends))
        if !unsaved.isEmpty { removeReplaced(unsaved.reversed(), &batch, failures: &failures) }
    }

    private func save(_ entries: [NewEntry]) -> [Result<EntryInformation?, StoreError>] {
        if entries.isEmpty { return [] }
        // A store in memory has no lock or device to wait for once, and has to be told the cost of each entry.
        if archives != nil {
            return entries.map { new in Result { () throws(StoreError) in try put(new, if: nil) } }
        }
        let new = entries.map { NewArchive(key: $0.key.text, archive: $0.archive, attributes: $0.attributes) }
        return listeners.observing(.write) { store.save(new) }
    }

    /// Begins to change the entries of some keys, each of which may come several times.
    private func beginWrites(_ keys: [EntryKey]) -> WriteBatch {
        var batch = WriteBatch(core: self)
        batch.reserveCapacity(keys.count)
        var seen = Set<EntryKey>(minimumCapacity: keys.count)
        let distinct = keys.filter { seen.insert($0).inserted }
        let begun = memory.withLock { memory in distinct.map { memory.beginWrite($0) } }
        for (key, write) in zip(distinct, begun) { batch.add(key, write) }
        memory.notifySiblings(changed: distinct.lazy.map { ($0, .keep) })
        memory.drainSiblings(distinct)
        for key in distinct { expectWrite(key) }
        return batch
    }

    /// Called by batches: ends changes of some keys, as ``endWrite(_:since:_:keeping:unsaved:)`` does.
    func endWrites(_ writes: [(start: MemoryTier.Start, end: WriteBatch.End)]) {
        let dropped = memory.withLock { memory in
            var dropped = MemoryTier.Dropped()
            for (start, end) in writes {
                let own = memory.endWrite(end.key, since: start, end.tombstone, keeping: end.entry)
                dropped.evicted += own.evicted
                dropped.others += own.others
            }
            return dropped
        }
        release(dropped)
        memory.notifySiblings(changed: writes.lazy.map { ($0.end.key, $0.end.tombstone) })
    }

    /// Removes the older entries of keys for which the last member was not saved, so that none is taken for that
    /// member.
    ///
    /// - Parameters:
    ///   - members: the keys, with the places of their last members.
    ///   - failures: gets the failures of removals for members that had expired already.
    private func removeReplaced(
        _ members: [(key: EntryKey, place: Int)],
        _ batch: inout WriteBatch,
        failures: inout [CacheError?]
    ) {
        for ((key, place), answer) in zip(members, store.remove(forKeys: members.map(\.key.text))) {
            var tombstone = MemoryTier.Tombstone.remove
            if case .failure(let error) = answer { tombstone = self.tombstone(after: error) }
            batch.end(key, tombstone)
            switch answer {
            case .success(let wasThere):
                if wasThere { recorder.record(.removed, key) }
            case .failure(let error) where failures[place] == nil: failures[place] = failure(error, key)
            case .failure(let error): report(error, as: .failed, of: key)
            }
        }
    }

    /// Removes the entries for some keys, as ``remove(_:)`` does, but asks the store once for all of them. Blocks on
    /// disk I/O.
    ///
    /// - Returns: how many entries there were, and why some could not be removed.
    /// - Throws: `.closed` and `.forked`, and then nothing was done.
    func remove(_ keys: [EntryKey]) throws(CacheError) -> (count: Int, failures: [CacheError]) {
        try checkUsable()
        if keys.isEmpty { return (0, []) }
        var batch = beginWrites(keys)
        var seen: Set<EntryKey> = []
        let keys = keys.filter { seen.insert($0).inserted }
        let answers = listeners.observing(.remove) { store.remove(forKeys: keys.map(\.text)) }
        var count = 0
        var failures: [CacheError] = []
        for (key, answer) in zip(keys, answers) {
            switch answer {
            case .success(let wasOnDisk):
                let write = batch.end(key, .remove)
                guard wasOnDisk || write?.wasUnsaved == true else { continue }
                count += 1
                recorder.record(.removed, key)
            case .failure(let error):
                batch.end(key, tombstone(after: error))
                failures.append(failure(error, key))
            }
        }
        return (count, failures)
    }
}
