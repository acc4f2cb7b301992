import Synchronization

/// How often something took how long, in buckets with fixed bounds. Without locks: each call of a server is recorded.
package final class LatencyHistogram: Sendable {
    /// The buckets' inclusive upper bounds; one more bucket has no bound.
    package static let bounds: [Duration] = boundsInNanoseconds.map { .nanoseconds($0) }

    private static let boundsInNanoseconds: [Int64] = {
        var bounds: [Int64] = []
        for scale in [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as [Int64] {
            for step in [1_000, 2_500, 5_000] as [Int64] { bounds.append(step * scale) }
        }
        return bounds + [10_000_000_000]
    }()

    private final class Bucket: Sendable {
        let count = Atomic<Int>(0)
    }

    private let buckets = (0...LatencyHistogram.boundsInNanoseconds.count).map { _ in Bucket() }
    /// In nanoseconds.
    private let sum = Atomic<Int64>(0)

    package init() {}

    func record(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        record(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// - Complexity: O(1); some ten comparisons.
    package func record(nanoseconds time: Int64) {
        let bucket = Self.boundsInNanoseconds.firstIndex { time <= $0 } ?? Self.boundsInNanoseconds.count
        buckets[bucket].count.add(1, ordering: .relaxed)
        sum.wrappingAdd(time, ordering: .relaxed)
    }

    /// How many times were in each bucket, and their sum. Of a time that is being recorded it may have one of the two.
    package var counts: (buckets: [Int], sum: Duration) {
        (buckets.map { $0.count.load(ordering: .relaxed) }, .nanoseconds(sum.load(ordering: .relaxed)))
    }

    var isEmpty: Bool { buckets.allSatisfy { $0.count.load(ordering: .relaxed) == 0 } }

    /// How many times were within each bound or a lower one, all of them last; and their sum.
    var cumulative: (counts: [Int], sum: Duration) {
        let (buckets, sum) = counts
        var total = 0
        let cumulative = buckets.map { count in
            total += count
            return total
        }
        return (cumulative, sum)
    }
}
