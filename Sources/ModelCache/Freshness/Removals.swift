import Foundation
import Synchronization

/// The removals of one type's models, each at a revision: an answer that was asked for before one does not bring the model
/// back. A model's loss by eviction or expiration counts as a removal: the answer may be older than its last write.
///
/// In memory alone, as no answer outlives the process.
final class Removals: Sendable {
    private struct State {
        /// The latest removals by key; older ones are merged into `floor`.
        var revisions = BoundedTable<String, Revision>()
        /// Answers that were requested before this bring no missing model. A list that they bring has holes then, which the
        /// next fetch loads.
        var floor = Revision.none
        /// The latest revision that was written.
        var written = Revision.none

        mutating func add(_ key: String, at revision: Revision) {
            let former = revisions.remove(key) ?? .none
            if let oldest = revisions.put(max(former, revision), key).oldest { floor = max(floor, oldest.value) }
        }
    }

    /// How long the cache below keeps an entry that is not used; `nil` if it does not count that.
    private let idleTime: Duration?
    private let state = Mutex(State())

    init(idleTime: Duration? = nil) { self.idleTime = idleTime }

    func add(_ key: String, at revision: Revision) { state.withLock { $0.add(key, at: revision) } }

    /// Tells that models were written.
    ///
    /// - Parameter revision: at least that of each; `nil`: there were none.
    func wrote(at revision: Revision?) { state.withLock { $0.written = max($0.written, revision ?? .none) } }

    /// Tells that the cache below has lost a model. Its own revision is lost with it, so the latest written one counts.
    func lost(_ key: String) { state.withLock { $0.add(key, at: $0.written) } }

    /// Counts all models written so far as lost, where the request is older than the idle time: a model that was written since may
    /// have expired. The cache below tells of an idle entry only when it removes it, an eighth of the idle time later.
    func expire(since request: Date, at now: Date) {
        guard let idleTime, now.timeIntervalSince(request) >= idleTime / .seconds(1) else { return }
        state.withLock { $0.floor = max($0.floor, $0.written) }
    }

    /// Whether a model that is not there was removed or lost after `revision`.
    func covers(_ revision: Revision, of key: String) -> Bool {
        state.withLock { revision < max($0.revisions[key] ?? .none, $0.floor) }
    }
}
