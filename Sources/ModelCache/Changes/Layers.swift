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
    }

    private let layers = Mutex<[String: [Layer]]>([:])

    /// Puts a layer over an entry.
    ///
    /// - Parameter number: of the change that it is part of. Layers are applied in this order.
    func add(_ number: UInt64, over key: String, _ change: @escaping Change) {
        layers.withLock { layers in
            var entry = layers[key] ?? []
            let place = entry.lastIndex { $0.number <= number }.map { $0 + 1 } ?? 0
            entry.insert(Layer(number: number, change: change), at: place)
            layers[key] = entry
        }
    }

    /// Takes the layers of a change away from an entry.
    func remove(_ number: UInt64, over key: String) {
        let removed = layers.withLock { layers -> [Layer] in
            let former = layers[key] ?? []
            let left = former.filter { $0.number != number }
            layers[key] = left.isEmpty ? nil : left
            return former
        }
        _ = removed
    }

    /// The changes that lie over some entries, by key.
    func changes(over keys: [String]) -> [String: [Change]] {
        layers.withLock { layers in
            guard !layers.isEmpty else { return [:] }
            var found: [String: [Change]] = [:]
            for key in keys { if let entry = layers[key] { found[key] = entry.map(\.change) } }
            return found
        }
    }

    var isEmpty: Bool { layers.withLock { $0.isEmpty } }
}
