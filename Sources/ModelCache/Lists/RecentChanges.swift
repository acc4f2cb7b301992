import Synchronization

/// The program's changes of lists, each at a revision: an answer that was asked for before one brings a list that is not
/// stored with the change, and a page without the elements that it removes.
///
/// In memory alone, as no answer outlives the process.
final class RecentChanges: Sendable {
    typealias Change = Layers<ListRecord>.Change

    /// Changes that are kept, beyond which the oldest one goes.
    private static let countLimit = 1_024

    private struct Entry {
        let key: String
        let revision: Revision
        let change: Change
    }

    private struct State {
        /// In the order of their revisions, since the turns of merges make them.
        var entries: [Entry] = []
        /// The revision of the last change that is not kept any longer.
        var floor = Revision.none
    }

    private let state = Mutex(State())

    func add(_ key: String, at revision: Revision, _ change: @escaping Change) {
        let former = state.withLock { state -> Entry? in
            state.entries.append(Entry(key: key, revision: revision, change: change))
            guard state.entries.count > Self.countLimit else { return nil }
            let oldest = state.entries.removeFirst()
            state.floor = oldest.revision
            return oldest
        }
        // The program's values go outside of the lock.
        _ = former
    }

    /// The changes of a list since `revision`, in their order, and the revision of the last one.
    ///
    /// - Returns: `nil` if one of them may not be kept any longer: no answer of `revision` is to be stored.
    func changes(of key: String, since revision: Revision) -> (changes: [Change], last: Revision?)? {
        state.withLock { state in
            if revision < state.floor { return nil }
            let entries = state.entries.filter { $0.key == key && revision < $0.revision }
            return (entries.map(\.change), entries.last?.revision)
        }
    }
}
