import KeyedArchive

extension JSONParser {
    /// Parses the rest of a string, from after its opening quote.
    mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> PlainValues.Item {
        let start = position
        var index = position
        var seen: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                let isASCII = seen < 0x80
                guard isASCII || Self.isUTF8(bytes.extracting(start..<index)) else { throw error(.invalidUTF8) }
                position = index + 1
                return .string(start..<index, isASCII: isASCII)
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(bytes, from: start, to: index) }
            if byte < 0x20 {
                position = index
                throw error(.controlCharacter)
            }
            seen |= byte
            index &+= 1
        }
        position = bytes.count
        throw error(.unexpectedEnd)
    }

    static func text(_ bytes: Span<UInt8>) -> String? {
        bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
    }

    private static func isUTF8(_ bytes: Span<UInt8>) -> Bool { text(bytes) != nil }

    /// Parses a string that has an escape sequence at `index`. Its text is put where it began: it is never longer than
    /// the bytes that it is made from.
    private mutating func escapedString(
        _ bytes: Span<UInt8>,
        from start: Int,
        to index: Int
    ) throws(JSONError) -> PlainValues.Item {
        var end = index
        position = index
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let text = values.text[start..<end]
                let isASCII = text.allSatisfy { $0 < 0x80 }
                guard isASCII || Self.isUTF8(text.span) else { throw error(.invalidUTF8) }
                position += 1
                return .string(start..<end, isASCII: isASCII)
            case UInt8(ascii: "\\"):
                let scalar = try escape(bytes)
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    values.text[end] = byte
                    end += 1
                }
            case 0..<0x20:
                throw error(.controlCharacter)
            default:
                values.text[end] = byte
                end += 1
                position += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Parses one escape sequence, or the two that make a surrogate pair.
    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let start = position
        guard position + 1 < bytes.count else { throw error(.unexpectedEnd) }
        position += 2
        switch bytes[position - 1] {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(bytes, start: start)
        default: throw JSONError(code: .badEscape, offset: start)
        }
    }

    private mutating func unicodeEscape(_ bytes: Span<UInt8>, start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try hexadecimal(bytes, start: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(code: .loneSurrogate, offset: start) }
        position += 2
        let second = try hexadecimal(bytes, start: position - 2)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSONError(code: .loneSurrogate, offset: start) }
        return scalar
    }

    private mutating func hexadecimal(_ bytes: Span<UInt8>, start: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            let byte = bytes[position]
            let digit: UInt8 =
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
                default: throw JSONError(code: .badEscape, offset: start)
                }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
