import Synchronization

/// How often something took how long, in buckets with fixed bounds.
final class LatencyHistogram: Sendable {
    /// The buckets' inclusive upper bounds; one more bucket has no bound.
    static let bounds: [Duration] = {
        var bounds: [Duration] = []
        for scale in [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] {
            for step in [1.0, 2.5, 5.0] { bounds.append(.nanoseconds(Int64(step * 1_000 * Double(scale)))) }
        }
        return bounds + [.seconds(10)]
    }()

    private struct Counts {
        var buckets = [Int](repeating: 0, count: LatencyHistogram.bounds.count + 1)
        var sum = Duration.zero
    }

    private let counts = Mutex(Counts())

    /// - Complexity: O(1); some ten comparisons.
    func record(_ time: Duration) {
        let bucket = Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count
        counts.withLock { counts in
            counts.buckets[bucket] += 1
            counts.sum += time
        }
    }

    /// How many times were within each bound or a lower one, all of them last; and their sum.
    var cumulative: (counts: [Int], sum: Duration) {
        let counts = counts.withLock { $0 }
        var total = 0
        let cumulative = counts.buckets.map { count in
            total += count
            return total
        }
        return (cumulative, counts.sum)
    }
}
