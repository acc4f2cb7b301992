import KeyedArchive

/// Text from outside the process, made fit to be shown: nothing in it can move the cursor, change colours,
/// reverse the reading direction or begin a new line.
///
/// Control characters, marks of direction, line separators and the backslash come out as escape sequences, so
/// that the text can still be told from every other.
package struct SafeText: CustomStringConvertible {
    package let description: String

    /// - Parameter limit: how many characters come out at most; `…` stands for the rest.
    package init(_ text: String, limit: Int = .max) {
        var shown = ""
        var count = 0
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            let piece = Self.escaped(scalar)
            count += piece?.count ?? 1
            guard count <= limit else {
                shown += "…"
                break
            }
            if let piece { shown += piece } else { shown.unicodeScalars.append(scalar) }
        }
        description = shown
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where scalar.isHostile: "\\u{\(String(scalar.value, radix: 16))}"
        default: nil
        }
    }

    /// The text that comes out as `escaped`; `nil` if none does.
    static func unescaped(_ escaped: String) -> String? {
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
}
