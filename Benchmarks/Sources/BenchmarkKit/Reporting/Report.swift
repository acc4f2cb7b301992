import Foundation

/// A run's tables and charts as a Markdown page.
struct Report {
    let run: Run
    /// The names of all suites there are.
    let suites: [String]
    /// Charts in the folder `charts` beside the page.
    let charts: [Chart]

    /// Writes the page `latest.md` and its charts into a folder.
    ///
    /// - Parameters:
    ///   - run: the run in `results`.
    ///   - results: a file.
    ///   - suites: the names of all suites there are.
    /// - Throws: if a file cannot be written.
    static func write(_ run: Run, from results: URL, suites: [String], to folder: URL) throws {
        let charts = try Chart.draw(results, into: folder.appending(path: "charts", directoryHint: .isDirectory))
        let text = Report(run: run, suites: suites, charts: charts).text
        try text.write(to: folder.appending(path: "latest.md"), atomically: true, encoding: .utf8)
    }

    var text: String {
        run.suites.reduce(into: heading) { text, suite in
            text += "\n## \(suite)\n\n"
            for chart in charts where chart.suite == suite { text += Self.picture(chart) }
            text += SuiteTable(suite: suite, findings: run.findings.filter { $0.suite == suite }).markdown
        }
    }

    private var heading: String {
        let failed = run.failedSuites ?? []
        let missing = suites.filter { !run.suites.contains($0) && !failed.contains($0) }
        return """
            # Results

            | | |
            |---|---|
            | measured | \(run.date.formatted(.iso8601)), \(run.isQuick ? "quick: rough figures" : "in full") |
            | commit | \(run.commit)\(run.isDirty ? ", with changes" : "") |
            | toolchain | \(run.toolchain) |
            | machine | \(run.machine.processor), \(run.machine.cores) cores, \(run.machine.memory) MiB |
            | system | \(run.machine.kernel) |
            | suites that did not run | \(Self.names(missing)) |
            | suites that failed before their end | \(Self.names(failed)) |

            Rows in bold are this package. [How to read and repeat this](../README.md).

            """
    }

    private static func names(_ suites: [String]) -> String {
        suites.isEmpty ? "none" : suites.joined(separator: ", ")
    }

    private static func picture(_ chart: Chart) -> String {
        """
        <picture>
          <source media="(prefers-color-scheme: dark)" srcset="charts/\(chart.name)-dark.png">
          <img alt="\(chart.title)" src="charts/\(chart.name)-light.png" width="810">
        </picture>


        """
    }
}
