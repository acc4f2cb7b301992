import Synchronization

/// Counts the events of a tier's caches together.
final class TierCounters: Sendable {
    private let statistics = Mutex(SharedStatistics())

    func count(_ body: (inout SharedStatistics) -> Void) { statistics.withLock { body(&$0) } }

    var current: SharedStatistics { statistics.withLock { $0 } }
}
