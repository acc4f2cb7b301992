/// Rows of text under a heading, in columns as wide as their widest cell on a terminal.
struct TextTable: CustomStringConvertible {
    private let columns: [TableColumn]
    private var rows: [[String]] = []

    init(_ columns: [TableColumn]) {
        self.columns = columns
    }

    /// Adds a row; its cells are fit to be shown as they are.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell per column")
        rows.append(cells)
    }

    var description: String {
        let layout = TableLayout(columns, rows)
        return layout.line(columns.map(\.heading)) + rows.map(layout.line).joined()
    }
}
