/// The index as a log's writer changes it: the places of entries, which keys changed, and when entries expire.
struct LogIndex: Sendable {
    let slots: PackedIndex
    /// Hashes of keys that other processes changed, or whose entries were removed, since ``takeChanges()``; `nil`: any
    /// key may have changed.
    private var changes: Set<UInt64>? = []
    /// No entry's deadline is before this; in seconds since 2001-01-01 UTC.
    private var nextDeadline: UInt32 = 0
    private var sweptAt = -Double.infinity
    /// When an entry was last saved to this log, by the saver's clock; in seconds since 2001-01-01 UTC.
    private(set) var savedAt: Double?

    /// The most changed keys that are listed; with more, any key may have changed.
    private static let mostChanges = 1 << 16

    init(_ slots: PackedIndex) { self.slots = slots }

    // MARK: Changes

    /// Notes that another process changed a key with this hash, or that its entry was removed.
    mutating func noteChange(_ hash: UInt64) {
        changes?.insert(hash)
        if let changes, changes.count > Self.mostChanges { self.changes = nil }
    }

    /// Notes that any key may have changed.
    mutating func noteAnyChange() { changes = nil }

    /// Whether there is something to take.
    var hasChanges: Bool { changes?.isEmpty != true }

    mutating func forgetChanges() { changes = [] }

    /// The hashes of the keys that changed since the last call; `nil` if any key may have.
    mutating func takeChanges() -> Set<UInt64>? {
        defer { changes = [] }
        return changes
    }

    // MARK: Entries

    /// Adds an entry that this log saved.
    mutating func save(_ slot: IndexSlot, at now: Double) {
        savedAt = now
        slots.set(slot)
        lowerNextDeadline(to: slot.deadline)
    }

    /// Adds an entry that was found in the log.
    mutating func follow(_ slot: IndexSlot) {
        noteChange(slot.hash)
        slots.set(slot)
        lowerNextDeadline(to: slot.deadline)
    }

    /// Removes an entry from where it was.
    mutating func remove(_ slot: IndexSlot) {
        slots.remove(slot.hash, slot.place)
        noteChange(slot.hash)
    }

    /// Removes the entry of a key, wherever it is.
    mutating func remove(_ digest: KeyDigest) {
        noteChange(digest.high)
        if let former = slots.slot(digest) { slots.remove(digest.high, former.place) }
    }

    /// Removes all entries with a hash.
    mutating func removeAll(_ hash: UInt64) {
        noteChange(hash)
        slots.withPart(hash) { table in
            for slot in table.all(hash) { _ = table.remove(hash, slot.place) }
        }
    }

    /// Puts a damaged entry in place of those with a hash: a fetch is to find the damage, not an older entry.
    mutating func markDamaged(_ hash: UInt64, at place: RecordPlace, byteCount: Int) {
        noteChange(hash)
        slots.withPart(hash) { table in
            for slot in table.all(hash) { _ = table.remove(hash, slot.place) }
            let digest = KeyDigest(high: hash, low: 0)
            table.insert(IndexSlot(digest, place: place, byteCount: byteCount, deadline: 0, isTagged: true))
        }
    }

    /// Removes the entries of segments before one; parts of the index that are not loaded leave them out later.
    mutating func removeSegments(before number: UInt32) {
        slots.removeSegments(before: number) { noteChange($0.hash) }
    }

    /// Removes the entries of a segment after its file was deleted.
    mutating func removeSegment(_ number: UInt32) { removeSlots { $0.place.segment == number } }

    /// Removes slots from all parts, which are loaded for that.
    mutating func removeSlots(where isRemoved: (IndexSlot) -> Bool) {
        slots.forEachPart { table in
            for slot in table.removeAll(where: isRemoved) { noteChange(slot.hash) }
        }
    }

    /// Removes all entries.
    func clear() { slots.forEachPart { $0 = IndexTable() } }

    // MARK: Deadlines

    /// Returns the earliest deadline that there may be, and forgets it for a sweep to find the next one.
    mutating func takeNextDeadline() -> UInt32 {
        defer { nextDeadline = .max }
        return nextDeadline
    }

    mutating func lowerNextDeadline(to deadline: UInt32) { nextDeadline = min(nextDeadline, deadline) }

    /// Whether to look for expired entries, which is done at most once a second.
    mutating func takesSweep(_ now: Double) -> Bool {
        guard Double(nextDeadline) <= now, abs(now - sweptAt) >= 1 else { return false }
        sweptAt = now
        return true
    }
}
