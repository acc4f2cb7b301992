/// Which entries of a segment that is dropped are rewritten.
enum CarryOverPolicy: Sendable {
    /// All that are still of use.
    case all
    /// As many as there are, up to `byteCount` bytes.
    case some(byteCount: Int)
    /// Those that were fetched since they were last written, up to `byteCount` bytes.
    case used(byteCount: Int)
}

/// The entries of a segment that is dropped, each with its fate.
struct ReclaimPlan {
    private let policy: CarryOverPolicy
    private let room: Int
    private(set) var kept: [IndexSlot] = []
    private(set) var drafts: [RecordDraft] = []
    private(set) var keptByteCount = 0
    private(set) var dropped: [IndexSlot] = []
    private(set) var evictions = Evictions()
    /// Whether all entries were to be kept, and there is no room for them.
    private(set) var isTooLarge = false

    /// - Parameter room: the most bytes that can be rewritten.
    init(_ policy: CarryOverPolicy, room: Int) {
        self.policy = policy
        self.room = room
    }

    /// Whether an entry is kept if its record would have `byteCount` bytes.
    func keeps(_ slot: IndexSlot, byteCount: Int) -> Bool {
        let total = keptByteCount + byteCount
        if total > room { return false }
        return switch policy {
        case .all: true
        case .some(let limit): total <= limit
        case .used(let limit): slot.uses > 0 && total <= limit
        }
    }

    mutating func keep(_ slot: IndexSlot, as draft: RecordDraft) {
        kept.append(slot)
        drafts.append(draft)
        keptByteCount += draft.byteCount
    }

    /// Notes that there is no room for an entry.
    mutating func noteLackOfRoom() {
        if case .all = policy { isTooLarge = true }
    }

    mutating func evict(_ slot: IndexSlot, _ entry: EntryInformation) {
        dropped.append(slot)
        evictions.evicted.append(entry)
    }

    mutating func expire(_ slot: IndexSlot, _ entry: EntryInformation) {
        dropped.append(slot)
        evictions.expired.append(entry)
    }

    /// Whether entries that cannot be read because of an error are dropped. Where entries are evicted, they would be soon;
    /// and no save finds room while their segment stays.
    func dropsEntries(unreadableFor error: StoreError) -> Bool {
        if case .all = policy { return false }
        return error.isDeviceFailure
    }

    /// Drops an entry that cannot be read.
    mutating func dropDamaged(_ slot: IndexSlot) { dropped.append(slot) }
}
