/// A C type as Objective-C's `@encode` writes it, as far as values of it can be archived.
///
/// Where a pointer to a value is followed, the caller has promised by the type's name that a value of that type
/// lies there: that is the contract of `NSCoder`'s methods that take such names.
enum RawValueType: UInt8 {
    case int8 = 0x63  // c
    case uint8 = 0x43  // C
    case int16 = 0x73  // s
    case uint16 = 0x53  // S
    case int32 = 0x69  // i
    case uint32 = 0x49  // I
    // Of 32 bits, as Apple documents: a `long` of 64 bits is encoded as `q`.
    case long = 0x6C  // l
    case unsignedLong = 0x4C  // L
    case int64 = 0x71  // q
    case uint64 = 0x51  // Q
    case float = 0x66  // f
    case double = 0x64  // d
    case bool = 0x42  // B
    case object = 0x40  // @
    case cString = 0x2A  // *
    case selector = 0x3A  // :

    /// The type that `name` is, or `nil` if it is another one or a longer name.
    init?(_ name: UnsafePointer<CChar>) {
        guard name[0] != 0, name[1] == 0 else { return nil }
        self.init(rawValue: UInt8(bitPattern: name[0]))
    }

    /// The size of a value in bytes.
    var size: Int {
        switch self {
        case .int8, .uint8, .bool: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .long, .unsignedLong, .float: 4
        case .int64, .uint64, .double: 8
        case .object, .cString, .selector: MemoryLayout<UnsafeRawPointer?>.size
        }
    }
}

extension RawValueType {
    /// Whether values of the type stand inline, and may be members of an array.
    var isNumber: Bool {
        switch self {
        case .object, .cString, .selector: false
        default: true
        }
    }

    /// Count and type of `[3i]`, or `nil` if `name` is something else.
    static func array(_ name: UnsafePointer<CChar>) -> (count: Int, element: RawValueType)? {
        var text = Substring(String(cString: name))
        guard text.popFirst() == "[", text.popLast() == "]", let last = text.popLast()?.asciiValue,
            let element = RawValueType(rawValue: last), element.isNumber, let count = Int(text), count >= 0
        else { return nil }
        return (count, element)
    }

    /// The class as which an array of numbers is archived.
    static let oldStyleArray = ArchivedClass(name: "_NSKeyedCoderOldStyleArray")

    static let unsupported = ArchiveError(
        .unsupportedType,
        "only numbers, Booleans, objects, C strings, selectors and arrays of numbers can be archived by C type: encode "
            + "the members of a structure one by one, or use the methods with a key"
    )
}
