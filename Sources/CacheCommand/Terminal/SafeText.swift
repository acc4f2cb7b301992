import KeyedArchive

/// Text from outside the process, made fit to be shown: nothing in it can move the cursor, change colours,
/// reverse the reading direction or begin a new line.
///
/// Control characters, marks of direction, line separators and the backslash come out as escape sequences, so
/// that the text can still be told from every other.
package struct SafeText: CustomStringConvertible {
    package let description: String

    /// - Parameter limit: how many characters come out at most; what was cut shows as `…`.
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
}
