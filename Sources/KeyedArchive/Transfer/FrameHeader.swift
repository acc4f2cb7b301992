import CChecksum

/// The header of a frame; the archive follows it.
///
///     0   89 4b 41 46                          magic: 0x89, "KAF"
///     4   01                                   version
///     5   00                                   kind: 0 a message, 1 the end of the stream
///     6   00 00                                reserved
///     8   00 00 01 2c                          length of the archive in bytes, big-endian
///     12  d8 ef b5 a3                          CRC-32 of the archive
///     16  0a 1b 2c 3d                          CRC-32 of the 16 bytes before
///
/// The header has a checksum of its own, so that a damaged length is found before it is believed.
struct FrameHeader {
    enum Kind: UInt8 {
        case message = 0
        case end = 1
    }

    static let byteCount = 20
    static let magic: [UInt8] = [0x89, 0x4B, 0x41, 0x46]
    static let version: UInt8 = 1
    /// The longest archive that the length has room for.
    static let lengthLimit = Int(UInt32.max)

    let kind: Kind
    let length: Int
    let checksum: UInt32

    /// The header of an archive.
    init(_ kind: Kind, archive: UnsafeRawBufferPointer) {
        self.kind = kind
        length = archive.count
        checksum = FrameChecksum.of(archive)
    }

    /// Reads a header; `bytes` has as many bytes as a header.
    init(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        guard bytes.prefix(Self.magic.count).elementsEqual(Self.magic) else {
            throw TransferError(.corrupted, "the bytes are not a frame")
        }
        guard Self.number(bytes, at: 16) == FrameChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<16])) else {
            throw TransferError(.corrupted, "the checksum of a frame's header is wrong")
        }
        guard bytes[4] == Self.version else {
            throw TransferError(.unsupportedVersion, "a frame of version \(bytes[4])")
        }
        guard let kind = Kind(rawValue: bytes[5]), bytes[6] == 0, bytes[7] == 0 else {
            throw TransferError(.corrupted, "a frame of an unknown kind")
        }
        self.kind = kind
        length = Int(Self.number(bytes, at: 8))
        checksum = Self.number(bytes, at: 12)
        if kind == .end, length != 0 { throw TransferError(.corrupted, "an end of the stream with content") }
    }

    /// Appends the header's bytes.
    func write(to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += Self.magic
        bytes += [Self.version, kind.rawValue, 0, 0]
        Self.append(UInt32(length), to: &bytes)
        Self.append(checksum, to: &bytes)
        let seal = bytes.withUnsafeBytes { FrameChecksum.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        Self.append(seal, to: &bytes)
    }

    private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// CRC-32 as in RFC 1952.
enum FrameChecksum {
    private static let canFold = crc32_can_fold()

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ (value >> 1) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum: UInt32 = 0
        var rest = bytes
        let folded = bytes.count & ~15
        if folded >= 64, canFold {
            checksum = crc32_folded(0, bytes.baseAddress, folded)
            rest = UnsafeRawBufferPointer(rebasing: bytes[folded...])
        }
        return table.withUnsafeBufferPointer { table in
            var value = ~checksum
            for byte in rest { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ (value >> 8) }
            return ~value
        }
    }
}
