import Foundation
import Testing

@testable import KeyedArchive

/// The archives hold the keys and values that Apple's hold, and no others.
@Suite struct FormTextTests {
    private func expect(
        _ value: Any,
        _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try ArchivedForms(of: value).root
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    @Test func numbers() throws {
        func decimal(_ mantissa: String, length: Int, exponent: Int = 0, isNegative: Bool = false) -> String {
            let mantissa = mantissa + String(repeating: "0", count: 24)
            return "NSDecimalNumberPlaceholder{NS.compact: true, NS.exponent: \(exponent), NS.length: \(length), "
                + "NS.mantissa: <\(mantissa)>, NS.mantissa.bo: 1, NS.negative: \(isNegative)}"
        }
        let negative = decimal("4b61bc00", length: 2, exponent: -1, isNegative: true)
        try expect(Decimal(string: "-1234567.5") as Any, negative)
        try expect(NSDecimalNumber(value: 7), decimal("07000000", length: 1))
        try expect(Decimal.zero, decimal("00000000", length: 0))
        try expect(NSDecimalNumber.notANumber, decimal("00000000", length: 0, isNegative: true))
    }

    @Test func indexes() throws {
        try expect(IndexSet(), "NSIndexSet{NSRangeCount: 0}")
        try expect(IndexSet(integersIn: 0..<50), "NSIndexSet{NSLength: 50, NSLocation: 0, NSRangeCount: 1}")
        let many = NSMutableIndexSet(indexesIn: NSRange(location: 0, length: 50))
        many.add(in: NSRange(location: 1_000, length: 50))
        try expect(many, "NSMutableIndexSet{NSRangeCount: 2, NSRangeData: @<0032e80732>}")
        try expect(IndexPath(), "NSIndexPath{NSIndexPathLength: 0}")
        try expect(IndexPath(index: 52), "NSIndexPath{NSIndexPathLength: 1, NSIndexPathValue: 52}")
        try expect(
            NSIndexPath(indexes: [4, 8, 300], length: 3),
            "NSIndexPath{NSIndexPathData: @<0408ac02>, NSIndexPathLength: 3}"
        )
    }

    @Test func characterSets() throws {
        try expect(CharacterSet(charactersIn: "a"..."c"), "NSCharacterSet{NSRange: \(97 << 32 | 3)}")
        try expect(CharacterSet(), "NSCharacterSet{NSRange: 0}")
        try expect(CharacterSet(charactersIn: "xaé"), "NSCharacterSet{NSString: \"axé\"}")
        try expect(
            CharacterSet(charactersIn: "a").inverted,
            "NSCharacterSet{NSIsInverted: true, NSRange: \(97 << 32 | 1)}"
        )
        try expect(CharacterSet.decimalDigits, "NSCharacterSet{NSBuiltinID: 4}")
        try expect(CharacterSet.letters.inverted, "NSCharacterSet{NSBuiltinID: 5, NSIsInverted: true}")
        let odd = CharacterSet.letters.subtracting(CharacterSet(charactersIn: "a"))
        let bits = (odd as NSCharacterSet).bitmapRepresentation.map { String(format: "%02x", $0) }.joined()
        try expect(odd, "NSCharacterSet{NSBitmap: <\(bits)>}")
    }

    @Test func texts() throws {
        let text = NSMutableAttributedString(string: "ab🏙")
        try expect(text, "NSMutableAttributedString{NSString: @\"ab🏙\"}")
        text.setAttributes([.init("k"): 1], range: NSRange(location: 0, length: 4))
        let one = "NSDictionary{NS.keys: [@\"k\"], NS.objects: [@1]}"
        let none = "NSDictionary{NS.keys: [], NS.objects: []}"
        try expect(text, "NSMutableAttributedString{NSAttributes: @\(one), NSString: @\"ab🏙\"}")
        text.setAttributes([:], range: NSRange(location: 1, length: 1))
        try expect(
            NSAttributedString(attributedString: text),
            "NSAttributedString{NSAttributeInfo: @<010001010200>, "
                + "NSAttributes: @NSArray{NS.objects: [@\(one), @\(none)]}, NSString: @\"ab🏙\"}"
        )
        let expression = try NSRegularExpression(pattern: "(.*)", options: [.caseInsensitive])
        try expect(expression, "NSRegularExpression{NSOptions: 1, NSPattern: @\"(.*)\"}")
        let match = try #require(expression.firstMatch(in: "ab", range: NSRange(location: 0, length: 2)))
        let range = "@NSValue{NS.rangeval.length: @2, NS.rangeval.location: @0, NS.special: 4}"
        try expect(
            match,
            "NSSimpleRegularExpressionCheckingResult{NSRangeArray: @NSArray{NS.objects: [\(range), \(range)]}, "
                + "NSRangeLength: 2, NSRangeLocation: 0, "
                + "NSRegularExpression: @NSRegularExpression{NSOptions: 1, NSPattern: @\"(.*)\"}}"
        )
    }

    @Test func values() throws {
        let point = CGPoint(x: 400, y: 0.1)
        try expect(point, "NSValue{NS.pointval: @\"{400, 0.10000000000000001}\", NS.special: 1}")
        try expect(
            NSValue(size: CGSize(width: 1.5, height: -2)),
            "NSValue{NS.sizeval: @\"{1.5, -2}\", NS.special: 2}"
        )
        let rect = CGRect(x: 146.33333333333337, y: 728.33333333333337, width: 1e21, height: 0)
        try expect(
            rect,
            "NSValue{NS.rectval: @\"{{146.33333333333337, 728.33333333333337}, {1e+21, 0}}\", NS.special: 3}"
        )
        try expect(
            NSRange(location: 97_345, length: 98_345),
            "NSValue{NS.rangeval.length: @98345, NS.rangeval.location: @97345, NS.special: 4}"
        )
        try expect(
            NSValue(edgeInsets: NSEdgeInsets(top: 1, left: 2, bottom: 3, right: 4)),
            "NSValue{NS.edgeval.bottom: 3.0, NS.edgeval.left: 2.0, NS.edgeval.right: 4.0, NS.edgeval.top: 1.0, "
                + "NS.special: 12}"
        )
        let ints = [Int32]([1, 2, -3]).withUnsafeBytes { Array($0) }
        try expect(
            NSValue.make(ints, objCType: "[3i]"),
            "NSValue{$0: @\"[3i]\", $1: @_NSKeyedCoderOldStyleArray{$0: 1, $1: 2, $2: -3, NS.count: 3, NS.size: 4, "
                + "NS.type: 105}}"
        )
        try expect(NSValue.make(ints + [0, 0, 0, 0], objCType: "q"), "NSValue{$0: @\"q\", $1: \(2 << 32 | 1)}")
        try expect(
            AffineTransform(m11: 1, m12: 0, m21: 0, m22: -2, tX: 0.5, tY: 0),
            "NSAffineTransform{NSTransformStruct: <3f8000000000000000000000c00000003f00000000000000>}"
        )
    }

    @Test func times() throws {
        try expect(Locale(identifier: "ja-JP"), "NSLocale{NS.identifier: @\"ja-JP\"}")
        let fixed = try #require(TimeZone(identifier: "GMT+0100"))
        try expect(fixed, "NSTimeZone{NS.data: nil, NS.name: @\"GMT+0100\"}")
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(try ArchivedForms(of: berlin).root.hasPrefix("NSTimeZone{NS.data: @<545a6966"))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = fixed
        calendar.locale = Locale(identifier: "de")
        calendar.firstWeekday = 2
        calendar.minimumDaysInFirstWeek = 4
        let zone = "NSTimeZone{NS.data: nil, NS.name: @\"GMT+0100\"}"
        try expect(
            calendar,
            "NSCalendar{NS.firstwkdy: 2, NS.gstartdate: @NSDate{NS.time: -13197600000.0}, "
                + "NS.identifier: @\"gregorian\", NS.locale: @NSLocale{NS.identifier: @\"de\"}, NS.mindays: 4, "
                + "NS.timezone: @\(zone)}"
        )
        let interval = DateInterval(start: Date(timeIntervalSinceReferenceDate: 1), duration: 2)
        try expect(
            interval,
            "NSDateInterval{NS.endDate: @NSDate{NS.time: 3.0}, NS.startDate: @NSDate{NS.time: 1.0}}"
        )
        let undefined = Int.max
        try expect(
            DateComponents(timeZone: fixed, year: 2_001, nanosecond: 5),
            "NSDateComponents{NS.calendar: nil, NS.day: \(undefined), NS.era: \(undefined), NS.hour: \(undefined), "
                + "NS.minute: \(undefined), NS.month: \(undefined), NS.nanosec: 5, NS.quarter: \(undefined), "
                + "NS.second: \(undefined), NS.timezone: @\(zone), NS.weekOfMonth: \(undefined), "
                + "NS.weekOfYear: \(undefined), NS.weekday: \(undefined), NS.weekdayOrdinal: \(undefined), "
                + "NS.year: 2001, NS.yearForWOY: \(undefined)}"
        )
    }

    @Test func unitsAndRecords() throws {
        let linear = "NSUnitConverterLinear{NS.coefficient: 1609.34, NS.constant: 0.0}"
        try expect(
            Measurement(value: 45, unit: UnitLength.miles),
            "NSMeasurement{NS.unit: @NSUnitLength{NS.converter: @\(linear), NS.symbol: @\"mi\"}, NS.value: 45.0}"
        )
        try expect(
            NSMeasurement(doubleValue: 0, unit: Unit(symbol: "")),
            "NSMeasurement{NS.unit: @NSUnit{NS.symbol: @\"\"}, NS.value: 0.0}"
        )
        try expect(NSOrderedSet(array: ["b", "a"]), "NSOrderedSet{NS.object.0: @\"b\", NS.object.1: @\"a\"}")
        try expect(NSCountedSet(array: [3, 3]), "NSCountedSet{NS.count: 1, NS.count0: 2, NS.object0: @3}")
        try expect(URLQueryItem(name: "a", value: nil), "NSURLQueryItem{NS.name: @\"a\", NS.value: nil}")
        try expect(
            Notification(name: .init("n"), object: "o", userInfo: ["k": "v"]),
            "NSNotification{NS.name: @\"n\", NS.object: @\"o\", "
                + "NS.userinfo: @NSDictionary{NS.keys: [@\"k\"], NS.objects: [@\"v\"]}}"
        )
        try expect(
            NSError(domain: "d", code: -1, userInfo: ["k": URLError(.badURL)]),
            "NSError{NSCode: -1, NSDomain: @\"d\", NSUserInfo: @NSDictionary{NS.keys: [@\"k\"], "
                + "NS.objects: [@NSError{NSCode: -1000, NSDomain: @\"NSURLErrorDomain\", NSUserInfo: nil}]}}"
        )
        var person = PersonNameComponents()
        person.givenName = "John"
        try expect(
            person,
            "NSPersonNameComponents{NS.nameComponentsPrivate: @_NSPersonNameComponentsData{NS.familyName: nil, "
                + "NS.givenName: @\"John\", NS.middleName: nil, NS.namePrefix: nil, NS.nameSuffix: nil, "
                + "NS.nickname: nil, NS.phoneticRepresentation: nil}}"
        )
        try expect(ByteCountFormatter(), "NSByteCountFormatter{}")
    }

    @Test func whatCannotBeArchivedInAnErrorIsAnError() throws {
        let error = NSError(domain: "d", code: 1, userInfo: ["k": { 1 }])
        let thrown = #expect(throws: ArchiveError.self) { try KeyedArchiver.archivedData(withRootObject: error) }
        #expect(thrown?.code == .unsupportedType)
        #expect(thrown?.keyPath == ["root", "NSUserInfo"])
    }

    /// One object stays one, and a time zone's data is there once.
    @Test func sharedObjectsStayShared() throws {
        let components = NSDateComponents()
        components.year = 5
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let data = try KeyedArchiver.archivedData(
            withRootObject: [components, components, zone, zone as NSTimeZone, [zone]] as [Any]
        )
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: [Any].self, from: data)
        #expect(decoded[0] as AnyObject === decoded[1] as AnyObject)
        let tree = try ArchiveTree([UInt8](data))
        var zones = 0
        for case .instance(let instance) in tree.objects
        where tree.classDescription(of: instance)?.name == "NSTimeZone" {
            zones += 1
        }
        #expect(zones == 1)
    }

