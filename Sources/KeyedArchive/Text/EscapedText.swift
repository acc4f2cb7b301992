/// Text from outside the process, escaped so that it can be shown: nothing in it can move the cursor, change colours,
/// reverse the reading direction or begin a new line.
///
/// Control characters, marks of direction, line separators and the backslash come out as escape sequences, so that no
/// two texts look alike once they are escaped.
package struct EscapedText: CustomStringConvertible, Sendable {
    package let description: String

    /// Escapes a text.
    ///
    /// - Parameter limit: how many characters come out at most; `…` stands for the rest.
    package init(_ text: String, limit: Int = .max) {
        var shown = ""
        var count = 0
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            let sequence = Self.sequence(for: scalar)
            count += sequence?.count ?? 1
            guard count <= limit else {
                shown += "…"
                break
            }
            if let sequence { shown += sequence } else { shown.unicodeScalars.append(scalar) }
        }
        description = shown
    }

    /// Escapes a text and puts it in quotation marks; those inside are escaped too.
    ///
    /// - Parameter prefix: how many of the text's own characters are shown at most; `…` stands for the rest.
    package static func quoted(_ text: String, prefix: Int) -> String {
        var shown = "\""
        for (position, scalar) in text.unicodeScalars.enumerated() {
            if position == prefix {
                shown += "…"
                break
            }
            if let sequence = scalar == "\"" ? "\\\"" : sequence(for: scalar) {
                shown += sequence
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown + "\""
    }

    /// Cuts a text off after `prefix` characters and puts U+FFFD in place of controls and format characters: for
    /// names that are mostly harmless, where escape sequences would only confuse.
    package static func masked(_ text: String, prefix: Int) -> String {
        let shown = text.unicodeScalars.prefix(prefix).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? "\u{FFFD}" : Character(scalar)
        }
        return String(shown)
    }

    /// The text that comes out as `escaped`; `nil` if none does.
    package static func unescaped(_ escaped: String) -> String? {
        var text = ""
        var rest = escaped.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                text.unicodeScalars.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "\\": text += "\\"
            case "n": text += "\n"
            case "r": text += "\r"
            case "t": text += "\t"
            case "u":
                // Digits alone: a number's text may have a sign.
                guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                    rest[..<end].allSatisfy(\.properties.isASCIIHexDigit),
                    let number = UInt32(String(rest[..<end]), radix: 16), let meant = Unicode.Scalar(number)
                else { return nil }
                text.unicodeScalars.append(meant)
                rest = rest[rest.index(after: end)...]
            default: return nil
            }
        }
        return text
    }

    /// The escape sequence for a character; `nil` for one that is shown as it is.
    private static func sequence(for scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where scalar.isHostile: "\\u{\(String(scalar.value, radix: 16))}"
        default: nil
        }
    }
}
