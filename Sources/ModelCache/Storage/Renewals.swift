import Synchronization

/// Entries that an answer confirmed unchanged: they differ from the entries on disk only by age and revision.
///
/// They are not written, as long as there is room here: a list that is loaded again mostly has the same models.
final class Renewals: Sendable {
    typealias Change = WaitingChanges.Change

    private let state = Mutex(BoundedTable<String, Change>())

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    subscript(key: String) -> WaitingChanges.Entry? { state.withLock { $0[key]?.entry } }

    /// - Returns: the entries for which there is no room any longer, which are to be written.
    func add(_ changes: [Change]) -> [Change] {
        // Entries come to their end without the lock.
        var former: [Change?] = []
        var excess: [Change] = []
        state.withLock { state in
            for index in changes.indices {
                let put = state.put(changes[index], changes[index].key)
                former.append(put.former)
                if let oldest = put.oldest { excess.append(oldest.value) }
            }
        }
        _ = former
        return excess
    }

    /// Removes entries that change.
    func remove(_ changed: [Change]) {
        var former: [Change?] = []
        state.withLock { state in
            if state.isEmpty { return }
            for index in changed.indices { former.append(state.remove(changed[index].key)) }
        }
        _ = former
    }
}
