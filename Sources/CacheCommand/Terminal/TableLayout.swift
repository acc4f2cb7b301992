/// A column of a table.
typealias TableColumn = (heading: String, alignment: TableAlignment)

enum TableAlignment {
    case left
    case right
}

/// The columns of a table and their widths.
struct TableLayout {
    private let columns: [TableColumn]
    private let widths: [Int]

    /// Columns as wide as their widest cells.
    init(_ columns: [TableColumn], _ rows: [[String]]) {
        self.columns = columns
        var widths = columns.map { TextWidth($0.heading).columns }
        for cells in rows {
            for column in widths.indices where columns[column].alignment == .right || column < cells.count - 1 {
                widths[column] = max(widths[column], TextWidth(cells[column]).columns)
            }
        }
        self.widths = widths
    }

    /// A row, with a line feed. A cell that is wider than its column moves those after it.
    func line(_ cells: [String]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let isLast = column == cells.count - 1
            let text = isLast ? cell : Self.isolated(cell)
            let isLeft = columns[column].alignment == .left
            if column > 0 { line += "  " }
            // Nothing is aligned with the end of the last column.
            if isLast, isLeft {
                line += text
                continue
            }
            let gap = String(repeating: " ", count: max(0, widths[column] - TextWidth(cell).columns))
            line += isLeft ? text + gap : gap + text
        }
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    /// A cell that does not change the order of the cells after it: between U+2068 and U+2069, which take no room, if
    /// a part of it runs from right to left.
    private static func isolated(_ cell: String) -> String {
        TextWidth.hasRightToLeft(cell) ? "\u{2068}\(cell)\u{2069}" : cell
    }
}
