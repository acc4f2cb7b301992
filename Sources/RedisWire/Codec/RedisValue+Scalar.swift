extension RedisValue {
    /// The value of one line without its type and end, or `nil` if RESP3 does not allow the text there.
    init?(scalar type: UInt8, text bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        switch type {
        case UInt8(ascii: "+"): self = .simple(text)
        case UInt8(ascii: "-"): self = .error(RedisReplyError(message: text))
        case UInt8(ascii: ":"):
            guard let number = Int64(text) else { return nil }
            self = .integer(number)
        case UInt8(ascii: "#"):
            guard text == "t" || text == "f" else { return nil }
            self = .boolean(text == "t")
        case UInt8(ascii: "_"):
            guard text.isEmpty else { return nil }
            self = .null
        case UInt8(ascii: "("):
            let digits =
                bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            self = .bigNumber(text)
        case UInt8(ascii: ","):
            switch text {
            case "inf", "+inf": self = .double(.infinity)
            case "-inf": self = .double(-.infinity)
            case "nan", "-nan": self = .double(.nan)
            default:
                // Swift's parser also takes hexadecimal numbers and words.
                let isDecimal = bytes.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
                guard isDecimal, let number = Double(text) else { return nil }
                self = .double(number)
            }
        default: return nil
        }
    }
}
