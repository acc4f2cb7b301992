/// The head of a record as it was written formerly, which stores still read.
///
///      0  4  magic              54 43 50 52, "TCPR"
///      4  4  head checksum      CRC-32 of the record's place (UInt32 segment, UInt32 offset), then of bytes 8 to
///                               64 + K + A
///      8  4  payload checksum   CRC-32 of the payload
///     12  1  kind               see `Record.Kind`
///     13  1  flags              1: the segment's first record
///     14  2  key length         K, UInt16
///     16  2  attributes         A, UInt16, their length
///     18  2  –                  zero
///     20  4  payload length     P, UInt32
///     24  4  archive length     UInt32, bytes before compression
///     28  4  previous length    UInt32, of the whole record before this one
///     32  8  previous hash      64 bits, of the key of the record before this one; a floor's or a loss's is its serial
///     40  8  serial             UInt64
///     48  8  stored at          Float64, seconds since 2001-01-01 00:00:00 UTC
///     56  8  expires at         likewise; +infinity: never
///     64  K  key                UTF-8
///         A  attributes         see `EntryAttributes`
///         P  payload
///
/// Numbers are big-endian.
enum FormerRecord {
    static let magic: UInt32 = 0x5443_5052
    /// The magic's first byte, which no record of the present format begins with.
    static let firstByte: UInt8 = 0x54
    static let byteCount = 64
    private static let firstFlag: UInt8 = 1

    /// Reads the fields that `bytes` begin with, unchecked but for the lengths of key and attributes.
    static func head(_ bytes: UnsafeRawBufferPointer) throws(RecordFault) -> RecordHead {
        let fields = ByteReader(bytes)
        guard bytes.count >= byteCount else { throw .incomplete }
        guard fields.number(at: 0) == magic else { throw .damaged }
        var head = RecordHead(serial: fields.number(at: 40))
        head.kind = Record.Kind(rawValue: bytes[12])
        head.isFirst = bytes[13] & firstFlag != 0
        head.previousHash = KeyDigest.shortened(hash: fields.number(at: 32))
        head.previousByteCount = fields.number(at: 28)
        head.keyByteCount = Int(fields.number(at: 14, as: UInt16.self))
        head.payloadChecksum = fields.number(at: 8)
        head.storedAt = Double(bitPattern: fields.number(at: 48))
        head.payloadByteCount = Int(fields.number(at: 20, as: UInt32.self))
        head.archiveByteCount = Int(fields.number(at: 24, as: UInt32.self))
        head.expiresAt = Double(bitPattern: fields.number(at: 56))
        head.attributesByteCount = Int(fields.number(at: 16, as: UInt16.self))
        head.fieldsByteCount = byteCount
        guard head.keyByteCount <= StoreKey.largestByteCount,
            head.attributesByteCount <= EntryAttributes.largestByteCount
        else { throw .damaged }
        return head
    }

    /// Whether the bytes are a seal's, or would be with one byte changed: they have its kind, or zeros in the fields that
    /// only other kinds use.
    static func isNearlySeal(_ head: [UInt8]) -> Bool {
        head.count == byteCount && (head[12] == Record.Kind.seal.rawValue || head[14..<28].allSatisfy { $0 == 0 })
    }
}
