import Foundation

/// One piece of a segment: an entry, or something that happened to entries.
///
///      0  4  magic              54 43 50 52, "TCPR"
///      4  4  head checksum      CRC-32 of the record's place (UInt32 segment, UInt32 offset), then of bytes 8 to
///                               64 + K + A: a copy of a record at another place does not match
///      8  4  payload checksum   CRC-32 of the payload
///     12  1  kind               see `Kind`
///     13  1  flags              1: the segment's first record
///     14  2  key length         K, UInt16
///     16  2  attributes         A, UInt16, their length
///     18  2  –                  zero
///     20  4  payload length     P, UInt32
///     24  4  archive length     UInt32, bytes before compression
///     28  4  previous length    UInt32, of the whole record before this one
///     32  8  previous hash      of the key of the record before this one; a floor's or a loss's is its serial
///     40  8  serial             UInt64, tells this save from every other one
///     48  8  stored at          Float64, seconds since 2001-01-01 00:00:00 UTC; not a NaN
///     56  8  expires at         likewise; +infinity: never
///     64  K  key                UTF-8
///         A  attributes         see `EntryAttributes`
///         P  payload            of an entry, its archive as a zlib stream
///
/// Numbers are big-endian. Each record describes the one before it. So if one is damaged, the hash of the lost entry's
/// key is known, and an older entry for the same key is not taken for the latest.
struct Record {
    static let headByteCount = 64
    static let magic: UInt32 = 0x5443_5052
    static let firstFlag: UInt8 = 1
    /// Serials that count saves, or are taken from places, never come near it.
    static let largestSerial: UInt64 = 1 << 62

    enum Kind: UInt8 {
        case entry = 1
        /// The key's entry is removed. The record stands as long as any older one does.
        case removal
        /// All segments before the one with the serial as its number are given up.
        case floor
        /// The segment ends here; the next one has the next number.
        case seal
        /// The entries of keys with this hash, which is the serial, were damaged and are removed.
        case loss
    }

    /// `nil`: a kind that this version does not know, and leaves alone.
    let kind: Kind?
    let isFirst: Bool
    let attributesByteCount: Int
    let attributes: EntryAttributes
    let payloadByteCount: Int
    let archiveByteCount: Int
    let previousByteCount: Int
    let previousHash: UInt64
    let serial: UInt64
    let payloadChecksum: UInt32
    let key: [UInt8]

    var headByteCount: Int { Self.headByteCount + key.count + attributesByteCount }
    var byteCount: Int { headByteCount + payloadByteCount }

    static let largestHeadByteCount =
        headByteCount + StoreKey.largestByteCount + EntryAttributes.largestByteCount

    /// Until when the entry is of use, rounded down to seconds since 2001-01-01 UTC; `UInt32.max`: for ever.
    static func deadline(_ attributes: EntryAttributes) -> UInt32 {
        guard let end = attributes.usableUntil?.timeIntervalSinceReferenceDate else { return .max }
        return UInt32(min(max(0, end), Double(UInt32.max - 1)))
    }

    /// The information about the entry.
    ///
    /// - Parameter volume: tells the store from others.
    func information(key: String, volume: UInt64) -> EntryInformation {
        EntryInformation(
            key: key,
            attributes: attributes,
            archiveByteCount: archiveByteCount,
            storedByteCount: byteCount,
            identity: EntryIdentity(attributes) ?? EntryIdentity(volume: volume, file: serial, checksum: 0)
        )
    }

    /// The identifier of the dictionary that the record's zlib stream was made with; `nil` if it needs none.
    func dictionaryName(in bytes: [UInt8]) -> UInt32? {
        // RFC 1950: bit 5 of the second byte, then four bytes.
        guard bytes.count >= headByteCount + 6, bytes[headByteCount + 1] & 0x20 != 0 else { return nil }
        return ByteReader(bytes).number(at: headByteCount + 2)
    }
}

/// Why bytes are no record.
enum RecordFault: Error {
    /// There are too few bytes, but they may be the start of a record.
    case incomplete
    case damaged
}
