/// The first byte of everything in a typed stream that is not a plain byte.
///
///     80 … 91   tags; those without a name here are reserved
///     92 … 7F   an integer from -110 to 127, as a signed byte; a reference to entry k of a table is k - 110
enum StreamTag {
    /// An integer of 2 bytes follows.
    static let int16: UInt8 = 0x81
    /// An integer of 4 bytes follows.
    static let int32: UInt8 = 0x82
    /// A float of 4 bytes or a double of 8 follows.
    static let real: UInt8 = 0x83
    /// An entry that was not in its table before follows.
    static let new: UInt8 = 0x84
    static let null: UInt8 = 0x85
    /// An object's groups are at their end.
    static let end: UInt8 = 0x86
    /// An integer of 8 bytes follows.
    static let int64: UInt8 = 0x87

    static let all: ClosedRange<UInt8> = 0x80...0x91
    /// The integer that stands for a table's first entry.
    static let firstReference = -110

    static let streamerVersion: UInt8 = 4
    /// The system version that every archive of Mac OS X and macOS names.
    static let systemVersion = 1_000
    static let littleEndianSignature = Array("streamtyped".utf8)
    static let bigEndianSignature = Array("typedstream".utf8)
}
