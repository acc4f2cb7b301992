import Eviction

/// An entry's name as the policy knows it, and the size of its files.
///
/// Unchecked, as every entry of a policy: the mutable fields belong to the ledger, and the ledger's holder guards them.
final class LedgerEntry: EvictionEntry, @unchecked Sendable {
    let name: EntryName
    override var hash: UInt64 { name.low }
    /// Belongs to the ledger.
    var size = NameSize.zero
    /// Whether the policy has it; else it is departing.
    var isHeld = false

    init(_ name: EntryName) {
        self.name = name
        super.init()
    }
}

/// The sum of a journal's records: the size of each name, and which name is the least useful.
///
/// A plain value without locks; its holder guards it. All but listing is O(1), choosing victims on average.
struct Ledger {
    private(set) var total = NameSize.zero
    private var entries: [EntryName: LedgerEntry] = [:]
    private var policy: ShortestReuse
    /// The entries that the policy has evicted, and that are there still.
    private var departing: [EntryName: LedgerEntry] = [:]
    /// Their names, the first to go first, and maybe names that are gone or have come back.
    private var queue: ArraySlice<EntryName> = []
    private let limit: NameSize
    /// The size at which the policy begins to evict entries: a little less than the limit, so that a save finds room.
    private let bound: NameSize
    /// Whether records written to the journal are applied to it.
    let isFollowing: Bool

    init(limit: NameSize, isFollowing: Bool = false) {
        self.limit = limit
        self.isFollowing = isFollowing
        bound = NameSize(
            byteCount: limit.byteCount - limit.byteCount / Self.headroom,
            count: limit.count - limit.count / Self.headroom
        )
        policy = ShortestReuse(count: bound.count, cost: bound.byteCount)
    }

    /// One of so many parts of a limit is kept free.
    private static var headroom: Int { 32 }

    var nameCount: Int { entries.count }

    /// Whether there may be names that should go.
    var isOverfull: Bool { !queue.isEmpty }

    func size(of name: EntryName) -> NameSize { entries[name]?.size ?? .zero }

    /// Whether the limits hold if `name` takes `size`. Its present size counts until it is known to be gone.
    func hasRoom(_ size: NameSize, for name: EntryName) -> Bool {
        let former = self.size(of: name)
        return total.byteCount - former.byteCount + max(former.byteCount, size.byteCount) <= limit.byteCount
            && total.count - former.count + max(former.count, size.count) <= limit.count
    }

    mutating func apply(_ record: JournalRecord) {
        switch record.kind {
        case .begun, .changed: break
        case .announced:
            let former = size(of: record.name)
            let size = NameSize(
                byteCount: max(former.byteCount, record.byteCount),
                count: max(former.count, record.count)
            )
            set(record.name, size, isNew: true)
        case .holds:
            set(record.name, record.size, isNew: false)
            if record.uses > 0 { entries[record.name]?.uses = min(record.uses, LedgerEntry.mostUses) }
        case .used: _ = use(record.name, times: record.uses)
        }
    }

    /// Counts uses, and says how many counted.
    mutating func use(_ name: EntryName, times: UInt8) -> UInt8 {
        guard let entry = entries[name] else { return 0 }
        let former = entry.uses
        for _ in 0..<min(times, LedgerEntry.mostUses) { entry.use() }
        return entry.uses - former
    }

    /// - Parameter isNew: whether there will be another entry than there was.
    private mutating func set(_ name: EntryName, _ size: NameSize, isNew: Bool) {
        guard size.count > 0 else {
            remove(name)
            return
        }
        let entry = entries[name] ?? LedgerEntry(name)
        total.byteCount += size.byteCount - entry.size.byteCount
        total.count += size.count - entry.size.count
        let isSame = entry.isHeld && entry.size == size && !isNew
        entry.size = size
        entries[name] = entry
        // One that is departing stays so, unless it is replaced.
        if isSame || !isNew && departing[name] != nil { return }
        let uses = isNew ? 0 : entry.uses
        if entry.isHeld { policy.remove(entry) }
        hold(entry)
        if entry.isHeld { entry.uses = uses }
    }

    private mutating func hold(_ entry: LedgerEntry) {
        departing[entry.name] = nil
        entry.isHeld = true
        var removed: [EvictionEntry] = []
        // An entry larger than the bound is not refused: it is there.
        policy.insert(entry, cost: min(entry.size.byteCount, bound.byteCount), removed: &removed)
        depart(removed)
    }

    private mutating func depart(_ removed: [EvictionEntry]) {
        for case let entry as LedgerEntry in removed {
            entry.isHeld = false
            departing[entry.name] = entry
            queue.append(entry.name)
        }
    }

    private mutating func remove(_ name: EntryName) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        total.byteCount -= entry.size.byteCount
        total.count -= entry.size.count
        if entry.isHeld { policy.remove(entry) } else { departing[name] = nil }
    }

    // MARK: Victims

    /// The next of the names that the policy has evicted already.
    mutating func nextDeparting() -> EntryName? {
        while let name = queue.popFirst() {
            if departing[name] != nil { return name }
        }
        return nil
    }

    /// The name that should go next; it counts until ``apply(_:)`` is given the record of its removal. `nil` if there
    /// is none.
    mutating func nextVictim() -> EntryName? {
        if let name = nextDeparting() { return name }
        if policy.count > 0 {
            var removed: [EvictionEntry] = []
            policy.trim(toCount: policy.count - 1, cost: .max, removed: &removed)
            depart(removed)
            return nextDeparting()
        }
        // Other callers are removing the entries that are left: a caller that gets one of them too finds it gone then.
        return departing.keys.first
    }

    /// Whether a victim was not saved over since it was chosen.
    func isDeparting(_ name: EntryName) -> Bool { departing[name] != nil }

    /// Takes back a victim that is spared, as one that was used just now.
    mutating func spare(_ name: EntryName) {
        guard let entry = departing[name] else { return }
        hold(entry)
        if entry.isHeld { entry.use() }
    }

    // MARK: Snapshots

    /// Records that give this ledger again, the least useful first in each of the policy's queues.
    func records(writer: UInt32) -> [JournalRecord] {
        var records: [JournalRecord] = []
        records.reserveCapacity(entries.count)
        for entry in departing.values {
            records.append(JournalRecord(.holds, of: entry.name, entry.size, writer: writer))
        }
        policy.forEachEntry { entry in
            guard let entry = entry as? LedgerEntry else { return }
            records.append(JournalRecord(.holds, of: entry.name, entry.size, uses: entry.uses, writer: writer))
        }
        return records
    }

    /// All names, by shard.
    func namesByShard() -> [[EntryName]] {
        var names = Array(repeating: [EntryName](), count: EntryName.shardCount)
        for name in entries.keys { names[name.shard].append(name) }
        return names
    }
}
