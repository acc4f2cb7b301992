import Foundation
import TypedCache

/// Hits by the size of memory, drawn with characters: the cache's own policy as a line, LRU as dots, and marks for the
/// knee and the present limit below.
struct CurveChart: CustomStringConvertible {
    let description: String

    private static let rows = 12
    private static let labelWidth = 6
    private static let narrowest = 16
    private static let widest = 100

    /// - Parameters:
    ///   - columns: the width of the terminal, or of the text; nothing is wider, unless it has less than 23.
    ///   - usesBraille: whether the lines are drawn with braille patterns, four rows and two columns to a character;
    ///     otherwise with ASCII.
    init(_ advice: SizeAdvice, columns: Int, usesBraille: Bool) {
        // Terminals wrap a line that fills the last column.
        let width = min(max(columns - Self.labelWidth - 1, Self.narrowest), Self.widest)
        let scale = LogarithmicScale(advice.points)
        let lines = usesBraille ? Self.braille(scale, width: width) : Self.plain(scale, width: width)
        var text = usesBraille ? "" : "  * own policy   . LRU\n"
        if usesBraille { text = "  \u{28E4} own policy  \u{2801}\u{2808} LRU\n" }
        for (row, line) in lines.enumerated() {
            let label = [0: "100 %", Self.rows / 2: "50 %"][row] ?? ""
            text +=
                Self.padded(label, to: Self.labelWidth - 1) + (usesBraille ? "│" : "|") + Self.trimmed(line) + "\n"
        }
        let corner = usesBraille ? "└" : "+"
        text += Self.padded("0 %", to: Self.labelWidth - 1) + corner
        text += String(repeating: usesBraille ? "─" : "-", count: width) + "\n"
        text += String(repeating: " ", count: Self.labelWidth) + Self.axis(advice.points, width: width) + "\n"
        if let marks = Self.marks(advice, scale, width: width) {
            text += String(repeating: " ", count: Self.labelWidth) + marks + "\n"
        }
        description = text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.reversed())
    }

    // MARK: Lines

    private static func plain(_ scale: LogarithmicScale, width: Int) -> [String] {
        var cells = Array(repeating: Array(repeating: Character(" "), count: width), count: rows)
        for column in 0..<width {
            let place = (Double(column) + 0.5) / Double(width)
            let row = { (share: Double) in min(rows - 1, Int((1 - share) * Double(rows))) }
            cells[row(scale.share(at: place, \.leastRecentlyUsed))][column] = "."
            cells[row(scale.share(at: place, \.hitRatio))][column] = "*"
        }
        return cells.map { String($0) }
    }

    private static func braille(_ scale: LogarithmicScale, width: Int) -> [String] {
        // Unicode's braille patterns: bits of the left column from the top, then of the right one.
        let bits: [[UInt32]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
        var cells = Array(repeating: Array(repeating: UInt32(0), count: width), count: rows)
        let height = rows * 4
        let row = { (share: Double) in min(height - 1, Int((1 - share) * Double(height))) }
        var former: Int?
        for column in 0..<width * 2 {
            let place = (Double(column) + 0.5) / Double(width * 2)
            let own = row(scale.share(at: place, \.hitRatio))
            // Down to the row before, so that a steep line has no gaps.
            for dot in min(own, former ?? own)...max(own, former ?? own) {
                cells[dot / 4][column / 2] |= bits[column % 2][dot % 4]
            }
            former = own
            let recent = row(scale.share(at: place, \.leastRecentlyUsed))
            if column % 4 == 0 { cells[recent / 4][column / 2] |= bits[column % 2][recent % 4] }
        }
        return cells.map { line in
            String(
                String.UnicodeScalarView(
                    line.map { bits in
                        bits == 0 ? " " : Unicode.Scalar(0x2800 + bits) ?? " "
                    }
                )
            )
        }
    }

    // MARK: Below the curve

    private static func axis(_ points: [SizeAdvice.Point], width: Int) -> String {
        let (first, last) = (
            ByteText(points[0].byteCount).description, ByteText(points[points.count - 1].byteCount).description
        )
        let middle = ByteText(points[points.count / 2].byteCount).description
        let start = width / 2 - middle.count / 2
        guard first.count + 1 < start, start + middle.count + 1 + last.count < width else {
            return first + String(repeating: " ", count: max(1, width - first.count - last.count)) + last
        }
        var line = first + String(repeating: " ", count: start - first.count) + middle
        line += String(repeating: " ", count: width - line.count - last.count) + last
        return line
    }

    private static func marks(_ advice: SizeAdvice, _ scale: LogarithmicScale, width: Int) -> String? {
        let marks = [(advice.knee, "knee"), (advice.present, "limit")].compactMap { point, name in
            point.map { (Int(scale.place(of: Double($0.byteCount)) * Double(width - 1)), name) }
        }.sorted { $0.0 < $1.0 }
        guard !marks.isEmpty else { return nil }
        var line = ""
        for (column, name) in marks {
            let text = column + 2 + name.count <= width ? "^ \(name)" : "\(name) ^"
            let start = text.hasPrefix("^") ? column : max(0, column - name.count - 1)
            let gap = line.isEmpty ? start : max(1, start - line.count)
            // Where two marks have no room beside each other, the sentences below tell the second one.
            guard line.count + gap + text.count <= width else { continue }
            line += String(repeating: " ", count: gap) + text
        }
        return line
    }
}

/// Places between the smallest and the largest size of a curve, by the sizes' logarithms.
struct LogarithmicScale {
    private let points: [SizeAdvice.Point]
    private let first: Double
    private let length: Double

    /// - Parameter points: at least two, of growing sizes.
    init(_ points: [SizeAdvice.Point]) {
        self.points = points
        first = log2(Double(max(1, points[0].byteCount)))
        length = max(0.001, log2(Double(max(1, points[points.count - 1].byteCount))) - first)
    }

    /// From 0 to 1; sizes outside of the curve are at its ends.
    func place(of byteCount: Double) -> Double { min(max(0, (log2(max(1, byteCount)) - first) / length), 1) }

    /// The share at a place from 0 to 1, between those of the points beside it.
    func share(at place: Double, _ share: (SizeAdvice.Point) -> Double) -> Double {
        let position = min(max(0, place), 1) * Double(points.count - 1)
        let index = min(Int(position), points.count - 2)
        let (low, high) = (share(points[index]), share(points[index + 1]))
        return low + (high - low) * (position - Double(index))
    }
}
