import Synchronization

/// Changes that are shown before the server has confirmed them, over the entries of one table.
///
/// A layer is a closure that runs over the entry again whenever that changes, so an answer that comes meanwhile shows
/// below it, and taking one layer away leaves the others as they are. Layers are in memory alone.
final class Layers<Value: Sendable>: Sendable {
    typealias Change = @Sendable (inout Value?) -> Void

    private struct Layer: Sendable {
        let number: UInt64
        let change: Change
    }

    private let layers = Mutex<[String: [Layer]]>([:])
    /// Even, and odd while a layer becomes part of its entry: whoever reads both must read them between two such steps.
    private let version = Atomic<UInt64>(0)
    private let settling = Mutex(())

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

    /// Takes the layers of a change away from an entry, and has `commit` change the entry itself in the same step.
    func remove(_ number: UInt64, over key: String, _ commit: () -> Void = {}) {
        let removed = settling.withLock { _ in
            version.add(1, ordering: .sequentiallyConsistent)
            defer { version.add(1, ordering: .sequentiallyConsistent) }
            commit()
            return layers.withLock { layers -> [Layer] in
                let former = layers[key] ?? []
                let left = former.filter { $0.number != number }
                layers[key] = left.isEmpty ? nil : left
                return former
            }
        }
        _ = removed
    }

    /// Reads entries that have no layers over them.
    ///
    /// - Returns: `nil` if there are layers, or one became part of its entry meanwhile.
    func readingWithout<Base>(_ read: () throws(ModelCacheError) -> Base?) throws(ModelCacheError) -> Base? {
        let before = version.load(ordering: .sequentiallyConsistent)
        guard before.isMultiple(of: 2), isEmpty else { return nil }
        let base = try read()
        return isEmpty && version.load(ordering: .sequentiallyConsistent) == before ? base : nil
    }

    /// Reads entries, and the layers over them as they were at that time.
    ///
    /// - Parameter read: is called again if a layer became part of its entry meanwhile.
    nonisolated(nonsending) func reading<Base>(
        _ keys: [String],
        _ read: nonisolated(nonsending) () async throws(ModelCacheError) -> Base
    ) async throws(ModelCacheError) -> (base: Base, layers: [String: [Change]]) {
        while true {
            let before = version.load(ordering: .sequentiallyConsistent)
            if !before.isMultiple(of: 2) {
                await Task.yield()
                continue
            }
            let base = try await read()
            let found = layers.withLock { layers -> [String: [Change]] in
                guard !layers.isEmpty else { return [:] }
                var found: [String: [Change]] = [:]
                for key in keys { if let entry = layers[key] { found[key] = entry.map(\.change) } }
                return found
            }
            if version.load(ordering: .sequentiallyConsistent) == before { return (base, found) }
        }
    }

    var isEmpty: Bool { layers.withLock { $0.isEmpty } }
}
