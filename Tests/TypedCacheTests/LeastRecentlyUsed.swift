@testable import TypedCache

/// Gives up first what was not used for longest.
///
/// Entries stand in one array and are linked in the order of their use; a freed place is used again. Every
/// operation is O(1), and a victim is the tail of the list, never searched for.
struct LeastRecentlyUsed<Key: Hashable, Value>: EvictionPolicy {
    private struct Node {
        var key: Key
        var value: Value?
        var cost: Int
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private let countLimit: Int
    private let costLimit: Int
    private var places: [Key: Int] = [:]
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none
    private(set) var cost = 0

    init(count: Int, cost: Int) {
        countLimit = count
        costLimit = cost
    }

    var count: Int { places.count }

    mutating func value(forKey key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return nodes[place].value
    }

    mutating func insert(_ value: Value, forKey key: Key, cost: Int, removed: inout [Value]) -> Int {
        if let former = remove(forKey: key) { removed.append(former) }
        guard countLimit > 0, cost <= costLimit else {
            removed.append(value)
            return 0
        }
        var evictions = 0
        while count >= countLimit || self.cost > costLimit - cost {
            if let former = remove(forKey: nodes[oldest].key) { removed.append(former) }
            evictions += 1
        }
        let node = Node(key: key, value: value, cost: cost, newer: Self.none, older: Self.none)
        let place: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            place = reused
        } else {
            nodes.append(node)
            place = nodes.count - 1
        }
        places[key] = place
        self.cost += cost
        link(place)
        return evictions
    }

    mutating func remove(forKey key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        cost -= nodes[place].cost
        free.append(place)
        // The value leaves its place, so that it lives no longer than whoever removed it wants.
        return nodes[place].value.take()
    }

    mutating func removeAll() -> [Value] {
        let values = nodes.compactMap(\.value)
        self = LeastRecentlyUsed(count: countLimit, cost: costLimit)
        return values
    }

    private mutating func link(_ place: Int) {
        nodes[place].newer = Self.none
        nodes[place].older = newest
        if newest == Self.none { oldest = place } else { nodes[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let newer = nodes[place].newer
        let older = nodes[place].older
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