    /// The members of a mutable collection may refer to it.
    @Test(arguments: [true, false]) func membersKnowTheirSet(isCounted: Bool) throws {
        let (books, counted) = (NSMutableOrderedSet(), NSCountedSet())
        let set: NSObject = isCounted ? counted : books
        for _ in 0..<3 { isCounted ? counted.add(Book(shelf: set)) : books.add(Book(shelf: set)) }
        let data = try KeyedArchiver.archivedData(withRootObject: set)
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: NSObject.self, allowing: [Book.self], from: data)
        let members = (decoded as? NSMutableOrderedSet)?.array ?? (decoded as? NSCountedSet)?.allObjects ?? []
        #expect(members.count == 3)
        for case let book as Book in members { #expect(book.shelf === decoded) }
        for case let book as Book in books.array + counted.allObjects { book.shelf = nil }
        for case let book as Book in members { book.shelf = nil }
    }

    @Test func aUnitOfOnesOwnKeepsItsFields() throws {
        let dose = Dose(symbol: "drop", converter: UnitConverterLinear(coefficient: 0.05))
        dose.note = "after meals"
        let measurement = NSMeasurement(doubleValue: 3, unit: dose)
        let data = try KeyedArchiver.archivedData(withRootObject: measurement)
        let decoded = try KeyedUnarchiver.unarchivedRoot(
            ofClass: NSMeasurement.self,
            allowing: [Dose.self],
            from: data
        )
        #expect((decoded.unit as? Dose)?.note == "after meals")
        #expect((decoded.unit as? Dose)?.converter == dose.converter)
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedRoot(ofClass: NSMeasurement.self, from: data)
        }
        #expect(error?.code == .classNotAllowed)
    }
}

final class Book: NSObject, NSCoding {
    var shelf: NSObject?

    init(shelf: NSObject) { self.shelf = shelf }

    required init?(coder: NSCoder) { shelf = coder.decodeObject(forKey: "shelf") as? NSObject }

    func encode(with coder: NSCoder) { coder.encode(shelf, forKey: "shelf") }
}

final class Dose: Dimension, @unchecked Sendable {
    var note = ""

    #if canImport(Darwin)
        required override init(symbol: String, converter: UnitConverter) {
            super.init(symbol: symbol, converter: converter)
        }
    #else
        required init(symbol: String, converter: UnitConverter) { super.init(symbol: symbol, converter: converter) }
    #endif
    required init(symbol: String) { super.init(symbol: symbol, converter: UnitConverterLinear(coefficient: 1)) }

    required init?(coder: NSCoder) {
        note = coder.decodeObject(forKey: "note") as? String ?? ""
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(note, forKey: "note")
    }
}
