import Foundation

/// A run's tables and charts as a Markdown page.
struct Report {
    let run: Run

    /// Writes the page and its charts into a folder; charts that were there are removed.
    ///
    /// - Throws: if something cannot be written.
    func write(to folder: URL) throws {
        let manager = FileManager.default
        let images = folder.appending(path: "charts", directoryHint: .isDirectory)
        try manager.createDirectory(at: images, withIntermediateDirectories: true)
        for old in try manager.contentsOfDirectory(at: images, includingPropertiesForKeys: nil)
        where old.pathExtension == "svg" {
            try manager.removeItem(at: old)
        }
        var text = heading
        for suite in run.suites {
            let findings = run.findings.filter { $0.suite == suite }
            text += "\n## \(suite)\n\n"
            for (index, chart) in SuiteCharts.charts(suite: suite, findings: findings).enumerated() {
                let name = "\(suite)-\(index + 1).svg"
                try chart.svg.write(to: images.appending(path: name), atomically: true, encoding: .utf8)
                text += "![\(chart.title)](charts/\(name))\n\n"
            }
            text += SuiteTable(suite: suite, findings: findings).markdown
        }
        try text.write(to: folder.appending(path: "latest.md"), atomically: true, encoding: .utf8)
    }

    private var heading: String {
        """
        # Results

        | | |
        |---|---|
        | measured | \(run.date.formatted(.iso8601)), \(run.isQuick ? "quick: rough figures" : "in full") |
        | commit | \(run.commit)\(run.isDirty ? ", with changes" : "") |
        | toolchain | \(run.toolchain) |
        | machine | \(run.machine.processor), \(run.machine.cores) cores, \(run.machine.memory) MiB |
        | system | \(run.machine.kernel) |

        Rows in bold are this package. [How to read and repeat this](../README.md).

        """
    }
}
