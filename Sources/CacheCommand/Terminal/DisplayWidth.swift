/// How many columns of a terminal a text takes.
enum DisplayWidth {
    static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

    /// Two for wide characters of East Asia and emoji, none for marks that join another character, otherwise one.
    ///
    /// Terminals differ for sequences that are joined to one emoji; none shows them wider than this.
    static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        // Turns the character before it into an emoji, which some terminals show wider.
        if scalar.value == 0xFE0F { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation || wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
        return 1
    }

    /// Unicode Standard Annex #11, `EastAsianWidth.txt`: the ranges of W and F, with the gaps between neighbors.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]

    /// The text in so many columns: padded with spaces, or cut off with a mark at its end.
    static func fit(_ text: String, columns: Int, alignsRight: Bool = false, cutMark: String = "…") -> String {
        let width = of(text)
        if width <= columns {
            let gap = String(repeating: " ", count: columns - width)
            return alignsRight ? gap + text : text + gap
        }
        return cut(text, columns: columns, cutMark: cutMark)
    }

    private static func cut(_ text: String, columns: Int, cutMark: String) -> String {
        let room = columns - of(cutMark)
        guard room >= 0 else { return String(repeating: " ", count: max(0, columns)) }
        var shown = ""
        var width = 0
        for scalar in text.unicodeScalars {
            let next = of(scalar)
            if width + next > room { break }
            shown.unicodeScalars.append(scalar)
            width += next
        }
        // A wide character that did not fit leaves a column.
        return shown + cutMark + String(repeating: " ", count: room - width)
    }
}
