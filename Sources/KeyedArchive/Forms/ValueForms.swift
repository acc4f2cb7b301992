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
//     $1                                             a scalar inline, or an old-style array
//
// _NSKeyedCoderOldStyleArray:
//
//     NS.count, NS.size                              how many, of how many bytes each
//     NS.type                                        the character of their type
//     $0, $1, …                                      scalars, inline

extension NSValue: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if let number = self as? NSNumber { return number.archiveNumber(into: archiver) }
        let type = String(cString: objCType)
        if let special = SpecialValue(of: self, type) {
            return archiver.form(NSValue.self, of: self) { archiver.encode(special) }
        }
        guard let run = ScalarRun(objCType: type) else {
            archiver.record(ArchiveError(.unsupportedType, "NSValue of the Objective-C type \(type)"))
            return 0
        }
        return archiver.form(NSValue.self, of: self) {
            archiver.encode(type)
            archiver.encodeUnkeyed(run, bytes(count: run.size))
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
enum SpecialValue {
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

    /// What a value with this Objective-C type holds; `nil` for other types.
    init?(of value: NSValue, _ type: String) {
        func numbers(_ count: Int) -> [Double] {
            let bytes = value.bytes(count: 8 * count)
            return (0..<count).map { ObjCScalar.double.number(in: bytes, at: $0).doubleValue }
        }
        switch type {
        case Self.pointType: self = .point(CGPoint(numbers(2)))
        case Self.sizeType: self = .size(CGSize(numbers(2)))
        case Self.rectType: self = .rect(CGRect(numbers(4)))
        case Self.rangeType:
            let bytes = value.bytes(count: 16)
            let location = ObjCScalar.longLong.number(in: bytes, at: 0).intValue
            self = .range(
                NSRange(location: location, length: ObjCScalar.longLong.number(in: bytes, at: 1).intValue)
            )
        case Self.edgesType: self = .edges(numbers(4))
        default: return nil
        }
    }

    var value: NSValue {
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
            FoundationForm("_NSKeyedCoderOldStyleArray", oldStyleArray),
        ] + transforms

    fileprivate static let edgeNames = ["top", "left", "bottom", "right"]

    // An NSValue, for that is what the class was when it was archived: neither casts to the other on Linux.
    private static func value(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        guard let special = try fields.integer("NS.special") else { return try typedValue(&fields) }
        switch special {
        case 1:
            return SpecialValue.point(CGPoint(try geometry("NS.pointval", 2, &fields))).value
        case 2:
            return SpecialValue.size(CGSize(try geometry("NS.sizeval", 2, &fields))).value
        case 3:
            return SpecialValue.rect(CGRect(try geometry("NS.rectval", 4, &fields))).value
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
        _ count: Int,
        _ fields: inout FormFields
    ) throws(ArchiveError) -> [Double] {
        GeometryText.numbers(in: try fields.required(String.self, key), count: count)
    }

    private static func typedValue(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        guard let type = try fields.next() as? String, let value = try fields.next() else {
            throw fields.malformed()
        }
        guard let run = ScalarRun(objCType: type) else { throw fields.unknown("of a type that there is not here") }
        // The count comes from the archive: before anything is taken for it, the members have to be there.
        let members = run.isArray ? value as? [Any] ?? [] : [value]
        guard members.count == run.count else {
            throw fields.malformed("with another number of scalars than it says")
        }
        var bytes: [UInt8] = []
        for member in members {
            guard let number = member as? NSNumber ?? (member as? Double).map({ NSNumber(value: $0) }),
                run.scalar.append(number, to: &bytes)
            else { throw fields.malformed("with a scalar of another type than it says") }
        }
        return NSValue.make(bytes, objCType: type)
    }

    private static func oldStyleArray(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let count = try fields.requiredInteger("NS.count")
        guard (0...fields.scope.fields.count).contains(count) else {
            throw fields.malformed("with another number of members than it says")
        }
        var members: [Any] = []
        for _ in 0..<count {
            guard let member = try fields.next() else { throw fields.malformed() }
            members.append(member)
        }
        return members
    }
}
