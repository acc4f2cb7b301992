extension PackedStore {
    /// Implementation: `lseek` on the last segment, a look into memory, `pread`, inflate.
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let (key, digest) = try self.key(key)
        return try withLog { log throws(StoreError) in
            try withDamageRemoved(digest.high, in: log) { () throws(StoreError) in
                guard let found = try log.find(key, digest) else { return nil }
                let archive = try log.reader.archive(of: found, limit: archiveByteLimit)
                if found.slot.uses < IndexSlot.mostUses {
                    log.index.use(found.slot)
                }
                return StoredArchive(archive: archive, information: log.reader.information(found, key: key.string))
            }
        }
    }

    /// Implementation: as ``fetch(forKey:)``.
    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let (key, digest) = try self.key(key)
        typealias Source = (log: PackedLog, found: LocatedRecord, dictionary: PresetDictionary?)
        // Inflated only when the record is found for good: pieces given to `body` cannot be taken back.
        let source = try withLog { log throws(StoreError) -> Source? in
            func source() throws(StoreError) -> Source? {
                guard let found = try log.find(key, digest) else { return nil }
                let number = found.slot.place.segment
                return (log, found, try log.reader.dictionary(of: found.record, in: found.bytes, segment: number))
            }
            do throws(StoreError) {
                return try source()
            } catch {
                guard error.code == .corrupted else { throw error }
                // Saved over in the meantime, its blocks may have been given back.
                try log.lock.catchUp()
                return try source()
            }
        }
        guard let (log, found, dictionary) = source else { return nil }
        try log.reader.inflate(found, dictionary: dictionary, limit: archiveByteLimit, pieces: body)
        return log.reader.information(found, key: key.string)
    }

    /// Implementation: as ``fetch(forKey:)``.
    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        let (key, digest) = try self.key(key)
        return try withLog { log throws(StoreError) in
            try withDamageRemoved(digest.high, in: log) { () throws(StoreError) in
                try log.find(key, digest).map { log.reader.information($0, key: key.string) }
            }
        }
    }

    /// Removes the damaged entries with a hash, if `body` finds one.
    @inline(__always)
    func withDamageRemoved<Result>(
        _ hash: UInt64,
        in log: PackedLog,
        _ body: () throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.code == .corrupted else { throw error }
            let count = Swift.Result { () throws(StoreError) in try log.remover.removeDamaged(hash) }
            switch count {
            // Another caller has removed it, or was just saving over it.
            case .success(0): return try body()
            case .success: throw error
            case .failure:
                // The entry may have been moved and its blocks given back, also for a process that cannot write.
                // Without a sound record it stays damaged, and this process has forgotten it by now.
                let again = Swift.Result { () throws(StoreError) in
                    try log.lock.catchUp()
                    return try body()
                }
                guard case .success(let found?) = again else { throw error }
                return found
            }
        }
    }
}
