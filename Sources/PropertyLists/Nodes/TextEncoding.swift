import Foundation

/// Encodings of text.
enum TextEncoding {
    /// The text in UTF-8, checked and without a byte order mark.
    static func utf8(of input: [UInt8]) throws(PropertyListError) -> [UInt8] {
        if input.starts(with: [0xEF, 0xBB, 0xBF]) { return try checked(Array(input.dropFirst(3))) }
        if input.starts(with: [0, 0, 0xFE, 0xFF]) { return try wide(input.dropFirst(4), width: 4, isBig: true) }
        if input.starts(with: [0xFF, 0xFE, 0, 0]) { return try wide(input.dropFirst(4), width: 4, isBig: false) }
        if input.starts(with: [0xFE, 0xFF]) { return try wide(input.dropFirst(2), width: 2, isBig: true) }
        if input.starts(with: [0xFF, 0xFE]) { return try wide(input.dropFirst(2), width: 2, isBig: false) }
        // Without a mark: the first character is ASCII, so that its other bytes are zero.
        if input.count >= 4 {
            switch (input[0] == 0, input[1] == 0, input[2] == 0, input[3] == 0) {
            case (true, true, true, false): return try wide(input[...], width: 4, isBig: true)
            case (false, true, true, true): return try wide(input[...], width: 4, isBig: false)
            case (true, false, true, false): return try wide(input[...], width: 2, isBig: true)
            case (false, true, false, true): return try wide(input[...], width: 2, isBig: false)
            default: break
            }
        }
        switch declaredEncoding(input) {
        case nil, "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-32": break
        case "iso-8859-1", "latin1":
            return input.flatMap { byte in byte < 0x80 ? [byte] : [0xC0 | byte >> 6, 0x80 | byte & 0x3F] }
        case "windows-1252", "cp1252": return try windows1252(input)
        default: throw PropertyListError(.corrupted, "XML in an unknown encoding", offset: 0)
        }
        return try checked(input)
    }

    /// The name in an XML declaration, in small letters.
    private static func declaredEncoding(_ input: [UInt8]) -> String? {
        guard input.starts(with: "<?xml".utf8), let end = input.prefix(256).firstIndex(of: 0x3E) else { return nil }
        let declaration = String(decoding: input[..<end], as: UTF8.self).lowercased()
        guard let name = declaration.range(of: "encoding") else { return nil }
        let quoted = declaration[name.upperBound...].split(omittingEmptySubsequences: false) {
            $0 == "\"" || $0 == "'"
        }
        return quoted.count >= 3 ? String(quoted[1]) : nil
    }

    /// The text of bytes that are Latin 1, with marks and letters in the places of its second control characters.
    private static func windows1252(_ input: [UInt8]) throws(PropertyListError) -> [UInt8] {
        var text = String.UnicodeScalarView()
        text.reserveCapacity(input.count)
        for (at, byte) in input.enumerated() {
            let value = 0x80...0x9F ~= byte ? windows1252Marks[Int(byte) - 0x80] : UInt16(byte)
            guard let scalar = Unicode.Scalar(value), value != 0xFFFD else {
                throw PropertyListError(.corrupted, "byte that is not a character of Windows-1252", offset: at)
            }
            text.append(scalar)
        }
        return Array(String(text).utf8)
    }

    /// The characters from 0x80 on; U+FFFD for none.
    private static let windows1252Marks: [UInt16] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD,
        0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
    ]

    private static func checked(_ text: [UInt8]) throws(PropertyListError) -> [UInt8] {
        let isText = ByteView.with(text) { $0.isUTF8 }
        guard isText else {
            // Finds the place only now that there is an error.
            throw PropertyListError(.corrupted, "text that is not UTF-8", offset: validLength(text))
        }
        return text
    }

    private static func validLength(_ text: [UInt8]) -> Int {
        var decoder = UTF8()
        var bytes = text.makeIterator()
        var length = 0
        while case .scalarValue(let scalar) = decoder.decode(&bytes) { length += UTF8.width(scalar) }
        return length
    }

    private static func wide(
        _ input: ArraySlice<UInt8>,
        width: Int,
        isBig: Bool
    ) throws(PropertyListError) -> [UInt8] {
        guard input.count % width == 0 else {
            throw PropertyListError(.corrupted, "text with a part of a character", offset: input.endIndex)
        }
        let units = stride(from: input.startIndex, to: input.endIndex, by: width).map { at in
            (0..<width).reduce(UInt32(0)) { $0 << 8 | UInt32(input[isBig ? at + $1 : at + width - 1 - $1]) }
        }
        let text =
            width == 2
            ? String(validating: units.map { UInt16($0) }, as: UTF16.self)
            : String(validating: units, as: UTF32.self)
        guard let text else {
            throw PropertyListError(.corrupted, "text with invalid characters", offset: input.startIndex)
        }
        return Array(text.utf8)
    }

    /// Whether text is XML: `<` there may begin data, too.
    static func isXML(_ text: [UInt8]) -> Bool {
        guard let start = text.firstIndex(where: { !($0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D)) }),
            text[start] == 0x3C,
            start + 1 < text.count
        else { return false }
        if text[start + 1] == 0x21 || text[start + 1] == 0x3F { return true }
        let name = String(
            decoding: text[(start + 1)...].prefix(8).prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A },
            as: UTF8.self
        )
        return ["plist", "dict", "array", "string", "integer", "real", "true", "false", "data", "date", "key"]
            .contains(name)
    }
}
