/// The median and the percentiles of several samples of one figure.
package struct Summary: Codable, Equatable, Sendable {
    package let samples: Int
    package let median: Double
    package let p10: Double
    package let p90: Double

    /// - Parameter samples: at least one.
    package init(_ samples: [Double]) {
        let sorted = samples.sorted()
        self.samples = sorted.count
        median = Percentile.value(0.5, ofSorted: sorted)
        p10 = Percentile.value(0.1, ofSorted: sorted)
        p90 = Percentile.value(0.9, ofSorted: sorted)
    }

    /// Summarizes the ratios of one figure to another, sample by sample: both of a pair were taken one after the
    /// other, so a load that slowed the machine for a while slowed both.
    ///
    /// - Parameter figures: at least one; as many as `references`, which are not zero.
    package init(ratiosOf figures: [Double], to references: [Double]) {
        precondition(figures.count == references.count, "samples must come in pairs")
        self.init(zip(figures, references).map { $0 / $1 })
    }
}

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

/// Percentiles of samples in any order, interpolated between neighbours.
package enum Percentile {
    /// The value that `fraction` of the samples, from 0 to 1, do not exceed.
    ///
    /// - Parameter samples: at least one.
    /// - Complexity: O(*n* log *n*).
    package static func value(_ fraction: Double, of samples: [Double]) -> Double {
        value(fraction, ofSorted: samples.sorted())
    }

    /// - Parameter samples: at least one, in ascending order.
    package static func value(_ fraction: Double, ofSorted samples: [Double]) -> Double {
        precondition(!samples.isEmpty, "there is no percentile of no samples")
        let position = fraction * Double(samples.count - 1)
        let lower = Int(position)
        let upper = min(lower + 1, samples.count - 1)
        return samples[lower] + (samples[upper] - samples[lower]) * (position - Double(lower))
    }
}
