import Foundation

@testable import KeyedArchive

extension FormSample {
    static let all: [FormSample] =
        numbers + indexes + characters + texts + matches + values + times + units + orderedSets + records
        + formatters

    static let numbers: [FormSample] =
        [
            "0", "1", "-1.5", "0.1", "340282366920938463463374607431768211455", "1e-128", "65536",
            "-340282366920938463463374607431768211455e127", "12345678901234567890.123456789",
        ].map { text in
            .value(
                "Decimal \(text)",
                Decimal(string: text),
                NSDecimalNumber.self,
                named: "NSDecimalNumberPlaceholder"
            )
        } + [
            .object("NSDecimalNumberPlaceholder", NSDecimalNumber.self) { NSDecimalNumber(string: "1.25") },
            .object("NSDecimalNumberPlaceholder", NSDecimalNumber.self) { NSDecimalNumber.notANumber },
        ]

    private static let someIndexes = IndexSet([0, 1, 2, 7, 1_000, 70_000])

    static let indexes: [FormSample] =
        [IndexSet(), IndexSet(integersIn: 3..<9), IndexSet(integersIn: 0..<Int.max), someIndexes].map { set in
            .value("IndexSet \(set.rangeView.count)", set, NSIndexSet.self, named: "NSIndexSet")
        }
        + [IndexPath(), IndexPath(index: 52), IndexPath(indexes: [4, 8, 300, Int.max, -1])].map { path in
            .value("IndexPath \(path.count)", path, NSIndexPath.self, named: "NSIndexPath")
        }
        + [
            .object("NSIndexSet", NSIndexSet.self) { NSIndexSet(indexSet: someIndexes) },
            .object("NSMutableIndexSet", NSMutableIndexSet.self) { NSMutableIndexSet(indexSet: someIndexes) },
            .object("NSIndexPath", NSIndexPath.self) { NSIndexPath(indexes: [1, 300], length: 2) },
        ]

    static let characters: [FormSample] =
        [
            ("none", CharacterSet()), ("range", CharacterSet(charactersIn: "a"..."f")),
            ("vowels", CharacterSet(charactersIn: "aeiouäöü")),
            ("all but vowels", CharacterSet(charactersIn: "aeiou").inverted),
            ("all but a range", CharacterSet(charactersIn: "a"..."f").inverted), ("letters", .letters),
            ("no letters", CharacterSet.letters.inverted),
            ("everything", CharacterSet().inverted),
            ("beyond plane 0", CharacterSet(charactersIn: "\u{1F600}"..."\u{1F64F}")),
            ("scattered", CharacterSet.letters.intersection(CharacterSet(charactersIn: "\u{0}"..."\u{200FF}"))),
        ].map { .value("CharacterSet \($0.0)", $0.1, NSCharacterSet.self, named: "NSCharacterSet") }
        + [
            .object("NSCharacterSet", NSCharacterSet.self) { NSCharacterSet(charactersIn: "xyz") },
            .object("NSMutableCharacterSet", NSMutableCharacterSet.self) {
                NSMutableCharacterSet(charactersIn: "x1y2")
            },
        ]

    static let texts: [FormSample] = [
        .object("NSAttributedString", NSAttributedString.self) { NSAttributedString(string: "") },
        .object("NSAttributedString", NSAttributedString.self) { NSAttributedString(string: "plain 🏙") },
        .object("NSAttributedString", NSAttributedString.self) {
            NSAttributedString(string: "bold 🏙", attributes: [.init("Weight"): 700, .init("Font"): "Times"])
        },
        .object("NSAttributedString", NSAttributedString.self) {
            NSAttributedString(attributedString: severalRuns)
        },
        .object("NSMutableAttributedString", NSMutableAttributedString.self) { severalRuns },
        .object("NSRegularExpression", NSRegularExpression.self) {
            try NSRegularExpression(pattern: "(a|b)+", options: [.caseInsensitive, .anchorsMatchLines])
        },
    ]

    static var severalRuns: NSMutableAttributedString {
        let text = NSMutableAttributedString(string: "a🏙bcd")
        let size = NSAttributedString.Key("Size")
        text.setAttributes([size: 12], range: NSRange(location: 0, length: 3))
        text.setAttributes([size: 12], range: NSRange(location: 4, length: 1))
        text.setAttributes([size: 9, .init("Colours"): ["red", "blue"]], range: NSRange(location: 5, length: 1))
        return text
    }

    static let matches: [FormSample] = [(1, "Simple"), (5, "Extended"), (9, "Complex")].map { count, name in
        .object(
            "NS\(name)RegularExpressionCheckingResult",
            NSTextCheckingResult.self,
            isSame: { first, second in
                first.regularExpression == second.regularExpression
                    && (0..<count).map { first.range(at: $0) } == (0..<count).map { second.range(at: $0) }
            },
            make: {
                let pattern = "x" + String(repeating: "(a)?", count: count - 1)
                let expression = try NSRegularExpression(pattern: pattern)
                // The last groups match nothing: their location is NSNotFound.
                var ranges = (0..<count).map { NSRange(location: $0 < 3 ? $0 : NSNotFound, length: $0 < 3 ? 1 : 0) }
                return .regularExpressionCheckingResult(
                    ranges: &ranges,
                    count: count,
                    regularExpression: expression
                )
            }
        )
    }

