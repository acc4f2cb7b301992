import Foundation

// NSValue of one of five types has
//
//     NS.special                                     1, 2, 3, 4 or 12, and of these
//     NS.pointval, NS.sizeval, NS.rectval            1, 2, 3: text, see GeometryText
//     NS.rangeval.location, NS.rangeval.length       4: numbers, as objects
//     NS.edgeval.top, .left, .bottom, .right         12: reals, inline
//
// and of any other
//
//     $0                                             its Objective-C type, a string: `q`, `[3i]`, …
//     $1                                             a value of that type, see KeyedArchiver+RawValues

extension NSValue: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if let number = self as? NSNumber { return number.archiveNumber(into: archiver) }
        let type = String(cString: objCType)
        if let special = SpecialValue(of: self, type) {
            return archiver.form(NSValue.self, of: self) { archiver.encode(special) }
        }
        guard let size = Self.size(ofType: type) else {
            archiver.record(ArchiveError(.unsupportedType, "NSValue of the Objective-C type \(type)"))
            return 0
        }
        return archiver.form(NSValue.self, of: self) {
            archiver.encode(type)
            bytes(count: size).withUnsafeBytes { bytes in
                if let start = bytes.baseAddress { archiver.encodeRawValue(type, at: start) }
            }
        }
    }

    /// How many bytes a value of a number type has, or of an array of numbers; `nil` for other types.
    fileprivate static func size(ofType type: String) -> Int? {
        guard type.utf8.count < 32 else { return nil }
        if let number = RawValueType(type) { return number.isNumber ? number.size : nil }
        // Real values are never so large, and the size would come from the archive.
        guard let (count, element) = RawValueType.array(type), (1...1 << 20).contains(count) else { return nil }
        return count * element.size
    }

    /// The point, size, rectangle or range that the value is; `nil` for all else.
    var specialContent: Any? {
        switch SpecialValue(of: self, String(cString: objCType)) {
        case .point(let point): point
        case .size(let size): size
        case .rect(let rect): rect
        case .range(let range): range
        case .edges, nil: nil
        }
    }

    /// The range that the value is, or `nil`.
    var archivedRange: NSRange? {
        if case .range(let range)? = SpecialValue(of: self, String(cString: objCType)) { return range }
        return nil
    }
}

extension CGPoint: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.archive(.point(self)) }
}

extension CGSize: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.archive(.size(self)) }
}

extension CGRect: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.archive(.rect(self)) }
}

extension NSRange: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.archive(.range(self)) }
}

#if os(macOS) || !canImport(Darwin)
    extension NSEdgeInsets: ArchiveIntrinsic {
        func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
            archiver.archive(.edges([top, left, bottom, right].map { Double($0) }))
        }
    }
#endif

/// A value of a type that archives know.
package enum SpecialValue {
    case point(CGPoint)
    case size(CGSize)
    case rect(CGRect)
    case range(NSRange)
    /// Top, left, bottom, right.
    case edges([Double])

    private static let pointType = "{CGPoint=dd}"
    private static let sizeType = "{CGSize=dd}"
    private static let rectType = "{CGRect={CGPoint=dd}{CGSize=dd}}"
    private static let rangeType = "{_NSRange=QQ}"
    private static let edgesType = "{NSEdgeInsets=dddd}"

    /// Reads the content of a value with this Objective-C type; `nil` for types other than those above.
    package init?(of value: NSValue, _ type: String) {
        func held<T: BitwiseCopyable>(_ count: Int, _ type: T.Type) -> [T] {
            value.bytes(count: count * MemoryLayout<T>.size).withUnsafeBytes { bytes in
                (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.size, as: type) }
            }
        }
        switch type {
        case Self.pointType: self = .point(CGPoint(held(2, Double.self)))
        case Self.sizeType: self = .size(CGSize(held(2, Double.self)))
        case Self.rectType: self = .rect(CGRect(held(4, Double.self)))
        case Self.rangeType:
            let range = held(2, Int.self)
            self = .range(NSRange(location: range[0], length: range[1]))
        case Self.edgesType: self = .edges(held(4, Double.self))
        default: return nil
        }
    }

    package var value: NSValue {
        func value(_ numbers: [Double], _ type: String) -> NSValue {
            NSValue.make(numbers.flatMap { withUnsafeBytes(of: $0) { Array($0) } }, objCType: type)
        }
        switch self {
        case .point(let point): return value([point.x, point.y].map { Double($0) }, Self.pointType)
        case .size(let size): return value([size.width, size.height].map { Double($0) }, Self.sizeType)
        case .rect(let rect):
            let numbers = [rect.origin.x, rect.origin.y, rect.size.width, rect.size.height]
            return value(numbers.map { Double($0) }, Self.rectType)
        case .range(let range):
            let bytes = [range.location, range.length].flatMap { withUnsafeBytes(of: $0) { Array($0) } }
            return NSValue.make(bytes, objCType: Self.rangeType)
        case .edges(let edges): return value(edges, Self.edgesType)
        }
    }
}

