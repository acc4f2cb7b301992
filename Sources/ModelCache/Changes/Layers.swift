import Synchronization

/// Changes that are shown before the server has confirmed them, over the entries of one table.
///
/// A layer is a closure that runs over the entry again whenever that changes, so an answer that comes in the meantime shows
/// below it, and taking one layer away leaves the others as they are. Layers are in memory alone.
final class Layers<Value: Sendable>: Sendable {
    typealias Change = @Sendable (inout Value?) -> Void

    private struct Layer: Sendable {
        let number: UInt64
        let change: Change
        /// Whether the server has confirmed it, and it waits for the change that makes its entry.
        var isConfirmed = false
    }

    private struct State {
        var layers: [String: [Layer]] = [:]
        /// The present keys of renamed entries, by their former keys.
        var renamed = BoundedTable<String, String>()

        func key(_ key: String) -> String { renamed.isEmpty ? key : renamed[key] ?? key }

        /// Removes layers.
        ///
        /// - Returns: all former layers.
        mutating func remove(over key: String, where isGone: (Layer) -> Bool) -> [Layer] {
            let former = layers[key] ?? []
            let left = former.filter { !isGone($0) }
            layers[key] = left.isEmpty ? nil : left
            return former
        }
    }

    private let state = Mutex(State())

    /// The key that an entry has by now.
    func key(_ key: String) -> String { state.withLock { $0.key(key) } }

    /// Puts a layer over an entry.
    ///
    /// - Parameter number: of the change that it is part of. Layers are applied in this order.
    /// - Returns: the key that the entry has by now.
    func add(_ number: UInt64, over key: String, _ change: @escaping Change) -> String {
        state.withLock { state in
            let key = state.key(key)
            var entry = state.layers[key] ?? []
            let place = entry.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
            entry.insert(Layer(number: number, change: change), at: place)
            state.layers[key] = entry
            return key
        }
    }

    /// Takes the layers of a change away from an entry.
    ///
    /// - Parameter isUndone: whether the change fails to make the entry: confirmed layers that waited for it alone go as well.
    /// - Returns: the key that the entry has by now.
    @discardableResult
    func remove(_ number: UInt64, over key: String, isUndone: Bool) -> String {
        // Closures come to their end without the lock.
        let (key, removed) = state.withLock { state in
            let key = state.key(key)
            let former = state.remove(over: key) { $0.number == number }
            if isUndone, state.layers[key]?.allSatisfy(\.isConfirmed) == true { state.layers[key] = nil }
            return (key, former)
        }
        _ = removed
        return key
    }

    /// Keeps a confirmed change's layers where its entry exists only by another, unconfirmed change, with which they are
    /// stored later.
    ///
    /// - Returns: whether that is so.
    func keepConfirmed(_ number: UInt64, over key: String) -> Bool {
        state.withLock { state in
            guard var entry = state.layers[key],
                entry.contains(where: { $0.number < number && !$0.isConfirmed })
            else { return false }
            for index in entry.indices where entry[index].number == number { entry[index].isConfirmed = true }
            state.layers[key] = entry
            return true
        }
    }

    /// Takes the confirmed layers that waited for an entry, which exists now.
    func takeConfirmed(over key: String) -> [Change] {
        let former = state.withLock { $0.remove(over: key, where: \.isConfirmed) }
        return former.filter(\.isConfirmed).map(\.change)
    }

    /// A value with some changes over it.
    static func apply(_ changes: [Change], to value: Value?) -> Value? {
        var changed = value
        for change in changes { change(&changed) }
        return changed
    }

    /// Has an entry known by another key: its layers, and later ones under the former key, lie over the other one.
    func rename(_ key: String, to new: String) {
        state.withLock { state in
            guard key != new else { return }
            _ = state.renamed.put(new, key)
            guard let moved = state.layers.removeValue(forKey: key) else { return }
            state.layers[new] = (state.layers[new, default: []] + moved).sorted { $0.number < $1.number }
        }
    }

    /// The changes over an entry, without the change of one number.
    func changes(over key: String, except number: UInt64) -> [Change] {
        state.withLock { $0.layers[key]?.filter { $0.number != number }.map(\.change) ?? [] }
    }

    /// The changes that lie over some entries, by key.
    func changes(over keys: [String]) -> [String: [Change]] {
        state.withLock { state in
            guard !state.layers.isEmpty else { return [:] }
            var found: [String: [Change]] = [:]
            for key in keys { if let entry = state.layers[key] { found[key] = entry.map(\.change) } }
            return found
        }
    }

    var isEmpty: Bool { state.withLock { $0.layers.isEmpty } }
}
