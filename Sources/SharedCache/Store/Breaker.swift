import ArchiveStore
import Synchronization

/// Spares callers the wait for a server that does not answer: after some failures in a row all calls fail at once, until
/// a heartbeat is answered.
final class Breaker: Sendable {
    static let failureLimit = 5

    private let failureCount = Atomic<Int>(0)

    /// Whether the last call failed.
    var isSuspect: Bool { failureCount.load(ordering: .relaxed) > 0 }

    /// - Throws: `.unreachable` while calls fail at once.
    func check(_ action: String) throws(StoreError) {
        guard failureCount.load(ordering: .relaxed) >= Self.failureLimit else { return }
        let reason = "the server did not answer \(Self.failureLimit) times in a row, nor a heartbeat since"
        throw StoreError(.unreachable, action: action, reason: reason)
    }

    func failed() { failureCount.add(1, ordering: .relaxed) }

    /// A call or a heartbeat was answered.
    func answered() {
        // Written only when it changes: all threads read it.
        if isSuspect { failureCount.store(0, ordering: .relaxed) }
    }
}
