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
