/// The text of an XML document in UTF-8, transcoded if the original is UTF-16.
struct XMLText: Sendable {
    /// The text, perhaps after a byte order mark. Not checked to be UTF-8.
    let bytes: [UInt8]
    /// Where the text begins.
    let start: Int
    /// Whether the original is UTF-16.
    let isTranscoded: Bool

    /// - Throws: `.unsupportedFormat` for encodings that are not read, `.corrupted` for invalid UTF-16,
    ///   `.unknownFormat` if it does not begin as XML does.
    init(_ original: [UInt8]) throws(ArchiveError) {
        switch Self.mark(original) {
        case .utf32:
            throw ArchiveError(.unsupportedFormat, "a property list in UTF-32", offset: 0)
        case .utf16(let isBigEndian, hasMark: true):
            bytes = try Self.utf8(original, isBigEndian)
            start = 0
            isTranscoded = true
        case .utf16(_, hasMark: false):
            throw ArchiveError(.unsupportedFormat, "UTF-16 without a byte order mark", offset: 0)
        case .utf8(let length):
            bytes = original
            start = length
            isTranscoded = false
        }
        let first = bytes[start...].firstIndex { !Self.isBlank($0) }
        guard let first, bytes[first] == UInt8(ascii: "<") else {
            throw ArchiveError(.unknownFormat, "neither a binary nor an XML property list", offset: 0)
        }
    }

    /// Where a byte of the text stands in the original.
    func place(of offset: Int) -> Int {
        guard isTranscoded else { return offset }
        // Every scalar of three bytes at most is one unit, one of four bytes is two; continuations are no units.
        var units = 0
        for byte in bytes[..<min(offset, bytes.count)] where byte & 0xC0 != 0x80 { units += byte >= 0xF0 ? 2 : 1 }
        return 2 + 2 * units
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
    }

    // MARK: Encodings

    private enum Mark {
        case utf8(length: Int)
        case utf16(isBigEndian: Bool, hasMark: Bool)
        case utf32
    }

    private static func mark(_ bytes: [UInt8]) -> Mark {
        // UTF-32 first: in little-endian order its mark begins as that of UTF-16 does.
        if bytes.starts(with: [0x00, 0x00, 0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) {
            return .utf32
        }
        if bytes.starts(with: [0xFE, 0xFF]) { return .utf16(isBigEndian: true, hasMark: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return .utf16(isBigEndian: false, hasMark: true) }
        if bytes.starts(with: [0x00, 0x3C]) { return .utf16(isBigEndian: true, hasMark: false) }
        if bytes.starts(with: [0x3C, 0x00]) { return .utf16(isBigEndian: false, hasMark: false) }
        return .utf8(length: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    }

    private static func utf8(_ bytes: [UInt8], _ isBigEndian: Bool) throws(ArchiveError) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for at in stride(from: 2, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[at]), UInt16(bytes[at + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw ArchiveError(.corrupted, "text that is no valid UTF-16", offset: 0)
        }
        return Array(text.utf8)
    }
}
