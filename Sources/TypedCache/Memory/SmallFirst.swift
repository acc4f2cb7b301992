/// Gives up early what is used once, and keeps what comes back: the policy S3-FIFO.
///
/// Three queues, first in, first out. New entries enter the small one, a tenth of the whole. At its end those
/// that were used twice go on to the main queue; the others go, but their keys are remembered for a while in
/// the ghost queue, and one that comes back enters the main queue at once. At the end of the main queue an entry
/// that was used goes round once more for each use, of which at most three count. Until something has to go, what
/// the small queue has no room for enters the main queue too.
///
/// A hit changes one byte of its own entry; nothing is relinked. Every operation is O(1), choosing a victim on
/// average: each extra step was paid for by a hit.
///
/// Source: Yang, Zhang, Qiu, Yue, Vigfusson: FIFO queues are all you need for cache eviction (SOSP 2023), with
/// the shares and the first filling as the authors' simulator has them, which do better on loops.
struct SmallFirst<Key: Hashable, Value>: EvictionPolicy {
    private enum Queue {
        case small
        case main
    }

    private struct Node {
        var key: Key
        var cost: Int
        var queue: Queue
        var newer: Int
        var older: Int
    }

    private struct Ends {
        var newest = none
        var oldest = none
        var count = 0
        var cost = 0
    }

    private static var none: Int { -1 }
    private static var mostUses: UInt8 { 3 }

    private let countLimit: Int
    private let costLimit: Int
    private var places: [Key: Int] = [:]
    // By place. Apart, so that a hit touches little memory: its byte, and its value.
    private var uses: [UInt8] = []
    private var values: [Value?] = []
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var small = Ends()
    private var main = Ends()
    private var ghosts = GhostQueue()
    /// Whether something had to go already.
    private var hasEvicted = false
    private(set) var cost = 0

    init(count: Int, cost: Int) {
        countLimit = count
        costLimit = cost
    }

    var count: Int { places.count }

    mutating func value(forKey key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if uses[place] < Self.mostUses { uses[place] += 1 }
        return values[place]
    }

    mutating func insert(_ value: Value, forKey key: Key, cost: Int, removed: inout [Value]) -> Int {
        // A value in the place of another one has been wanted before; so has one that was given up lately.
        var queue = Queue.small
        if let place = places[key] {
            queue = nodes[place].queue
            removed.append(take(place))
        } else if ghosts.take(key.hashValue) || !hasEvicted && smallIsFull {
            queue = .main
        }
        guard countLimit > 0, cost <= costLimit else {
            removed.append(value)
            return 0
        }
        var evictions = 0
        while count >= countLimit || self.cost > costLimit - cost {
            removed.append(evict())
            evictions += 1
        }
        add(value, key, cost, to: queue)
        return evictions
    }

    mutating func remove(forKey key: Key) -> Value? {
        places[key].map { take($0) }
    }

    mutating func removeAll() -> [Value] {
        let taken = values.compactMap(\.self)
        self = SmallFirst(count: countLimit, cost: costLimit)
        return taken
    }

    // MARK: Shares

    private var smallIsFull: Bool { small.count >= countLimit / 10 || small.cost >= costLimit / 10 }

    private var mainIsOverfull: Bool {
        main.count > countLimit - countLimit / 10 || main.cost > costLimit - costLimit / 10
    }

    // MARK: Victims

    /// - Precondition: there is an entry.
    private mutating func evict() -> Value {
        hasEvicted = true
        while true {
            if small.count > 0, !mainIsOverfull {
                let place = small.oldest
                if uses[place] > 1 {
                    uses[place] = 0
                    move(place, to: .main)
                } else {
                    ghosts.add(nodes[place].key.hashValue, limit: count - count / 10)
                    return take(place)
                }
            } else {
                let place = main.oldest
                if uses[place] == 0 { return take(place) }
                uses[place] -= 1
                move(place, to: .main)
            }
        }
    }

    // MARK: Places

    private mutating func add(_ value: Value, _ key: Key, _ cost: Int, to queue: Queue) {
        let node = Node(key: key, cost: cost, queue: queue, newer: Self.none, older: Self.none)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            nodes[place] = node
            values[place] = value
            uses[place] = 0
        } else {
            place = nodes.count
            nodes.append(node)
            values.append(value)
            uses.append(0)
        }
        places[key] = place
        self.cost += cost
        link(place)
    }

    /// Takes an entry out altogether.
    private mutating func take(_ place: Int) -> Value {
        unlink(place)
        places[nodes[place].key] = nil
        cost -= nodes[place].cost
        free.append(place)
        guard let value = values[place].take() else { preconditionFailure("a place in use holds a value") }
        return value
    }

    private mutating func move(_ place: Int, to queue: Queue) {
        unlink(place)
        nodes[place].queue = queue
        link(place)
    }

    private mutating func link(_ place: Int) {
        var ends = nodes[place].queue == .small ? small : main
        nodes[place].newer = Self.none
        nodes[place].older = ends.newest
        if ends.newest == Self.none { ends.oldest = place } else { nodes[ends.newest].newer = place }
        ends.newest = place
        ends.count += 1
        ends.cost += nodes[place].cost
        if nodes[place].queue == .small { small = ends } else { main = ends }
    }

    private mutating func unlink(_ place: Int) {
        var ends = nodes[place].queue == .small ? small : main
        let newer = nodes[place].newer
        let older = nodes[place].older
        if newer == Self.none { ends.newest = older } else { nodes[newer].older = older }
        if older == Self.none { ends.oldest = newer } else { nodes[older].newer = newer }
        ends.count -= 1
        ends.cost -= nodes[place].cost
        if nodes[place].queue == .small { small = ends } else { main = ends }
    }
}
