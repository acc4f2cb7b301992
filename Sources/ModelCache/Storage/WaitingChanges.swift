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
        /// Whether the entry differs from the present one by its age and revision alone, so that it need not be written.
        var isRenewal = false
    }

    /// Changes that are to be written, in their order.
    struct Due: Sendable {
        let changes: [Change]
        /// The keys of entries that were renewed, which are not written.
        var renewed: [String] = []
        /// The number of the first one; the others follow.
        fileprivate let first: UInt64
    }

    private struct Waiting {
        let entry: Entry?
        let number: UInt64
        /// The key's.
        let hash: UInt64
        /// Whether the disk refused it: it stays here then, as long as there is room.
        var isRefused = false
    }

    private struct State {
        private(set) var waiting: [String: Waiting] = [:]
        /// How many keys have a hash that begins with each number: almost all keys of a long list are known by that not to
        /// wait, and are not looked for.
        private var hashes: [UInt32] = []
        /// The keys of changes that are kept in memory alone because the disk refuses them.
        var refused = BoundedTable<String, Void>()
        var last: UInt64 = 0

        private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 52) }

        func mayHave(_ hash: UInt64) -> Bool { hashes[Self.place(hash)] > 0 }

        mutating func put(_ new: Waiting, _ key: String) -> Waiting? {
            // Not for a program that only reads.
            if hashes.isEmpty { hashes = Array(repeating: 0, count: 4_096) }
            let former = waiting.updateValue(new, forKey: key)
            if former == nil { hashes[Self.place(new.hash)] += 1 }
            return former
        }

        mutating func remove(at index: Dictionary<String, Waiting>.Index) -> Waiting {
            let removed = waiting.remove(at: index).value
            hashes[Self.place(removed.hash)] -= 1
            return removed
        }

        /// - Returns: the key of the oldest refused change, for which there is no room any longer.
        mutating func refuse(_ key: String) -> String? {
            waiting[key]?.isRefused = true
            return refused.put((), key).oldest?.key
        }

        mutating func remove(_ key: String) -> [Waiting] {
            guard let index = waiting.index(forKey: key) else { return [] }
            return [remove(at: index)]
        }

    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
    var count: Int { state.withLock { $0.waiting.count } }
    var keys: Set<String> { state.withLock { Set($0.waiting.keys) } }

    /// The entry that waits under a key, `.some(nil)` for a removal that waits; `nil` without a change.
    subscript(key: String) -> Entry?? {
        state.withLock { state -> Entry?? in
            // Most often nothing waits, and no key has to be looked for.
            if state.waiting.isEmpty { return nil }
            guard let waiting = state.waiting[key] else { return nil }
            return .some(waiting.entry)
        }
    }

    /// A key of several under which an entry waits, or that it is removed.
    struct Found {
        /// Among the keys.
        let place: Int
        let entry: Entry?
    }

    /// The changes that wait under some keys, in the order of the keys.
    ///
    /// - Parameter places: of the keys that are looked for, in ascending order.
    func changes(of keys: PreparedKeys, at places: some Sequence<Int>) -> [Found] {
        state.withLock { state in
            if state.waiting.isEmpty { return [] }
            var found: [Found] = []
            for place in places where state.mayHave(keys.hash(place)) {
                guard let waiting = state.waiting[keys[place]] else { continue }
                found.append(Found(place: place, entry: waiting.entry))
            }
            return found
        }
    }

    /// Puts entries in the place of the present ones, in this order.
    func add(_ changes: [Change]) -> Due {
        let hashes = changes.map { PreparedKeys.hash(of: $0.key) }
        // Entries come to their end without the lock.
        var former: [Waiting] = []
        let first = state.withLock { state in
            let first = state.last + 1
            for index in changes.indices {
                state.last += 1
                let waiting = Waiting(entry: changes[index].entry, number: state.last, hash: hashes[index])
                guard let old = state.put(waiting, changes[index].key) else { continue }
                if old.isRefused { _ = state.refused.remove(changes[index].key) }
                former.append(old)
            }
            return first
        }
        _ = former
        return Due(changes: changes, first: first)
    }

    /// Ends changes that are on disk, except where the entry was changed again.
    func end(_ due: Due) {
        var ended: [Waiting] = []
        state.withLock { state in
            for index in due.changes.indices {
                guard let place = state.waiting.index(forKey: due.changes[index].key),
                    state.waiting.values[place].number == due.first + UInt64(index)
                else { continue }
                ended.append(state.remove(at: place))
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
            guard isRefused else { return state.remove(key) }
            return state.refuse(key).map { state.remove($0) } ?? []
        }
        _ = dropped
    }
}
