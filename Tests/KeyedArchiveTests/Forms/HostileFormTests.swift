import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Forms that no archiver writes are refused with an error; Foundation, which does not survive most of them, never
/// sees them.
@Suite struct HostileFormTests {
    typealias Fields = (KeyedArchiver) -> Void

    /// An archive with an object of a class as its root, with the fields that `body` encodes.
    private func archive(_ className: String, _ body: Fields) throws -> Data {
        let archiver = KeyedArchiver()
        let root = archiver.container(ArchivedClass(name: className), of: nil) { body(archiver) }
        archiver.writer.set("root", archiver.writer.reference(to: root))
        return try archiver.encodedData
    }

    private func code(_ className: String, _ body: Fields) throws -> ArchiveError.Code? {
        let data = try archive(className, body)
        do throws(ArchiveError) {
            guard let object = try KeyedUnarchiver.unarchivedObject(ofClass: Any.self, from: data) else {
                return nil
            }
            // An object that was decoded must also survive its use.
            _ = try? KeyedArchiver.archivedData(withRootObject: object)
            if !FoundationClasses.isCollection(type(of: object)) { _ = (object as? AnyHashable)?.hashValue }
            return nil
        } catch {
            return error.code
        }
    }

    private func expect(
        _ expected: ArchiveError.Code?,
        _ className: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (KeyedArchiver) -> Void
    ) throws {
        let found = try code(className, body)
        #expect(found == expected, "\(className)", sourceLocation: sourceLocation)
    }

    @Test(arguments: UnarchivedIntrinsic.names.sorted()) func withoutFields(className: String) throws {
        // Refused, or an empty one: never a trap.
        let found = try code(className) { _ in }
        #expect(found == nil || found == .corrupted, "\(className)")
    }

    @Test(arguments: UnarchivedIntrinsic.names.sorted()) func withFieldsOfOtherKinds(className: String) throws {
        let keys =
            FormSample.allKeys + ["NS.object.0", "NS.object0", "NS.count0", "NS.reciprocal", "NSStringObject"]
        for value in [
            -1, Int.max, Int.min, 1.5, Double.nan, "text", Data([0x80]), Date.distantPast, [1, "a"], ["k": 1],
            NSNull(), URL(filePath: "/"), IndexPath(index: 1),
        ] as [Any] {
            _ = try code(className) { archiver in
                for key in keys { archiver.encode(value, forKey: key) }
                archiver.encode(value)
                archiver.encode(value)
            }
            _ = try code(className) { archiver in
                for key in keys {
                    switch value {
                    case let value as Int: archiver.encode(value, forKey: key)
                    case let value as Double: archiver.encode(value, forKey: key)
                    case let value as String: archiver.encode(inline: value, forKey: key)
                    case let value as Data: archiver.encode(inline: value, forKey: key)
                    default: archiver.encode(nil as Any?, forKey: key)
                    }
                }
            }
        }
    }

    @Test func decimals() throws {
        func decimal(_ bytes: Int, length: Int = 1, exponent: Int = 0, order: Int = 1) -> Fields {
            { archiver in
                archiver.encode(inline: Data(repeating: 7, count: bytes), forKey: "NS.mantissa")
                archiver.encode(length, forKey: "NS.length")
                archiver.encode(exponent, forKey: "NS.exponent")
                archiver.encode(order, forKey: "NS.mantissa.bo")
                archiver.encode(false, forKey: "NS.negative")
            }
        }
        let name = "NSDecimalNumberPlaceholder"
        try expect(nil, name, decimal(16))
        try expect(nil, name, decimal(16, length: 8, exponent: -128))
        for broken in [
            decimal(15), decimal(17), decimal(0), decimal(16, length: 9), decimal(16, length: -1),
            decimal(16, exponent: 128), decimal(16, exponent: -129), decimal(16, order: 3),
        ] { try expect(.corrupted, name, broken) }
    }

    @Test func decimalsOfBothByteOrders() throws {
        for (order, bytes) in [(1, [0xD2, 0x04, 0x01, 0x00]), (2, [0x04, 0xD2, 0x00, 0x01])] as [(Int, [UInt8])] {
            let data = try archive("NSDecimalNumberPlaceholder") { archiver in
                archiver.encode(inline: Data(bytes + Array(repeating: 0xFF, count: 12)), forKey: "NS.mantissa")
                archiver.encode(order, forKey: "NS.mantissa.bo")
                archiver.encode(2, forKey: "NS.length")
                archiver.encode(-2, forKey: "NS.exponent")
                archiver.encode(true, forKey: "NS.negative")
            }
            let number = try KeyedUnarchiver.unarchivedRoot(ofClass: NSDecimalNumber.self, from: data)
            #expect(number == NSDecimalNumber(string: "-667.70"))
            #expect(number as Any as? Double == -667.7)
        }
    }

