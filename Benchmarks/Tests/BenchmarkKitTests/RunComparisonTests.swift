import Testing

@testable import BenchmarkKit

@Suite struct RunComparisonTests {
    /// Earlier and later samples, and the expected verdict.
    @Test(
        arguments: [
            ([100.0, 101, 102], [50.0, 51, 52], Change.Verdict.better),
            ([100, 101, 102], [150, 151, 152], .worse),
            // Apart, but by less than 5 %.
            ([100, 100.1, 100.2], [104, 104.1, 104.2], .noise),
            // Far apart in the middle, but the ranges overlap.
            ([100, 150, 200], [110, 190, 300], .noise),
        ]
    )
    func changesWithinNoiseDoNotCount(before: [Double], after: [Double], verdict: Change.Verdict) {
        let comparison = RunComparison(
            before: SampleRuns.run([SampleRuns.time("a", before)]),
            after: SampleRuns.run([SampleRuns.time("a", after)])
        )
        #expect(comparison.changes.map(\.verdict) == [verdict])
    }

    @Test(arguments: [(Direction.higher, Change.Verdict.better), (.lower, .worse)])
    func moreIsBetterWhereItIs(direction: Direction, verdict: Change.Verdict) {
        let comparison = RunComparison(
            before: SampleRuns.run([SampleRuns.value("a", 40, unit: "%", better: direction)]),
            after: SampleRuns.run([SampleRuns.value("a", 60, unit: "%", better: direction)])
        )
        #expect(comparison.changes.map(\.verdict) == [verdict])
    }

    @Test func allocationsAreComparedAsWell() {
        let comparison = RunComparison(
            before: SampleRuns.run([SampleRuns.time("a", [1, 2, 3], allocations: 3)]),
            after: SampleRuns.run([SampleRuns.time("a", [1, 2, 3], allocations: 4)])
        )
        #expect(comparison.text.contains("sample, copy, a: allocations 3 → 4, 1.33×"))
    }

    @Test func rowsAppearAndDisappear() {
        let reason = Outcome.unavailable(reason: "it is not here")
        let comparison = RunComparison(
            before: SampleRuns.run([SampleRuns.time("a", [1]), SampleRuns.time("b", [1])]),
            after: SampleRuns.run([
                SampleRuns.time("a", [1]),
                SampleRuns.time("c", [1]),
                SampleRuns.finding("b", work: "copy", reason),
            ])
        )
        #expect(comparison.appeared.map(\.subject) == ["c"])
        #expect(comparison.disappeared.map(\.subject) == ["b"])
    }

    @Test func aSuiteThatDidNotRunDidNotDisappear() {
        let comparison = RunComparison(
            before: SampleRuns.run([SampleRuns.time("a", [1])]),
            after: SampleRuns.run([])
        )
        #expect(comparison.disappeared.isEmpty)
    }

    @Test func driftIsTheMedianChangeOfPeers() {
        let before =
            [SampleRuns.time("ours", [9], isOurs: true)] + ["a", "b", "c"].map { SampleRuns.time($0, [10]) }
        let after =
            [SampleRuns.time("ours", [3], isOurs: true)]
            + [("a", 11.0), ("b", 12), ("c", 40)].map { SampleRuns.time($0, [$1]) }
        let comparison = RunComparison(before: SampleRuns.run(before), after: SampleRuns.run(after))
        #expect(comparison.drift == 1.2)
        #expect(comparison.text.contains("The peers' times became 1.20× in the median"))
    }

    @Test func parametersTellMeasurementsApart() {
        let small = SampleRuns.time("a", parameters: ["size": "1 KiB"], [1])
        let large = SampleRuns.time("a", parameters: ["size": "2 KiB"], [9])
        let run = SampleRuns.run([small, large])
        #expect(RunComparison(before: run, after: run).changes.map(\.ratio) == [1, 1])
    }
}
