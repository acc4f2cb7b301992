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
    /// The outcome of a key's last member.
    private enum Outcome {
        case saved(NewEntry)
        case failed
        /// It had expired already.
        case expired
    }

    /// Saves entries as ``write(_:_:keepsUnsaved:)`` does, each in place of the entry that is there, but asks the
    /// store once for all of them. Blocks on disk I/O.
    ///
    /// - Parameter members: of two for one key, the later one counts.
    /// - Returns: why some of them failed, in their order.
    /// - Throws: `.closed` and `.forked`, and then nothing was done.
    func write(_ members: [BatchMember]) throws(CacheError) -> [CacheError] {
        try checkUsable()
        if members.isEmpty { return [] }
        var batch = beginWrites(members.map(\.key))
        let now = clock.now
        let entries = members.map { member -> NewEntry? in
            guard case .new(let new) = member, new.attributes.freshness(at: now) != .useless else { return nil }
            return new
        }
        var answers = save(entries.compactMap(\.self))[...]
        var failures: [CacheError] = []
        var outcomes: [EntryKey: Outcome] = [:]
        var saved: [EntryKey] = []
        for (member, entry) in zip(members, entries) {
            outcomes[member.key] = .expired
            if case .failed(let key, let error) = member {
                failures.append(error.named(cache: name, key: key.text))
                outcomes[key] = .failed
            } else if let entry, let answer = answers.popFirst() {
                switch answer {
                case .success(let information):
                    entry.entry.timing?.saved(information)
                    outcomes[entry.key] = .saved(entry)
                    saved.append(entry.key)
                case .failure(let error):
                    failures.append(failure(error, entry.key))
                    outcomes[entry.key] = .failed
                }
            }
        }
        var replaced: Set<EntryKey> = []
        for case .saved(let new) in outcomes.values {
            if batch.end(new.key, .remove, keeping: new.entry)?.former != nil { replaced.insert(new.key) }
        }
        for key in saved {
            // A key may be saved several times, but memory had its entry once.
            if replaced.remove(key) != nil { recorder.record(.replaced, key) }
            recorder.record(.saved, key)
        }
        return failures + removeReplaced(outcomes, &batch)
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
        for key in keys where !batch.contains(key) { batch.add(key, begunWrite(key)) }
        return batch
    }

    /// Removes the older entries of keys for which the last member was not saved, so that none is taken for that
    /// member.
    ///
    /// - Returns: the failures of removals for members that had expired already.
    private func removeReplaced(
        _ outcomes: [EntryKey: Outcome],
        _ batch: inout WriteBatch
    ) -> [CacheError] {
        var keys: [EntryKey] = []
        for (key, outcome) in outcomes {
            if case .saved = outcome { continue }
            keys.append(key)
        }
        if keys.isEmpty { return [] }
        var failures: [CacheError] = []
        for (key, answer) in zip(keys, store.remove(forKeys: keys.map(\.text))) {
            switch (answer, outcomes[key]) {
            case (.success(let wasThere), _):
                if wasThere { recorder.record(.removed, key) }
            case (.failure(let error), .expired):
                failures.append(failure(error, key))
            case (.failure(let error), _):
                report(error, as: .failed, of: key)
            }
            let tombstone: MemoryTier.Tombstone = if case .success = answer { .remove } else { .add }
            batch.end(key, tombstone)
        }
        return failures
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
                batch.end(key, .add)
                failures.append(failure(error, key))
            }
        }
        return (count, failures)
    }
}
