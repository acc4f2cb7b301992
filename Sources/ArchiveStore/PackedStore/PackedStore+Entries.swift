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
        try entries(inPart: part, archivesUpTo: 0).map(\.information)
    }

    /// Implementation: as ``entries(inPart:)``; each record is read once, by one `pread`.
    package func entries(inPart part: Int, archivesUpTo byteCount: Int) throws(StoreError) -> [ListedEntry] {
        try withLog { log throws(StoreError) -> [ListedEntry]? in
            guard (0..<PackedIndex.partCount).contains(part) else { return [] }
            var room = byteCount
            var entries: [ListedEntry] = []
            var given: Set<RecordPlace> = []
            var rest = log.index.slots(inPart: part, keepsPart: false)[...]
            while let slot = rest.popFirst() {
                guard given.insert(slot.place).inserted else { continue }
                do throws(StoreError) {
                    guard let found = try log.reader.read(slot, .whole) else {
                        // Its segment was given up meanwhile; the index has the entry's present place.
                        try log.lock.catchUp()
                        rest += log.index.slots(slot.hash)
                        continue
                    }
                    let key = String(decoding: found.record.key, as: UTF8.self)
                    let information = log.reader.information(found, key: key)
                    let archive = log.reader.archiveAtHand(of: found, room: &room)
                    entries.append(ListedEntry(.success(information), archive: archive))
                } catch {
                    guard error.code == .corrupted else { throw error }
                    // Saved over meanwhile, its blocks may have been given back.
                    try log.lock.catchUp()
                    let latest = log.index.slots(slot.hash)
                    if latest.contains(where: { $0.place == slot.place }) {
                        entries.append(ListedEntry(.failure(error)))
                    } else {
                        rest += latest
                    }
                }
            }
            try log.reader.status.checkIndex()
            return entries
        } ?? []
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
