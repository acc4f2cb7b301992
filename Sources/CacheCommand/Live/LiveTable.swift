import Foundation
import KeyedArchive
import TypedCache

/// The rows of the live view as cells of text: the columns that fit into a width, the more important ones first.
struct LiveTable {
    /// Whether the terminal shows characters beyond ASCII.
    let isUnicode: Bool
    /// Whether the cells have rates; otherwise the counts since the cache was opened.
    let showsRates: Bool

    private struct Column: Sendable {
        let heading: String
        let totalHeading: String
        let least: Int
        let most: Int
        /// The lower ones are shown first.
        let rank: Int
        var alignsRight = true
        /// Whether the end of a cell that is too long is shown, and not its beginning.
        var showsEnd = false
        let cell: @Sendable (LiveTable, LiveRow) -> String

        func heading(showsRates: Bool) -> String { showsRates ? heading : totalHeading }
    }

    private static let columns: [Column] = [
        Column(heading: "CACHE", totalHeading: "CACHE", least: 8, most: 40, rank: 0, alignsRight: false) {
            $0.cacheName($1)
        },
        Column(heading: "PROCESS", totalHeading: "PROCESS", least: 10, most: 30, rank: 4, alignsRight: false) {
            $0.processName($1)
        },
        Column(heading: "HIT%", totalHeading: "HIT%", least: 5, most: 5, rank: 1) { $0.ratio($1.hitRatio) },
        Column(heading: "TREND", totalHeading: "TREND", least: 8, most: 60, rank: 7, showsEnd: true) {
            $0.sparkline($1.trend)
        },
        Column(heading: "MEM/s", totalHeading: "MEMHIT", least: 6, most: 6, rank: 2) {
            $0.number($1, \.memoryHits, total: Double($1.figures.statistics.memoryHits))
        },
        Column(heading: "DISK/s", totalHeading: "DSKHIT", least: 6, most: 6, rank: 3) {
            $0.number($1, \.diskHits, total: Double($1.figures.statistics.diskHits))
        },
        Column(heading: "MISS/s", totalHeading: "MISSES", least: 6, most: 6, rank: 2) {
            $0.number($1, \.misses, total: Double($1.figures.statistics.misses))
        },
        Column(heading: "SAVE/s", totalHeading: "SAVES", least: 6, most: 6, rank: 5) {
            $0.number($1, \.saves, total: Double($1.figures.statistics.saves))
        },
        Column(heading: "EVIC/s", totalHeading: "EVICTS", least: 6, most: 6, rank: 9) { table, row in
            let counts = row.figures.statistics
            return table.number(row, \.evictions, total: Double(counts.memoryEvictions + counts.diskEvictions))
        },
        Column(heading: "LOAD/s", totalHeading: "LOADS", least: 6, most: 6, rank: 8) {
            $0.number($1, \.loads, total: Double($1.figures.statistics.loads))
        },
        Column(heading: "BUSY", totalHeading: "LOADED", least: 6, most: 6, rank: 10) { $0.loadTime($1) },
        Column(heading: "MEMORY", totalHeading: "MEMORY", least: 11, most: 11, rank: 6) {
            $0.size($1.figures.memory)
        },
        Column(heading: "DISK", totalHeading: "DISK", least: 11, most: 11, rank: 7) { $0.size($1.figures.disk) },
    ]

    /// The heading and the rows, each as wide as `width` at most.
    ///
    /// - Parameter width: `nil` for all columns, as wide as they need to be.
    func lines(_ rows: [LiveRow], width: Int?) -> (heading: String, rows: [String]) {
        let chosen = Self.chosen(width: width ?? .max)
        let cells = rows.map { row in chosen.map { $0.cell(self, row) } }
        var widths = chosen.map(\.least)
        var left = width.map { $0 - widths.reduce(widths.count - 1, +) } ?? .max
        for (place, column) in chosen.enumerated() where column.most > column.least {
            let wanted = cells.map { DisplayWidth.of($0[place]) }.max() ?? 0
            let more = min(max(0, min(wanted, column.most) - column.least), max(0, left))
            widths[place] += more
            left -= more
        }
        let headings = chosen.map { $0.heading(showsRates: showsRates) }
        return (
            line(headings, of: chosen, widths: widths, within: width),
            cells.map { line($0, of: chosen, widths: widths, within: width) }
        )
    }

