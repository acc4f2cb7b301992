import Foundation

extension FileStore {
    /// Implementation: a look at the slot and `unlinkat`, while the shard is locked (`flock`).
    @discardableResult
    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let key = try StoreKey(key)
        return try withChain(of: key) { chain, shard throws(StoreError) in
            let folder = chain.reader.directory
            let isRemoved = try shard.withLock(on: folder, waits: false) { () throws(StoreError) in
                try remove(key, from: chain)
            }
            // Also if nothing is there: another process may have removed it without waiting.
            try shard.wait(for: folder, includingOthers: true)
            return isRemoved ? true : nil
        } ?? false
    }

    /// Removes the entry of a key, while its shard is locked.
    func remove(_ key: StoreKey, from chain: SlotChain) throws(StoreError) -> Bool {
        let found = try chain.find(key, .tail)
        if let match = found.match {
            try chain.vacate(match.slot, of: key)
            return true
        }
        // A damaged file may have been this key's: after a removal, a fetch has no damage to report.
        let damaged = try chain.find(key, .information).damaged
        for (slot, _) in damaged.reversed() { try chain.vacate(slot, of: nil) }
        if let obstacle = found.obstacle { throw obstacle }
        return !damaged.isEmpty
    }

    /// Implementation: as ``remove(forKey:)``.
    @discardableResult
    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let key = try StoreKey(entry.key)
        return try withChain(of: key) { chain, shard throws(StoreError) in
            try remove(entry, of: key, from: chain, in: shard) ? true : nil
        } ?? false
    }

    @discardableResult
    func remove(
        _ information: EntryInformation,
        of key: StoreKey,
        from chain: SlotChain,
        in shard: Shard,
        isDamaged: Bool = false
    ) throws(StoreError) -> Bool {
        try shard.withLock(on: chain.reader.directory) { () throws(StoreError) in
            guard let match = try chain.find(key, .tail).match else { return false }
            guard identity(match.entry, match.status) == information.identity else { return false }
            if isDamaged { chain.keep(match.slot) }
            try chain.vacate(match.slot, of: key)
            return true
        }
    }

    /// Implementation: lists one shard after another, and locks it for each name. Only files that are named as entries,
    /// in directories that are named as shards, are removed; the directories stay. Files in quarantine are removed as
    /// well, since each was an entry's once.
    package func removeAll() throws(StoreError) {
        guard let directory = try refreshed() else { return }
        defer { withExtendedLifetime(directory) {} }
        for (index, shard) in directory.shards.enumerated() {
            guard let folder = try shard.refreshedDirectory() else { continue }
            for (name, slot) in try lastSlots(in: folder, of: shard, index) {
                try shard.withLock(on: folder, waits: false) { () throws(StoreError) in
                    try chain(name, in: folder, of: shard, directory).removeAll(lastSeen: slot)
                }
            }
            try shard.wait(for: folder, includingOthers: true)
        }
        try refreshed()?.emptyQuarantine()
    }
}
