import Foundation
import Testing

@testable import BenchmarkKit

@Suite struct ResultTests {
    @Test func aRunIsReadAsItWasWritten() throws {
        let run = SampleRuns.run([
            SampleRuns.time("a", parameters: ["size": "1 KiB"], [1, 2, 3], ratio: 1, allocations: 2),
            SampleRuns.finding("b", work: "copy", .latency(LatencySummary([1, 2, 3]))),
            SampleRuns.value("c", 7, unit: "bytes", better: .lower),
            SampleRuns.finding("d", work: "copy", .unavailable(reason: "it is not here")),
        ])
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try run.write(to: file)
        #expect(try Run(contentsOf: file) == run)
        #expect(run.fileName == "2026-05-09T061320-abc1234.json")
    }

    @Test func aTableShowsEveryKindOfRow() {
        let table = SuiteTable(
            suite: "sample",
            findings: [
                SampleRuns.time(
                    "a",
                    parameters: ["size": "1 KiB"],
                    [1_000],
                    ratio: 1,
                    allocations: 2,
                    isOurs: true
                ),
                SampleRuns.value("c", 2_048, unit: "bytes", better: .lower),
                SampleRuns.finding("d", work: "copy", .unavailable(reason: "it is not here")),
            ]
        )
        #expect(
            table.text == """
                == sample

                copy, size 1 KiB
                  subject     median           p10 – p90   to ours   p10 – p90 of it   allocations
                  a *        1.00 µs   1.00 µs – 1.00 µs     1.00×     1.00× – 1.00×             2

                copy
                  subject      value
                  c         2.00 KiB
                  d: not measured, it is not here

                """
        )
    }

    @Test(
        arguments: [
            (0.0, "0 ns"), (9.994, "9.99 ns"), (12.34, "12.3 ns"), (999.4, "999 ns"), (1_500, "1.50 µs"),
            (2_345_000, "2.35 ms"), (61e9, "61.0 s"), (0.0123, "0.012 ns"),
        ]
    )
    func timesHaveThreeDigits(nanoseconds: Double, text: String) {
        #expect(Figure.time(nanoseconds) == text)
    }

    @Test(arguments: [(1_234_567.0, "1,234,567"), (-1_000, "-1,000"), (12, "12"), (0.5, "0.50")])
    func countsAreGrouped(count: Double, text: String) {
        #expect(Figure.count(count) == text)
    }
}

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
