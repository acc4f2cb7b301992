import Testing

@testable import BenchmarkKit

@Suite struct StatisticsTests {
    @Test(
        arguments: [
            ([7.0], 0.5, 7.0),
            ([1, 2], 0.5, 1.5),
            ([3, 1, 2], 0.5, 2),
            ([3, 1, 2], 0, 1),
            ([3, 1, 2], 1, 3),
            (Array(stride(from: 10.0, through: 0, by: -1)), 0.1, 1),
            (Array(stride(from: 10.0, through: 0, by: -1)), 0.9, 9),
            ([0, 10], 0.25, 2.5),
        ]
    )
    func percentilesAreInterpolatedWhateverTheOrder(samples: [Double], fraction: Double, expected: Double) {
        #expect(abs(Percentile.value(fraction, of: samples) - expected) < 1e-9)
    }

    @Test func aSummaryHasMedianAndSpread() {
        let summary = Summary([5, 1, 4, 2, 3])
        #expect(summary.samples == 5)
        #expect(summary.median == 3)
        #expect(abs(summary.p10 - 1.4) < 1e-9)
        #expect(abs(summary.p90 - 4.6) < 1e-9)
    }

    /// The machine was ten times slower for one pair: the ratio of each pair does not show it.
    @Test func ratiosAreTakenPairByPair() {
        let ratio = Summary(ratiosOf: [20, 200, 22], to: [10, 100, 11])
        #expect(ratio == Summary([2, 2, 2]))
    }

    @Test func aLatencySummaryKeepsTheSlowest() {
        let summary = LatencySummary((1...100).map(Double.init) + [5_000])
        #expect(summary.operations == 101)
        #expect(summary.p50 == 51)
        #expect(summary.p90 == 91)
        #expect(summary.p99 == 100)
        #expect(summary.maximum == 5_000)
    }
}
