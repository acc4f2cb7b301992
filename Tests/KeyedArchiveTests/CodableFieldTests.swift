import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// The decoder's ways to a field and a value are short for the usual ones; each comes to the same end as the long way.
@Suite struct CodableFieldTests {
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    // MARK: Keys

    /// Numbers under any keys; `questions` are asked for in their order.
    private struct Fields: Codable {
        nonisolated(unsafe) static var questions: [String] = []
        var values: [String: Int]
        /// By question: the answers of `decodeIfPresent`, and of `contains` with `decode`.
        var short: [Int?] = []
        var long: [Int?] = []

        init(_ values: [String: Int]) { self.values = values }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            values = [:]
            for question in Self.questions {
                short.append(try container.decodeIfPresent(Int.self, forKey: AnyKey(question)))
            }
            for question in Self.questions.reversed() {
                let key = AnyKey(question)
                long.append(container.contains(key) ? try container.decode(Int.self, forKey: key) : nil)
            }
            long.reverse()
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in values { try container.encode(value, forKey: AnyKey(key)) }
        }
    }

    private static func key(_ random: inout SeededGenerator) -> String {
        let letters: [Character] = ["a", "b", "c", "$", "é", "🏙"]
        let length = [0, 1, 2, 3, 6, 7, 8, 14, 15, 16, 40].randomElement(using: &random) ?? 1
        // Mostly of two letters, so that many keys have one beginning and length.
        let count = Int.random(in: 0..<4, using: &random) == 0 ? letters.count : 2
        return String((0..<length).map { _ in letters[..<count].randomElement(using: &random) ?? "a" })
    }

    /// Few keys and many, present and absent, asked for in any order.
    @Test func eachKeyIsFoundWhereItIs() throws {
        for seed in 0..<60 {
            var random = SeededGenerator(seed: seed)
            let count = [0, 3, 12, 40, 90].randomElement(using: &random) ?? 3
            var values: [String: Int] = [:]
            for number in 0..<count { values[Self.key(&random)] = number }
            let others = (0..<20).map { _ in Self.key(&random) }
            Fields.questions = (Array(values.keys) + others).shuffled(using: &random)
            let archive = try KeyedArchiver.archivedData(encoding: Fields(values))
            let read = try KeyedUnarchiver.unarchivedValue(of: Fields.self, from: archive)
            let expected = Fields.questions.map { values[$0] }
            #expect(read.short == expected, "seed \(seed)")
            #expect(read.long == expected, "seed \(seed)")
        }
    }

    // MARK: Values

    /// A value behind a type that is not known where it is decoded.
    private struct Box<Value: Codable & Equatable>: Codable, Equatable {
        var value: Value
        var optional: Value?
        var list: [Value]
    }

    private func comesBack<Value: Codable & Equatable>(_ values: Value...) throws {
        for value in values {
            let full = Box(value: value, optional: value, list: values)
            for box in [Box(value: value, optional: nil, list: []), full] {
                let archive = try KeyedArchiver.archivedData(encoding: box)
                #expect(try KeyedUnarchiver.unarchivedValue(of: Box<Value>.self, from: archive) == box)
            }
        }
    }

    @Test func valuesOfUnknownTypesComeBack() throws {
        let long = String(repeating: "A text that is decoded once. ", count: 4)
        try comesBack("", "short", "é", "$null", long, long + "é", long)
        try comesBack(0, 1, -1, Int.max, Int.min)
        try comesBack(0.0, 1.5, -.infinity, 1e300)
        try comesBack(true, false)
        try comesBack(UInt8(0), UInt8.max)
        try comesBack(Int64.min, Int64.max)
        try comesBack(Float(1.5))
        try comesBack(Date(timeIntervalSinceReferenceDate: 7))
        try comesBack(Data([1, 2]), Data(repeating: 7, count: 100))
        try comesBack(Decimal(string: "12345678901234567890.125") ?? 0)
        try comesBack(URL(fileURLWithPath: "/a"))
        try comesBack(UUID())
        try comesBack(["a", long], [long, long])
        try comesBack([1, 2], [])
        try comesBack([1.5, 2])
        try comesBack(["a": 1, "b": 2])
        try comesBack([1: ["a"], 2: []])
        try comesBack([long: [long]])
    }

    /// A field that is absent, one that is nil, and one of another type.
    @Test func optionalFieldsAreAsWithThreeLookUps() throws {
        struct Written: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode("text", forKey: AnyKey("text"))
                try container.encode(7, forKey: AnyKey("number"))
                try container.encode(300, forKey: AnyKey("large"))
                try container.encode([1], forKey: AnyKey("list"))
                try container.encodeNil(forKey: AnyKey("nil"))
            }
        }
        struct Read: Decodable, NamedInArchives {
            static var archivedName: String { ArchivedClass.of(Written.self).name }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                func compare<Value: Decodable & Equatable>(
                    _ type: Value.Type,
                    _ short: (AnyKey) throws -> Value?
                ) {
                    for key in ["text", "number", "large", "list", "nil", "absent"].map(AnyKey.init) {
                        let long = Result {
                            guard container.contains(key), try !container.decodeNil(forKey: key) else {
                                return Value?.none
                            }
                            return try container.decode(type, forKey: key)
                        }
                        let short = Result { try short(key) }
                        #expect((try? short.get()) == (try? long.get()), "\(type) \(key.stringValue)")
                        #expect("\(short)" == "\(long)", "\(type) \(key.stringValue)")
                    }
                }
                compare(Bool.self) { try container.decodeIfPresent(Bool.self, forKey: $0) }
                compare(String.self) { try container.decodeIfPresent(String.self, forKey: $0) }
                compare(Double.self) { try container.decodeIfPresent(Double.self, forKey: $0) }
                compare(Float.self) { try container.decodeIfPresent(Float.self, forKey: $0) }
                compare(Int.self) { try container.decodeIfPresent(Int.self, forKey: $0) }
                compare(Int8.self) { try container.decodeIfPresent(Int8.self, forKey: $0) }
                compare(UInt8.self) { try container.decodeIfPresent(UInt8.self, forKey: $0) }
                compare(UInt64.self) { try container.decodeIfPresent(UInt64.self, forKey: $0) }
                compare([Int].self) { try container.decodeIfPresent([Int].self, forKey: $0) }
                compare(Date.self) { try container.decodeIfPresent(Date.self, forKey: $0) }
            }
        }
        let archive = try KeyedArchiver.archivedData(encoding: Written())
        _ = try KeyedUnarchiver.unarchivedValue(of: Read.self, from: archive)
    }

    /// Names are passed over by their beginnings, which must be those of all built-in classes.
    @Test func builtInClassesAreKnownByTheirBeginnings() {
        func mayBeNamed(_ name: String) -> Bool {
            Array(name.utf8).withUnsafeBufferPointer { UnarchivedIntrinsic.mayBeNamed($0) }
        }
        for name in UnarchivedIntrinsic.names { #expect(mayBeNamed(name), "\(name)") }
        #expect(!mayBeNamed("Player.Album"))
    }
}
