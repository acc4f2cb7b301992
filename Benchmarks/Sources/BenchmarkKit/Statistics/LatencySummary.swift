/// The percentiles of operations that were timed one by one, in nanoseconds.
package struct LatencySummary: Codable, Equatable, Sendable {
    package let operations: Int
    package let p10: Double
    package let p50: Double
    package let p90: Double
    package let p99: Double
    package let maximum: Double

    /// - Parameter samples: at least one.
    package init(_ samples: [Double]) {
        let sorted = samples.sorted()
        operations = sorted.count
        p10 = Percentile.value(0.1, ofSorted: sorted)
        p50 = Percentile.value(0.5, ofSorted: sorted)
        p90 = Percentile.value(0.9, ofSorted: sorted)
        p99 = Percentile.value(0.99, ofSorted: sorted)
        maximum = sorted[sorted.count - 1]
    }
}
