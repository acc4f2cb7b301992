import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ModelCache

/// Answers are decoded as `JSONDecoder` decodes them.
@Suite struct JSONTests {
    private func decoder(_ set: (JSONDecoder) -> Void = { _ in }) -> JSONDecoder {
        let decoder = JSONDecoder()
        set(decoder)
        return decoder
    }

    /// - Returns: the value; `nil` if it was left to `JSONDecoder`.
    @discardableResult
    private func check<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ bytes: [UInt8],
        with decoder: JSONDecoder,
        seed: Int = 0
    ) -> Value? {
        do {
            return try JSONTrial(decoder).run(type, Data(bytes))
        } catch {
            Issue.record("seed \(seed), \(type): \(error) for \(text(bytes))")
            return nil
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Every value that is decoded without Foundation is the one that `JSONDecoder` decodes, for any text.
    @Test func valuesAreThoseOfJSONDecoder() {
        for seed in seeds(0..<20_000) {
            var random = RandomJSON(seed: seed, isUnusual: true)
            let bytes = random.text()
            #expect(throws: Never.self, "seed \(seed): \(text(bytes))") {
                try JSONTrial(settings: UInt8(seed & 0xFF)).run(Data(bytes))
            }
        }
    }

    /// Texts that the fuzzer found once; the first byte says how they are read.
    @Test func textsOfTheFuzzer() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .appending(path: "../../../Fuzzing/Corpus").standardizedFileURL
        let finds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("json-") }
        #expect(!finds.isEmpty)
        for find in finds {
            let bytes = try Data(contentsOf: find)
            #expect(throws: Never.self, "\(find.lastPathComponent)") {
                try JSONTrial(settings: bytes.first ?? 0).run(Data(bytes.dropFirst()))
            }
        }
    }

    @Test func usualTextsDoNotNeedJSONDecoder() {
        for seed in seeds(0..<2_000) {
            var random = RandomJSON(seed: seed, isUnusual: false)
            let bytes = random.text()
            #expect(check(Text.self, bytes, with: decoder(), seed: seed) != nil, "seed \(seed): \(text(bytes))")
        }
    }

    @Test func numbersAreThoseOfJSONDecoder() {
        let numbers = [
            "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "65535", "65536", "2147483648",
            "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "18446744073709551615", "18446744073709551616", "1.0", "1.5", "-2.0", "1e2", "1e-2", "1e400", "1e-400",
            "9007199254740992", "9007199254740993", "9007199254740993.0", "0.1", "0.30000000000000004", "1e22",
            "1e23", "123456789.123456789", "99999999999999999999", "5e-324", "1.7976931348623157e308", "16777217",
            "0.1000000014901161193847656250", "12345678901234567890.12345678901234567", "true", "null", "\"1\"",
        ]
        for number in numbers {
            let bytes = Array(number.utf8)
            func both<Value: Decodable & Equatable>(_ type: Value.Type) {
                check(type, bytes, with: decoder())
                check([Value].self, Array("[\(number)]".utf8), with: decoder())
                check([String: Value].self, Array("{\"a\":\(number)}".utf8), with: decoder())
            }
            both(Int.self)
            both(Int8.self)
            both(Int16.self)
            both(Int32.self)
            both(Int64.self)
            both(Int128.self)
            both(UInt.self)
            both(UInt8.self)
            both(UInt16.self)
            both(UInt32.self)
            both(UInt64.self)
            both(UInt128.self)
            both(Double.self)
            both(Float.self)
            both(Decimal.self)
            both(Bool.self)
        }
        #expect(check([Float].self, Array("[0,1.5]".utf8), with: decoder()) == [0, 1.5])
        #expect(check(Decimal.self, Array("19.99".utf8), with: decoder()) == Decimal(string: "19.99"))
    }

    @Test func datesAndDataAreReadAsTheDecoderSays() throws {
        let json = Array(#"{"date": 700000000.5, "data": "AQI="}"#.utf8)
        let written = Array(#"{"date": "2024-02-29T12:00:00Z", "data": [1, 2]}"#.utf8)
        let settings: [(bytes: [UInt8], set: (JSONDecoder) -> Void)] = [
            (json, { _ in }), (json, { $0.dateDecodingStrategy = .secondsSince1970 }),
            (json, { $0.dateDecodingStrategy = .millisecondsSince1970 }),
            (json, { $0.dateDecodingStrategy = .custom { Date(timeIntervalSince1970: try Double(from: $0)) } }),
            (
                written,
                {
                    $0.dateDecodingStrategy = .iso8601
                    $0.dataDecodingStrategy = .deferredToData
                }
            ),
            (
                json,
                {
                    $0.dataDecodingStrategy = .custom { decoder in
                        Data(try decoder.singleValueContainer().decode(String.self).utf8)
                    }
                }
            ),
        ]
        for (bytes, set) in settings {
            #expect(check(Moment.self, bytes, with: decoder(set)) != nil, "\(text(bytes))")
        }
    }

    @Test func decodersOfTheProgramAndRareSettingsDecodeThemselves() throws {
        final class Own: JSONDecoder, @unchecked Sendable {}
        #expect(JSONSettings(Own()) == nil)
        #expect(JSONSettings(decoder { $0.allowsJSON5 = true }) == nil)
        #expect(JSONSettings(decoder { $0.assumesTopLevelDictionary = true }) == nil)
        #expect(JSONSettings(decoder { $0.keyDecodingStrategy = .custom { $0[$0.count - 1] } }) == nil)
        let body = ModelBody(ModelResponse(body: Data("{number: 0x10,}".utf8))) {
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            return decoder
        }
        #expect(try body.decode(Int.self, at: "number") == 16)
    }

    /// Texts that are no JSON, or of another type, throw `JSONDecoder`'s error, and models that were read before it are
    /// forgotten.
    @Test func errorsAreThoseOfJSONDecoder() throws {
        let broken = #"[{"id": 1, "title": "a", "author": {"id": 7, "name": "A"}}, {"id": 2, "author": 7}]"#
        let body = ModelBody(ModelResponse(body: Data(broken.utf8))) { JSONDecoder() }
        #expect {
            try body.models(Article.self)
        } throws: { error in
            guard case DecodingError.keyNotFound(let key, let context) = error else { return false }
            return key.stringValue == "title" && context.codingPath.map(\.intValue) == [1]
        }
        #expect(body.nested.models.isEmpty)
        let none = ModelBody(ModelResponse(body: Data("[1,".utf8))) { JSONDecoder() }
        #expect(throws: DecodingError.self) { try none.models(Article.self) }
    }

    @Test func wholeModelsInThePlaceOfLinksAreFound() throws {
        let json =
            #"[{"id": 1, "title": "a", "author": {"id": 7, "name": "A"}}, {"id": 2, "title": "b", "author": 7}]"#
        let body = ModelBody(ModelResponse(body: Data(json.utf8))) { JSONDecoder() }
        #expect(try body.models(Article.self).map(\.author.id) == [7, 7])
        #expect(body.nested.models.count == 1)
    }

    /// Links to links are decoded once by each of the two readers, also if the innermost one is none, and although whole
    /// models are expected.
    @Test(arguments: [false, true]) func aChainOfLinksThatIsBrokenIsDecodedOnce(isExpected: Bool) throws {
        let depth = 60
        let chain = (1...depth).reversed().reduce(#"{"id": "none"}"#) { #"{"id": \#($1), "parent": \#($0)}"# }
        let first = isExpected ? #"{"id": -1, "parent": {"id": -2}}, "# : ""
        let count = Count()
        let body = ModelBody(ModelResponse(body: Data("[\(first)\(chain)]".utf8))) {
            let decoder = JSONDecoder()
            decoder.userInfo[Reply.count] = count
            return decoder
        }
        #expect {
            try body.models(Reply.self)
        } throws: { error in
            guard case DecodingError.typeMismatch(_, let context) = error else { return false }
            return context.codingPath.count == depth + 2
        }
        #expect(count.value <= 2 * (depth + 3))
        #expect(body.nested.models.isEmpty)
    }

    /// The form of the last link does not bind the next one.
    @Test func identitiesAndWholeModelsMayFollowEachOther() throws {
        let json =
            #"[{"id": 1, "parent": {"id": 2}}, {"id": 3, "parent": 4}, {"id": 5, "parent": {"id": 6, "parent": 7}}]"#
        let body = ModelBody(ModelResponse(body: Data(json.utf8))) { JSONDecoder() }
        #expect(try body.models(Reply.self).map(\.parent?.id) == [2, 4, 6])
        #expect(body.nested.models.compactMap { ($0 as? Reply)?.id } == [2, 6])
    }

    /// The first of two members with one name counts for `JSONDecoder`, also where they have it by conversion.
    @Test func namesThatComeTwiceAreLeftToJSONDecoder() throws {
        let converting = decoder { $0.keyDecodingStrategy = .convertFromSnakeCase }
        #expect(check([String: Int].self, Array(#"{"a":1,"a":2}"#.utf8), with: decoder()) == nil)
        #expect(check(Text.self, Array(#"{"a_b":1,"aB":2}"#.utf8), with: converting) == nil)
        let body = ModelBody(ModelResponse(body: Data(#"{"a":1,"a":2}"#.utf8))) { JSONDecoder() }
        #expect(try body.decode(Int.self, at: "a") == 1)
        // Names of a dictionary stay as they are written.
        let dictionary = Array(#"{"one_two":{"three_four":1}}"#.utf8)
        #expect(
            check([String: Text].self, dictionary, with: converting)?["one_two"]
                == .object(["threeFour": .number(1)])
        )
    }

    /// The keys on the way to a value are those that its container was asked with, which types may look at.
    @Test func codingPathsAreThoseOfJSONDecoder() {
        let converting = decoder { $0.keyDecodingStrategy = .convertFromSnakeCase }
        for decoder in [decoder(), converting] {
            for text in [#"{"foo_bar":{"v":1}}"#, #"{"5":{"v":2}}"#, #"{"id":{},"name":[1],"tags":{"a_b":[]}}"#] {
                check([String: Placed].self, Array(text.utf8), with: decoder)
                check([Int: Placed].self, Array(text.utf8), with: decoder)
                check(Keyed.self, Array(text.utf8), with: decoder)
                check(Placed.self, Array(text.utf8), with: decoder)
            }
        }
        #expect(check([Placed].self, Array("[1,[2,[]]]".utf8), with: decoder()) != nil)
    }

    @Test func escapesAreCheckedWhereTheirStringIsNotAskedFor() {
        func isOurs(_ escape: String) -> Bool {
            check(Several.self, Array("{\"other\": \"\(escape)\"}".utf8), with: decoder()) != nil
        }
        for escape in ["\\n", "\\\"", "\\u00e9", "\\uABCD", "\\u0000"] { #expect(isOurs(escape), "\(escape)") }
        for escape in ["\\u\"", "\\u\"d83d", "\\u12", "\\u00g9", "\\u", "\\x", "\\U0041", "\\"] {
            #expect(!isOurs(escape), "\(escape)")
        }
    }

    /// Depth, and numbers of names, are bounded; beyond, `JSONDecoder` has its own bounds.
    @Test func hostileTextsAreLeftToJSONDecoder() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(check(Text.self, Array(deep.utf8), with: decoder()) == nil)
        let names = (0..<5_000).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(check(Text.self, Array("{\(names)}".utf8), with: decoder()) == nil)
        let objects = (0..<5_000).map { "{\"\($0)\":0}" }.joined(separator: ",")
        #expect(check(Text.self, Array("[\(objects)]".utf8), with: decoder()) == nil)
        let broken: [[UInt8]] = [
            [], [0], [0x22], [0x5C], [0x22, 0x5C], [0x22, 0xFF, 0x22], [0x7B, 0x22], [0xEF, 0xBB, 0xBF, 0x31],
        ]
        for bytes in broken { #expect(check(Anything.self, bytes, with: decoder()) == nil) }
    }
}

/// A model with a link to its like.
private struct Reply: CachedModel {
    static let modelName = "reply"
    // The name is not empty, so it is a key.
    static let count = CodingUserInfoKey(rawValue: "count").unsafelyUnwrapped
    let id: Int
    var parent: ModelLink<Reply>?

    static func request(for id: Int) -> ModelRequest { .get("/replies/\(id)") }

    private enum CodingKeys: CodingKey { case id, parent }

    init(from decoder: any Decoder) throws {
        try (decoder.userInfo[Self.count] as? Count)?.add()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        parent = try container.decodeIfPresent(ModelLink<Reply>.self, forKey: .parent)
    }
}

/// A number of decodings; fails from the thousandth on, so that one that would not end does.
private final class Count: Sendable {
    struct Many: Error {}
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }

    func add() throws {
        let value = count.withLock { count in
            count += 1
            return count
        }
        if value > 1_000 { throw Many() }
    }
}
