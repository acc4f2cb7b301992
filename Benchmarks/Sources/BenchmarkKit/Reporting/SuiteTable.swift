/// The findings of one suite as rows of text: a block per piece of work and kind of figure.
struct SuiteTable {
    let suite: String
    let blocks: [Block]

    /// Rows under one header.
    struct Block {
        let title: String
        let header: [String]
        let rows: [[String]]
        /// Sentences on the figures that could not be measured.
        let notes: [String]
    }

    /// - Parameter findings: those of the suite.
    init(suite: String, findings: [Finding]) {
        self.suite = suite
        var titles: [String] = []
        var members: [String: [Finding]] = [:]
        for finding in findings {
            if members[finding.title] == nil { titles.append(finding.title) }
            members[finding.title, default: []].append(finding)
        }
        blocks = titles.map { Self.block(title: $0, findings: members[$0] ?? []) }
    }

    private static func block(title: String, findings: [Finding]) -> Block {
        var header = ["subject"]
        var rows: [[String]] = []
        var notes: [String] = []
        for finding in findings {
            var row = [finding.isOurs ? "\(finding.subject) *" : finding.subject]
            for (name, text) in cells(finding.outcome) {
                let column = header.firstIndex(of: name) ?? header.count
                if column == header.count { header.append(name) }
                row += Array(repeating: "", count: max(0, column + 1 - row.count))
                row[column] = text
            }
            if case .unavailable(let reason) = finding.outcome {
                notes.append("\(finding.subject): not measured, \(reason)")
            } else {
                rows.append(row)
            }
        }
        rows = rows.map { $0 + Array(repeating: "", count: header.count - $0.count) }
        return Block(title: title, header: header, rows: rows, notes: notes)
    }

    private static func cells(_ outcome: Outcome) -> [(name: String, text: String)] {
        switch outcome {
        case .time(let figures): return cells(figures)
        case .latency(let latencies):
            return [
                ("p50", Figure.time(latencies.p50)),
                ("p90", Figure.time(latencies.p90)),
                ("p99", Figure.time(latencies.p99)),
                ("max", Figure.time(latencies.maximum)),
            ]
        case .value(let figures):
            let summary = figures.summary
            var cells = [("value", Figure.value(summary.median, unit: figures.unit))]
            if summary.samples > 1 { cells.append(("p10 – p90", range(summary, unit: figures.unit))) }
            return cells
        case .unavailable: return []
        }
    }

    private static func cells(_ figures: TimeFigures) -> [(name: String, text: String)] {
        var cells = [
            ("median", Figure.time(figures.nanoseconds.median)),
            ("p10 – p90", range(figures.nanoseconds, unit: "ns")),
        ]
        if let ratio = figures.ratio {
            cells.append(("to ours", Figure.ratio(ratio.median)))
            cells.append(("p10 – p90 of it", "\(Figure.ratio(ratio.p10)) – \(Figure.ratio(ratio.p90))"))
        }
        if let allocations = figures.allocations { cells.append(("allocations", Figure.count(allocations))) }
        if let bytes = figures.bytes { cells.append(("size", Figure.value(Double(bytes), unit: "bytes"))) }
        return cells
    }

    private static func range(_ summary: Summary, unit: String) -> String {
        "\(Figure.value(summary.p10, unit: unit)) – \(Figure.value(summary.p90, unit: unit))"
    }
}

extension SuiteTable {
    /// For a terminal: columns are aligned from block to block.
    var text: String {
        let rows = blocks.flatMap { [$0.header] + $0.rows }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        var lines = ["== \(suite)"]
        for block in blocks {
            lines += ["", block.title]
            if !block.rows.isEmpty { lines += ([block.header] + block.rows).map { Self.aligned($0, widths) } }
            lines += block.notes.map { "  \($0)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// For a report: a table per block.
    var markdown: String {
        blocks.map { block in
            var lines = ["**\(block.title)**", ""]
            if !block.rows.isEmpty {
                let rule = block.header.indices.map { $0 == 0 ? "---" : "---:" }
                let rows = block.rows.map { $0.map { $0.hasSuffix(" *") ? "**\($0.dropLast(2))**" : $0 } }
                lines += ([block.header, rule] + rows).map { "| \($0.joined(separator: " | ")) |" }
                lines.append("")
            }
            lines += block.notes.flatMap { [$0 + ".", ""] }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func aligned(_ row: [String], _ widths: [Int]) -> String {
        var line = " "
        for (column, cell) in row.enumerated() {
            let space = String(repeating: " ", count: widths[column] - cell.count)
            line += column == 0 ? " \(cell)\(space)" : "   \(space)\(cell)"
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