    private static let point = CGPoint(x: 146.33333333333337, y: -0.1)
    private static let size = CGSize(width: 1e300, height: 0)
    private static let rect = CGRect(origin: point, size: size)
    private static let range = NSRange(location: 3, length: NSNotFound)

    static let values: [FormSample] =
        [
            .boxed(point) { $0.pointValue == point }, .boxed(size) { $0.sizeValue == size },
            .boxed(rect) { $0.rectValue == rect }, .boxed(range) { $0.rangeValue == range },
            .boxed(NSEdgeInsets(top: 1, left: 2, bottom: 3, right: 4.5)) { $0.edgeInsetsValue.right == 4.5 },
            .object("NSValue", NSValue.self) { NSValue(point: point) },
            .object("NSValue", NSValue.self) { NSValue(range: range) },
            .value(
                "transform",
                AffineTransform(m11: 1, m12: 2, m21: -3, m22: 0.5, tX: 7, tY: 1e20.asFloat),
                NSAffineTransform.self,
                named: "NSAffineTransform"
            ),
            .object("NSAffineTransform", NSAffineTransform.self) { NSAffineTransform() },
        ]
        + ["c", "C", "s", "S", "i", "I", "l", "L", "q", "Q", "f", "d", "[3i]", "[2d]", "[5C]", "[1f]"].map { type in
            .object("NSValue", NSValue.self) {
                NSValue.make([UInt8](200..<232), objCType: type)
            }
        }

    private static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

    static let times: [FormSample] = [
        .value("locale", Locale(identifier: "fa_IR@calendar=persian"), NSLocale.self, named: "NSLocale"),
        .value("no locale", Locale(identifier: ""), NSLocale.self, named: "NSLocale"),
        .object("NSLocale", NSLocale.self) { NSLocale(localeIdentifier: "de_DE") },
        .value("Berlin", berlin, NSTimeZone.self, named: "NSTimeZone"),
        .value("GMT+0130", TimeZone(secondsFromGMT: 5_400), NSTimeZone.self, named: "NSTimeZone"),
        .object("NSTimeZone", NSTimeZone.self) { berlin as NSTimeZone },
        .value("calendar", Calendar(identifier: .gregorian), NSCalendar.self, named: "NSCalendar"),
        .value("own calendar", ownCalendar, NSCalendar.self, named: "NSCalendar"),
        .object("NSCalendar", NSCalendar.self) { ownCalendar as NSCalendar },
        .value(
            "components",
            DateComponents(
                calendar: ownCalendar,
                timeZone: berlin,
                era: 1,
                year: -5,
                nanosecond: 7,
                yearForWeekOfYear: 3
            ),
            NSDateComponents.self,
            named: "NSDateComponents"
        ),
        .value("no components", DateComponents(), NSDateComponents.self, named: "NSDateComponents"),
        .value("leap month", leapMonth, NSDateComponents.self, named: "NSDateComponents"),
        .object("NSDateComponents", NSDateComponents.self) { leapMonth as NSDateComponents },
        .value(
            "interval",
            DateInterval(start: Date(timeIntervalSinceReferenceDate: -3), duration: 5.5),
            NSDateInterval.self,
            named: "NSDateInterval"
        ),
        .value(
            "interval whose end is rounded",
            DateInterval(start: Date(timeIntervalSinceReferenceDate: 817_000_000.3), duration: 0.1),
            NSDateInterval.self,
            named: "NSDateInterval"
        ),
        .value(
            "interval without an end",
            DateInterval(start: .distantPast, end: Date(timeIntervalSinceReferenceDate: .infinity)),
            NSDateInterval.self,
            named: "NSDateInterval"
        ),
        .object(
            "NSDateInterval",
            NSDateInterval.self,
            isSame: { $0 as DateInterval == $1 as DateInterval },
            make: {
                NSDateInterval(start: .distantPast, duration: 0)
            }
        ),
    ]

    private static var ownCalendar: Calendar {
        var calendar = Calendar(identifier: .hebrew)
        calendar.timeZone = berlin
        calendar.locale = Locale(identifier: "de_DE")
        calendar.firstWeekday = 3
        calendar.minimumDaysInFirstWeek = 5
        return calendar
    }

    private static var leapMonth: DateComponents {
        var components = DateComponents(month: 4, day: 30)
        components.isLeapMonth = true
        components.dayOfYear = 99
        return components
    }

