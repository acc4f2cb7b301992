import Synchronization
import TypedCache

/// The entries of one table that were changed and are not on disk yet.
///
/// Knows them as objects, whatever their models: code that is generic over models asks the runtime for types at each step,
/// and a merge takes thousands of them.
final class WaitingChanges: Sendable {
    typealias Entry = any AnyObject & Sendable

    /// A change that is to be written.
    struct Due: Sendable {
        let key: String
        /// `nil`: removed.
        let entry: Entry?
        let tags: Set<String>
        fileprivate let number: UInt64
    }

    private struct Change {
        let due: Due
        /// Whether the disk refused it: it stays here then, as long as there is room.
        var isRefused = false
    }

    private struct State {
        var changes: [String: Change] = [:]
        var refused: [String] = []
        var last: UInt64 = 0

        mutating func remove(_ due: Due) -> Change? {
            changes[due.key]?.due.number == due.number ? changes.removeValue(forKey: due.key) : nil
        }
    }

    /// The most entries that are kept in memory alone because the disk refuses them.
    private static let refusedLimit = 1_024

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }
    var count: Int { state.withLock { $0.changes.count } }

    /// The entry that waits under a key, or that it is removed; `nil` if there is no change of it.
    subscript(key: String) -> Entry?? {
        state.withLock { state -> Entry?? in
            // Most often nothing waits, and no key has to be looked for.
            if state.changes.isEmpty { return nil }
            guard let change = state.changes[key] else { return nil }
            return .some(change.due.entry)
        }
    }

    /// The entries that wait, by the places of their keys; `nil` if nothing waits at all.
    func entries(for keys: PreparedKeys) -> [Int: Entry?]? {
        state.withLock { state in
            if state.changes.isEmpty { return nil }
            var entries: [Int: Entry?] = [:]
            for index in keys.indices {
                if let change = state.changes[keys[index]] { entries[index] = .some(change.due.entry) }
            }
            return entries
        }
    }

    /// Puts entries in the place of the present ones, in this order.
    func add(_ changes: [(key: String, entry: Entry?, tags: Set<String>)]) -> [Due] {
        var due: [Due] = []
        due.reserveCapacity(changes.count)
        // Entries come to their end without the lock.
        var former: [Change] = []
        state.withLock { state in
            for (key, entry, tags) in changes {
                state.last += 1
                let change = Due(key: key, entry: entry, tags: tags, number: state.last)
                due.append(change)
                guard let old = state.changes.updateValue(Change(due: change), forKey: key) else { continue }
                if old.isRefused { state.refused.removeAll { $0 == key } }
                former.append(old)
            }
        }
        _ = former
        return due
    }

    /// Ends changes that are on disk, but for those that were changed again.
    func end(_ due: [Due]) {
        var ended: [Change] = []
        state.withLock { state in
            for change in due {
                if let change = state.remove(change) { ended.append(change) }
            }
        }
        _ = ended
    }

    /// Keeps an entry that the disk refuses. A removal that it refuses is kept as well: the entry stays away.
    func refuse(_ due: Due) {
        let dropped = state.withLock { state -> [Change] in
            guard state.changes[due.key]?.due.number == due.number else { return [] }
            state.changes[due.key]?.isRefused = true
            state.refused.append(due.key)
            guard state.refused.count > Self.refusedLimit else { return [] }
            let oldest = state.refused.removeFirst()
            return state.changes.removeValue(forKey: oldest).map { [$0] } ?? []
        }
        _ = dropped
    }
}
