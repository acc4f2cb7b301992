/// The members of a header that is a list. A quoted string is never cut, and empty members are left out.
///
/// Takes time in proportion to the header's length, and allocates nothing.
struct HeaderMembers: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View
    /// Whether a quote of the rest may be closed. After an unclosed quote every further one is escaped, so it closes nothing.
    private var hasClosedQuotes = true

    init(_ text: String) { rest = text[...].utf8 }

    mutating func next() -> Substring? {
        rest = rest.drop { $0 == Self.comma || Self.isSpace($0) }
        guard !rest.isEmpty else { return nil }
        let end = end()
        let member = rest[..<end]
        rest = rest[end...]
        return Substring(member).trimmed
    }

    /// Where the first member ends.
    private mutating func end() -> Substring.Index {
        var index = rest.startIndex
        while index < rest.endIndex, rest[index] != Self.comma {
            // A quote that is never closed is a character as any other: it hides no directive after it.
            if hasClosedQuotes, rest[index] == Self.quote {
                if let closing = closingQuote(behind: index) { index = closing } else { hasClosedQuotes = false }
            }
            index = rest.index(after: index)
        }
        return index
    }

    private func closingQuote(behind quote: Substring.Index) -> Substring.Index? {
        var index = rest.index(after: quote)
        while index < rest.endIndex, rest[index] != Self.quote {
            if rest[index] == Self.backslash {
                index = rest.index(after: index)
                guard index < rest.endIndex else { return nil }
            }
            index = rest.index(after: index)
        }
        return index < rest.endIndex ? index : nil
    }

    private static let comma = UInt8(ascii: ",")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    fileprivate static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension Substring {
    /// Without the spaces and tabs at its ends.
    var trimmed: Substring {
        var bytes = utf8.drop(while: HeaderMembers.isSpace)
        while let last = bytes.last, HeaderMembers.isSpace(last) { bytes = bytes.dropLast() }
        return Substring(bytes)
    }

    /// Whether it is a text of ASCII letters, their case aside.
    func isCaseInsensitively(_ lowercased: StaticString) -> Bool {
        guard utf8.count == lowercased.utf8CodeUnitCount else { return false }
        return lowercased.withUTF8Buffer { buffer in
            zip(utf8, buffer).allSatisfy { byte, other in
                byte == other || ((0x41...0x5A).contains(byte) && byte | 0x20 == other)
            }
        }
    }

    /// A number of seconds as HTTP writes it: digits alone; `nil` for anything else.
    ///
    /// One above 2³¹, however long, is 2³¹ (RFC 9111, section 1.2.2).
    var deltaSeconds: Int? {
        guard !utf8.isEmpty else { return nil }
        var seconds = 0
        for byte in utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            seconds = Swift.min(seconds * 10 + Int(byte - 0x30), ResponseLifetime.longest)
        }
        return seconds
    }
}
