@testable import Eviction

/// Evicts the least recently used entry first: the reference for tests of other policies.
///
/// Entries are linked in the order of their use. As in every policy here, a use is noticed when room is needed, so the
/// entries used since then move to the other end once, in the order in which they stood.
struct LeastRecentlyUsed: EvictionPolicy {
    private let countLimit: Int
    private let costLimit: Int
    /// The oldest first.
    private var entries: [(entry: EvictionEntry, cost: Int)] = []

    init(count: Int, cost: Int) {
        countLimit = count
        costLimit = cost
    }

    var count: Int { entries.count }
    var cost: Int { entries.reduce(0) { $0 + $1.cost } }

    mutating func insert(_ entry: EvictionEntry, cost: Int, removed: inout [EvictionEntry]) {
        guard countLimit > 0, cost <= costLimit else {
            removed.append(entry)
            return
        }
        trim(toCount: countLimit - 1, cost: costLimit - cost, removed: &removed)
        entries.append((entry, cost))
    }

    mutating func remove(_ entry: EvictionEntry) { entries.removeAll { $0.entry === entry } }

    mutating func removeAll() -> [EvictionEntry] {
        defer { entries = [] }
        return entries.map(\.entry)
    }

    mutating func trim(toCount count: Int, cost: Int, removed: inout [EvictionEntry]) {
        let used = entries.filter { $0.entry.uses > 0 }
        entries = entries.filter { $0.entry.uses == 0 } + used
        for (entry, _) in used { entry.uses = 0 }
        while self.count > count || self.cost > cost { removed.append(entries.removeFirst().entry) }
    }
}
