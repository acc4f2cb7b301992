extension XMLPropertyListParser {
    /// The text without the white space around it, which people leave there.
    private var trimmed: ArraySlice<UInt8> {
        let rest = text.drop(while: XMLText.isBlank)
        return rest.prefix(upTo: (rest.lastIndex { !XMLText.isBlank($0) } ?? rest.startIndex - 1) + 1)
    }

    // MARK: Numbers

    /// The integer in `text`: decimal, or hexadecimal after `0x`.
    func integer(_ place: Int) throws(ArchiveError) -> Int128 {
        var digits = trimmed
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHexadecimal { digits = digits.dropFirst(2) }
        guard !digits.isEmpty else { throw scanner.corrupted("an integer without digits", at: place) }
        let range = (Int128(Int64.min)...Int128(UInt64.max))
        var value: Int128 = 0
        for byte in digits {
            guard let digit = Self.digit(byte), digit < 10 || isHexadecimal else {
                throw scanner.corrupted("an integer with something else than digits", at: place)
            }
            value = value * (isHexadecimal ? 16 : 10) + Int128(digit)
            guard value <= range.upperBound else { throw tooWide(place) }
        }
        if isNegative { value = -value }
        guard range.contains(value) else { throw tooWide(place) }
        return value
    }

    private func tooWide(_ place: Int) -> ArchiveError {
        ArchiveError(.outOfRange, "integer wider than 64 bits", offset: place)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Adds an integer that `integer` returned.
    mutating func add(_ number: Int128) -> Reference {
        Int64(exactly: number).map { builder.list.add($0) } ?? builder.list.add(UInt64(truncatingIfNeeded: number))
    }

    /// The real number in `text`, as C writes it: `1`, `.5`, `1e10`, `0x1.8p3`, and in any case `nan`, `inf`,
    /// `infinity`.
    func real(_ place: Int) throws(ArchiveError) -> Double {
        guard let value = Double(String(decoding: trimmed, as: UTF8.self)) else {
            throw scanner.corrupted("a real number that is malformed", at: place)
        }
        return value
    }

    // MARK: Dates

    /// The date in `text`, in seconds since 2001.
    func date(_ place: Int) throws(ArchiveError) -> Double {
        guard let date = CivilDate(trimmed) else { throw scanner.corrupted("a date that is malformed", at: place) }
        return Double(date.secondsSince2001)
    }

    // MARK: Data

    /// Replaces the Base64 in `text` by the bytes that it stands for.
    mutating func decodeBase64(_ place: Int) throws(ArchiveError) {
        var kept = 0
        var group: UInt32 = 0
        var count = 0
        var padding = 0
        for index in 0..<text.count where !XMLText.isBlank(text[index]) {
            let byte = text[index]
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let bits = Self.bits(byte) else {
                throw scanner.corrupted("data that is no Base64", at: place)
            }
            group = group << 6 | UInt32(bits)
            count += 1
            if count == 4 {
                // Three bytes in the place of at least four: bytes that were not read yet are never overwritten.
                text[kept] = UInt8(truncatingIfNeeded: group >> 16)
                text[kept + 1] = UInt8(truncatingIfNeeded: group >> 8)
                text[kept + 2] = UInt8(truncatingIfNeeded: group)
                kept += 3
                count = 0
            }
        }
        guard count == 0 ? padding == 0 : count > 1 && count + padding == 4 else {
            throw scanner.corrupted("data whose Base64 is not padded", at: place)
        }
        if count == 3 {
            text[kept] = UInt8(truncatingIfNeeded: group >> 10)
            text[kept + 1] = UInt8(truncatingIfNeeded: group >> 2)
            kept += 2
        } else if count == 2 {
            text[kept] = UInt8(truncatingIfNeeded: group >> 4)
            kept += 1
        }
        text.removeSubrange(kept...)
    }

    private static func bits(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
