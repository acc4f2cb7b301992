/// Keeps the entries that come back soonest, by how long each key took to come back before.
///
/// Time is counted in insertions. New entries enter the small queue. At its end, entries that were used twice go on
/// to the main queue, entries that were used once go round once more, and the rest leave, each with a ghost. A key
/// that comes back while its ghost is there has shown how long it takes: its reuse distance. It counts as used once
/// if the small queue takes it.
///
/// The main queue is in the order in which its entries were last looked at. Its oldest one is looked at where
/// room is needed: if it was used, half of its uses are forgotten and it goes round once more. If not, it has
/// been idle since it was last looked at, and gives way to an entry with a reuse distance of less than two thirds of
/// that, if more uses are to be expected of that one, by a quarter, from what is known of both: see ``UseHistory``. All
/// others have been idle for less time, so the oldest one decides, and nothing is searched. A loop that is longer than
/// memory thus leaves the main queue as it is, and hits there in each round. An entry that was idle for 24 insertions for
/// each entry in memory gives way to any other.
///
/// The ghosts decide which share of memory the small queue has. A key that comes back soon after it was evicted
/// would have been a hit, had the small queue been a little longer: each place more gives one divided by the
/// length that was missing. One that comes back after a longer distance would be a hit once in each such distance,
/// had it a place in the main queue. The share moves by the difference of the two, so that it comes to rest where
/// one more place is worth as much in either. A key that was used two dozen times belongs in the main queue, however soon
/// it comes back, and makes the small one no longer: else a loop that is a little longer than memory would let the small
/// queue grow until nothing in it is a hit.
///
/// A hit changes one byte of its own entry. Every operation is O(1), choosing a victim on average: each extra
/// step was paid for by a hit. An entry takes 36 bytes here, and its four ghosts 76 to 96.
///
/// Sources: the queues are those of S3-FIFO (Yang and others: FIFO queues are all you need for cache eviction,
/// SOSP 2023), the comparison of distances is that of LIRS (Jiang, Zhang: LIRS, SIGMETRICS 2002), the balance by
/// ghosts that of ARC (Megiddo, Modha: ARC, FAST 2003); the uses to expect are those of BG/NBD.
package struct ShortestReuse: EvictionPolicy {
    private struct Node {
        var entry: EvictionEntry?
        var cost: Int
        /// When the entry came in or was last seen to have been used, in insertions.
        var usedAt: UInt32
        var newer: Int32
        var older: Int32
        var state: EntryState

        /// Counts the entry's uses, which begin again, as it comes to another place in a queue.
        mutating func turn(to queue: Queue, at time: UInt32) {
            guard let entry else { return }
            state = EntryState(queue, state.history.adding(uses: entry.uses, after: time &- usedAt))
            usedAt = time
            entry.uses = 0
        }
    }

    private struct Ends {
        var newest = none
        var oldest = none
        var count = 0
        var cost = 0
    }

    private static var none: Int32 { -1 }
    /// How many times longer than a reuse distance an entry must have been idle to give way to it.
    private static var patience: Double { 1.5 }
    /// An entry that was idle for this many insertions for each entry in memory gives way to any other.
    private static var mostIdle: Int { 24 }
    /// How many times more uses must be expected of an entry than of the one that gives way to it.
    private static var advantage: Double { 1.25 }
    /// How many ghosts there are for each entry.
    private static var ghostsPerEntry: Int { 4 }
    private static var shares: ClosedRange<Double> { 0.005...0.9 }
    /// The largest share of memory that may have been missing for an entry to count as evicted too soon.
    private static var nearShare: Double { 0.2 }
    /// A key that was used so often does not make the small queue longer.
    private static var usesOfMain: UInt8 { 24 }
    /// With fewer entries than this, the share moves by smaller steps, since chance has more weight.
    private static var fewEntries: Double { 500 }

    private var countLimit: Int
    private var costLimit: Int
    /// The number of entries below which the share moves by smaller steps.
    private var fewEntries: Double
    private var nodes: [Node] = []
    private var free: [Int32] = []
    private var small = Ends()
    private var main = Ends()
    private var ghosts = Ghosts()
    /// The small queue's share of both limits.
    private var smallShare = 0.1
    /// The number of insertions; wraps around, which leads to a wrong guess at most.
    private var now: UInt32 = 0

    package init(count: Int, cost: Int) { self.init(count: count, cost: cost, sampledShare: 1) }

    /// A policy that is given a sample of all entries, and stands for one with all of them.
    ///
    /// - Parameters:
    ///   - count: the limit of the policy that it stands for, times the sampled share; so is `cost`.
    ///   - sampledShare: above 0, and at most 1.
    package init(count: Int, cost: Int, sampledShare: Double) {
        countLimit = count
        costLimit = cost
        fewEntries = Self.fewEntries * sampledShare
    }

    package var count: Int { small.count + main.count }
    package var cost: Int { small.cost + main.cost }

    package mutating func insert(_ entry: EvictionEntry, cost: Int, removed: inout [EvictionEntry]) {
        now &+= 1
        let found = ghosts.take(entry.hash)
        guard countLimit > 0, cost <= costLimit else {
            removed.append(entry)
            return
        }
        var queue = Queue.small
        var history = UseHistory()
        let distance = found.map { now &- $0.ghost.usedAt }
        if let found, let distance { history = found.ghost.state.history.adding(uses: 1, after: distance) }
        if hasRoom(for: cost) {
            // Until memory is full, the main queue takes the entries for which the small one has no room. So an entry
            // that is saved over goes back to the main queue, since it left room there.
            if small.count > 0, !smallHasRoom(for: cost), mainHasRoom(for: cost) { queue = .main }
        } else if let found, let distance {
            adjustShare(to: found.ghost, age: found.age)
            if mainHasRoom(for: cost) {
                queue = .main
            } else if mainGivesWay(to: history, distance: distance) {
                removed.append(giveUp(main.oldest))
                queue = .main
            }
        }
        while !hasRoom(for: cost) { removed.append(evict()) }
        add(entry, cost, to: queue, history: history)
    }

    package mutating func remove(_ entry: EvictionEntry) {
        _ = take(entry.place)
    }

    package mutating func removeAll() -> [EvictionEntry] {
        let taken = nodes.compactMap(\.entry)
        self = ShortestReuse(count: countLimit, cost: costLimit, sampledShare: fewEntries / Self.fewEntries)
        return taken
    }

    package mutating func trim(toCount count: Int, cost: Int, removed: inout [EvictionEntry]) {
        while self.count > max(0, count) || self.cost > max(0, cost) { removed.append(evict()) }
    }

    /// Goes on with other limits, and with another share of all entries; the caller has removed the entries that are
    /// not in the sample any longer.
    package mutating func resample(
        count: Int,
        cost: Int,
        sampledShare: Double,
        removed: inout [EvictionEntry]
    ) {
        countLimit = count
        costLimit = cost
        fewEntries = Self.fewEntries * sampledShare
        trim(toCount: count, cost: cost, removed: &removed)
    }

    /// Gives each entry to `body`: those of the small queue, then those of the main one, the oldest first. Inserted
    /// into another policy in this order, they come to stand about as they do here.
    package func forEachEntry(_ body: (EvictionEntry) -> Void) {
        for ends in [small, main] {
            var place = ends.oldest
            while place != Self.none {
                if let entry = nodes[Int(place)].entry { body(entry) }
                place = nodes[Int(place)].newer
            }
        }
    }

    // MARK: Shares

    private func hasRoom(for cost: Int) -> Bool { count < countLimit && self.cost <= costLimit - cost }

    private var smallCount: Int { max(1, Int(Double(countLimit) * smallShare)) }
    private var smallCost: Int { Int(Double(costLimit) * smallShare) }

    private func smallHasRoom(for cost: Int) -> Bool {
        small.count < smallCount && small.cost <= smallCost - cost
    }

    private func mainHasRoom(for cost: Int) -> Bool {
        main.count < countLimit - smallCount && main.cost <= costLimit - smallCost - cost
    }

    private var mainIsOverfull: Bool {
        main.count > countLimit - smallCount || main.cost > costLimit - smallCost
    }

    /// - Parameter age: the number of entries that were evicted since, and one.
    private mutating func adjustShare(to ghost: Ghost, age: Int) {
        let near = max(1, Double(count) * Self.nearShare)
        let pace = 0.5 * min(1, Double(count) / fewEntries)
        if ghost.state.queue == .small, Double(age) <= near, ghost.state.history.uses < Self.usesOfMain {
            smallShare += pace / near
        } else {
            smallShare -= pace / max(1, Double(now &- ghost.usedAt))
        }
        smallShare = min(max(smallShare, Self.shares.lowerBound), Self.shares.upperBound)
    }

    // MARK: Victims

    /// - Precondition: there is an entry.
    private mutating func evict() -> EvictionEntry {
        // Entries that other threads use all the time must not keep the small queue going round.
        var turns = 2 * small.count
        while true {
            if small.count == 0 || mainIsOverfull && main.count > 0 {
                _ = findUnusedInMain()
                return giveUp(main.oldest)
            }
            let place = small.oldest
            let cost = nodes[Int(place)].cost
            let uses = uses(place)
            if uses > 1, mainHasRoom(for: cost) {
                move(place, to: .main)
            } else if uses > 1, mainGivesWayToSmall(uses) {
                return replaceMain(by: place)
            } else if uses > 0, turns > 0 {
                turns -= 1
                move(place, to: .small)
            } else if !mainHasRoom(for: cost), mainGivesWay(toAnyAfter: Self.mostIdle * count) {
                return replaceMain(by: place)
            } else {
                return giveUp(place)
            }
        }
    }

    /// Whether the oldest entry of the main queue gives way to one that was used like this, the last time after so many
    /// insertions.
    private mutating func mainGivesWay(to history: UseHistory, distance: UInt32) -> Bool {
        guard findUnusedInMain() else { return false }
        let idle = age(main.oldest)
        guard Double(idle) > Double(distance) * Self.patience else { return false }
        let expected = nodes[Int(main.oldest)].state.history.expectedUses(idle: idle, count: count)
        return history.expectedUses(idle: 0, count: count) > expected * Self.advantage
    }

    /// Whether the oldest entry of the main queue gives way to that of the small one, which was used so often.
    ///
    /// One that was never used does, whenever it came: until memory was full, the main queue took entries of any kind.
    private mutating func mainGivesWayToSmall(_ uses: UInt8) -> Bool {
        if findUnusedInMain(), nodes[Int(main.oldest)].state.history.uses == 0 { return true }
        let distance = age(small.oldest)
        let history = nodes[Int(small.oldest)].state.history.adding(uses: uses, after: distance)
        return mainGivesWay(to: history, distance: distance)
    }

    /// Whether the oldest entry of the main queue has been idle for more than `idle` insertions.
    private mutating func mainGivesWay(toAnyAfter idle: Int) -> Bool {
        findUnusedInMain() && Int(age(main.oldest)) > idle
    }

    /// Has the entries of the main queue that were used go round, until the oldest one is unused.
    ///
    /// - Returns: `false` if there is none: other threads used all of them in the meantime.
    private mutating func findUnusedInMain() -> Bool {
        // Entries that other threads use all the time must not keep it going round: after its uses are halved
        // twice, none is left.
        for _ in 0...2 * main.count {
            guard main.count > 0 else { return false }
            let place = main.oldest
            let uses = uses(place)
            guard uses > 0 else { return true }
            move(place, to: .main)
            nodes[Int(place)].entry?.uses = uses / 2
        }
        return false
    }

    private mutating func replaceMain(by place: Int32) -> EvictionEntry {
        let victim = giveUp(main.oldest)
        move(place, to: .main)
        return victim
    }

    private func age(_ place: Int32) -> UInt32 { now &- nodes[Int(place)].usedAt }

    private func uses(_ place: Int32) -> UInt8 {
        guard let entry = nodes[Int(place)].entry else { return 0 }
        entry.gatherUses()
        return entry.uses
    }

    private mutating func giveUp(_ place: Int32) -> EvictionEntry {
        let (usedAt, state) = (nodes[Int(place)].usedAt, nodes[Int(place)].state)
        let limit = Self.ghostsPerEntry * count
        let entry = take(place)
        ghosts.add(Ghost(hash: entry.hash, usedAt: usedAt, state: state), limit: limit)
        return entry
    }

    // MARK: Places

    private mutating func add(_ entry: EvictionEntry, _ cost: Int, to queue: Queue, history: UseHistory) {
        let node = Node(
            entry: entry,
            cost: cost,
            usedAt: now,
            newer: Self.none,
            older: Self.none,
            state: EntryState(queue, history)
        )
        if let place = free.popLast() {
            nodes[Int(place)] = node
            entry.place = place
        } else {
            entry.place = Int32(nodes.count)
            nodes.append(node)
        }
        entry.uses = history.uses > 0 && queue == .small ? 1 : 0
        link(entry.place)
    }

    /// Takes an entry out altogether.
    private mutating func take(_ place: Int32) -> EvictionEntry {
        unlink(place)
        free.append(place)
        guard let entry = nodes[Int(place)].entry.take() else {
            preconditionFailure("a place in use holds an entry")
        }
        return entry
    }

    /// Puts an entry at the new end of a queue, and counts its uses.
    private mutating func move(_ place: Int32, to queue: Queue) {
        unlink(place)
        nodes[Int(place)].turn(to: queue, at: now)
        link(place)
    }

    private mutating func link(_ place: Int32) {
        let isSmall = nodes[Int(place)].state.queue == .small
        var ends = isSmall ? small : main
        nodes[Int(place)].newer = Self.none
        nodes[Int(place)].older = ends.newest
        if ends.newest == Self.none { ends.oldest = place } else { nodes[Int(ends.newest)].newer = place }
        ends.newest = place
        ends.count += 1
        ends.cost += nodes[Int(place)].cost
        if isSmall { small = ends } else { main = ends }
    }

    private mutating func unlink(_ place: Int32) {
        let isSmall = nodes[Int(place)].state.queue == .small
        let (newer, older) = (nodes[Int(place)].newer, nodes[Int(place)].older)
        var ends = isSmall ? small : main
        if newer == Self.none { ends.newest = older } else { nodes[Int(newer)].older = older }
        if older == Self.none { ends.oldest = newer } else { nodes[Int(older)].newer = newer }
        ends.count -= 1
        ends.cost -= nodes[Int(place)].cost
        if isSmall { small = ends } else { main = ends }
    }
}
