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

    /// Whether `scalar` could change what a reader sees around it.
    static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: true  // controls
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // direction
        case 0x2028, 0x2029: true  // line and paragraph separators
        case 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true  // invisible marks and tags
        default: false
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where isHostile(scalar): "\\u{\(String(scalar.value, radix: 16))}"
        default: nil
        }
    }
}
