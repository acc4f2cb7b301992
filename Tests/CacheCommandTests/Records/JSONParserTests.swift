import Foundation
import TestSupport
import Testing

@testable import CacheCommand

struct JSONParserTests {
    @Test("What JSONWriter writes is read, exactly", arguments: 0..<50 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = RandomRecords(seed: seed)
        for record in random.records(10) {
            for isIndented in [false, true] {
                let text = JSONWriter.text(.object(record), isIndented: isIndented)
                #expect(try parse(text) == .object(record), "seed \(seed): \(text)")
            }
        }
    }

    @Test("What it accepts, Foundation reads as the same", arguments: 0..<20 as Range<UInt64>)
    func agreesWithFoundation(seed: UInt64) throws {
        var random = RandomRecords(seed: seed)
        for record in random.records(10) {
            let text = Array(JSONWriter.text(.object(record), isIndented: false).utf8)
            #expect(try matchesFoundation(text), "seed \(seed)")
            for _ in 0..<20 {
                var damaged = text
                let index = damaged.indices.randomElement(using: &random.generator) ?? 0
                damaged[index] = UInt8.random(in: 0...255, using: &random.generator)
                #expect(try matchesFoundation(damaged), "seed \(seed): \(damaged)")
            }
        }
    }

    @Test("No text that ends early is JSON, and none of them traps")
    func truncations() {
        let text = Array(#"{"a":[1,-2.5e3,"\u00e9\ud83e\udd81é",{"b":null,"c":[true,false]}]}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONError.self, "\(count) bytes") { try parse(text.prefix(count)) }
        }
    }

