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
