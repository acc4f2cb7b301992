import TestSupport

/// Texts of JSON, usual and unusual.
struct RandomJSON {
    private var random: SeededGenerator
    /// Whether there are also texts that are no JSON, or that not all readers take.
    private let isUnusual: Bool

    init(seed: Int, isUnusual: Bool) {
        random = SeededGenerator(seed: seed)
        self.isUnusual = isUnusual
    }

    mutating func text() -> [UInt8] {
        var bytes = Array((space() + value(depth: 0) + space()).utf8)
        guard isUnusual, Bool.random(using: &random) else { return bytes }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where index < bytes.count: bytes.remove(at: index)
            case 1 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &random)
            default: bytes.insert("{}[],:\"\\0-.eut \u{1}\u{7F}".utf8.randomElement(using: &random) ?? 0, at: index)
            }
        }
        return bytes
    }

    private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

    private mutating func space() -> String { one(of: ["", "", "", " ", "\n", "\t\r "]) }

    private mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 4 ? 10 : 6), using: &random) {
        case 0: return one(of: ["true", "false", "null"])
        case 1, 2: return number()
        case 3, 4, 5: return string()
        case 6, 7:
            let values = (0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth + 1) }
            return "[" + values.map { space() + $0 + space() }.joined(separator: ",") + "]"
        default: return object(depth: depth)
        }
    }

    private mutating func object(depth: Int) -> String {
        var names = ["id", "name", "first_name", "lastName", "_x_", "a_b_c", "", "tags", "a b"]
        if isUnusual, Bool.random(using: &random) {
            names.append(one(of: ["id", "tags", "é", "e\u{301}", "\u{212A}", "K", "n\\u0061me", "firstName"]))
        }
        names.shuffle(using: &random)
        let members = names.prefix(Int.random(in: 0...names.count, using: &random)).map { name in
            "\(space())\"\(name)\"\(space()):\(space())\(value(depth: depth + 1))\(space())"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func number() -> String {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return String(Int.random(in: -1_000...1_000, using: &random))
        case 1: return String(Int64.random(in: (-Int64.max)...Int64.max, using: &random))
        case 2: return String(Double.random(in: -1_000...1_000, using: &random))
        case 3: return String(Double(Int.random(in: -100_000...100_000, using: &random)) / 100)
        default:
            let usual = [
                "0", "-1", "1.5", "255", "256", "65535", "12.0", "0.1", "9007199254740991", "1e3", "2.5E-3",
            ]
            let unusual = [
                "-0", "-0.0", "0e0", "1e400", "1e-400", "18446744073709551615", "18446744073709551616",
                "9223372036854775808", "-9223372036854775808", "9007199254740993", "9007199254740993.0", "01", "1.",
                ".5", "+1", "-", "1e", "0.30000000000000004", "123456789012345678901234567890", "4.9e-324", "1E22",
                "100000000000000000000000", "2.2250738585072011e-308", "NaN", "Infinity",
            ]
            return one(of: isUnusual && Int.random(in: 0..<6, using: &random) == 0 ? unusual : usual)
        }
    }

    private mutating func string() -> String {
        let usual = [
            "", "a", "Grüße", "e\u{301}", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "\\u0041",
            "2024-01-02T03:04:05Z", "https://example.org/a?b=c", "YWJjZA==", "x y", "1",
            "longer than fifteen bytes",
        ]
        let unusual = [
            "\\ud83d", "\\ude00", "\\ud83dx", "\\ud83d\\u0041", "\\u12", "\\x", "\u{1}", "\u{7F}", "\\u0000",
            "\\U0041",
            "\\u+041", "2024-01-02", "%zz", "YWJjZA", "YWJj\\nZA==",
        ]
        let pieces = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            one(of: isUnusual && Int.random(in: 0..<6, using: &random) == 0 ? unusual : usual)
        }
        return "\"" + pieces.joined() + "\""
    }
}
