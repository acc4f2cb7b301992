import Foundation

extension PackedStore {
    /// Implementation: one part after another, in the order in which entries were written.
    package func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        for part in 0..<PackedIndex.partCount {
            for entry in try entries(inPart: part) {
                guard body(entry) else { return }
            }
        }
    }

    package var partCount: Int { PackedIndex.partCount }

    /// Implementation: a part is that of the index. One that is not in memory is read, and not kept there, so that
    /// listing all entries takes the memory of one part.
    package func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        try reduceEntries(inPart: part, archivesUpTo: 0, into: []) { entries, entry, _ in
            entries.append(entry)
            return true
        }
    }

    /// Implementation: as ``entries(inPart:)``; each record is read once, by one `pread`.
    package func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, StoreError>, _ archive: [UInt8]?) -> Bool
    ) throws(StoreError) -> State {
        let state = try withLog { log throws(StoreError) -> State? in
            var state = initial
            guard (0..<PackedIndex.partCount).contains(part) else { return state }
            var slots = log.index.slots(inPart: part, keepsPart: false)
            // The places of all of them, once there are more than those of the part.
            var places: Set<RecordPlace> = []
            func add(_ latest: [IndexSlot]) {
                if places.isEmpty { places = Set(slots.map(\.place)) }
                slots += latest.filter { places.insert($0.place).inserted }
            }
            var next = 0
            while next < slots.count {
                let slot = slots[next]
                next += 1
                // In the order of their places, so the same ones follow one another.
                if next > 1, slots[next - 2].place == slot.place { continue }
                let result: Result<EntryInformation, StoreError>
                var archive: [UInt8]?
                do throws(StoreError) {
                    guard let found = try log.reader.read(slot, .whole) else {
                        // Its segment was dropped in the meantime; the index has the entry's present place.
                        try log.lock.catchUp()
                        add(log.index.slots(slot.hash))
                        continue
                    }
                    let key = String(decoding: found.record.key, as: UTF8.self)
                    result = .success(log.reader.information(found, key: key))
                    archive = log.reader.archiveAtHand(of: found, limit: byteCount)
                } catch {
                    guard error.code == .corrupted || error.code == .tooLarge else { throw error }
                    // Saved over in the meantime, its blocks may have been given back.
                    try log.lock.catchUp()
                    let latest = log.index.slots(slot.hash)
                    guard latest.contains(where: { $0.place == slot.place }) else {
                        add(latest)
                        continue
                    }
                    result = .failure(error)
                }
                guard body(&state, result, archive) else { break }
            }
            try log.reader.status.checkIndex()
            return state
        }
        return state ?? initial
    }

    // MARK: Others

    package func setUser(_ user: any StoreUser) {
        self.user.set(user)
    }

    package func digest(of key: String) -> KeyDigest {
        // An invalid key has no entry, and no change of it is ever reported.
        guard let key = try? StoreKey(key) else { return KeyDigest(high: 0, low: 0) }
        return KeyDigest(high: hashing(key.bytes).high, low: 0)
    }

    /// Implementation: one `lseek` where nothing has changed.
    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        guard settings.followsOthers else { return .keys([]) }
        let changes = try withLog { log throws(StoreError) -> ChangesByOthers? in
            try log.takeChanges().map { .keys($0.map { KeyDigest(high: $0, low: 0) }) } ?? .everything
        }
        return changes ?? .everything
    }
}
