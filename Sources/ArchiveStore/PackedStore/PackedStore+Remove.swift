import Foundation

extension PackedStore {
    /// Implementation: a removal record is appended.
    @discardableResult
    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let (key, digest) = try self.key(key)
        return try remove(key, digest) { _ in true }
    }

    /// Implementation: as ``remove(forKey:)``.
    @discardableResult
    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let (key, digest) = try self.key(entry.key)
        return try remove(key, digest) { $0.identity == entry.identity }
    }

    private func remove(
        _ key: StoreKey,
        _ digest: KeyDigest,
        where isChosen: (EntryInformation) -> Bool
    ) throws(StoreError) -> Bool {
        let isRemoved = try withLog { log throws(StoreError) -> Bool? in
            let (isRemoved, end) = try log.remover.remove(key, digest, where: isChosen)
            // Also where nothing was removed: a former removal of the key may not have waited.
            if let end { try log.commits.synchronize(upTo: end, removing: [(key, digest)]) }
            guard isRemoved else { return nil }
            keepUp(log)
            return true
        }
        return isRemoved != nil
    }

    /// Implementation: another segment is begun, and those before it are deleted.
    package func removeAll() throws(StoreError) {
        _ = try withLog { log throws(StoreError) -> Void? in try log.removeAll() }
    }

    /// Implementation: every index slot in memory is checked; only entries that may be due are read.
    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        _ = try withLog { log throws(StoreError) -> Void? in
            try log.sweeper.removeExpired(at: date, removed: removed)
        }
    }

    /// Implementation: as ``removeExpired(at:removed:)``.
    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        _ = try withLog { log throws(StoreError) -> Void? in
            try log.sweeper.removeAll(tagged: tag, removing: removing, removed: removed)
        }
    }

    /// Implementation: every record is read.
    @discardableResult
    package func removeDamagedEntries() throws(StoreError) -> Int {
        try withLog { log throws(StoreError) -> Int? in try log.sweeper.removeDamaged() } ?? 0
    }

    // MARK: Room

    /// Implementation: the oldest entries that were not fetched since the clock last passed them go; then the segments
    /// are rewritten, up to the last one that has anything else in it than entries.
    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        _ = try withLog { log throws(StoreError) -> Void? in
            try log.space.trim(toByteCount: byteCount, removed: removed)
        }
    }

    /// Implementation: the segments are rewritten, up to the last one that has anything else in it than entries, or a
    /// former key.
    @discardableResult
    package func compact() throws(StoreError) -> Int {
        try withLog { log throws(StoreError) -> Int? in try log.space.compact() } ?? 0
    }
}
