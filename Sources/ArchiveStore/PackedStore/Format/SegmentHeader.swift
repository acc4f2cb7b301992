/// The first bytes of a segment's file.
///
///      0  4  magic              54 43 50 53, "TCPS"
///      4  4  checksum           CRC-32 of bytes 8 to 80 + S
///      8  2  version            UInt16, 3
///     10  1  durability         1: entries were saved under `.power` here or in a segment before it
///     11  1  –                  zero
///     12  4  number             UInt32, the segment's
///     16  4  seed               UInt32, random, the same in all segments of a log; see `Record`
///     20  8  identity           UInt64, random, the segment's
///     28  8  boot               UInt64, of the system when the segment was begun, see `BootIdentity`; 0: unknown
///     36  4  predecessor's end  UInt32, where the segment before it ended; 0 for a log's first segment
///     40  4  first segment      UInt32, the first one that is still live
///     44  8  begun at           Float64, seconds since 2001-01-01 00:00:00 UTC
///     52 16  –                  zero, for a key and a salt
///     68  4  dictionary         UInt32, its length; 0: none
///     72  4  identifier         UInt32, its Adler-32, which the zlib streams made with it name
///     76  4  stored length      UInt32, S
///     80  S  dictionary         a preset dictionary for zlib, as a zlib stream itself
///
/// Records need the dictionary and the seed of the header. A damaged header loses no entry as long as another copy of the
/// dictionary is found: other segments have the seed too, and ``SeedFinder`` finds it by the records.
struct SegmentHeader: Sendable {
    static let fixedByteCount = 80
    static let magic: UInt32 = 0x5443_5053
    static let version: UInt16 = 3
    /// The most bytes with a dictionary.
    static let largestByteCount = fixedByteCount + PresetDictionary.largestStoredByteCount

    enum Fault: Error, Equatable {
        case damaged
        /// Another version of this package has written it.
        case unsupported(version: Int)
    }

    /// The fields that a segment gets when it is begun, besides its dictionary.
    struct Fields: Sendable, Equatable {
        var number: UInt32
        var seed: UInt32
        var identity: UInt64
        var boot: UInt64
        var predecessorEnd: UInt32
        var firstLiveSegment: UInt32
        var isDurable: Bool
        var begunAt: Double
    }

    let fields: Fields
    /// `nil`: the segment has none.
    let dictionary: StoredDictionary?
    private let storedByteCount: Int

    static func bytes(_ given: Fields, dictionary: PresetDictionary?) -> [UInt8] {
        var rest: [UInt8] = []
        rest.append(bigEndian: version)
        rest.append(bigEndian: UInt16(given.isDurable ? 1 << 8 : 0))
        rest.append(bigEndian: given.number)
        rest.append(bigEndian: given.seed)
        rest.append(bigEndian: given.identity)
        rest.append(bigEndian: given.boot)
        rest.append(bigEndian: given.predecessorEnd)
        rest.append(bigEndian: given.firstLiveSegment)
        rest.append(bigEndian: given.begunAt.bitPattern)
        rest += [UInt8](repeating: 0, count: 16)
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

    /// Parses the first bytes of the segment with a number.
    init(_ bytes: [UInt8], number: UInt32) throws(Fault) {
        let reader = ByteReader(bytes)
        guard bytes.count >= Self.fixedByteCount, reader.number(at: 0) == Self.magic else { throw .damaged }
        let version = reader.number(at: 8, as: UInt16.self)
        storedByteCount = Int(reader.number(at: 76, as: UInt32.self))
        let end = Self.fixedByteCount + storedByteCount
        guard storedByteCount <= PresetDictionary.largestStoredByteCount, bytes.count >= end else { throw .damaged }
        let checksum = bytes[8..<end].withUnsafeBytes { Zlib.crc32($0) }
        guard reader.number(at: 4) == checksum else { throw .damaged }
        if version != Self.version { throw .unsupported(version: Int(version)) }
        fields = Fields(
            number: reader.number(at: 12),
            seed: reader.number(at: 16),
            identity: reader.number(at: 20),
            boot: reader.number(at: 28),
            predecessorEnd: reader.number(at: 36),
            firstLiveSegment: reader.number(at: 40),
            isDurable: bytes[10] != 0,
            begunAt: Double(bitPattern: reader.number(at: 44))
        )
        guard fields.number == number else { throw .damaged }
        let stored = Array(bytes[Self.fixedByteCount..<end])
        dictionary =
            stored.isEmpty
            ? nil : StoredDictionary(bytes: stored, byteCount: Int(reader.number(at: 68, as: UInt32.self)))
    }

    var byteCount: Int { Self.fixedByteCount + storedByteCount }

    /// The bytes of a header that has a dictionary, or none.
    static func byteCount(with dictionary: PresetDictionary?) -> Int {
        fixedByteCount + (dictionary?.stored.count ?? 0)
    }
}
