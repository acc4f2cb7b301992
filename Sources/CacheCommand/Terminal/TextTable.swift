/// Rows of text under a heading, in columns as wide as their widest cell on a terminal.
struct TextTable: CustomStringConvertible {
    enum Alignment {
        case left
        case right
    }

    private let columns: [(heading: String, alignment: Alignment)]
    private var rows: [[String]] = []

    init(_ columns: [(heading: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Adds a row; its cells are fit to be shown as they are.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell per column")
        rows.append(cells)
    }

    var description: String {
        let all = [columns.map(\.heading)] + rows
        let widths = all.map { $0.map { TextWidth($0).columns } }
        let widest = columns.indices.map { column in widths.map { $0[column] }.max() ?? 0 }
        return zip(all, widths).map { line($0, gaps: zip(widest, $1).map { $0 - $1 }) + "\n" }.joined()
    }

    private func line(_ cells: [String], gaps: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let gap = String(repeating: " ", count: gaps[column])
            let text = column == cells.count - 1 ? cell : Self.isolated(cell)
            if column > 0 { line += "  " }
            line += columns[column].alignment == .left ? text + gap : gap + text
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// A cell that does not change the order of the cells behind it: between U+2068 and U+2069, which take no room, if
    /// a part of it runs from right to left.
    private static func isolated(_ cell: String) -> String {
        TextWidth.hasRightToLeft(cell) ? "\u{2068}\(cell)\u{2069}" : cell
    }
}