    private func line(_ cells: [String], of columns: [Column], widths: [Int], within width: Int?) -> String {
        let fitted = zip(cells, zip(columns, widths)).map { cell, column in
            DisplayWidth.fit(
                column.0.showsEnd ? String(cell.suffix(column.1)) : cell,
                columns: column.1,
                alignsRight: column.0.alignsRight,
                cutMark: cutMark
            )
        }
        let line = fitted.joined(separator: " ")
        // A terminal that is narrower than the narrowest table.
        if let width, DisplayWidth.of(line) > width {
            return DisplayWidth.fit(line, columns: width, cutMark: cutMark)
        }
        return line
    }

    var cutMark: String { isUnicode ? "…" : "~" }

    /// The columns that fit, the first ones by rank, in their order.
    private static func chosen(width: Int) -> [Column] {
        var taken: Set<Int> = []
        var used = -1
        for (place, column) in columns.enumerated().sorted(by: { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }) {
            guard used + 1 + column.least <= width || taken.isEmpty else { break }
            taken.insert(place)
            used += 1 + column.least
        }
        return columns.enumerated().filter { taken.contains($0.offset) }.map(\.element)
    }

    // MARK: Cells

    private func cacheName(_ row: LiveRow) -> String {
        let name = EscapedText(row.process.cache, limit: 200).description
        guard let app = row.process.app else { return name }
        return "\(EscapedText(app, limit: 200))/\(name)"
    }

    private func processName(_ row: LiveRow) -> String {
        let statistics = row.process.statistics
        let program = EscapedText(statistics.program, limit: 200)
        switch row.state {
        case .running: return "\(statistics.processIdentifier) \(program)"
        case .silent: return "\(statistics.processIdentifier) silent \(program)"
        case .ended: return "\(statistics.processIdentifier) ended \(program)"
        }
    }

    private func ratio(_ ratio: Double?) -> String {
        ratio.map { DecimalText($0 * 100, fractionDigits: 1).description } ?? "-"
    }

    private func number(_ row: LiveRow, _ rate: KeyPath<LiveRates, Double>, total: Double) -> String {
        guard showsRates else { return ShortNumberText(total).description }
        return row.rates.map { ShortNumberText($0[keyPath: rate]).description } ?? "-"
    }

    /// The time of loads, per second or since the cache was opened.
    private func loadTime(_ row: LiveRow) -> String {
        guard showsRates else {
            return ShortNumberText(row.figures.statistics.loadTime.inSeconds).description + "s"
        }
        guard let time = row.rates?.loadTime else { return "-" }
        return ShortNumberText(time).description + "s"
    }

    private func size(_ tier: TierFigures) -> String {
        guard let byteCount = tier.byteCount else { return "-" }
        let size = ShortByteText(byteCount).description
        return tier.byteLimit.map { "\(size)/\(ShortByteText($0))" } ?? size
    }

    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let digits = Array("01234567")

    /// The latest ratios, the last one at the right.
    private func sparkline(_ trend: [Double?]) -> String {
        let marks = isUnicode ? Self.blocks : Self.digits
        let shown = trend.suffix(60).map { ratio -> Character in
            guard let ratio else { return " " }
            return marks[min(marks.count - 1, max(0, Int(ratio * Double(marks.count))))]
        }
        return String(shown)
    }
}

/// A number in five characters at most: `0`, `0.25`, `12.3`, `999`, `12.3k`, `4.5M`, `1e15`.
struct ShortNumberText: CustomStringConvertible {
    let description: String

    init(_ number: Double) {
        guard number.isFinite else {
            description = "-"
            return
        }
        description = Self.text(max(0, number), step: 1_000, units: ["", "k", "M", "G", "T", "P", "E"])
    }

    /// - Parameter number: zero or more.
    fileprivate static func text(_ number: Double, step: Double, units: [String]) -> String {
        var (amount, unit) = (number, 0)
        while amount >= 999.5, unit < units.count - 1 {
            amount /= step
            unit += 1
        }
        if amount > 9_999 { return ">\(9_999)" }
        let digits =
            unit == 0 && amount == amount.rounded() || amount >= 99.95 ? 0 : unit == 0 && amount < 9.995 ? 2 : 1
        return "\(DecimalText(amount, fractionDigits: digits))\(units[unit])"
    }
}

/// A number of bytes in five characters at most, in units of 1,024: `512B`, `1.5K`, `64M`.
struct ShortByteText: CustomStringConvertible {
    let description: String

    init(_ bytes: Int) {
        let text = ShortNumberText.text(
            Double(max(0, bytes)),
            step: 1_024,
            units: ["B", "K", "M", "G", "T", "P", "E"]
        )
        description = text.replacing(".0", with: "")
    }
}
