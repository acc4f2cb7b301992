import Synchronization

/// Entries that an answer has brought as they were: newer than those on disk by their ages and revisions alone.
///
/// They are not written, as long as there is room here: a list that is loaded again mostly has the same models.
final class Renewals: Sendable {
    typealias Change = WaitingChanges.Change

    /// The most entries that are kept in memory alone. Beyond that the oldest ones are written.
    private static let limit = 1_024

    private struct State {
        var changes: [String: Change] = [:]
        /// The keys in the order of their first renewals; some of them may be renewed no more.
        var keys: [String] = []
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }

    subscript(key: String) -> WaitingChanges.Entry? {
        state.withLock { $0.changes.isEmpty ? nil : $0.changes[key]?.entry }
    }

    func add(_ changes: [Change]) {
        // Entries come to their end without the lock.
        var former: [Change] = []
        state.withLock { state in
            for index in changes.indices {
                let key = changes[index].key
                if let old = state.changes.updateValue(changes[index], forKey: key) {
                    former.append(old)
                } else {
                    state.keys.append(key)
                }
            }
        }
        _ = former
    }

    /// Removes entries that change, and those for which there is no room.
    ///
    /// - Returns: the latter, which are to be written.
    func remove(_ changed: [Change]) -> [Change] {
        var former: [Change] = []
        let excess = state.withLock { state in
            if state.changes.isEmpty { return [Change]() }
            for index in changed.indices {
                if let old = state.changes.removeValue(forKey: changed[index].key) { former.append(old) }
            }
            var excess: [Change] = []
            var passed = 0
            // The keys without an entry go as well, before they are more than those with one.
            while state.changes.count > Self.limit || state.keys.count - passed > 2 * Self.limit {
                if let oldest = state.changes.removeValue(forKey: state.keys[passed]) { excess.append(oldest) }
                passed += 1
            }
            state.keys.removeFirst(passed)
            return excess
        }
        _ = former
        return excess
    }
}
