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
