/// The first bytes of a segment's file.
///
///      0  4  magic              54 43 50 53, "TCPS"
///      4  4  checksum           CRC-32 of bytes 8 to 36 + D
///      8  2  version            UInt16, 1
///     10  2  –                  zero
///     12  4  number            UInt32, the segment's
///     16  8  begun at           Float64, seconds since 2001-01-01 00:00:00 UTC
///     24  4  dictionary         UInt32, D, its length; 0: none
///     28  4  identifier         UInt32, its Adler-32, which the zlib streams made with it name
///     32  4  –                  zero
///     36  D  dictionary         a preset dictionary for zlib
///
/// Records need nothing of the header but the dictionary, so a damaged header loses no entry as long as another copy of
/// the dictionary is found.
struct SegmentHeader {
    static let byteCount = 36
    static let magic: UInt32 = 0x5443_5053
    static let version: UInt16 = 1
    /// The most bytes with a dictionary.
    static let largestByteCount = byteCount + PresetDictionary.largestByteCount

    let dictionary: [UInt8]

    static func bytes(number: UInt32, begunAt: Double, dictionary: PresetDictionary?) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
        add(version)
        add(UInt16(0))
        add(number)
        add(begunAt.bitPattern)
        add(UInt32(dictionary?.bytes.count ?? 0))
        add(dictionary?.identifier ?? 0)
        add(UInt32(0))
        bytes += dictionary?.bytes ?? []
        let checksum = bytes.withUnsafeBytes { Zlib.crc32($0) }
        let rest = bytes
        bytes = []
        add(magic)
        add(checksum)
        return bytes + rest
    }

    /// Parses the first bytes of a segment; `nil` if they are damaged, or another segment's.
    init?(_ bytes: [UInt8], number: UInt32) {
        func word(_ offset: Int) -> UInt32 { bytes[offset...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
        guard bytes.count >= Self.byteCount, word(0) == Self.magic, word(8) >> 16 == UInt32(Self.version),
            word(12) == number
        else { return nil }
        let end = Self.byteCount + Int(word(24))
        guard Int(word(24)) <= PresetDictionary.largestByteCount, bytes.count >= end else { return nil }
        let isSound = bytes.withUnsafeBytes {
            Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[8..<end])) == word(4)
        }
        guard isSound else { return nil }
        dictionary = Array(bytes[Self.byteCount..<end])
    }

    var byteCount: Int { Self.byteCount + dictionary.count }
}
