/// Writes rows as they come, under a heading: the first ones, which are held together, make the widths of the columns.
/// So a table of any length takes the memory of these.
struct TableWriter {
    /// How many rows are held.
    static let mostHeld = 4_000

    private let columns: [TableColumn]
    private let output: any TextOutput
    private var held: [[String]] = []
    /// `nil` as long as rows are held.
    private var layout: TableLayout?

    init(_ columns: [TableColumn], to output: any TextOutput) {
        self.columns = columns
        self.output = output
    }

    mutating func append(_ cells: [String]) throws(OutputError) {
        if let layout { return try output.write(layout.line(cells)) }
        held.append(cells)
        if held.count == Self.mostHeld { try writeHeld() }
    }

    /// Writes the rows that are held; a table without rows has its heading.
    mutating func finish() throws(OutputError) {
        if layout == nil { try writeHeld() }
    }

    private mutating func writeHeld() throws(OutputError) {
        let layout = TableLayout(columns, held)
        try output.write(layout.line(columns.map(\.heading)))
        for cells in held { try output.write(layout.line(cells)) }
        held = []
        self.layout = layout
    }
}
