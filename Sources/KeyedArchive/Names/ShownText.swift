/// Text from outside the process, made fit to be shown.
package enum ShownText {
    /// The text with its hostile characters escaped.
    static func plain(_ text: String) -> String { escaped(text, limit: .max, isQuoted: false) }

    /// The text in quotation marks, with its hostile characters escaped.
    ///
    /// - Parameter limit: how many characters of the text are shown at most; `…` stands for the rest.
    package static func quoted(_ text: String, limit: Int) -> String {
        "\"\(escaped(text, limit: limit, isQuoted: true))\""
    }

    private static func escaped(_ text: String, limit: Int, isQuoted: Bool) -> String {
        var shown = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == limit { return shown + "…" }
            count += 1
            switch scalar {
            case "\\": shown += "\\\\"
            case "\"" where isQuoted: shown += "\\\""
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            case _ where scalar.isHostile: shown += "\\u{\(String(scalar.value, radix: 16))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}

extension Unicode.Scalar {
    /// Whether a character could change how a reader sees the text around it: controls, direction marks, line and
    /// paragraph separators, and invisible characters.
    package var isHostile: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: true  // controls
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // direction
        case 0x2028, 0x2029: true  // line and paragraph separators
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // invisible marks and tags
        default: false
        }
    }
}