// The numbers of a point, size or rectangle, as many as it has.

extension CGPoint {
    fileprivate init(_ numbers: [Double]) { self.init(x: CGFloat(numbers[0]), y: CGFloat(numbers[1])) }
}

extension CGSize {
    fileprivate init(_ numbers: [Double]) { self.init(width: CGFloat(numbers[0]), height: CGFloat(numbers[1])) }
}

extension CGRect {
    fileprivate init(_ numbers: [Double]) {
        self.init(origin: CGPoint(numbers), size: CGSize(Array(numbers[2...])))
    }
}

extension KeyedArchiver {
    fileprivate func archive(_ special: SpecialValue) -> ArchiveWriter.UID {
        form(NSValue.self) { encode(special) }
    }

    fileprivate func encode(_ special: SpecialValue) {
        switch special {
        case .point(let point):
            encode(1, forKey: "NS.special")
            encode(GeometryText.text(point.x, point.y), forKey: "NS.pointval")
        case .size(let size):
            encode(2, forKey: "NS.special")
            encode(GeometryText.text(size.width, size.height), forKey: "NS.sizeval")
        case .rect(let rect):
            let origin = GeometryText.text(rect.origin.x, rect.origin.y)
            let size = GeometryText.text(rect.size.width, rect.size.height)
            encode(3, forKey: "NS.special")
            encode("{\(origin), \(size)}", forKey: "NS.rectval")
        case .range(let range):
            encode(4, forKey: "NS.special")
            encode(range.location as Any?, forKey: "NS.rangeval.location")
            encode(range.length as Any?, forKey: "NS.rangeval.length")
        case .edges(let edges):
            encode(12, forKey: "NS.special")
            for (name, edge) in zip(FoundationForm.edgeNames, edges) { encode(edge, forKey: "NS.edgeval.\(name)") }
        }
    }
}

extension FoundationForm {
    static let values =
        [
            FoundationForm("NSValue", value), FoundationForm("NSConcreteValue", value),
        ] + transforms

    fileprivate static let edgeNames = ["top", "left", "bottom", "right"]

    // Returns an NSValue, since the archived object was one: on Linux, an NSValue and its structure do not cast to each
    // other.
    private static func value(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        guard let special = try fields.integer("NS.special") else { return try typedValue(&fields) }
        switch special {
        case 1:
            return SpecialValue.point(CGPoint(try geometry("NS.pointval", count: 2, in: &fields))).value
        case 2:
            return SpecialValue.size(CGSize(try geometry("NS.sizeval", count: 2, in: &fields))).value
        case 3:
            return SpecialValue.rect(CGRect(try geometry("NS.rectval", count: 4, in: &fields))).value
        case 4:
            let location = try fields.requiredInteger("NS.rangeval.location")
            let length = try fields.requiredInteger("NS.rangeval.length")
            return SpecialValue.range(NSRange(location: location, length: length)).value
        case 12:
            var edges: [Double] = []
            for name in edgeNames { edges.append(try fields.requiredDouble("NS.edgeval.\(name)")) }
            return SpecialValue.edges(edges).value
        default: throw fields.unknown("of a type that there is not here")
        }
    }

    private static func geometry(
        _ key: String,
        count: Int,
        in fields: inout FormFields
    ) throws(ArchiveError) -> [Double] {
        GeometryText.numbers(in: try fields.counted(fields.required(String.self, key)), count: count)
    }

    private static func typedValue(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        guard let type = try fields.next() as? String else { throw fields.malformed() }
        guard let size = NSValue.size(ofType: type) else {
            throw fields.unknown("of a type that there is not here")
        }
        try fields.unarchiver.budget.spend(size)
        return NSValue.make(try fields.nextBytes(type, count: size), objCType: type)
    }
}
