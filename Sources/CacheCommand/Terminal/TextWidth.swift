/// How many columns of a terminal a text takes.
///
/// A character that the reader sees takes the columns of its first scalar, or two if it is an emoji: letters of East
/// Asia two (Unicode Standard Annex 11, wide and full-width), combining marks and other invisible characters none,
/// all others one. Terminals differ for emoji that are joined; terminals without support show them wider.
struct TextWidth {
    let columns: Int

    init(_ text: String) {
        // Text of ASCII alone, most of it, has a column for each byte.
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else {
            columns = text.utf8.count
            return
        }
        columns = text.reduce(0) { $0 + Self.columns(of: $1) }
    }

    /// Whether a part of the text is written from right to left.
    static func hasRightToLeft(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in rightToLeft.contains { $0.contains(scalar.value) } }
    }

    private static func columns(of character: Character) -> Int {
        var scalars = character.unicodeScalars.makeIterator()
        guard let first = scalars.next() else { return 0 }
        let width = columns(of: first)
        // U+FE0F asks for the emoji; a flag is of two regional indicators.
        if width == 1, character.unicodeScalars.contains("\u{FE0F}"), first.properties.isEmoji { return 2 }
        if isRegionalIndicator(first), let second = scalars.next(), isRegionalIndicator(second) { return 2 }
        if width == 2, first.properties.isEmoji { return 2 }
        // Marks that take room, as vowels of South Asia do, count on their own.
        return character.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
    }

    static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 {
            return scalar == "\u{AD}" || scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value) ? 1 : 0
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .lineSeparator, .paragraphSeparator: return 0
        case .format: return isVisibleFormat(scalar) ? 1 : 0
        default: break
        }
        if joining.contains(where: { $0.contains(scalar.value) }) { return 0 }
        if isRegionalIndicator(scalar) { return 1 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    /// Signs of Arabic, Syriac and Kaithi numbers, which are format characters and drawn.
    private static func isVisibleFormat(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x600...0x605, 0x6DD, 0x70F, 0x890...0x891, 0x8E2, 0x110BD, 0x110CD: true
        default: false
        }
    }

    /// Vowels and final consonants of Hangul, which join the letter before them, its fillers and marks of its tones; and
    /// marks beside Vietnamese letters.
    private static let joining: [ClosedRange<UInt32>] = [
        0x1160...0x11FF, 0x302E...0x302F, 0x3164...0x3164, 0xD7B0...0xD7FB, 0xFFA0...0xFFA0, 0x16FF0...0x16FF1,
    ]

    /// Wide and full-width characters other than emoji, the unassigned ones of their blocks included.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x3247,
        0x3250...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D356,
        0x1D360...0x1D376, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]

    /// Hebrew to Arabic with their presentation forms, and the right-to-left blocks beyond the first plane.
    private static let rightToLeft: [ClosedRange<UInt32>] = [
        0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF,
    ]
}
