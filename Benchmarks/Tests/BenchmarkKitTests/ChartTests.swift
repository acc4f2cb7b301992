import Foundation
import Testing

@testable import BenchmarkKit

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite struct ChartTests {
    private let run: Run = {
        var findings = [
            SampleRuns.time("ours <T> & \"co\"", [10, 11, 12], ratio: 1, isOurs: true),
            SampleRuns.time("peer", [20, 30, 40], ratio: 0.5),
            SampleRuns.value("ours", 60, unit: "%", better: .higher),
            SampleRuns.value("peer", 40, unit: "%", better: .higher),
        ]
        for count in ["1,000", "10,000", "100,000"] {
            for subject in ["ours", "peer", "other"] {
                findings.append(
                    SampleRuns.time(
                        subject,
                        work: "look up",
                        parameters: ["entries": count],
                        [100, 101],
                        ratio: 1,
                        isOurs: subject == "ours"
                    )
                )
            }
        }
        return SampleRuns.run(findings)
    }()

    @Test func everyKindOfChartIsWellFormed() throws {
        let charts = SuiteCharts.charts(suite: "sample", findings: run.findings)
        #expect(
            charts.map(\.title) == [
                "sample: time as a multiple of ours", "sample, %", "sample: look up",
            ]
        )
        for chart in charts {
            let parser = XMLParser(data: Data(chart.svg.utf8))
            #expect(parser.parse(), "\(chart.title): \(parser.parserError as Any)")
            #expect(!chart.svg.contains("nan") && !chart.svg.contains("inf"))
        }
    }

    @Test func whatGrowsWithFewerThanThreeNumbersIsDrawnAsBars() {
        let two = ["1", "2"].map { SampleRuns.time("a", parameters: ["entries": $0], [1]) }
        #expect(Growth.split(two).growths.isEmpty)
        #expect(Growth.split(two).rest == two)
    }

    @Test(
        arguments: [
            ([10.0, 12, 14], [10.0, 30, 50]),
            ([10, 50, 100], [10, 50, 100]),
            ([98, 99, 100], [60, 80, 100]),
        ]
    )
    func labelsAreMovedApart(wanted: [Double], expected: [Double]) {
        #expect(LabelPlacement.spread(wanted, distance: 20, within: 0...100) == expected)
    }

    @Test(
        arguments: [("1,000", 1_000.0), ("0.5 KiB", 512), ("2 MiB", 2_097_152), ("50 %", 50), ("zipf", nil)]
            as [(String, Double?)]
    )
    func parametersMayBeNumbersWithUnits(text: String, value: Double?) {
        #expect(Quantity(text)?.value == value)
    }

    @Test func aReportNamesEveryChartThatItWrites() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Report(run: run).write(to: folder)
        let page = try String(contentsOf: folder.appending(path: "latest.md"), encoding: .utf8)
        let charts = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "charts").path)
        #expect(charts.count == 3)
        for chart in charts { #expect(page.contains("(charts/\(chart))")) }
    }
}
