/// Rows of text under a heading, in columns as wide as their widest cell.
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
        let widths = columns.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { line($0, widths) + "\n" }.joined()
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let gap = String(repeating: " ", count: widths[column] - cell.count)
            if column > 0 { line += "  " }
            line += columns[column].alignment == .left ? cell + gap : gap + cell
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
