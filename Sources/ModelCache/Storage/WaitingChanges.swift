import Synchronization
import TypedCache

/// The entries of one table that were changed and are not on disk yet.
///
/// Knows them as objects, whatever their models: code that is generic over models asks the runtime for types at each step,
/// and a merge takes thousands of them.
final class WaitingChanges: Sendable {
    typealias Entry = any AnyObject & Sendable

    /// A new entry in the place of the present one.
    struct Change: Sendable {
        let key: String
        /// `nil`: removed.
        let entry: Entry?
        let tags: Set<String>
    }

    /// Changes that are to be written, in their order.
    struct Due: Sendable {
        let changes: [Change]
        /// The number of the first one; the others follow.
        fileprivate let first: UInt64
    }

    private struct Waiting {
        let entry: Entry?
        let number: UInt64
        /// Whether the disk refused it: it stays here then, as long as there is room.
        var isRefused = false
    }

    private struct State {
        var waiting: [String: Waiting] = [:]
        var refused: [String] = []
        var last: UInt64 = 0
    }

    /// The most entries that are kept in memory alone because the disk refuses them.
    private static let refusedLimit = 1_024

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
    var count: Int { state.withLock { $0.waiting.count } }

    /// The entry that waits under a key, or that it is removed; `nil` if there is no change of it.
    subscript(key: String) -> Entry?? {
        state.withLock { state -> Entry?? in
            // Most often nothing waits, and no key has to be looked for.
            if state.waiting.isEmpty { return nil }
            guard let waiting = state.waiting[key] else { return nil }
            return .some(waiting.entry)
        }
    }

    /// The entries that wait, in the order of the keys, `nil` for keys without a change; `nil` if nothing waits at all.
    func entries(for keys: PreparedKeys) -> [Entry??]? {
        state.withLock { state in
            if state.waiting.isEmpty { return nil }
            var entries: [Entry??] = []
            entries.reserveCapacity(keys.indices.count)
            for index in keys.indices {
                if let waiting = state.waiting[keys[index]] {
                    entries.append(.some(waiting.entry))
                } else {
                    entries.append(nil)
                }
            }
            return entries
        }
    }

    /// The entries for some keys, if all of them wait, and none is removed: those of a list that was just merged.
    func all(for keys: PreparedKeys) -> [Entry]? {
        state.withLock { state in
            guard state.waiting.count >= keys.indices.count else { return nil }
            var entries: [Entry] = []
            entries.reserveCapacity(keys.indices.count)
            for index in keys.indices {
                guard let entry = state.waiting[keys[index]]?.entry else { return nil }
                entries.append(entry)
            }
            return entries
        }
    }

    /// Puts entries in the place of the present ones, in this order.
    func add(_ changes: [Change]) -> Due {
        // Entries come to their end without the lock.
        var former: [Waiting] = []
        let first = state.withLock { state in
            let first = state.last + 1
            for index in changes.indices {
                state.last += 1
                let waiting = Waiting(entry: changes[index].entry, number: state.last)
                guard let old = state.waiting.updateValue(waiting, forKey: changes[index].key) else { continue }
                if old.isRefused { state.refused.removeAll { $0 == changes[index].key } }
                former.append(old)
            }
            return first
        }
        _ = former
        return Due(changes: changes, first: first)
    }

    /// Ends changes that are on disk, but for those that were changed again.
    func end(_ due: Due) {
        var ended: [Waiting] = []
        state.withLock { state in
            for index in due.changes.indices {
                guard let place = state.waiting.index(forKey: due.changes[index].key),
                    state.waiting.values[place].number == due.first + UInt64(index)
                else { continue }
                ended.append(state.waiting.remove(at: place).value)
            }
        }
        _ = ended
    }

    /// Ends one change, or keeps it, where the disk refuses it. A removal that it refuses is kept as well: the entry stays
    /// away.
    func end(_ index: Int, of due: Due, isRefused: Bool) {
        let key = due.changes[index].key
        let dropped = state.withLock { state -> [Waiting] in
            guard state.waiting[key]?.number == due.first + UInt64(index) else { return [] }
            guard isRefused else { return state.waiting.removeValue(forKey: key).map { [$0] } ?? [] }
            state.waiting[key]?.isRefused = true
            state.refused.append(key)
            guard state.refused.count > Self.refusedLimit else { return [] }
            let oldest = state.refused.removeFirst()
            return state.waiting.removeValue(forKey: oldest).map { [$0] } ?? []
        }
        _ = dropped
    }
}
