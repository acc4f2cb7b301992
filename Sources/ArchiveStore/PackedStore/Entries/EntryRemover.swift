import Foundation

/// Removes entries from a log, one by one.
final class EntryRemover: Sendable {
    private let lock: LogLock
    private let reader: RecordReader
    private let tail: LogTail
    private let commits: GroupCommit
    private let owedRemovals: OwedRemovals
    private let user: PackedStoreUser

    init(
        lock: LogLock,
        reader: RecordReader,
        tail: LogTail,
        commits: GroupCommit,
        owedRemovals: OwedRemovals,
        user: PackedStoreUser
    ) {
        self.lock = lock
        self.reader = reader
        self.tail = tail
        self.commits = commits
        self.owedRemovals = owedRemovals
        self.user = user
    }

    /// Removes the entry of a key if it is chosen, and does not wait for the device.
    ///
    /// The removal of a key without an entry is appended as well where the one that was appended before may be lost, since a
    /// wait for the device has failed.
    ///
    /// - Returns: whether the entry was removed, and the place up to which the log must be on the device; `nil` where
    ///   another entry is there, so that none of this one's removals can be lost.
    func remove(
        _ key: StoreKey,
        _ digest: KeyDigest,
        where isChosen: (EntryInformation) -> Bool = { _ in true }
    ) throws(StoreError) -> (isRemoved: Bool, end: RecordPlace?) {
        let isAppendedAnyway = commits.owesRemoval(of: digest, upTo: tail.end)
        // No lock is taken where there is no entry.
        guard isAppendedAnyway || reader.index.slot(digest) != nil else { return (false, tail.end) }
        var evictions = Evictions()
        defer { user.tell(evictions) }
        return try lock.withExclusiveLog { state throws(StoreError) -> (Bool, RecordPlace?) in
            let found: LocatedRecord?
            do throws(StoreError) {
                found = try state.log.find(key, digest, extent: .head)
            } catch {
                guard error.code == .corrupted else { throw error }
                found = nil
                // The damaged entry may have been this key's: after a removal, a fetch must not report it.
                try removeDamaged(digest.high, from: &state, evictions: &evictions)
                return (true, tail.end)
            }
            guard let found else {
                if isAppendedAnyway { try appendRemoval(of: key, digest, to: &state, evictions: &evictions) }
                return (false, tail.end)
            }
            guard isChosen(reader.information(found, key: key.string)) else { return (false, nil) }
            if try !remove(found.record.key, digest, from: &state, evictions: &evictions) {
                // Evicted to make room for the removal, the entry counts as removed, not evicted.
                evictions.evicted.removeAll { $0.key == key.string }
            }
            return (true, tail.end)
        }
    }

    /// Appends the removals again that a failed wait for the device may have lost, of keys that still have no entry.
    ///
    /// - Parameter appended: gets their keys, also where not all can be appended: the caller waits for these.
    func appendOwedRemovals(_ appended: inout [(key: StoreKey, digest: KeyDigest)]) throws(StoreError) {
        let owed = owedRemovals.unsynchronized
        if owed.isEmpty { return }
        var evictions = Evictions()
        defer { user.tell(evictions) }
        try lock.withExclusiveLog { state throws(StoreError) in
            for (digest, key) in owed where reader.index.slot(digest) == nil {
                try appendRemoval(of: key, digest, to: &state, evictions: &evictions)
                appended.append((key, digest))
            }
        }
    }

    /// Removes entries that were read before, if they have not changed since.
    ///
    /// - Parameters:
    ///   - isSame: whether the entry that is there is the one that was read.
    ///   - removed: gets the removed entries, even if not all can be removed.
    ///   - evictions: gets the entries that had to be evicted for that.
    func remove(
        _ entries: [(key: StoreKey, digest: KeyDigest, entry: EntryInformation)],
        where isSame: (_ current: EntryInformation, _ read: EntryInformation) -> Bool,
        removed: inout [EntryInformation],
        evictions: inout Evictions
    ) throws(StoreError) {
        try lock.withExclusiveLog { state throws(StoreError) in
            for (key, digest, entry) in entries {
                // It may have been saved over, evicted or damaged in the meantime.
                let found: LocatedRecord?
                do throws(StoreError) {
                    found = try state.log.find(key, digest, extent: .head)
                } catch {
                    guard error.code == .corrupted else { throw error }
                    continue
                }
                guard let found, isSame(reader.information(found, key: key.string), entry) else { continue }
                if try remove(key.bytes, digest, from: &state, evictions: &evictions) { removed.append(entry) }
            }
        }
    }

    // MARK: Under the lock of the log

    /// Removes the entry of a key, after making room for the removal; returns false if that evicted the entry already.
    private func remove(
        _ key: [UInt8],
        _ digest: KeyDigest,
        from state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        let byteCount = Record.largestFieldsByteCount + key.count
        try state.reclaimer.reclaim(byteCount, now: nil, from: &state.log, evictions: &evictions)
        // It may have been moved, or evicted.
        guard let slot = reader.index.slot(digest) else { return false }
        return try remove(slot, key: key, from: &state, evictions: &evictions)
    }

    private func appendRemoval(
        of key: StoreKey,
        _ digest: KeyDigest,
        to state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) {
        var removal = RecordDraft.removal(key: key.bytes, hash: digest.high, isSealed: reader.isSealed)
        try state.reclaimer.reclaim(removal.byteCount, now: nil, from: &state.log, evictions: &evictions)
        try state.appendRemoval(&removal, evictions: &evictions)
        owedRemovals.appendedAgain(digest)
    }

    /// As above, where there is room within the limits.
    @discardableResult
    func remove(
        _ slot: IndexSlot,
        key: [UInt8],
        from state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        var removal = RecordDraft.removal(key: key, hash: slot.hash, isSealed: reader.isSealed)
        try state.appendRemoval(&removal, evictions: &evictions)
        // Making room for the removal may have moved or evicted it.
        guard let current = reader.index.slot(slot.digest) else { return false }
        state.log.index.remove(current)
        return true
    }

    // MARK: Damaged entries

    /// Removes the damaged ones among the entries with a hash; returns how many there were.
    func removeDamaged(_ hash: UInt64) throws(StoreError) -> Int {
        var evictions = Evictions()
        defer { user.tell(evictions) }
        return try lock.withExclusiveLog { state throws(StoreError) in
            try removeDamaged(hash, from: &state, evictions: &evictions)
        }
    }

    /// As above, under the lock of the log.
    ///
    /// - Parameter evictions: gets the entries that had to be evicted for that.
    @discardableResult
    private func removeDamaged(
        _ hash: UInt64,
        from state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) -> Int {
        let byteCount = Record.largestFieldsByteCount
        try state.reclaimer.reclaim(byteCount, now: nil, from: &state.log, evictions: &evictions)
        var count = 0
        var others: [LocatedRecord] = []
        for slot in reader.index.slots(hash) {
            do throws(StoreError) {
                guard let found = try reader.read(slot, .whole) else { continue }
                // With correct checksums, the payload may still be no archive, or its dictionary may be gone.
                do throws(StoreError) {
                    _ = try reader.archive(of: found, limit: Zlib.largestByteCount)
                } catch {
                    guard error.code == .tooLarge else { throw error }
                }
                others.append(found)
            } catch {
                guard error.code == .corrupted else { throw error }
                // Gone for this process even if no loss record can be appended.
                reader.index.remove(hash, slot.place)
                count += 1
            }
        }
        guard count > 0 else { return 0 }
        try state.log.appendLosses([hash], keeping: others)
        return count
    }
}
