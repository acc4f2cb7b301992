import Foundation

/// One piece of a segment: an entry, or something that happened to entries.
///
///      0  2  magic              F5 32
///      2  4  head checksum      CRC-32, begun with the log's seed, of the record's place (UInt32 segment, UInt32
///                               offset), then of bytes 6 to the payload: a copy of a record at another place, or from
///                               another log, does not match
///      6  1  kind and flags     see `Kind`; 16: expires; 32: has attributes; 64: has a serial; 128: the
///                               payload is bare
///      7  6  previous hash      of the key of the record before this one; a floor's or a loss's is its serial
///     13  3  previous length    of the whole record before this one, its last 24 bits
///      …     key length         K
///         4  payload checksum   CRC-32 of the payload, if it is bare of the dictionary's identifier (UInt32) and the
///                               payload; this and the next ones only of an entry
///         5  stored at          see `RecordTime`; some have 9 bytes
///      …     payload length     P
///      …     archive length     bytes before compression
///         8  expires at         Float64, seconds since 2001-01-01 00:00:00 UTC; not a NaN; only if it does
///      …     attributes length  A; only if there are any
///         …  serial             its upper 32 bits, then its lower ones, both of variable length; it tells this save from
///                               every other one; where there is none, it is the place
///         K  key                UTF-8
///         A  attributes         see `EntryAttributes`
///         P  payload            of an entry, its archive as a zlib stream; a bare one lacks the stream's header and
///                               trailer, and was made with the dictionary of the segment
///
/// Numbers are big-endian, lengths of variable length as `[UInt8].append(variableLength:)` writes them. Each record
/// describes the one before it. So if one is damaged, the hash of the lost entry's key is known, and an older entry for
/// the same key is not taken for the latest.
struct Record {
    /// The most bytes of a head but for key and attributes; all of a record without a key.
    static let largestFieldsByteCount = 64
    /// The bytes of a seal; no record has fewer.
    static let leastByteCount = 17
    static let magic: UInt16 = 0xF532

    enum Kind: UInt8 {
        case entry = 1
        /// The key's entry is removed. The record stands as long as any older one does.
        case removal
        /// All segments before the one with the serial as its number are dropped.
        case floor
        /// The segment ends here; the next one has the next number.
        case seal
        /// The entries of keys with this hash, which is the serial, were damaged and are removed.
        case loss
    }

    /// `nil`: a kind that this version does not know, and leaves alone.
    let kind: Kind?
    /// Whether the payload lacks the header and the trailer of a zlib stream.
    let isBare: Bool
    /// The bytes before the payload.
    let headByteCount: Int
    /// The bytes after the payload: of an encrypted entry, its tag.
    private let endByteCount: Int
    let attributes: EntryAttributes
    let payloadByteCount: Int
    let archiveByteCount: Int
    private let previousByteCount: UInt32
    let previousHash: UInt64
    let serial: UInt64
    let payloadChecksum: UInt32
    let key: [UInt8]

    /// - Parameter isSealed: whether the record is encrypted in its file.
    /// - Throws: `.damaged` for values that no store writes, though the checksum is correct.
    init(
        _ head: RecordHead,
        key: [UInt8],
        attributes bytes: ArraySlice<UInt8>,
        isSealed: Bool
    ) throws(RecordFault) {
        kind = head.kind
        isBare = head.isBare
        headByteCount = head.byteCount + (isSealed ? Self.sealedHeadOverhead : 0)
        endByteCount = isSealed && head.kind == .entry ? RecordSealing.tagByteCount : 0
        payloadByteCount = head.payloadByteCount
        archiveByteCount = head.archiveByteCount
        previousByteCount = head.previousByteCount & Self.previousByteCountMask
        previousHash = head.previousHash
        serial = head.serial
        payloadChecksum = head.payloadChecksum
        self.key = key
        guard !head.storedAt.isNaN, !head.expiresAt.isNaN, kind != .entry || !key.isEmpty else { throw .damaged }
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: head.storedAt))
        if head.expiresAt != .infinity {
            attributes.expiresAt = Date(timeIntervalSinceReferenceDate: head.expiresAt)
        }
        if !bytes.isEmpty {
            guard (try? attributes.decode(bytes)) != nil else { throw .damaged }
        }
        self.attributes = attributes
    }

    var byteCount: Int { headByteCount + payloadByteCount + endByteCount }
    /// Where the payload is in the record.
    var payloadRange: Range<Int> { headByteCount..<headByteCount + payloadByteCount }

    /// By how many bytes the part before the payload is longer where it is encrypted.
    private static let sealedHeadOverhead =
        RecordSealing.startByteCount - RecordHead.kindOffset + RecordSealing.tagByteCount

    /// Encrypted or not.
    static let largestHeadByteCount =
        largestFieldsByteCount + StoreKey.largestByteCount + EntryAttributes.largestByteCount
        + RecordSealing.largestOverhead

    /// The most bytes of the record of an archive of `archiveByteCount` bytes.
    static func largestByteCount(forArchiveOf archiveByteCount: Int) -> Int {
        largestHeadByteCount + StoredBlocks.byteCount(for: archiveByteCount)
    }

    static let previousByteCountMask: UInt32 = 1 << 24 - 1

    /// Whether the record before this one has so many bytes, as far as this one tells.
    func comesAfter(byteCount: Int) -> Bool {
        previousByteCount == UInt32(truncatingIfNeeded: byteCount) & Self.previousByteCountMask
    }

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

    /// The checksum of a payload.
    ///
    /// - Parameter dictionary: the identifier of the one that a bare payload was made with; `nil` for other payloads.
    static func payloadChecksum(_ payload: UnsafeRawBufferPointer, dictionary: UInt32?) -> UInt32 {
        guard let dictionary else { return Zlib.crc32(payload) }
        let salt = withUnsafeBytes(of: dictionary.bigEndian) { Zlib.crc32($0) }
        return Zlib.crc32(payload, continuing: salt)
    }

    /// Whether the payload is the one that was written.
    ///
    /// - Parameters:
    ///   - bytes: all of the record.
    ///   - dictionary: the identifier of the one that a bare payload was made with.
    func hasSoundPayload(_ bytes: [UInt8], dictionary: UInt32?) -> Bool {
        guard bytes.count == byteCount, !isBare || dictionary != nil else { return false }
        return bytes.withUnsafeBytes { bytes in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[payloadRange])
            return Self.payloadChecksum(payload, dictionary: isBare ? dictionary : nil) == payloadChecksum
        }
    }

    /// The identifier of the dictionary that the record's zlib stream was made with; `nil` if it needs none, or is bare.
    func dictionaryName(in bytes: [UInt8]) -> UInt32? {
        if isBare { return nil }
        // RFC 1950: bit 5 of the second byte, then four bytes.
        guard bytes.count >= headByteCount + 6, bytes[headByteCount + 1] & 0x20 != 0 else { return nil }
        return ByteReader(bytes).number(at: headByteCount + 2)
    }
}

/// Why bytes are not a record.
enum RecordFault: Error {
    /// There are too few bytes, but they may be the start of a record.
    case incomplete
    case damaged
}