    static let units: [FormSample] = [
        .value(
            "length",
            Measurement(value: 1.5, unit: UnitLength.miles),
            NSMeasurement.self,
            named: "NSMeasurement"
        ),
        .value(
            "temperature",
            Measurement(value: -1, unit: UnitTemperature.fahrenheit),
            NSMeasurement.self,
            named: "NSMeasurement"
        ),
        .value(
            "efficiency",
            Measurement(value: 30, unit: UnitFuelEfficiency.milesPerGallon),
            NSMeasurement.self,
            named: "NSMeasurement"
        ),
        .value(
            "apples",
            Measurement(value: 3, unit: Unit(symbol: "apples")),
            NSMeasurement.self,
            named: "NSMeasurement"
        ),
        .object("NSMeasurement", NSMeasurement.self) {
            NSMeasurement(doubleValue: .infinity, unit: UnitMass.grams)
        },
        .object("NSUnitSpeed", UnitSpeed.self) { .knots },
        .object("NSDimension", Dimension.self) {
            Dimension(symbol: "x", converter: UnitConverterLinear(coefficient: 2))
        },
        .object("NSUnitConverterLinear", UnitConverterLinear.self) {
            UnitConverterLinear(coefficient: 2, constant: -1)
        },
        .object("NSUnitConverterLinear", UnitConverterLinear.self) { UnitConverterLinear(coefficient: 0) },
        .object("NSUnitConverterReciprocal", UnitConverter.self) { UnitFuelEfficiency.milesPerGallon.converter },
    ]

    static let orderedSets: [FormSample] = [
        .object("NSOrderedSet", NSOrderedSet.self) { NSOrderedSet(array: []) },
        .object("NSOrderedSet", NSOrderedSet.self) { NSOrderedSet(array: ["c", "a", 3]) },
        .object("NSMutableOrderedSet", NSMutableOrderedSet.self) { NSMutableOrderedSet(array: Array(0..<100)) },
        .object("NSCountedSet", NSCountedSet.self) { NSCountedSet() },
        .object("NSCountedSet", NSCountedSet.self, isSame: isSameCounted) {
            NSCountedSet(array: ["a", "b", "a", 3, "a"])
        },
    ]

    @Sendable private static func isSameCounted(_ first: NSCountedSet, _ second: NSCountedSet) -> Bool {
        first.count == second.count && first.allSatisfy { first.count(for: $0) == second.count(for: $0) }
    }

    private static let failure = NSError(
        domain: "tests",
        code: -7,
        userInfo: [NSLocalizedDescriptionKey: "no", NSUnderlyingErrorKey: NSError(domain: "inner", code: 1)]
    )

    static let records: [FormSample] = [
        .value("query item", URLQueryItem(name: "a", value: "b"), NSURLQueryItem.self, named: "NSURLQueryItem"),
        .value(
            "bare query item",
            URLQueryItem(name: "a", value: nil),
            NSURLQueryItem.self,
            named: "NSURLQueryItem"
        ),
        .object("NSURLQueryItem", NSURLQueryItem.self) { NSURLQueryItem(name: "", value: "") },
        .value("person", person, NSPersonNameComponents.self, named: "NSPersonNameComponents"),
        .object("NSPersonNameComponents", NSPersonNameComponents.self) { person as NSPersonNameComponents },
        .object("NSError", NSError.self) { failure },
        .object("NSError", NSError.self) { NSError(domain: "", code: Int.min) },
        .object(
            "NSNotification",
            NSNotification.self,
            isSecure: false,
            isSame: {
                $0.object as? String == "o" && $0.userInfo as? [String: Int] == $1.userInfo as? [String: Int]
            },
            make: {
                NSNotification(name: .init("n"), object: "o", userInfo: ["k": 1])
            }
        ),
        .object(
            "NSNotification",
            NSNotification.self,
            isSecure: false,
            isSame: { $0.name == $1.name && $0.object == nil && $1.userInfo == nil },
            make: {
                NSNotification(name: .init("n"), object: nil)
            }
        ),
    ]

    private static var person: PersonNameComponents {
        var phonetic = PersonNameComponents()
        phonetic.givenName = "dʒɒn"
        var person = PersonNameComponents()
        person.givenName = "John"
        person.familyName = "Appleseed"
        person.nameSuffix = "Esq."
        person.phoneticRepresentation = phonetic
        return person
    }

    static let formatters: [FormSample] = [
        .object(
            "NSByteCountFormatter",
            ByteCountFormatter.self,
            isSame: {
                $0.allowedUnits == $1.allowedUnits && $0.isAdaptive == $1.isAdaptive
                    && $0.countStyle == $1.countStyle
                    && $0.string(fromByteCount: 123_456) == $1.string(fromByteCount: 123_456)
            },
            make: {
                let formatter = ByteCountFormatter()
                formatter.allowedUnits = [.useMB, .useGB]
                formatter.countStyle = .binary
                formatter.isAdaptive = false
                formatter.zeroPadsFractionDigits = true
                return formatter
            }
        ),
        .object(
            "NSISO8601DateFormatter",
            ISO8601DateFormatter.self,
            isSame: { $0.formatOptions == $1.formatOptions && $0.timeZone == $1.timeZone },
            make: {
                let formatter = ISO8601DateFormatter()
                formatter.formatOptions = [.withFullDate, .withFractionalSeconds]
                formatter.timeZone = berlin
                return formatter
            }
        ),
    ]
}

extension Double {
    /// The nearest number that a Float holds too.
    fileprivate var asFloat: CGFloat { CGFloat(Float(self)) }
}
