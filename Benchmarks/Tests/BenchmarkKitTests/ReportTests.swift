import Foundation
import Testing

@testable import BenchmarkKit

@Suite struct ReportTests {
    private let run = SampleRuns.run([
        SampleRuns.time("ours", [10, 11, 12], ratio: 1, isOurs: true),
        SampleRuns.time("peer", [20, 30, 40], ratio: 2),
    ])

    @Test func aPageHasEachChartInBothThemesBeforeTheTables() throws {
        let charts = Chart.charts(in: "sample\tcopy-ratios\tCopying\nother\tall\tAll\n")
        #expect(charts.map(\.title) == ["Copying", "All"])
        let text = Report(run: run, suites: ["sample", "other", "third"], charts: charts).text
        let picture = """
            ## sample

            <picture>
              <source media="(prefers-color-scheme: dark)" srcset="charts/copy-ratios-dark.png">
              <img alt="Copying" src="charts/copy-ratios-light.png" width="810">
            </picture>

            **copy**

            | subject | median |
            """
        #expect(text.contains(picture))
        // Its suite did not run.
        #expect(!text.contains("charts/all"))
        #expect(text.contains("| suites that did not run | other, third |"))
        #expect(text.contains("| **ours** | 11.0 ns |"))
    }

    @Test func aSuiteThatFailedIsNamedAsSuch() {
        var run = run
        run.failedSuites = ["sample", "other"]
        let text = Report(run: run, suites: ["sample", "other", "third"], charts: []).text
        #expect(text.contains("| suites that did not run | third |"))
        #expect(text.contains("| suites that failed before their end | sample, other |"))
        #expect(text.contains("## sample\n"))
    }

    @Test func newChartsTakeThePlaceOfFormerOnes() throws {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appending(path: "charts-\(UUID().uuidString)")
        defer { #expect(throws: Never.self) { try manager.removeItem(at: folder) } }
        let drafts = folder.appending(path: ".drafts")
        try manager.createDirectory(at: drafts, withIntermediateDirectories: true)
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        try write("former", "a-light.png")
        try write("former", "b-light.png")
        try write("text", "notes.txt")
        try write("new", ".drafts/a-light.png")
        try write("new", ".drafts/c-light.png")
        try Chart.replaceCharts(in: folder, by: drafts)
        #expect(
            try Set(manager.contentsOfDirectory(atPath: folder.path))
                == ["a-light.png", "c-light.png", "notes.txt", ".drafts"]
        )
        #expect(try String(contentsOf: folder.appending(path: "a-light.png"), encoding: .utf8) == "new")
    }

    @Test func linesThatAreNoChartsAreIgnored() {
        #expect(Chart.charts(in: "") == [])
        #expect(Chart.charts(in: "a warning of a library\n") == [])
    }

    @Test func withoutChartsThePageHasTables() {
        let text = Report(run: run, suites: ["sample"], charts: []).text
        #expect(!text.contains("<picture>"))
        #expect(text.contains("| suites that did not run | none |"))
        #expect(text.contains("## sample\n\n**copy**\n"))
    }
}
