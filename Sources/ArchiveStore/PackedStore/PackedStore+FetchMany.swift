extension PackedStore {
    /// Implementation: one `lseek` on the last segment for all of them, then one `pread` for records that lie close to each
    /// other. Keys without an entry, and keys whose records are not as the index says, are fetched one by one.
    package func fetch(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>] {
        var found = [StoredArchive?](repeating: nil, count: keys.count)
        if keys.count > 1 {
            bestEffort("the rest is fetched one by one, which gives each key its own error") {
                () throws(StoreError) in
                try fetchTogether(keys, into: &found)
            }
        }
        return keys.indices.map { index in
            if let archive = found[index] { return .success(archive) }
            return Result { () throws(StoreError) in try fetch(forKey: keys[index]) }
        }
    }

    private func fetchTogether(_ keys: [String], into found: inout [StoredArchive?]) throws(StoreError) {
        let log = try openLog()
        // `close()` waits for the last reference.
        defer { withExtendedLifetime(log) {} }
        try log.lock.catchUp()
        var wanted: [StoreKey] = []
        var slots: [IndexSlot] = []
        var places: [Int] = []
        wanted.reserveCapacity(keys.count)
        slots.reserveCapacity(keys.count)
        places.reserveCapacity(keys.count)
        for place in keys.indices {
            let (key, digest) = try key(keys[place])
            guard let slot = log.index.slot(digest) else { continue }
            wanted.append(key)
            slots.append(slot)
            places.append(place)
        }
        try log.reader.readTogether(wanted, at: slots) { index, record throws(StoreError) in
            let archive = Result { () throws(StoreError) in
                try log.reader.archive(of: record, limit: archiveByteLimit)
            }
            guard case .success(let archive) = archive else { return }
            if record.slot.uses < IndexSlot.mostUses { log.index.use(record.slot) }
            let information = log.reader.information(record, key: wanted[index].string)
            found[places[index]] = StoredArchive(archive: archive, information: information)
        }
    }
}