    @Test("Any decimal number is read as the nearest double", arguments: [1, 2, 3])
    func doubles(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let digits = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let fraction = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let exponent = Int.random(in: -330...280, using: &generator)
            for text in [
                "\(digits).\(fraction)", "-\(digits).0\(fraction)E\(exponent)", "\(digits)e\(exponent)",
            ] {
                guard let expected = Double(text), expected.isFinite else { continue }
                #expect(try parse(text) == .double(expected), "\(text)")
            }
        }
    }

    @Test(
        "Whole numbers stay whole as long as a type holds them",
        arguments: [
            ("0", .int(0)), ("-1", .int(-1)), ("9223372036854775807", .int(.max)),
            ("-9223372036854775808", .int(.min)), ("9223372036854775808", .uint(1 << 63)),
            ("18446744073709551615", .uint(.max)), ("18446744073709551616.0", .double(0x1p64)),
            ("-9223372036854775809e0", .double(-0x1p63)), ("1.0", .double(1)), ("1e2", .double(100)),
            ("-0.0", .double(0)), ("1e-400", .double(0)), ("0e999999999999999999999", .double(0)),
            ("9007199254740993.0", .double(9_007_199_254_740_992)),
            ("5e-324", .double(.leastNonzeroMagnitude)),
        ] as [(String, RecordValue)]
    )
    func numbers(text: String, value: RecordValue) throws {
        #expect(try parse(text) == value)
    }

    @Test("The sign of zero is kept")
    func negativeZero() throws {
        guard case .double(let number) = try parse("-0") else {
            Issue.record("-0 is not a double")
            return
        }
        #expect(number.sign == .minus)
    }

    @Test(
        "What is wrong is told, and where",
        arguments: [
            ("", .unexpectedEnd, 0), (" ", .unexpectedEnd, 1), ("{", .unexpectedEnd, 1),
            ("[1", .unexpectedEnd, 2),
            ("\"a", .unexpectedEnd, 2), ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2),
            ("1e", .unexpectedEnd, 2),
            ("tru", .unexpectedEnd, 0), ("?", .unexpectedByte, 0), ("[,1]", .unexpectedByte, 1),
            ("[1,]", .unexpectedByte, 3), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
            ("'a'", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0),
            ("// a\n1", .unexpectedByte, 0), ("\u{FEFF}1", .unexpectedByte, 0), ("{1:2}", .expectedName, 1),
            ("{\"a\":1,}", .expectedName, 7), ("{\"a\"}", .expectedColon, 4),
            ("{\"a\":}", .unexpectedByte, 5),
            ("[1 2]", .expectedCommaOrEnd, 3), ("{\"a\":1]", .expectedCommaOrEnd, 6),
            ("1 2", .textAfterValue, 2),
            ("{}}", .textAfterValue, 2), ("True", .unexpectedByte, 0), ("nulL", .badLiteral, 0),
            ("01", .badNumber, 1), ("-01", .badNumber, 2), ("-a", .badNumber, 1), ("1.e3", .badNumber, 2),
            ("1e+", .unexpectedEnd, 3), ("0x1", .textAfterValue, 1), ("1e400", .numberOutOfRange, 0),
            ("18446744073709551616", .integerOutOfRange, 0), ("-9223372036854775809", .integerOutOfRange, 0),
            ("[1,-100000000000000000000]", .integerOutOfRange, 3),
            ("-1e99999999999999999999", .numberOutOfRange, 0), ("\"\n\"", .controlCharacter, 1),
            ("\"\\n\u{0}\"", .controlCharacter, 3), ("\"\\x41\"", .badEscape, 1),
            ("\"\\u12G4\"", .badEscape, 1),
            ("\"\\u12\"", .badEscape, 1), ("\"\\", .unexpectedEnd, 1), ("\"\\u00", .unexpectedEnd, 5),
            ("\"\\ud800\"", .loneSurrogate, 1), ("\"\\udc00\"", .loneSurrogate, 1),
            ("\"\\ud800\\u0041\"", .loneSurrogate, 1), ("\"\\ud800\\n\"", .loneSurrogate, 1),
            ("{\"a\":1,\"\\u0061\":2}", .duplicateName, 7),
            ("{\"é\":1,\"e\u{301}\":2}", .duplicateName, 8),
            ("{\"e\u{301}\":1,\"b\":1,\"\\u00e9\":2}", .duplicateName, 15),
            ("{\"K\":1,\"\u{212A}\":2}", .duplicateName, 7), ("[{\"\u{212A}\":1,\"K\":2}]", .duplicateName, 10),
        ] as [(String, JSONError.Code, Int)]
    )
    func errors(text: String, code: JSONError.Code, offset: Int) {
        #expect(throws: JSONError(code: code, offset: offset)) { try parse(text) }
    }

    @Test("Strings are UTF-8, in names, values and after escapes")
    func invalidUTF8() {
        for bytes: [UInt8] in [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3], [0x80],
        ] {
            for prefix in ["\"", "\"\\n", "{\"a", "{\"\\n"] {
                let text = Array(prefix.utf8) + bytes + Array("\":1}".utf8)
                #expect { try parse(text) } throws: { ($0 as? JSONError)?.code == .invalidUTF8 }
            }
        }
    }

    @Test("Nesting and number of values are bounded")
    func limits() throws {
        let nested = { (depth: Int) in
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try parse(nested(512)) }
        #expect(throws: JSONError(code: .tooDeep, offset: 512)) { try parse(nested(513)) }
        #expect(throws: JSONError(code: .tooDeep, offset: 512)) {
            try parse(String(repeating: "[", count: 1 << 20))
        }
        #expect(throws: JSONError(code: .tooDeep, offset: 5 * 512)) {
            try parse(String(repeating: "{\"a\":", count: 1 << 20))
        }
        let few = RecordLimits(values: 3)
        #expect(throws: Never.self) { try parse("[1,2]", limits: few) }
        #expect(throws: JSONError(code: .tooManyValues, offset: 5)) { try parse("[1,2,3]", limits: few) }
    }

    @Test("Names are looked up in constant time, however many there are")
    func manyNames() throws {
        let fields = (0..<50_000).map { RecordField(name: "name \($0)", value: .null) }
        let record = RecordValue.object(Record(fields: fields))
        var parser = JSONParser()
        let text = Array(JSONWriter.text(record, isIndented: false).utf8)
        // Once with no names expected, once with all of them, once with the wrong ones.
        #expect(try parser.parse(text.span) == record)
        #expect(try parser.parse(text.span) == record)
        let reversed = RecordValue.object(Record(fields: fields.reversed()))
        #expect(try parser.parse(Array(JSONWriter.text(reversed, isIndented: false).utf8).span) == reversed)
        #expect(try parser.parse(text.span) == record)
        let twice = Array(
            JSONWriter.text(.object(Record(fields: fields + fields.suffix(1))), isIndented: false).utf8
        )
        #expect { try parser.parse(twice.span) } throws: { ($0 as? JSONError)?.code == .duplicateName }
    }

    @Test("A record unlike the one before it is read as well", arguments: [1, 2, 3])
    func changingNames(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var parser = JSONParser()
        for _ in 0..<500 {
            let names = ["a", "b", "a\"", "ab", "\n", ""].filter { _ in Bool.random(using: &generator) }
            let fields = names.shuffled(using: &generator).map { RecordField(name: $0, value: .string($0)) }
            let record = RecordValue.object(Record(fields: fields))
            let text = Array(JSONWriter.text(record, isIndented: false).utf8)
            #expect(try parser.parse(text.span) == record)
        }
        let twice = Array(#"{"a":1,"b":2,"a":3}"#.utf8)
        #expect { try parser.parse(twice.span) } throws: { ($0 as? JSONError)?.code == .duplicateName }
    }

    private func parse(_ text: String, limits: RecordLimits = RecordLimits()) throws -> RecordValue {
        try parse(text.utf8, limits: limits)
    }

    private func parse(
        _ bytes: some Sequence<UInt8>,
        limits: RecordLimits = RecordLimits()
    ) throws -> RecordValue {
        var parser = JSONParser(limits: limits)
        let array = Array(bytes)
        return try parser.parse(array.span)
    }

    /// Whether Foundation reads `text` alike, given that it is read at all.
    private func matchesFoundation(_ text: [UInt8]) throws -> Bool {
        guard let value = try? parse(text) else { return true }
        let other = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        return FoundationJSON.matches(value, other)
    }
}
