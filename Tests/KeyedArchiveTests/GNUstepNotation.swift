import Foundation

/// An object of a class that GNUstep's program has too, with a value of every scalar type.
final class GNUstepSample: NSObject, NSCoding {
    var name: String?
    var flag = true
    var narrow = Int32.min
    var wide = Int64.max
    var ratio: Float = 0.1
    var share = 0.1
    var bytes: [UInt8] = [0x00, 0x80, 0xFF]
    var child: GNUstepSample?
    weak var parent: GNUstepSample?
    var content: Any?
    var unkeyed: Any? = "unkeyed"

    init(_ name: String) { self.name = name }

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String
        flag = coder.decodeBool(forKey: "flag")
        narrow = coder.decodeInt32(forKey: "narrow")
        wide = coder.decodeInt64(forKey: "$wide")
        ratio = coder.decodeFloat(forKey: "ratio")
        share = coder.decodeDouble(forKey: "share")
        #if canImport(Darwin)
            var count = 0
            let start = coder.decodeBytes(forKey: "bytes", returnedLength: &count)
            bytes = Array(UnsafeBufferPointer(start: start, count: count))
        #else
            bytes = coder.withDecodedUnsafeBufferPointer(forKey: "bytes") { $0.map(Array.init) ?? [] }
        #endif
        child = coder.decodeObject(forKey: "child") as? GNUstepSample
        content = coder.decodeObject(forKey: "content")
        unkeyed = coder.decodeObject()
        super.init()
        // An object that is still being decoded cannot be decoded by its parts, so it sets itself as their parent.
        child?.parent = self
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(flag, forKey: "flag")
        coder.encode(narrow, forKey: "narrow")
        coder.encode(wide, forKey: "$wide")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(share, forKey: "share")
        bytes.withUnsafeBufferPointer {
            coder.encodeBytes($0.baseAddress, length: $0.count, forKey: "bytes")
        }
        coder.encodeConditionalObject(parent, forKey: "parent")
        coder.encode(child, forKey: "child")
        coder.encode(content, forKey: "content")
        coder.encode(unkeyed)
    }
}

/// The notation of objects that Tests/GNUstep/archives.m prints.
enum GNUstepNotation {
    static func describe(_ object: Any?) -> String {
        guard let object else { return "nil" }
        switch object {
        case is NSNull: return "null"
        case let sample as GNUstepSample: return describe(sample)
        case let text as NSMutableString: return "mutable " + quoted(text as String)
        case let text as String: return quoted(text)
        case let number as NSDecimalNumber: return "decimal \(number)"
        case let number as NSNumber: return describe(number)
        case let data as NSMutableData: return "mutable " + hexadecimal(data as Data)
        case let data as Data: return hexadecimal(data)
        case let date as Date: return "date " + format(date.timeIntervalSinceReferenceDate)
        case let url as URL:
            return "url \(url.relativeString) on \(url.baseURL?.absoluteString ?? "nothing")"
        case let uuid as UUID: return "uuid \(uuid.uuidString)"
        default: return collection(object) ?? value(object) ?? "a \(type(of: object))"
        }
    }

    private static func describe(_ sample: GNUstepSample) -> String {
        let parts = [
            describe(sample.name), "\(sample.flag)", "\(sample.narrow)", "\(sample.wide)",
            String(format: "%.9g", Double(sample.ratio)), format(sample.share), hexadecimal(Data(sample.bytes)),
            "child " + describe(sample.child), "parent " + describe(sample.parent?.name),
            describe(sample.content), describe(sample.unkeyed),
        ]
        return "Sample{\(parts.joined(separator: "; "))}"
    }