    @Test func indexSets() throws {
        func ranges(_ count: Int, _ numbers: [UInt64]) -> Fields {
            { archiver in
                archiver.encode(count, forKey: "NSRangeCount")
                archiver.encode(PackedIntegers.data(numbers), forKey: "NSRangeData")
            }
        }
        func range(_ location: Int, _ length: Int) -> Fields {
            { archiver in
                archiver.encode(1, forKey: "NSRangeCount")
                archiver.encode(location, forKey: "NSLocation")
                archiver.encode(length, forKey: "NSLength")
            }
        }
        for name in ["NSIndexSet", "NSMutableIndexSet"] {
            try expect(nil, name, range(0, Int.max))
            try expect(nil, name, ranges(2, [0, 1, UInt64(Int.max) - 1, 1]))
            for broken in [
                range(-1, 5), range(5, -1), range(5, Int.max), range(Int.min, Int.min), ranges(1 << 60, [1, 1]),
                ranges(-1, [1, 1]), ranges(2, [1, 1, 2]), ranges(2, [5, 1, 0, 1]), ranges(2, [0, 5, 3, 5]),
                ranges(2, [0, 1, .max, 1]), ranges(2, [0, 1, 5, .max]),
                ranges(2, [0, UInt64(Int.max), UInt64(Int.max), 1]), ranges(Int.min, []),
            ] { try expect(.corrupted, name, broken) }
        }
        try expect(.corrupted, "NSIndexSet") { archiver in
            archiver.encode(2, forKey: "NSRangeCount")
            archiver.encode(Data(repeating: 0xFF, count: 100), forKey: "NSRangeData")
        }
        try expect(.corrupted, "NSIndexPath") { archiver in
            archiver.encode(1 << 60, forKey: "NSIndexPathLength")
            archiver.encode(Data([1, 2, 3]), forKey: "NSIndexPathData")
        }
    }

    @Test func characterSets() throws {
        func bits(_ count: Int, planes: [UInt8]) -> Fields {
            { archiver in
                var data = Data(repeating: 0xFF, count: count)
                for plane in planes {
                    data.append(plane)
                    data.append(Data(repeating: 0xFF, count: 8_192))
                }
                archiver.encode(inline: data, forKey: "NSBitmap")
            }
        }
        for name in ["NSCharacterSet", "NSMutableCharacterSet"] {
            try expect(nil, name, bits(8_192, planes: []))
            try expect(nil, name, bits(8_192, planes: Array(1...16)))
            for broken in [
                bits(0, planes: []), bits(3, planes: []), bits(8_193, planes: []), bits(8_197, planes: []),
                bits(8_192, planes: [0]), bits(8_192, planes: [17]), bits(8_192, planes: [200]),
                bits(8_192, planes: [3, 3]), bits(8_192, planes: [4, 3]),
            ] { try expect(.corrupted, name, broken) }
            for range in [-1, Int.min, Int.max, 0x10FFFF << 32 | 2, 0x110001 << 32, 0xFFFF_FFFF] {
                try expect(.corrupted, name) { $0.encode(range, forKey: "NSRange") }
            }
            for number in [-1, 16, Int.max] {
                try expect(.decodingFailed, name) { $0.encode(number, forKey: "NSBuiltinID") }
            }
        }
    }

    @Test func characterSetsUnderTheirOtherKeys() throws {
        func set(_ body: Fields) throws -> CharacterSet {
            try KeyedUnarchiver.unarchivedRoot(ofClass: CharacterSet.self, from: archive("NSCharacterSet", body))
        }
        let letters = (CharacterSet.letters as NSCharacterSet).bitmapRepresentation
        #expect(try set { $0.encode(letters, forKey: "NSBitmapObject") } == .letters)
        #expect(try set { $0.encode(NSMutableString(string: "ab"), forKey: "NSStringObject") }.contains("b"))
        #expect(try set { $0.encode(5, forKey: "NSBuiltinID") } == .letters)
        #expect(try set { $0.encode(15, forKey: "NSBuiltinID2") } == .newlines)
        let inverted = try set { archiver in
            archiver.encode(inline: "a😀", forKey: "NSString")
            archiver.encode(true, forKey: "NSIsInverted")
        }
        #expect(!inverted.contains("😀"))
        #expect(inverted.contains("b"))
    }

