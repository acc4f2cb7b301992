import Foundation

extension FileStore {
    /// Implementation: `openat`, `fstat`, `pread`, `close`; for a miss, `openat` fails, and `lstat` confirms
    /// that the directory was the right one.
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let key = try StoreKey(key)
        return try withChain(of: key) { chain, shard throws(StoreError) -> StoredArchive? in
            guard let (entry, status) = try find(key, .archive, in: chain, of: shard) else { return nil }
            let information = information(entry, status, of: key)
            do throws(EntryFault) {
                let archive = try entry.archive(limit: settings.archiveByteLimit)
                chain.journal.markUse(of: chain.name)
                return StoredArchive(archive: archive, information: information)
            } catch {
                // Its checksum is right, but no store wrote it: so the checksum says nothing about the content.
                if case .damaged = error {
                    try remove(information, of: key, from: chain, in: shard, isDamaged: true)
                }
                throw chain.error(error, slot: 0)
            }
        }
    }

    /// Implementation: as ``fetch(forKey:)``, or a look at every slot of the name while the shard is locked.
    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        // Inflated when the entry is found for good: pieces given to `body` cannot be taken back.
        let found = try withChain(of: key) { chain, shard throws(StoreError) in
            try look(for: key, in: chain, of: shard).map { (entry: $0.1, status: $0.2, path: chain.path($0.slot)) }
        }
        guard let found else { return nil }
        do throws(EntryFault) {
            try found.entry.inflate(limit: settings.archiveByteLimit, pieces: body)
        } catch {
            throw error.error(path: found.path, limit: settings.archiveByteLimit)
        }
        return information(found.entry, found.status, of: key)
    }

    /// The slot and all bytes of a key's entry; leaves damaged files alone.
    private func look(
        for key: StoreKey,
        in chain: SlotChain,
        of shard: Shard
    ) throws(StoreError) -> (slot: Int, EntryFile, FileStatus)? {
        switch try chain.content(0, .archive) {
        case .absent: return nil
        case .entry(let entry, let status) where entry.holds(key): return (0, entry, status)
        default: break
        }
        let found = try shard.withLock(on: chain.reader.directory) { () throws(StoreError) in
            try chain.find(key, .archive)
        }
        if let match = found.match { return (match.slot, match.entry, match.status) }
        if let obstacle = found.obstacle { throw obstacle }
        if let (slot, reason) = found.damaged.first { throw chain.error(.damaged(reason), slot: slot) }
        return nil
    }

    /// Implementation: as ``fetch(forKey:)``; a large file is read a piece at a time.
    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        return try withChain(of: key) { chain, shard throws(StoreError) -> EntryInformation? in
            guard let (entry, status) = try find(key, .information, in: chain, of: shard) else { return nil }
            return information(entry, status, of: key)
        }
    }

    func find(
        _ key: StoreKey,
        _ extent: SlotContent.Extent,
        in chain: SlotChain,
        of shard: Shard
    ) throws(StoreError) -> (EntryFile, FileStatus)? {
        switch try chain.content(0, extent) {
        case .absent: return nil
        case .entry(let entry, let status) where entry.holds(key): return (entry, status)
        default: break
        }
        // Damaged, or another key's. Slots may change in the meantime, so look again when they cannot.
        return try shard.withLock(on: chain.reader.directory) { () throws(StoreError) in
            let found = try chain.find(key, extent)
            if let match = found.match { return (match.entry, match.status) }
            if let error = found.obstacle ?? chain.takeAway(found.damaged) { throw error }
            return nil
        }
    }

    func information(_ entry: EntryFile, _ status: FileStatus, of key: StoreKey) -> EntryInformation {
        entry.information(key: key.string, identity: identity(entry, status))
    }

    func identity(_ entry: EntryFile, _ status: FileStatus) -> EntryIdentity {
        if let identity = EntryIdentity(entry.attributes) { return identity }
        // An encrypted entry may be written again with another key.
        let file = entry.seal?.save ?? status.identity.number
        return EntryIdentity(volume: status.identity.device, file: file, checksum: entry.footer.checksum)
    }
}
