import Foundation

/// Objects of the kinds that both may archive, by the names that the table has.
enum Kinds {
    static var all: [(name: String, object: () throws -> Any)] {
        [
            ("`String`, `NSString`", { "text" }),
            ("the string `$null`", { "$null" }),
            ("`NSMutableString`", { NSMutableString(string: "text") }),
            ("`Int`", { -42 }),
            ("`UInt64` above `Int64.max`", { UInt64.max }),
            ("`Double`", { 0.1 }),
            ("`Float`", { Float(1.5) }),
            ("`Bool`", { true }),
            ("`Data`, `NSData`", { Data([1, 2, 3]) }),
            ("`NSMutableData`", { NSMutableData(data: Data([1, 2, 3])) }),
            ("`Date`", { Date(timeIntervalSinceReferenceDate: 100.25) }),
            ("`URL`", { try unwrap(URL(string: "https://example.org/a?b=c")) }),
            (
                "`URL` relative to another",
                { try unwrap(URL(string: "b", relativeTo: URL(string: "https://example.org/a/"))) }
            ),
            (
                "`NSURL` relative to another",
                { try unwrap(NSURL(string: "b", relativeTo: URL(string: "https://example.org/a/"))) }
            ),
            ("`UUID`", { UUID() }),
            ("`NSNull`", { NSNull() }),
            ("`Array`, `NSArray`", { NSArray(array: ["a", 1]) }),
            ("`NSMutableArray`", { NSMutableArray(array: ["a", 1]) }),
            ("`Set`, `NSSet`", { NSSet(array: ["a", 1]) }),
            ("`NSMutableSet`", { NSMutableSet(array: ["a", 1]) }),
            ("`Dictionary`, `NSDictionary`", { NSDictionary(dictionary: ["a": 1]) }),
            ("`NSMutableDictionary`", { NSMutableDictionary(dictionary: ["a": 1]) }),
            ("`NSOrderedSet`", { NSOrderedSet(array: ["b", "a"]) }),
            ("`NSMutableOrderedSet`", { NSMutableOrderedSet(array: ["b", "a"]) }),
            ("`NSCountedSet`", { NSCountedSet(array: ["a", "a", "b"]) }),
            ("`IndexSet`", { NSIndexSet(indexesIn: NSRange(location: 1, length: 3)) }),
            ("`IndexSet` of several ranges", { IndexSet([1, 2, 300]) as NSIndexSet }),
            ("`IndexPath`", { NSIndexPath(indexes: [4, 8, 300], length: 3) }),
            ("`Decimal`, `NSDecimalNumber`", { NSDecimalNumber(string: "-1234.5678") }),
            ("`NSValue` of a range", { NSValue(range: NSRange(location: 3, length: 4)) }),
            ("`NSValue` of a point", { NSValue(point: NSPoint(x: 1.5, y: -2)) }),
            ("`NSValue` of a rectangle", { NSValue(rect: NSRect(x: 1, y: 2, width: 3.5, height: 4)) }),
            ("`CGFloat`", { CGFloat(1.5) }),
            ("`NSAttributedString` of one run", { NSAttributedString(string: "a", attributes: [.init("k"): 1]) }),
            (
                "`NSAttributedString` of several runs",
                {
                    let text = NSMutableAttributedString(string: "plain bold")
                    text.addAttribute(.init("Weight"), value: 700, range: NSRange(location: 6, length: 4))
                    return text
                }
            ),
            ("`Locale`", { NSLocale(localeIdentifier: "de_CH") }),
            ("`TimeZone`", { try unwrap(NSTimeZone(name: "Europe/Zurich")) }),
            ("`Calendar`", { Calendar(identifier: .iso8601) as NSCalendar }),
            ("`DateComponents`", { DateComponents(year: 2001, month: 2) as NSDateComponents }),
            (
                "`DateInterval`",
                { DateInterval(start: Date(timeIntervalSince1970: 0), duration: 60) as NSDateInterval }
            ),
            ("`CharacterSet`", { NSCharacterSet(charactersIn: "abc") }),
            ("`Measurement`", { NSMeasurement(doubleValue: 45, unit: UnitLength.miles) }),
            ("`Notification`", { NSNotification(name: .init("name"), object: "object", userInfo: ["a": 1]) }),
            ("`Notification` of nobody", { NSNotification(name: .init("name"), object: nil, userInfo: nil) }),
            ("`NSError`", { NSError(domain: "Domain", code: 7, userInfo: ["a": 1]) }),
            ("`NSRegularExpression`", { try NSRegularExpression(pattern: "a+", options: .caseInsensitive) }),
            ("`URLQueryItem`", { NSURLQueryItem(name: "a", value: "b") }),
            ("`PersonNameComponents`", { PersonNameComponents(givenName: "A", familyName: "B") }),
            ("`AffineTransform`", { NSAffineTransform(transform: AffineTransform(translationByX: 1, byY: 2)) }),
            ("`ByteCountFormatter`", { ByteCountFormatter() }),
            ("`ISO8601DateFormatter`", { ISO8601DateFormatter() }),
        ]
    }

    /// The result of archiving and unarchiving an object with one implementation.
    static func outcome(_ object: Any, _ coders: any Coders.Type) throws -> String {
        guard let found = try coders.copy(object) else { return "nil" }
        return isEqual(found, object) ? "equal" : "another value"
    }

    private static func isEqual(_ found: Any, _ wanted: Any) -> Bool {
        // A mutable object must be mutable again: the rest may arrive as Swift's value.
        func isMutable(_ object: Any) -> Bool { "\(type(of: object))".contains("Mutable") }
        if isMutable(wanted), !isMutable(found) { return false }
        if let wanted = parts(ofURL: wanted) {
            guard let found = parts(ofURL: found) else { return false }
            return wanted == found
        }
        switch (wanted, found) {
        case (let wanted as ByteCountFormatter, let found as ByteCountFormatter):
            return wanted.string(fromByteCount: 1_234_567) == found.string(fromByteCount: 1_234_567)
        case (let wanted as ISO8601DateFormatter, let found as ISO8601DateFormatter):
            return wanted.string(from: Date(timeIntervalSince1970: 0))
                == found.string(from: Date(timeIntervalSince1970: 0))
        case (let wanted as NSNotification, let found as NSNotification):
            return wanted.name == found.name && "\(wanted.object ?? "nil")" == "\(found.object ?? "nil")"
        case (let wanted as CGFloat, let found as NSNumber): return Double(wanted) == found.doubleValue
        case (let wanted as NSRegularExpression, let found as NSRegularExpression):
            return wanted.pattern == found.pattern && wanted.options == found.options
        case (let wanted as NSError, let found as NSError):
            return wanted.domain == found.domain && wanted.code == found.code
        default:
            return NSArray(array: [wanted]) == NSArray(array: [found])
        }
    }

    /// The text of a URL and of its base; `nil` for another value. Where there is no Objective-C, a conversion of an `NSURL`
    /// to `URL` loses the base.
    private static func parts(ofURL object: Any) -> [String]? {
        if type(of: object) is NSURL.Type, let url = object as? NSURL {
            return [url.relativeString, url.baseURL?.absoluteString ?? ""]
        }
        guard let url = object as? URL else { return nil }
        return [url.relativeString, url.baseURL?.absoluteString ?? ""]
    }

    private static func unwrap<T>(_ value: T?) throws -> T {
        guard let value else { throw CocoaError(.featureUnsupported) }
        return value
    }
}
