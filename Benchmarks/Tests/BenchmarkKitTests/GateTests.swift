import Testing

@testable import BenchmarkKit

@Suite struct GateTests {
    private let run = SampleRuns.run([
        SampleRuns.time("ours", [10], ratio: 1, allocations: 3, isOurs: true),
        SampleRuns.time("peer", parameters: ["size": "1 KiB"], [500], ratio: 50, allocations: 90),
        SampleRuns.time("uncounted", [10], ratio: 1),
        SampleRuns.value("ours", 60, unit: "%", better: .higher),
        SampleRuns.finding("absent", work: "copy", .unavailable(reason: "it is not here")),
    ])

    @Test(
        arguments: [
            "sample\tcopy\tours\tallocations\t<= 3",
            "sample\tcopy, size 1 KiB\tpeer\tratio\t>= 50",
            "sample\tcopy\tours\tvalue\t>= 59.5",
            "# a remark\n\nother\tcopy\tours\tratio\t<= 0",
            "sample\tcopy\tabsent\tratio\t>= 2",
            "sample\tcopy\tuncounted\tallocations\t<= 2",
        ]
    )
    func boundsThatHoldAreNoBreaches(text: String) throws {
        #expect(try Gate(text: text).breaches(in: run) == [])
    }

    @Test(
        arguments: [
            ("sample\tcopy\tours\tallocations\t<= 2", "sample, copy, ours, allocations: 3 is not <= 2."),
            (
                "sample\tcopy, size 1 KiB\tpeer\tratio\t>= 50.5",
                "sample, copy, size 1 KiB, peer, ratio: 50 is not >= 50.5."
            ),
            ("sample\tcopy\tpeer\tratio\t>= 2", "sample, copy, peer, ratio: there is no such figure."),
        ]
    )
    func breachesAreNamed(text: String, breach: String) throws {
        #expect(try Gate(text: text).breaches(in: run) == [breach])
    }

    @Test(
        arguments: [
            ("sample\tcopy\tours\tratio", "there must be 5 fields with tabs between, not 4."),
            ("sample\tcopy\tours\ttime\t<= 3", "time is not one of ratio, allocations, value."),
            ("sample\tcopy\tours\tratio\t< 3", "< 3 is no bound such as \"<= 12\" or \">= 20\"."),
            ("sample\tcopy\tours\tratio\t<= nan", "<= nan is no bound such as \"<= 12\" or \">= 20\"."),
        ]
    )
    func unreadableLinesAreRefusedWithTheirNumber(line: String, message: String) {
        #expect(throws: GateError(line: 2, message: message)) { try Gate(text: "# bounds\n" + line) }
    }
}
