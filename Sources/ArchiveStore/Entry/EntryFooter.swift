/// The last 48 bytes of an entry's file; `EntryFile` has the diagram of the whole.
///
///     offset from the end
///     -48  8  stored at       Float64, seconds since 2001-01-01 00:00:00 UTC; not a NaN
///     -40  8  expires at      likewise; +infinity: never
///     -32  8  archive length  UInt64, bytes before compression
///     -24  8  zlib length     UInt64, bytes of the zlib stream, from the file's start
///     -16  4  key length      UInt32, 1 to 1,024 bytes of UTF-8, right after the zlib stream
///     -12  2  attributes      UInt16, their length, right after the key; 0 in version 1
///     -10  2  version         UInt16, 1 without attributes, 2 with some
///      -8  4  checksum        UInt32, CRC-32 of every byte of the file before it
///      -4  4  magic           54 43 41 45, "TCAE"
///
/// Numbers are big-endian, as they are in zlib streams and binary property lists. The last ten bytes keep
/// their place and meaning in every later version, so that each version can tell a newer entry from a damaged
/// one.
struct EntryFooter {
    static let byteCount = 48
    /// The latest version.
    static let version = 2
    /// The one that has no attributes.
    private static let plainVersion = 1
    /// That of encrypted entries, which have another footer in front of these ten bytes: see ``SealedEntry``.
    static let sealedVersion = 3
    /// The bytes that the checksum does not cover: itself and the magic.
    static let sealByteCount = 8
    private static let magic: UInt32 = 0x5443_4145

    /// Seconds since 2001-01-01 UTC.
    let storedAt: Double
    /// Seconds since 2001-01-01 UTC; infinity if never.
    let expiresAt: Double
    let archiveByteCount: Int
    let zlibByteCount: Int
    let keyByteCount: Int
    let attributesByteCount: Int
    let checksum: UInt32

    /// The length of the whole file: zlib stream, key, attributes and footer.
    var fileByteCount: Int { zlibByteCount + keyByteCount + attributesByteCount + Self.byteCount }

    /// Whether bytes end as an entry's do, sound or damaged, of this version or a later one.
    static func ends(_ bytes: [UInt8]) -> Bool {
        bytes.count >= byteCount && ByteReader(bytes.suffix(4)).number(at: 0, as: UInt32.self) == magic
    }

    /// Parses the last 48 bytes of `tail`, which are the last ones of a file.
    ///
    /// - Parameter checksum: The CRC-32 of the bytes before the seal; `nil` to take the fields on trust.
    init(_ tail: [UInt8], fileByteCount: Int, checksum: UInt32?) throws(EntryFault) {
        let version = try Self.version(endOf: tail, checksum: checksum)
        if version == Self.sealedVersion { throw .locked("it is encrypted, and no key was given") }
        guard version <= Self.version else { throw .unsupportedVersion(version) }
        guard tail.count >= Self.byteCount else { throw .damaged("the file is shorter than a footer") }
        let fields = ByteReader(tail.suffix(Self.byteCount))
        self.checksum = fields.number(at: 40)
        attributesByteCount = Int(fields.number(at: 36, as: UInt16.self))
        guard version == (attributesByteCount == 0 ? Self.plainVersion : Self.version),
            attributesByteCount <= EntryAttributes.largestByteCount
        else { throw .damaged("the version is unknown") }
        storedAt = Double(bitPattern: fields.number(at: 0))
        expiresAt = Double(bitPattern: fields.number(at: 8))
        guard !storedAt.isNaN, !expiresAt.isNaN else { throw .damaged("a date is not a number") }

        let keyByteCount = Int(fields.number(at: 32, as: UInt32.self))
        guard (1...StoreKey.largestByteCount).contains(keyByteCount) else {
            throw .damaged("the key's length is impossible")
        }
        guard let zlibByteCount = Int(exactly: fields.number(at: 24, as: UInt64.self)),
            let archiveByteCount = Int(exactly: fields.number(at: 16, as: UInt64.self)),
            zlibByteCount == fileByteCount - Self.byteCount - keyByteCount - attributesByteCount
        else { throw .damaged("the lengths do not add up") }
        // Deflate makes nothing more than 1,032 times as short.
        guard archiveByteCount / 1_032 <= zlibByteCount else {
            throw .damaged("the archive's length is impossible")
        }
        self.keyByteCount = keyByteCount
        self.zlibByteCount = zlibByteCount
        self.archiveByteCount = archiveByteCount
    }

    /// The version of the file with these last bytes, by the ten that keep their place and meaning.
    ///
    /// - Parameter checksum: as above.
    static func version(endOf tail: [UInt8], checksum: UInt32?) throws(EntryFault) -> Int {
        guard tail.count >= endByteCount else { throw .damaged("the file is shorter than a footer") }
        let fields = ByteReader(tail.suffix(endByteCount))
        guard fields.number(at: 6) == magic else { throw .damaged("the magic bytes are missing") }
        guard checksum == nil || checksum == fields.number(at: 2) else {
            throw .damaged("the checksum does not match")
        }
        return Int(fields.number(at: 0, as: UInt16.self))
    }

    static let endByteCount = 10

    /// Writes a footer, but for the seal, to `output`; ``writeSeal(_:to:)`` completes it.
    static func write(
        storedAt: Double,
        expiresAt: Double,
        archiveByteCount: Int,
        zlibByteCount: Int,
        keyByteCount: Int,
        attributesByteCount: Int,
        to output: UnsafeMutableRawBufferPointer
    ) {
        let fields = ByteWriter(output)
        fields.store(storedAt.bitPattern, at: 0)
        fields.store(expiresAt.bitPattern, at: 8)
        fields.store(UInt64(archiveByteCount), at: 16)
        fields.store(UInt64(zlibByteCount), at: 24)
        fields.store(UInt32(keyByteCount), at: 32)
        fields.store(UInt16(attributesByteCount), at: 36)
        fields.store(UInt16(attributesByteCount == 0 ? plainVersion : version), at: 38)
    }

    /// Writes the end of an entry's freshness again to `output`, a footer; ``writeSeal(_:to:)`` completes it.
    static func write(expiresAt: Double, to output: UnsafeMutableRawBufferPointer) {
        ByteWriter(output).store(expiresAt.bitPattern, at: 8)
    }

    /// Writes the last eight bytes of a footer to `output`, which are those eight.
    static func writeSeal(_ checksum: UInt32, to output: UnsafeMutableRawBufferPointer) {
        let fields = ByteWriter(output)
        fields.store(checksum, at: 0)
        fields.store(magic, at: 4)
    }
}
