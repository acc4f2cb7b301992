import Synchronization

/// The removals of one type's models, each at a revision: an answer that was asked for before one does not bring the model
/// back.
///
/// In memory alone, as no answer outlives the process.
final class Removals: Sendable {
    /// Models with a revision each, beyond which the oldest is merged into `floor`.
    private static let countLimit = 1_024

    private struct State {
        var revisions: [String: Revision] = [:]
        /// Answers that were asked for before this bring no model that is not there. A list that they bring has holes then,
        /// which the next fetch loads.
        var floor = Revision.none
    }

    private let state = Mutex(State())

    func add(_ key: String, at revision: Revision) {
        state.withLock { state in
            state.revisions[key] = max(state.revisions[key] ?? .none, revision)
            guard state.revisions.count > Self.countLimit,
                let oldest = state.revisions.min(by: { $0.value < $1.value })
            else { return }
            state.revisions[oldest.key] = nil
            state.floor = max(state.floor, oldest.value)
        }
    }

    /// Whether a model that is not there was removed after `revision`.
    func covers(_ revision: Revision, of key: String) -> Bool {
        state.withLock { revision < max($0.revisions[key] ?? .none, $0.floor) }
    }
}
