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

    /// The entry that memory is to keep; `nil` if there is none.
    var entry: MemoryEntry? {
        if case .new(let new) = self { new.entry } else { nil }
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
    /// - Parameters:
    ///   - members: of two for one key, the later one counts.
    ///   - keepsFormer: whether the entry that a key has stays where the new one fails.
    /// - Returns: the failure of each, in their order; `nil` for a success.
    /// - Throws: `.closed` and `.forked`, and then nothing was done.
    func write(_ members: [BatchMember], keepsFormer: Bool = false) throws(CacheError) -> [CacheError?] {
        try checkUsable()
        if members.isEmpty { return [] }
        let keys = members.map(\.key)
        let writes = keys.firstPlaces()
        var batch = beginWrites(keys, writes)
        let now = clock.now
        var failures = [CacheError?](repeating: nil, count: members.count)
        // The places of members that the store is asked to save.
        var places: [Int] = []
        places.reserveCapacity(members.count)
        for place in members.indices {
            switch members[place] {
            case .failed(let key, let error): failures[place] = error.named(cache: name, key: key.text)
            case .new(let new) where new.attributes.freshness(at: now) == .useless: break
            case .new: places.append(place)
            }
        }
        var isSaved = [Bool](repeating: false, count: members.count)
        let answers = save(members, at: places)
        for index in answers.indices {
            let place = places[index]
            switch answers[index] {
            case .success(let information):
                guard let entry = members[place].entry else { continue }
                entry.timing?.saved(information)
                entry.version = information?.identity.version ?? 0
                isSaved[place] = true
            case .failure(let error): failures[place] = failure(error, keys[place])
            }
        }
        let replaced = end(&batch, writes, of: members, isSaved: isSaved)
            .filter { !keepsFormer || failures[$0] == nil }
        if !replaced.isEmpty { removeReplaced(members, at: replaced, writes, in: &batch, failures: &failures) }
        return failures
    }

    /// Ends the writes of a batch: memory keeps the last entry of each key, if it was saved.
    ///
    /// - Parameters:
    ///   - writes: for each member the place of its key's write in the batch.
    ///   - isSaved: whether the member at each place was saved.
    /// - Returns: the places of the keys' last members that were not saved, whose writes have not ended.
    private func end(
        _ batch: inout WriteBatch,
        _ writes: [Int],
        of members: [BatchMember],
        isSaved: [Bool]
    ) -> [Int] {
        // The last member of a key counts: its place, at the place of the key's write.
        var last = writes
        for place in writes.indices { last[writes[place]] = place }
        var ends: [WriteBatch.End] = []
        var saved: [MemoryEntry] = []
        ends.reserveCapacity(members.count)
        saved.reserveCapacity(members.count)
        var unsaved: [Int] = []
        for place in members.indices {
            let entry = isSaved[place] ? members[place].entry : nil
            if let entry { saved.append(entry) }
            guard last[writes[place]] == place else { continue }
            if let entry {
                ends.append(WriteBatch.End(place: writes[place], tombstone: .remove, entry: entry))
            } else {
                unsaved.append(place)
            }
        }
        recorder.recordSaves(of: saved, replacing: batch.end(ends))
        return unsaved
    }

    private func save(
        _ members: [BatchMember],
        at places: [Int]
    ) -> [Result<EntryInformation?, StoreError>] {
        if places.isEmpty { return [] }
        var new: [NewEntry] = []
        new.reserveCapacity(places.count)
        for place in places {
            if case .new(let entry) = members[place] { new.append(entry) }
        }
        // A store in memory has no lock or device to wait for once, and has to be told the cost of each entry.
        if archives != nil {
            return new.map { new in Result { () throws(StoreError) in try put(new, if: nil) } }
        }
        let archives = new.map { NewArchive(key: $0.key.text, archive: $0.archive, attributes: $0.attributes) }
        return listeners.observing(.write) { store.save(archives) }
    }

    /// Begins to change the entries of some keys, each of which may come several times.
    ///
    /// - Parameter places: for each key the place of the first one that is equal to it.
    /// - Returns: the changes, each at the place of its key's first one.
    private func beginWrites(_ keys: [EntryKey], _ places: [Int]) -> WriteBatch {
        let begun = memory.withLock { memory in
            var begun: [MemoryTier.BegunWrite?] = []
            begun.reserveCapacity(keys.count)
            for index in keys.indices {
                begun.append(places[index] == index ? memory.beginWrite(keys[index]) : nil)
            }
            return begun
        }
        let batch = WriteBatch(core: self, keys, begun)
        memory.notifySiblings(changed: keys)
        memory.drainSiblings(keys)
        for index in keys.indices where places[index] == index {
            loads.forget(keys[index])
            foreignChanges?.expect(keys[index])
        }
        return batch
    }

    /// Called by batches: ends changes of some keys, as ``endWrite(_:since:_:keeping:unsaved:)`` does.
    ///
    /// - Parameter begun: the changes at the keys' places, none of which has ended.
    func endWrites(_ ends: [WriteBatch.End], of keys: [EntryKey], _ begun: [MemoryTier.BegunWrite?]) {
        for end in ends {
            if let start = begun[end.place]?.start {
                memory.tombstones.change(keys[end.place], end.tombstone.ending(start))
            }
        }
        let dropped = memory.withLock { memory in
            var dropped = MemoryTier.Dropped()
            for end in ends {
                guard let start = begun[end.place]?.start else { continue }
                dropped.add(memory.endWrite(keys[end.place], since: start, keeping: end.entry))
            }
            return dropped
        }
        release(dropped)
        memory.notifySiblings(changed: ends.lazy.filter { begun[$0.place] != nil }.map { keys[$0.place] })
    }

    /// Removes the older entries of keys for which the last member was not saved, so that none is taken for that
    /// member.
    ///
    /// - Parameters:
    ///   - places: the places of the keys' last members.
    ///   - writes: for each member the place of its key's write in the batch.
    ///   - failures: gets the failures of removals for members that had expired already.
    private func removeReplaced(
        _ members: [BatchMember],
        at places: [Int],
        _ writes: [Int],
        in batch: inout WriteBatch,
        failures: inout [CacheError?]
    ) {
        for (place, answer) in zip(places, store.remove(forKeys: places.map { members[$0].key.text })) {
            let key = members[place].key
            var tombstone = Tombstones.Change.remove
            if case .failure(let error) = answer { tombstone = self.tombstone(after: error) }
            batch.end(writes[place], tombstone)
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
        let firstPlaces = keys.firstPlaces()
        var batch = beginWrites(keys, firstPlaces)
        let places = keys.indices.filter { firstPlaces[$0] == $0 }
        let answers = listeners.observing(.remove) { store.remove(forKeys: places.map { keys[$0].text }) }
        var count = 0
        var failures: [CacheError] = []
        for (place, answer) in zip(places, answers) {
            let key = keys[place]
            switch answer {
            case .success(let wasOnDisk):
                let write = batch.end(place, .remove)
                guard wasOnDisk || write?.wasUnsaved == true else { continue }
                count += 1
                recorder.record(.removed, key)
            case .failure(let error):
                batch.end(place, tombstone(after: error))
                failures.append(failure(error, key))
            }
        }
        return (count, failures)
    }
}
