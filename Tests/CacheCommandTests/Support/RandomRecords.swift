import TestSupport

@testable import CacheCommand

/// Records of every shape that JSON can write.
struct RandomRecords {
    private static let alphabet: [Character] = [
        "a", "z", "0", " ", "\"", "\\", "/", "\n", "\r", "\t", ",", ":", "{", "}", "[", "]", "\u{0}",
        "\u{7F}",
        "é", "e\u{301}", "ß", "\u{202E}", "\u{FEFF}", "🦁", "👩‍👩‍👧", "\u{E0041}", "\u{10FFFF}",
    ]

    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func records(_ count: Int) -> [Record] {
        (0..<count).map { _ in record(depth: 0) }
    }

    mutating func text() -> String {
        String((0..<Int.random(in: 0...20, using: &generator)).map { _ in character() })
    }

    private mutating func character() -> Character {
        Self.alphabet.randomElement(using: &generator) ?? "?"
    }

    private mutating func record(depth: Int) -> Record {
        var record = Record()
        for _ in 0..<Int.random(in: 0...(depth == 0 ? 24 : 4), using: &generator) {
            let name = text()
            if record[name] == nil {
                record.fields.append(RecordField(name: name, value: value(depth: depth + 1)))
            }
        }
        return record
    }

    private mutating func value(depth: Int) -> RecordValue {
        switch Int.random(in: 0..<(depth > 4 ? 6 : 8), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2:
            return .int(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
        case 3: return .uint(.random(in: UInt64(Int64.max) + 1...UInt64.max, using: &generator))
        case 4: return .double(double())
        case 5: return .string(text())
        case 6:
            let count = Int.random(in: 0...3, using: &generator)
            return .array((0..<count).map { _ in value(depth: depth + 1) })
        default: return .object(record(depth: depth))
        }
    }

    private mutating func double() -> Double {
        let any = Double(bitPattern: generator.next())
        return any.isFinite ? any : Double.random(in: -1000...1000, using: &generator)
    }
}
