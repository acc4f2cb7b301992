/// The first bytes of a segment's file.
///
///      0  4  magic              54 43 50 53, "TCPS"
///      4  4  checksum           CRC-32 of bytes 8 to 36 + S
///      8  2  version            UInt16, 2
///     10  2  –                  zero
///     12  4  number            UInt32, the segment's
///     16  8  begun at           Float64, seconds since 2001-01-01 00:00:00 UTC
///     24  4  dictionary         UInt32, its length; 0: none
///     28  4  identifier         UInt32, its Adler-32, which the zlib streams made with it name
///     32  4  stored length      UInt32, S
///     36  S  dictionary         a preset dictionary for zlib, as a zlib stream itself
///
/// In version 1 the dictionary stands there as it is, and S is 0.
///
/// Records need nothing of the header but the dictionary, so a damaged header loses no entry as long as another copy of
/// the dictionary is found.
struct SegmentHeader {
    static let byteCount = 36
    static let magic: UInt32 = 0x5443_5053
    static let version: UInt16 = 2
    /// The most bytes with a dictionary.
    static let largestByteCount = byteCount + PresetDictionary.largestStoredByteCount

    /// `nil`: the segment has none.
    let dictionary: StoredDictionary?
    private let storedByteCount: Int

    static func bytes(number: UInt32, begunAt: Double, dictionary: PresetDictionary?) -> [UInt8] {
        var rest: [UInt8] = []
        rest.append(bigEndian: version)
        rest.append(bigEndian: UInt16(0))
        rest.append(bigEndian: number)
        rest.append(bigEndian: begunAt.bitPattern)
        rest.append(bigEndian: UInt32(dictionary?.bytes.count ?? 0))
        rest.append(bigEndian: dictionary?.identifier ?? 0)
        let stored = dictionary?.stored ?? []
        rest.append(bigEndian: UInt32(stored.count))
        rest += stored
        var start: [UInt8] = []
        start.append(bigEndian: magic)
        start.append(bigEndian: rest.withUnsafeBytes { Zlib.crc32($0) })
        return start + rest
    }

    /// Parses the first bytes of a segment; `nil` if they are damaged, or another segment's.
    init?(_ bytes: [UInt8], number: UInt32) {
        let fields = ByteReader(bytes)
        guard bytes.count >= Self.byteCount, fields.number(at: 0) == Self.magic, fields.number(at: 12) == number
        else { return nil }
        let version = fields.number(at: 8, as: UInt16.self)
        let dictionaryByteCount = Int(fields.number(at: 24, as: UInt32.self))
        switch version {
        case 1: storedByteCount = dictionaryByteCount
        case Self.version: storedByteCount = Int(fields.number(at: 32, as: UInt32.self))
        default: return nil
        }
        let end = Self.byteCount + storedByteCount
        guard storedByteCount <= PresetDictionary.largestStoredByteCount, bytes.count >= end else { return nil }
        let checksum = bytes[8..<end].withUnsafeBytes { Zlib.crc32($0) }
        guard fields.number(at: 4) == checksum else { return nil }
        let stored = Array(bytes[Self.byteCount..<end])
        if stored.isEmpty {
            dictionary = nil
        } else {
            dictionary = StoredDictionary(
                bytes: stored,
                byteCount: dictionaryByteCount,
                isDeflated: version == Self.version
            )
        }
    }

    var byteCount: Int { Self.byteCount + storedByteCount }

    /// The bytes of a header that has a dictionary, or none.
    static func byteCount(with dictionary: PresetDictionary?) -> Int {
        byteCount + (dictionary?.stored.count ?? 0)
    }
}
