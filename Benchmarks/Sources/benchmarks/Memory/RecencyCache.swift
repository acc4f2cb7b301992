import Synchronization

/// A least-recently-used cache behind one lock.
final class RecencyCache<Value: Sendable>: Sendable {
    private let table: Mutex<RecencyTable<Value>>

    init(capacity: Int) {
        table = Mutex(RecencyTable(capacity: capacity))
    }

    func value(forKey key: String) -> Value? {
        table.withLock { $0.value(forKey: key) }
    }

    func insert(_ value: Value, forKey key: String) {
        table.withLock { $0.insert(value, forKey: key) }
    }
}

/// A dictionary that keeps the entries used last: a table of links, the straightforward way.
struct RecencyTable<Value> {
    private struct Node {
        let key: String
        var value: Value
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private let capacity: Int
    private var indices: [String: Int] = [:]
    private var nodes: [Node] = []
    private var newest = none
    private var oldest = none

    /// - Parameter capacity: the most entries; at least 1.
    init(capacity: Int) {
        self.capacity = capacity
        indices.reserveCapacity(capacity)
        nodes.reserveCapacity(capacity)
    }

    mutating func value(forKey key: String) -> Value? {
        guard let index = indices[key] else { return nil }
        moveToFront(index)
        return nodes[index].value
    }

    mutating func insert(_ value: Value, forKey key: String) {
        if let index = indices[key] {
            nodes[index].value = value
            moveToFront(index)
            return
        }
        let node = Node(key: key, value: value, newer: Self.none, older: Self.none)
        let index: Int
        if nodes.count < capacity {
            index = nodes.count
            nodes.append(node)
        } else {
            index = oldest
            unlink(index)
            indices[nodes[index].key] = nil
            nodes[index] = node
        }
        indices[key] = index
        linkInFront(index)
    }

    private mutating func moveToFront(_ index: Int) {
        guard index != newest else { return }
        unlink(index)
        linkInFront(index)
    }

    private mutating func linkInFront(_ index: Int) {
        nodes[index].newer = Self.none
        nodes[index].older = newest
        if newest == Self.none { oldest = index } else { nodes[newest].newer = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (nodes[index].newer, nodes[index].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
