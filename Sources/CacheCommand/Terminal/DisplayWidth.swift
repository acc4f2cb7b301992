/// The most columns of a terminal that a text takes: terminals show characters that are joined to one as one or as
/// several. A screen is laid out by it, so that no line is broken; tables are aligned by ``TextWidth``.
enum DisplayWidth {
    static func of(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

    static func of(_ scalar: Unicode.Scalar) -> Int {
        // Turns the character before it into an emoji, which some terminals show wider.
        scalar.value == 0xFE0F ? 1 : TextWidth.columns(of: scalar)
    }

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
