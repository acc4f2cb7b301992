import Foundation

/// Removes all entries of a kind from a log: the expired ones, those with a tag, the damaged ones.
///
/// Goes through the index, and reads only the records that may be of entries to remove.
final class EntrySweeper: Sendable {
    private let lock: LogLock
    private let reader: RecordReader
    private let commits: GroupCommit
    private let remover: EntryRemover
    private let user: PackedStoreUser

    init(lock: LogLock, reader: RecordReader, commits: GroupCommit, remover: EntryRemover, user: PackedStoreUser) {
        self.lock = lock
        self.reader = reader
        self.commits = commits
        self.remover = remover
        self.user = user
    }

    /// Removes the entries that have expired by a date.
    func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        let now = date.timeIntervalSinceReferenceDate
        let seconds = UInt32(min(max(0, now), Double(UInt32.max - 1)))
        var next = UInt32.max
        // Entries saved in the meantime lower the next deadline.
        let former = try lock.withWriterLock { $0.log.index.takeNextDeadline() }
        var isDone = false
        // Entries that could not be removed are looked for again.
        defer { if !isDone { lock.withWriterLockOnly { $0.log.index.lowerNextDeadline(to: former) } } }
        try removeEntries(removed: removed) { slot in
            if slot.deadline <= seconds { return true }
            next = min(next, slot.deadline)
            return false
        } where: { entry in
            if entry.attributes.freshness(at: date) == .useless { return true }
            next = min(next, Record.deadline(entry.attributes))
            return false
        } ifSame: {
            // Not with another deadline.
            $0.identity == $1.identity
        }
        try lock.withWriterLock { $0.log.index.lowerNextDeadline(to: next) }
        isDone = true
    }

    /// Removes the entries with a tag.
    ///
    /// - Parameter removing: is given each entry before its removal.
    func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try removeEntries(removed: removed) {
            $0.isTagged
        } where: { entry in
            guard entry.attributes.has(tag: tag) else { return false }
            removing(entry)
            return true
        } ifSame: {
            $0.isSave(of: $1)
        }
    }

    /// Removes the entries that cannot be read; returns how many there were.
    func removeDamaged() throws(StoreError) -> Int {
        var count = 0
        for part in 0..<PackedIndex.partCount {
            for slot in reader.index.slots(inPart: part) {
                do throws(StoreError) {
                    guard let found = try readWhereItIs(slot, .whole) else { continue }
                    _ = try reader.archive(of: found, limit: Zlib.largestByteCount)
                } catch {
                    if error.code == .tooLarge { continue }
                    guard error.code == .corrupted else { throw error }
                    count += try remover.removeDamaged(slot.hash)
                }
            }
        }
        if count > 0 { try commits.synchronize() }
        try reader.status.checkIndex()
        return count
    }

    /// How many entries are removed at a time, while other callers wait.
    private static let batch = 64

    /// Removes entries: chooses candidates by their index slots, then entries by their records.
    private func removeEntries(
        removed: (EntryInformation) -> Void,
        candidates isCandidate: (IndexSlot) -> Bool,
        where isChosen: (EntryInformation) -> Bool,
        ifSame isSame: (_ current: EntryInformation, _ chosen: EntryInformation) -> Bool
    ) throws(StoreError) {
        var failure: StoreError?
        var gone: [(key: StoreKey, digest: KeyDigest)] = []
        // A call that is repeated finds no entries any longer for the removals that may be lost.
        do throws(StoreError) { try remover.appendOwedRemovals(&gone) } catch { failure = error }
        for part in 0..<PackedIndex.partCount {
            var candidates: [IndexSlot] = []
            reader.index.withPart(number: part) { table in
                table.forEachSlot { if isCandidate($0) { candidates.append($0) } }
            }
            var rest = candidates.sorted { $0.place < $1.place }[...]
            while !rest.isEmpty {
                do throws(StoreError) {
                    let batch = rest.prefix(Self.batch)
                    rest = rest.dropFirst(Self.batch)
                    let chosen = try entries(in: batch, where: isChosen)
                    if chosen.isEmpty { continue }
                    var entries: [EntryInformation] = []
                    var evictions = Evictions()
                    // Removed entries are reported even if others cannot be removed.
                    defer {
                        let keys = Set(entries.map(\.key))
                        gone += chosen.filter { keys.contains($0.key.string) }.map { ($0.key, $0.digest) }
                        entries.forEach(removed)
                        user.tell(evictions)
                    }
                    try remover.remove(chosen, where: isSame, removed: &entries, evictions: &evictions)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if !gone.isEmpty { try commits.synchronize(removing: gone) }
        if let failure { throw failure }
        try reader.status.checkIndex()
    }

    /// The entries of those slots that still exist and that are chosen.
    private func entries(
        in slots: ArraySlice<IndexSlot>,
        where isChosen: (EntryInformation) -> Bool
    ) throws(StoreError) -> [(key: StoreKey, digest: KeyDigest, entry: EntryInformation)] {
        var chosen: [(key: StoreKey, digest: KeyDigest, entry: EntryInformation)] = []
        for slot in slots {
            do throws(StoreError) {
                guard let found = try readWhereItIs(slot, .head), let key = found.key else { continue }
                let entry = reader.information(found, key: key.string)
                if isChosen(entry) { chosen.append((key, slot.digest, entry)) }
            } catch {
                // A fetch of the entry reports the damage.
                guard error.code == .corrupted else { throw error }
            }
        }
        return chosen
    }

    /// Reads a slot's record, at its new place if the entry was moved in the meantime.
    private func readWhereItIs(
        _ slot: IndexSlot,
        _ extent: RecordReader.Extent
    ) throws(StoreError) -> LocatedRecord? {
        var damage: StoreError?
        do throws(StoreError) {
            if let found = try reader.read(slot, extent) { return found }
        } catch {
            // Its blocks may have been given back since it was moved.
            guard error.code == .corrupted else { throw error }
            damage = error
        }
        try lock.catchUp()
        let latest = reader.index.slots(slot.hash)
        if let damage, latest.contains(where: { $0.place == slot.place }) { throw damage }
        // Another key may share the hash.
        for other in latest where other.place != slot.place && other.digest == slot.digest {
            let found = try reader.read(other, extent)
            if let found, found.record.byteCount == Int(other.byteCount) { return found }
        }
        return nil
    }
}