    @Test func attributedStrings() throws {
        func text(_ info: [UInt64], _ attributes: Any = [["k": 1], [:]]) -> Fields {
            { archiver in
                archiver.encode("a🏙b", forKey: "NSString")
                archiver.encode(attributes, forKey: "NSAttributes")
                archiver.encode(PackedIntegers.data(info), forKey: "NSAttributeInfo")
            }
        }
        for name in ["NSAttributedString", "NSMutableAttributedString"] {
            try expect(nil, name, text([1, 0, 3, 1]))
            for broken in [
                text([1, 0, 2, 1]), text([1, 0, 4, 1]), text([1, 0, 3, 2]), text([1, 0, 3]), text([]),
                text([0, 0, 4, 1]), text([.max, 0]), text([4, .max]), text([4, 0], ["k": 1]),
                text([4, 0], [[1: 1]]), text([4, 0], ["text"]),
            ] { try expect(.corrupted, name, broken) }
        }
    }

    /// Attributes that share their parts so often that a comparison of two would not end.
    @Test(.timeLimit(.minutes(1 * slowness))) func entangledAttributesAreNotCompared() throws {
        let archiver = KeyedArchiver()
        func entangled() -> ArchiveWriter.UID {
            var list = archiver.string("leaf")
            for _ in 0..<60 { list = archiver.collection(.of(NSArray.self)) { $0 = [list, list] } }
            return archiver.dictionary(.of(NSDictionary.self)) { keys, values in
                keys = [archiver.string("k")]
                values = [list]
            }
        }
        let table = archiver.collection(.of(NSArray.self)) { $0 = [entangled(), entangled()] }
        let root = archiver.container(.of(NSAttributedString.self), of: nil) {
            archiver.encode("ab", forKey: "NSString")
            archiver.writer.set("NSAttributes", archiver.writer.reference(to: table))
            archiver.encode(PackedIntegers.data([1, 0, 1, 1]), forKey: "NSAttributeInfo")
        }
        archiver.writer.set("root", archiver.writer.reference(to: root))
        let data = try archiver.encodedData
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedRoot(ofClass: NSAttributedString.self, from: data)
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test func expressions() throws {
        func pattern(_ pattern: String, _ options: Int = 0) -> Fields {
            { archiver in
                archiver.encode(pattern, forKey: "NSPattern")
                archiver.encode(options, forKey: "NSOptions")
            }
        }
        let nested = String(repeating: "(", count: 8_000) + String(repeating: ")", count: 8_000)
        // Slow to match, but quick to compile; decoding does not match.
        for sound in ["(a*)*b", "((((((a{1,99}){1,99}){1,99}){1,99}){1,99}){1,99})"] {
            try expect(nil, "NSRegularExpression", pattern(sound))
        }
        for bad in ["", "(((", "[", "a{99999999,1}", "\\", "(?<x", nested, String(repeating: "[", count: 9_000)] {
            try expect(.decodingFailed, "NSRegularExpression", pattern(bad))
        }
        try expect(.limitExceeded, "NSRegularExpression", pattern(String(repeating: "a", count: 16_385)))
        for options in [-1, 128, Int.max] { try expect(.corrupted, "NSRegularExpression", pattern("a", options)) }
    }

    @Test func matches() throws {
        func ranges(_ ranges: [Any]) throws -> Fields {
            let expression = try NSRegularExpression(pattern: "a")
            return { archiver in
                archiver.encode(expression, forKey: "NSRegularExpression")
                archiver.encode(ranges, forKey: "NSRangeArray")
            }
        }
        let name = "NSSimpleRegularExpressionCheckingResult"
        try expect(nil, name, ranges([NSRange(location: 1, length: 2)]))
        for broken in [
            [], [1], [NSRange(location: -1, length: 2)], [NSRange(location: 2, length: Int.max)], [CGPoint.zero],
        ] as [[Any]] { try expect(.corrupted, name, ranges(broken)) }
    }

    @Test func typedValues() throws {
        func value(_ type: Any, _ value: Any) -> Fields {
            { archiver in
                archiver.encode(type)
                archiver.encode(value)
            }
        }
        try expect(nil, "NSValue", value("q", 7))
        for type in [
            "{a=ii}", "zz", "", "@", "#", ":", "*", "^v", "v", "b3", "[3@]", "[3{a=i}]", "[i]", "[-3i]", "[0i]",
            "[99999999999999999999i]", "[1099511627776i]", "[3i", "3i]", String(repeating: "[", count: 10_000),
        ] { try expect(.decodingFailed, "NSValue", value(type, 7)) }
        try expect(.typeMismatch, "NSValue", value("[3i]", [1, 2]))
        try expect(.typeMismatch, "NSValue", value("[3i]", 1))
        try expect(.outOfRange, "NSValue", value("c", 300))
        try expect(.outOfRange, "NSValue", value("l", 1 << 40))
        try expect(.outOfRange, "NSValue", value("i", 1.5))
        try expect(.typeMismatch, "NSValue", value("i", "1"))
        try expect(.corrupted, "NSValue", value(1, 1))
        try expect(.corrupted, "NSValue") { $0.encode("i") }
        for (said, type, code) in [
            (1 << 60, "[3i]", .typeMismatch), (2, "[3i]", .typeMismatch), (3, "[1000000i]", .limitExceeded),
        ] as [(Int, String, ArchiveError.Code)] {
            try expect(code, "NSValue") { archiver in
                archiver.encode(type)
                let array = archiver.container(RawValueType.oldStyleArray, of: nil) {
                    archiver.encode(said, forKey: "NS.count")
                    archiver.encodeRawValue("i", at: [1])
                }
                archiver.writer.setUnkeyed(archiver.writer.reference(to: array))
            }
        }
        for special in [-1, 0, 5, 11, Int.max] {
            try expect(.decodingFailed, "NSValue") { $0.encode(special, forKey: "NS.special") }
        }
    }

    @Test func geometryIsReadLeniently() throws {
        func rect(_ text: Any) throws -> CGRect {
            let data = try archive("NSValue") { archiver in
                archiver.encode(3, forKey: "NS.special")
                archiver.encode(text, forKey: "NS.rectval")
            }
            return try KeyedUnarchiver.unarchivedRoot(ofClass: NSValue.self, from: data).rectValue
        }
        let expected = CGRect(x: 1, y: -2.5, width: 300, height: 0)
        for text in [
            "{{1, -2.5}, {300, 0}}", "{{1.0,-2.5},{3e2,0}}", "  {{ 1 , -2.5 } , { 300 , 0x0 } } ", "1 -2.5 300",
            "{{1, -2.5}, {300, junk}}",
        ] { #expect(try rect(text) == expected, "\(text)") }
        #expect(try rect(NSMutableString(string: "{{1, -2.5}, {300, 0}}")) == expected)
        #expect(try rect("") == .zero)
        #expect(try rect(String(repeating: "{", count: 100_000)) == .zero)
    }

    @Test func timesAndPlaces() throws {
        for name in [
            "", "../../../etc/passwd", "/etc/localtime", "Europe/../UTC", "a\u{0}b", "Europe/Berl in",
            String(repeating: "x", count: 100_000),
        ] { try expect(.corrupted, "NSTimeZone") { $0.encode(name, forKey: "NS.name") } }
        for name in ["Nowhere/City", "GMT+9999"] {
            try expect(.decodingFailed, "NSTimeZone") { $0.encode(name, forKey: "NS.name") }
        }
        try expect(.corrupted, "NSLocale") {
            $0.encode(String(repeating: "x", count: 257), forKey: "NS.identifier")
        }
        try expect(nil, "NSLocale") { $0.encode("a\u{0}😀", forKey: "NS.identifier") }
        try expect(.decodingFailed, "NSCalendar") { $0.encode("mayan", forKey: "NS.identifier") }
        for (key, number) in [
            ("NS.firstwkdy", 0), ("NS.firstwkdy", 8), ("NS.mindays", -4), ("NS.mindays", Int.max),
        ] {
            try expect(.corrupted, "NSCalendar") { archiver in
                archiver.encode("gregorian", forKey: "NS.identifier")
                archiver.encode(number, forKey: key)
            }
        }
        let dates = [-Double.infinity, -5, 5, .infinity, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }
        for (first, start) in dates.enumerated() {
            for (second, end) in dates.enumerated() {
                let isSound = first <= second && (1...2).contains(first) && (1...3).contains(second)
                try expect(isSound ? nil : .corrupted, "NSDateInterval") { archiver in
                    archiver.encode(start, forKey: "NS.startDate")
                    archiver.encode(end, forKey: "NS.endDate")
                }
            }
        }
        for (duration, isSound) in [(0.1, true), (0.2, false), (-0.1, false), (.nan, false), (.infinity, false)] {
            let start = Date(timeIntervalSinceReferenceDate: 817_000_000.3)
            try expect(isSound ? nil : .corrupted, "NSDateInterval") { archiver in
                archiver.encode(start, forKey: "NS.startDate")
                archiver.encode(start + 0.1, forKey: "NS.endDate")
                archiver.encode(duration, forKey: "NS.duration")
            }
        }
        try expect(nil, "NSDateComponents") { archiver in
            for key in ["NS.year", "NS.month", "NS.era"] { archiver.encode(Int.min, forKey: key) }
        }
    }

    @Test func converters() throws {
        for number in [0, .nan, .infinity, -.infinity] as [Double] {
            try expect(nil, "NSUnitConverterLinear") { $0.encode(number, forKey: "NS.coefficient") }
            try expect(.corrupted, "NSUnitConverterReciprocal") { $0.encode(number, forKey: "NS.reciprocal") }
        }
        try expect(.corrupted, "NSUnitLength") { archiver in
            archiver.encode("m", forKey: "NS.symbol")
            archiver.encode("m", forKey: "NS.converter")
        }
        try expect(.corrupted, "NSMeasurement") { archiver in
            archiver.encode(1.5, forKey: "NS.value")
            archiver.encode("m", forKey: "NS.unit")
        }
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func countedSets() throws {
        func counted(_ count: Int, _ times: Int) -> Fields {
            { archiver in
                archiver.encode(count, forKey: "NS.count")
                archiver.encode("a", forKey: "NS.object0")
                archiver.encode(times, forKey: "NS.count0")
            }
        }
        try expect(nil, "NSCountedSet", counted(1, 1_000))
        for broken in [counted(2, 1), counted(-1, 1), counted(1 << 60, 1), counted(1, 0), counted(1, -1)] {
            try expect(.corrupted, "NSCountedSet", broken)
        }
        for huge in [1 << 20, 1 << 60, Int.max] { try expect(.limitExceeded, "NSCountedSet", counted(1, huge)) }
        let set = NSCountedSet()
        for _ in 0...1 << 19 { set.add("a") }
        let error = #expect(throws: ArchiveError.self) { try KeyedArchiver.archivedData(withRootObject: set) }
        #expect(error?.code == .limitExceeded)
    }

    /// Foundation compares data with itself, and makes an object of a URL, each time that one is added.
    @Test(.timeLimit(.minutes(1 * slowness))) func longMembersOfCountedSets() throws {
        func counted(_ member: Any, _ times: Int) -> Fields {
            { archiver in
                archiver.encode(1, forKey: "NS.count")
                archiver.encode(member as Any?, forKey: "NS.object0")
                archiver.encode(times, forKey: "NS.count0")
            }
        }
        try expect(nil, "NSCountedSet", counted(Data(count: 100), 1_000))
        try expect(.limitExceeded, "NSCountedSet", counted(Data(count: 1_000), 60_000))
        let url = try #require(URL(string: "http://a/" + String(repeating: "k", count: 20_000)))
        try expect(nil, "NSCountedSet", counted(url, 60_000))
    }

    /// A value that cannot be hashed, or not be compared in good time, is refused as a member or key, in writing and
    /// reading.
    @Test(arguments: [
        "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSCountedSet", "NSDictionary",
    ])
    func membersThatMustNotBeHashed(className: String) throws {
        let values: [Any] = [
            Decimal(1), NSDecimalNumber(value: 1), CharacterSet.letters, NSOrderedSet(array: []), NSCountedSet(),
            NSAttributedString(string: "a"), NSError(domain: "a", code: 1),
            NSNotification(name: .init("a"), object: 1),
        ]
        for value in values {
            try expect(.typeMismatch, className) { archiver in
                let member = archiver.writer.reference(to: archiver.uid(of: value))
                archiver.encode(1, forKey: "NS.count")
                archiver.encode(1, forKey: "NS.count0")
                for key in ["NS.object.0", "NS.object0", "NS.key.0"] { archiver.writer.set(key, member) }
            }
            let archiver = KeyedArchiver()
            _ = archiver.hashed(value)
            let error = archiver.error as? ArchiveError
            #expect(error?.code == .unsupportedType)
        }
    }
}

extension FormSample {
    /// All keys of all samples' forms.
    static let allKeys: [String] = {
        var keys: Set<String> = []
        for sample in all {
            guard let value = try? sample.make(), let data = try? KeyedArchiver.archivedData(withRootObject: value),
                let tree = try? ArchiveTree([UInt8](data))
            else { continue }
            for case .instance(let instance) in tree.objects { keys.formUnion(instance.fields.map(\.key)) }
        }
        return keys.sorted()
    }()
}
