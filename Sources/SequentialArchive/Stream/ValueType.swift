import KeyedArchive

/// The type of a value as Objective-C's `@encode` writes it, with the additions of typed streams.
///
///     c C s S i I l L q Q   integers of 8, 16, 32, 32 and 64 bits, signed and unsigned
///     B f d                 Boolean, float, double
///     @ # : * %             object, class, selector, C string, atom
///     +                     bytes behind their length
///     !                     a value that is left out
///     [12i]                 an array
///     {_NSPoint=ff}         a structure; its name may be missing, or `?`
indirect enum ValueType: Hashable, Sendable {
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
    case array(count: Int, of: ValueType)
    case structure(name: String?, fields: [ValueType])

    /// How deep arrays and structures may nest.
    private static let depthLimit = 32
    /// The longest text of types that is read, in bytes.
    private static let lengthLimit = 1 << 14

    /// The types of a group, one after the other.
    ///
    /// - Throws: `.unsupportedType` for types that typed streams do not hold, `.corrupted` for text that is no type.
    static func list(_ text: [UInt8]) throws(ArchiveError) -> [ValueType] {
        guard !text.isEmpty, text.count <= lengthLimit else {
            throw ArchiveError(.corrupted, "a group of values without a type")
        }
        var rest = text[...]
        var types: [ValueType] = []
        while !rest.isEmpty { types.append(try next(&rest, depth: 0)) }
        return types
    }

    /// The one type that a text is.
    ///
    /// - Throws: as `list`, and `.unsupportedType` for several types.
    static func one(_ text: [UInt8]) throws(ArchiveError) -> ValueType {
        let types = try list(text)
        guard types.count == 1 else {
            throw ArchiveError(.unsupportedType, "more than one type where one is expected")
        }
        return types[0]
    }

    private static func next(_ rest: inout ArraySlice<UInt8>, depth: Int) throws(ArchiveError) -> ValueType {
        guard depth < depthLimit else {
            throw ArchiveError(.limitExceeded, "types nest more than \(depthLimit) deep")
        }
        guard let first = rest.popFirst() else { throw ArchiveError(.corrupted, "a type that ends too early") }
        if let integer = IntegerType(rawValue: first) { return .integer(integer) }
        switch first {
        case UInt8(ascii: "f"): return .float
        case UInt8(ascii: "d"): return .double
        case UInt8(ascii: "@"): return .object
        case UInt8(ascii: "#"): return .classObject
        case UInt8(ascii: ":"): return .selector
        case UInt8(ascii: "*"): return .cString
        case UInt8(ascii: "%"): return .atom
        case UInt8(ascii: "+"): return .bytes
        case UInt8(ascii: "!"): return .omitted
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
                throw ArchiveError(.corrupted, "a structure's name that is no text")
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

/// An integer's type.
enum IntegerType: UInt8, Sendable {
    case int8 = 0x63  // c
    case uint8 = 0x43  // C
    case int16 = 0x73  // s
    case uint16 = 0x53  // S
    case int32 = 0x69  // i
    case uint32 = 0x49  // I
    // Of 32 bits: a `long` of 64 bits is encoded as `q`.
    case long = 0x6C  // l
    case unsignedLong = 0x4C  // L
    case int64 = 0x71  // q
    case uint64 = 0x51  // Q
    case bool = 0x42  // B

    /// The size of a value in memory, in bytes.
    var size: Int {
        switch self {
        case .int8, .uint8, .bool: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .long, .unsignedLong: 4
        case .int64, .uint64: 8
        }
    }

    /// Whether a value is one byte without a tag.
    var isRaw: Bool { size == 1 }

    /// The number that a stream means by a stored integer, or `nil` if the type does not hold it.
    ///
    /// Streams store unsigned integers as signed ones of the same width; both forms are understood.
    func value(stored: Int64) -> StoredInteger? {
        switch self {
        case .int8: Int8(exactly: stored).map { .signed(Int64($0)) }
        case .uint8, .bool: UInt8(exactly: stored).map { .signed(Int64($0)) }
        case .int16: Int16(exactly: stored).map { .signed(Int64($0)) }
        case .uint16:
            (UInt16(exactly: stored) ?? Int16(exactly: stored).map { UInt16(bitPattern: $0) }).map {
                .signed(Int64($0))
            }
        case .int32, .long: Int32(exactly: stored).map { .signed(Int64($0)) }
        case .uint32, .unsignedLong:
            (UInt32(exactly: stored) ?? Int32(exactly: stored).map { UInt32(bitPattern: $0) }).map {
                .signed(Int64($0))
            }
        case .int64: .signed(stored)
        case .uint64: stored < 0 ? .unsigned(UInt64(bitPattern: stored)) : .signed(stored)
        }
    }

    /// Whether the type holds a number.
    func holds(_ value: StoredInteger) -> Bool {
        switch (self, value) {
        case (.uint64, .unsigned): true
        case (_, .unsigned(let value)): value <= UInt64(Int64.max) && holds(.signed(Int64(value)))
        case (.int8, .signed(let value)): Int8(exactly: value) != nil
        case (.uint8, .signed(let value)), (.bool, .signed(let value)): UInt8(exactly: value) != nil
        case (.int16, .signed(let value)): Int16(exactly: value) != nil
        case (.uint16, .signed(let value)): UInt16(exactly: value) != nil
        case (.int32, .signed(let value)), (.long, .signed(let value)): Int32(exactly: value) != nil
        case (.uint32, .signed(let value)), (.unsignedLong, .signed(let value)): UInt32(exactly: value) != nil
        case (.int64, .signed): true
        case (.uint64, .signed(let value)): value >= 0
        }
    }
}

/// An integer of up to 64 bits; unsigned only above those that are signed.
enum StoredInteger: Hashable, Sendable {
    case signed(Int64)
    case unsigned(UInt64)

    init(_ value: UInt64) { self = Int64(exactly: value).map { .signed($0) } ?? .unsigned(value) }
}
