import Foundation
import KeyedArchive

/// One line of a screen.
struct ScreenLine: Sendable, Equatable {
    enum Style: Sendable {
        case plain
        /// The heading of a table, and the line of keys.
        case bar
        case faint
        case warning
    }

    var text: String
    var style = Style.plain
}

/// Draws the live view: from its state to lines, and nothing else.
struct LiveScreen {
    var sample: LiveSample
    var rows: [LiveRow]
    var view: LiveView
    var interval: Duration
    /// How the screen is written.
    var isUnicode = true

    /// No more than `rows` lines, none wider than `columns`, none with a control character.
    func lines(columns: Int, rows height: Int) -> [ScreenLine] {
        guard columns > 0, height > 0 else { return [] }
        let table = LiveTable(isUnicode: isUnicode, showsRates: true)
        var lines = [ScreenLine(text: title)]
        let faults = sample.faults.prefix(min(3, max(0, height - 6)))
        if height >= 8 { lines.append(ScreenLine(text: totals, style: .faint)) }
        if view.mode == .help {
            lines += Self.help.map { ScreenLine(text: $0) }
        } else {
            let shown = view.chosen(rows)
            let room = max(0, height - lines.count - faults.count - 2)
            let offset = min(view.offset, max(0, shown.count - room))
            let (heading, texts) = table.lines(Array(shown.dropFirst(offset).prefix(room)), width: columns)
            lines.append(ScreenLine(text: heading, style: .bar))
            lines += zip(texts, shown.dropFirst(offset)).map { text, row in
                ScreenLine(text: text, style: row.state == .running ? .plain : .faint)
            }
            if shown.isEmpty { lines += emptiness.map { ScreenLine(text: $0) } }
        }
        lines = Array(lines.prefix(max(1, height - 1 - faults.count)))
        lines += faults.map { ScreenLine(text: $0, style: .warning) }
        while lines.count < height - 1 { lines.append(ScreenLine(text: "")) }
        if height > 1 { lines.append(ScreenLine(text: footer(columns: columns), style: .bar)) }
        return lines.prefix(height).map { line in
            let text = DisplayWidth.fit(line.text, columns: columns, cutMark: table.cutMark)
            return ScreenLine(text: text, style: line.style)
        }
    }

    // MARK: Parts

    private var title: String {
        let caches = Set(rows.map { [$0.process.app ?? "", $0.process.cache] }).count
        var parts = ["typed-cache top", CountText(caches, "cache", plural: "caches").description]
        let processes = Set(rows.map(\.process.statistics.processIdentifier)).count
        parts.append(CountText(processes, "process", plural: "processes").description)
        parts.append("by \(view.order.rawValue)\(view.isReversed ? ", reversed" : "")")
        if !view.filter.isEmpty, view.mode != .filtering { parts.append("/\(EscapedText(view.filter))") }
        if view.isPaused { parts.append("PAUSED") }
        return parts.joined(separator: "  ")
    }

    private var totals: String {
        let rates = rows.compactMap(\.rates)
        func sum(_ path: KeyPath<LiveRates, Double>) -> ShortNumberText {
            ShortNumberText(rates.reduce(0) { $0 + $1[keyPath: path] })
        }
        return "per second: \(sum(\.memoryHits)) memory hits, \(sum(\.diskHits)) disk hits, "
            + "\(sum(\.misses)) misses, \(sum(\.saves)) saves, \(sum(\.loads)) loads"
    }

    private var emptiness: [String] {
        if !rows.isEmpty { return ["", "Nothing matches the filter; Esc clears it."] }
        let caches = sample.quietCaches.count
        if caches == 0 { return ["", "There are no caches here; name their directory with --root or --app."] }
        let count = CountText(caches, "cache is", plural: "caches are")
        return [
            "", "\(count) here, and no process publishes statistics.",
            "An app opts in with DiskSettings(publishesStatistics: true).",
        ]
    }

    private func footer(columns: Int) -> String {
        if view.mode == .filtering { return "filter: \(EscapedText(view.filter))_" }
        if view.mode == .help { return "Esc back" }
        let keys = ["q quit", "s sort", "r reverse", "/ filter", "space pause", "? help"]
        var text = keys[0]
        for key in keys.dropFirst() where text.count + 2 + key.count <= columns { text += "  \(key)" }
        return text
    }

    private static let help = [
        "", "q  quit", "s  sort by the next column; S by the one before", "r  reverse the order",
        "/  filter by cache, app or process; Enter keeps it, Esc clears it", "space  pause",
        "up, down  scroll", "",
        "HIT%  share of fetches answered with a fresh value",
        "TREND  the same, from one look to the next",
        "MEM/s, DISK/s  hits by tier; MISS/s  misses; SAVE/s  saves",
        "EVIC/s  evictions from both tiers; LOAD/s  values loaded",
        "BUSY  seconds that loads ran, per second",
        "MEMORY, DISK  size, and limit if there is one",
    ]
}

extension LiveScreen {
    /// The lines as a terminal draws them, from its first column and row on.
    ///
    /// - Parameter hasColor: whether lines may look different from each other.
    static func drawing(_ lines: [ScreenLine], hasColor: Bool) -> String {
        let drawn = lines.map { line -> String in
            let code =
                switch line.style {
                case .plain: ""
                case .bar: "\u{1B}[7m"
                case .faint: "\u{1B}[2m"
                case .warning: "\u{1B}[31m"
                }
            // Erased first: after a line that fills all columns, the cursor is still at its last character.
            return "\u{1B}[2K" + (code.isEmpty || !hasColor ? line.text : "\(code)\(line.text)\u{1B}[0m")
        }
        return "\u{1B}[H" + drawn.joined(separator: "\r\n")
    }
}
