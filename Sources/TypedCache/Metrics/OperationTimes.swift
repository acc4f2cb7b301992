/// Measures the operations of the caches with one name.
final class OperationTimes: CacheObserver {
    private let histograms: [(operation: CacheOperation, histogram: LatencyHistogram)] =
        CacheOperation.all.map { ($0, LatencyHistogram()) }

    var observedEvents: ObservedEvents { .none }

    func cache(_ name: String, willBegin operation: CacheOperation) -> ContinuousClock.Instant? { .now }

    func cache(_ name: String, didEnd operation: CacheOperation, _ token: ContinuousClock.Instant?) {
        guard let start = token else { return }
        histogram(of: operation)?.record(ContinuousClock.now - start)
    }

    func histogram(of operation: CacheOperation) -> LatencyHistogram? {
        histograms.first { $0.operation == operation }?.histogram
    }
}
