import KeyedArchive

/// The type of a value as Objective-C's `@encode` writes it, with the additions of typed streams.
///
///     c C s S i I l L q Q   integers of 8, 16, 32, 32 and 64 bits, signed and unsigned
///     B f d                 Boolean, float, double
///     @ # : * %             object, class, selector, C string, atom
///     +                     bytes after their length
///     !                     a value that is left out
///     [12i]                 an array
///     {_NSPoint=ff}         a structure; its name may be missing, or `?`
enum ValueType: Hashable, Sendable {
    case integer(IntegerType)
    case float
    case double
    case object
    case classObject
    case selector
    case cString
    case atom
    case bytes
    case omitted
    // Only these two take memory of their own: every value that is coded makes one of the others.
    indirect case array(count: Int, of: ValueType)
    indirect case structure(name: String?, fields: [ValueType])

    /// How deep arrays and structures may nest.
    private static let depthLimit = 32
    /// The longest text of types that is read, in bytes.
    private static let lengthLimit = 1 << 14

    /// The types of a group, one after the other.
    ///
    /// - Throws: `.unsupportedType` for types that typed streams do not hold, `.corrupted` for text that is not a type.
    static func list(_ text: [UInt8]) throws(ArchiveError) -> [ValueType] {
        var rest = try checked(text)
        var types: [ValueType] = []
        while !rest.isEmpty { types.append(try next(&rest, depth: 0)) }
        return types
    }

    /// The one type that a text is.
    ///
    /// - Throws: as `list`, and `.unsupportedType` for several types.
    static func one(_ text: [UInt8]) throws(ArchiveError) -> ValueType {
        var rest = try checked(text)
        let type = try next(&rest, depth: 0)
        guard rest.isEmpty else {
            throw ArchiveError(.unsupportedType, "more than one type where one is expected")
        }
        return type
    }

    private static func checked(_ text: [UInt8]) throws(ArchiveError) -> ArraySlice<UInt8> {
        guard !text.isEmpty, text.count <= lengthLimit else {
            throw ArchiveError(.corrupted, "a group of values without a type")
        }
        return text[...]
    }

    /// The type of one letter; `nil` for all else.
    init?(letter: UInt8) {
        if let integer = IntegerType(rawValue: letter) {
            self = .integer(integer)
            return
        }
        switch letter {
        case UInt8(ascii: "f"): self = .float
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "@"): self = .object
        case UInt8(ascii: "#"): self = .classObject
        case UInt8(ascii: ":"): self = .selector
        case UInt8(ascii: "*"): self = .cString
        case UInt8(ascii: "%"): self = .atom
        case UInt8(ascii: "+"): self = .bytes
        case UInt8(ascii: "!"): self = .omitted
        default: return nil
        }
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError) -> ValueType {
        guard depth < depthLimit else {
            throw ArchiveError(.limitExceeded, "types nest more than \(depthLimit) deep")
        }
        guard let first = rest.popFirst() else { throw ArchiveError(.corrupted, "a type that ends too early") }
        if let type = ValueType(letter: first) { return type }
        switch first {
        case UInt8(ascii: "["): return try array(&rest, depth: depth)
        case UInt8(ascii: "{"): return try structure(&rest, depth: depth)
        default:
            throw ArchiveError(
                .unsupportedType,
                "a value of the type \(EscapedText(String(decoding: [first], as: UTF8.self))): those are not read or written"
            )
        }
    }

    private static func array(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError) -> ValueType {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard let count = Int(String(decoding: digits, as: UTF8.self)), count <= Int(UInt32.max) else {
            throw ArchiveError(.corrupted, "an array type without a count")
        }
        rest = rest.dropFirst(digits.count)
        let element = try next(&rest, depth: depth + 1)
        guard rest.popFirst() == UInt8(ascii: "]") else {
            throw ArchiveError(.corrupted, "an array type without an end")
        }
        return .array(count: count, of: element)
    }

    private static func structure(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError) -> ValueType {
        var name: String?
        let stops = Array("={}[]".utf8)
        let head = rest.prefix { !stops.contains($0) }
        if rest.dropFirst(head.count).first == UInt8(ascii: "=") {
            guard let text = String(validating: head, as: UTF8.self) else {
                throw ArchiveError(.corrupted, "a structure's name that is not text")
            }
            name = text
            rest = rest.dropFirst(head.count + 1)
        }
        var fields: [ValueType] = []
        while rest.first != UInt8(ascii: "}") { fields.append(try next(&rest, depth: depth + 1)) }
        rest = rest.dropFirst()
        return .structure(name: name, fields: fields)
    }

    /// Whether an array of this type is written as plain bytes.
    var isByte: Bool { self == .integer(.int8) || self == .integer(.uint8) }
}

extension ValueType: CustomStringConvertible {
    /// The type in Objective-C's notation, with the names of structures left out.
    var description: String {
        switch self {
        case .integer(let type): String(decoding: [type.rawValue], as: UTF8.self)
        case .float: "f"
        case .double: "d"
        case .object: "@"
        case .classObject: "#"
        case .selector: ":"
        case .cString: "*"
        case .atom: "%"
        case .bytes: "+"
        case .omitted: "!"
        case .array(let count, let element): "[\(count)\(element)]"
        case .structure(_, let fields): "{" + fields.map(\.description).joined() + "}"
        }
    }
}
