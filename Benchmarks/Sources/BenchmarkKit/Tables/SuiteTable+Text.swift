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