    private static func collection(_ object: Any) -> String? {
        func list(_ members: [Any], isOrdered: Bool = false) -> String {
            let texts = members.map { describe($0) }
            return (isOrdered ? texts : texts.sorted()).joined(separator: ", ")
        }
        func entries(_ dictionary: NSDictionary) -> String {
            dictionary.map { "\(describe($0.key)): \(describe($0.value))" }.sorted().joined(separator: ", ")
        }
        switch object {
        case let array as NSMutableArray: return "mutable [\(list(array.map(\.self), isOrdered: true))]"
        // Before NSArray, which gives its mutable members away as values on Linux.
        case let array as [Any]: return "[\(list(array, isOrdered: true))]"
        case let array as NSArray: return "[\(list(array.map(\.self), isOrdered: true))]"
        case let set as NSMutableOrderedSet: return "mutable ordered [\(list(set.array, isOrdered: true))]"
        case let set as NSOrderedSet: return "ordered [\(list(set.array, isOrdered: true))]"
        case let set as NSCountedSet:
            let texts = set.allObjects.map { "\(describe($0)) x \(set.count(for: $0))" }
            return "counted {\(texts.sorted().joined(separator: ", "))}"
        case let set as NSMutableSet: return "mutable {\(list(set.allObjects))}"
        case let set as NSSet: return "{\(list(set.allObjects))}"
        case let dictionary as NSMutableDictionary: return "mutable {\(entries(dictionary))}"
        case let dictionary as NSDictionary: return "{\(entries(dictionary))}"
        default: return nil
        }
    }

    private static func value(_ object: Any) -> String? {
        switch object {
        case let set as NSMutableIndexSet: return "mutable indexes \(numbers(Array(set as IndexSet)))"
        case let set as NSIndexSet: return "indexes \(numbers(Array(set as IndexSet)))"
        case let set as IndexSet: return "indexes \(numbers(Array(set)))"
        case let path as IndexPath: return "path \(numbers(Array(path)))"
        case let path as NSIndexPath: return "path \(numbers((0..<path.length).map { path.index(atPosition: $0) }))"
        case let text as NSAttributedString: return attributed(text)
        case let locale as NSLocale: return "locale \((locale as Locale).identifier)"
        case let locale as Locale: return "locale \(locale.identifier)"
        case let zone as NSTimeZone: return "zone \(zone.name)"
        case let zone as TimeZone: return "zone \(zone.identifier)"
        case let error as NSError: return "error \(error.domain) \(error.code)"
        case let pattern as NSRegularExpression:
            return "pattern \(quoted(pattern.pattern)) \(pattern.options.rawValue)"
        case let range as NSRange: return "range \(range.location) \(range.length)"
        case let value as NSValue: return geometry(value)
        default: return nil
        }
    }

    private static func geometry(_ value: NSValue) -> String? {
        switch String(cString: value.objCType) {
        case String(cString: NSValue(range: NSRange()).objCType):
            return "range \(value.rangeValue.location) \(value.rangeValue.length)"
        case String(cString: NSValue(point: .zero).objCType):
            return "point \(format(value.pointValue.x)) \(format(value.pointValue.y))"
        case String(cString: NSValue(size: .zero).objCType):
            return "size \(format(value.sizeValue.width)) \(format(value.sizeValue.height))"
        case String(cString: NSValue(rect: .zero).objCType):
            let rect = value.rectValue
            return "rect " + [rect.minX, rect.minY, rect.width, rect.height].map(format).joined(separator: " ")
        default: return nil
        }
    }

    private static func attributed(_ text: NSAttributedString) -> String {
        var result = "attributed"
        var at = 0
        while at < text.length {
            var run = NSRange()
            let attributes = text.attributes(at: at, effectiveRange: &run)
            let named = Dictionary(uniqueKeysWithValues: attributes.map { ($0.key.rawValue, $0.value) })
            result += " \(quoted((text.string as NSString).substring(with: run))) \(describe(named))"
            at = run.location + max(1, run.length)
        }
        return result
    }

    private static func describe(_ number: NSNumber) -> String {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): format(number.doubleValue)
        case UInt8(ascii: "Q"): "\(number.uint64Value)"
        default: "\(number.int64Value)"
        }
    }

    private static func numbers(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: " ") }

    private static func format(_ number: some BinaryFloatingPoint) -> String {
        String(format: "%.17g", Double(number))
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.utf8.map { byte in
            (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
                ? String(UnicodeScalar(byte)) : String(format: "\\%02x", Int(byte))
        }
        return "\"\(escaped.joined())\""
    }

    private static func hexadecimal(_ data: Data) -> String {
        "<\(data.map { String(format: "%02x", Int($0)) }.joined())>"
    }
}
