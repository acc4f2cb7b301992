import Foundation

extension PackedStore {
    /// Implementation: one part after another, in the order in which entries were written.
    package func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        _ = try reading { log throws(StoreError) -> Void? in
            for part in 0..<PackedIndex.partCount {
                guard try forEachEntry(of: log, inPart: part, body) else { break }
            }
            return ()
        }
    }

    package var partCount: Int { PackedIndex.partCount }

    /// Implementation: a part is that of the index.
    package func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        var entries: [Result<EntryInformation, StoreError>] = []
        _ = try reading { log throws(StoreError) -> Void? in
            _ = try forEachEntry(of: log, inPart: part) { entry in
                entries.append(entry)
                return true
            }
            return ()
        }
        return entries
    }

    private func forEachEntry(
        of log: PackedLog,
        inPart part: Int,
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) -> Bool {
        for slot in log.slots(inPart: part) {
            do throws(StoreError) {
                var found = try log.read(slot, .whole)
                if found == nil { found = try log.moved(slot) }
                guard let found else { continue }
                let key = String(decoding: found.record.key, as: UTF8.self)
                guard body(.success(information(found, key, log))) else { return false }
            } catch {
                guard error.code == .corrupted else { throw error }
                guard body(.failure(error)) else { return false }
            }
        }
        return true
    }

    // MARK: Others

    package func setUser(_ user: any StoreUser) {
        self.user.withLock { $0 = StoreUserReference(user) }
    }

    package func digest(of key: String) -> KeyDigest {
        // What is no key has no entry, and nothing is ever told of it.
        guard let key = try? StoreKey(key) else { return KeyDigest(high: 0, low: 0) }
        return KeyDigest(high: hashing(key), low: 0)
    }

    /// Implementation: one `lseek` where nothing has changed.
    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        guard settings.followsOthers else { return .keys([]) }
        let changes = try reading { log throws(StoreError) -> ChangesByOthers? in
            try log.looking { writer in
                defer { writer.changes = [] }
                return writer.changes.map { .keys($0.map { KeyDigest(high: $0, low: 0) }) } ?? .everything
            }
        }
        return changes ?? .everything
    }
}

extension PackedLog {
    /// The entry of a slot whose segment was given up since, if it was written anew; `nil` if not.
    func moved(_ slot: IndexSlot) throws(StoreError) -> Found? {
        try catchUp()
        for other in slots(slot.hash) where other.byteCount == slot.byteCount && other.place != slot.place {
            if let found = try read(other, .whole) { return found }
        }
        return nil
    }
}
