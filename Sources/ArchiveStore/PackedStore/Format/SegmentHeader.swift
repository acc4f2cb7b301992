import Sealing

/// The first bytes of a segment's file.
///
///      0  4  magic              54 43 50 53, "TCPS"
///      4  4  checksum           CRC-32 of bytes 8 to 80 + S
///      8  2  version            UInt16, 3; 4 where the records are encrypted
///     10  1  durability         1: entries were saved under `.power` here or in a segment before it
///     11  1  cipher             1 AES-256-GCM, 2 ChaCha20-Poly1305; 0 in version 3
///     12  4  number             UInt32, the segment's
///     16  4  seed               UInt32, random, the same in all segments of a log; see `Record`
///     20  8  identity           UInt64, random, the segment's
///     28  8  boot               UInt64, of the system when the segment was begun, see `BootIdentity`; 0: unknown
///     36  4  predecessor's end  UInt32, where the segment before it ended; 0 for a log's first segment
///     40  4  first segment      UInt32, the first one that is still live
///     44  8  begun at           Float64, seconds since 2001-01-01 00:00:00 UTC
///     52  8  key                UInt64, the identifier of the key; 0 in version 3
///     60  8  salt               UInt64, random, the same in all segments of a log; 0 in version 3
///     68  4  dictionary         UInt32, its length; 0: none
///     72  4  identifier         UInt32, its Adler-32, which the zlib streams made with it name
///     76  4  stored length      UInt32, S
///     80  S  dictionary         a preset dictionary for zlib, as a zlib stream itself
///
/// In version 4 the last part has a nonce of 12 bytes, the dictionary's stream, encrypted, and a tag of 16 bytes, which
/// vouches for bytes 8 to 80 as well. The key is that of the segment's records: see ``RecordSealing``.
///
/// Records need the dictionary and the seed of the header. A damaged header loses no entry as long as another copy of the
/// dictionary is found: other segments have the seed too, and ``SeedFinder`` finds it by the records.
struct SegmentHeader: Sendable {
    static let fixedByteCount = 80
    static let magic: UInt32 = 0x5443_5053
    static let version: UInt16 = 3
    static let sealedVersion: UInt16 = 4
    private static let sealedOverhead = Nonce.byteCount + SealedPiece.overhead
    /// The most bytes with a dictionary.
    static let largestByteCount =
        fixedByteCount + PresetDictionary.largestStoredByteCount + sealedOverhead

    enum Fault: Error, Equatable {
        case damaged
        /// The segment is encrypted and its key is not here, or it is not encrypted though there is a key.
        case locked(String)
        /// Another version of this package has written it.
        case unsupported(version: Int)
    }

    /// The fields that a segment gets when it is begun, besides its dictionary.
    struct Fields: Sendable, Equatable {
        var number: UInt32
        var log: LogIdentity
        /// The identifier of the key that its records are encrypted with; 0: they are not encrypted.
        var key: UInt64 = 0
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
    /// With which the segment's records are encrypted; `nil`: they are not.
    let cipher: AuthenticatedCipher?
    private let storedByteCount: Int

    /// The key and the nonce of the header of an encrypted segment.
    struct Seal {
        let key: SealingKey
        let nonce: Nonce
    }

    /// - Parameter seal: `nil`: the records are not encrypted.
    static func bytes(_ given: Fields, dictionary: PresetDictionary?, seal: Seal? = nil) -> [UInt8] {
        let algorithm = CipherAlgorithm.preferred
        var rest: [UInt8] = []
        rest.append(bigEndian: seal == nil ? version : sealedVersion)
        rest.append(given.isDurable ? 1 : 0)
        rest.append(seal == nil ? 0 : algorithm.rawValue)
        rest.append(bigEndian: given.number)
        rest.append(bigEndian: given.log.seed)
        rest.append(bigEndian: given.identity)
        rest.append(bigEndian: given.boot)
        rest.append(bigEndian: given.predecessorEnd)
        rest.append(bigEndian: given.firstLiveSegment)
        rest.append(bigEndian: given.begunAt.bitPattern)
        rest.append(bigEndian: seal?.key.identifier ?? 0)
        rest.append(bigEndian: seal == nil ? 0 : given.log.salt)
        rest.append(bigEndian: UInt32(dictionary?.bytes.count ?? 0))
        // It tells of the entries that the dictionary was made from.
        rest.append(bigEndian: seal == nil ? dictionary?.identifier ?? 0 : 0)
        let stored = dictionary?.stored ?? []
        rest.append(bigEndian: UInt32(stored.count + (seal == nil ? 0 : sealedOverhead)))
        if let seal {
            let key = given.log.segmentKey(given.number, of: seal.key)
            let cipher = AuthenticatedCipher(key: key, algorithm)
            rest += seal.nonce.withUnsafeBytes { Array($0) }
            let fixed = rest[..<(fixedByteCount - 8)]
            rest += SealedPiece.seal(stored, by: cipher, nonce: seal.nonce, authenticating: fixed)
        } else {
            rest += stored
        }
        var start: [UInt8] = []
        start.append(bigEndian: magic)
        start.append(bigEndian: rest.withUnsafeBytes { Zlib.crc32($0) })
        return start + rest
    }

    /// Parses the first bytes of the segment with a number.
    ///
    /// - Parameter keys: `nil`: the segment must not be encrypted; otherwise it must be, with one of these.
    init(_ bytes: [UInt8], number: UInt32, keys: SealingKeys? = nil) throws(Fault) {
        let visible = try Visible(bytes, number: number)
        (fields, storedByteCount) = (visible.fields, visible.storedByteCount)
        var stored = Array(bytes[Self.fixedByteCount..<Self.fixedByteCount + storedByteCount])
        cipher = try Self.cipher(of: fields, visible.version, algorithm: bytes[11], keys)
        if let cipher {
            stored = try Self.opened(stored[...], by: cipher, authenticating: bytes[8..<Self.fixedByteCount])
        }
        dictionary =
            stored.isEmpty
            ? nil : StoredDictionary(bytes: stored, byteCount: visible.dictionaryByteCount)
    }

    /// The parts of a header that are readable without a key.
    struct Visible {
        let fields: Fields
        let version: UInt16
        let storedByteCount: Int
        let dictionaryByteCount: Int

        init(_ bytes: [UInt8], number: UInt32) throws(Fault) {
            let reader = ByteReader(bytes)
            guard bytes.count >= SegmentHeader.fixedByteCount, reader.number(at: 0) == SegmentHeader.magic else {
                throw .damaged
            }
            version = reader.number(at: 8, as: UInt16.self)
            storedByteCount = Int(reader.number(at: 76, as: UInt32.self))
            let end = SegmentHeader.fixedByteCount + storedByteCount
            guard storedByteCount <= SegmentHeader.largestByteCount - SegmentHeader.fixedByteCount,
                bytes.count >= end
            else {
                throw .damaged
            }
            let checksum = bytes[8..<end].withUnsafeBytes { Zlib.crc32($0) }
            guard reader.number(at: 4) == checksum else { throw .damaged }
            guard version == SegmentHeader.version || version == SegmentHeader.sealedVersion else {
                throw .unsupported(version: Int(version))
            }
            fields = Fields(
                number: reader.number(at: 12),
                log: LogIdentity(seed: reader.number(at: 16), salt: reader.number(at: 60)),
                key: reader.number(at: 52),
                identity: reader.number(at: 20),
                boot: reader.number(at: 28),
                predecessorEnd: reader.number(at: 36),
                firstLiveSegment: reader.number(at: 40),
                isDurable: bytes[10] != 0,
                begunAt: Double(bitPattern: reader.number(at: 44))
            )
            dictionaryByteCount = Int(reader.number(at: 68, as: UInt32.self))
            guard fields.number == number else { throw .damaged }
        }
    }

    /// The cipher of a segment; `nil` if it is not encrypted.
    private static func cipher(
        of fields: Fields,
        _ version: UInt16,
        algorithm: UInt8,
        _ keys: SealingKeys?
    ) throws(Fault) -> AuthenticatedCipher? {
        guard version == sealedVersion else {
            if keys != nil { throw .locked("the cache is not encrypted, and a key was given for it") }
            return nil
        }
        guard let keys else {
            let build = CipherAlgorithm.isAvailable ? "" : ", nor was this program built with the trait Encryption"
            throw .locked("the cache is encrypted, and no key was given for it\(build)")
        }
        guard let key = keys.key(fields.key) else {
            throw .locked("the cache is encrypted with key \(fields.key), which is not among those that were given")
        }
        guard let algorithm = CipherAlgorithm(rawValue: algorithm) else {
            throw .unsupported(version: Int(version))
        }
        return AuthenticatedCipher(key: fields.log.segmentKey(fields.number, of: key), algorithm)
    }

    private static func opened(
        _ stored: ArraySlice<UInt8>,
        by cipher: AuthenticatedCipher,
        authenticating fixed: ArraySlice<UInt8>
    ) throws(Fault) -> [UInt8] {
        guard stored.count >= sealedOverhead else { throw .damaged }
        let nonce = stored.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[..<Nonce.byteCount])) }
        let piece = stored.dropFirst(Nonce.byteCount)
        guard let content = SealedPiece.open(piece, by: cipher, nonce: nonce, authenticating: fixed) else {
            // The checksum is right: so the bytes are those that were written, or were made to look like it.
            throw .locked("the key that was given under the cache's identifier is another one")
        }
        return content
    }

    var byteCount: Int { Self.fixedByteCount + storedByteCount }

    /// The bytes of a header that has a dictionary, or none.
    static func byteCount(with dictionary: PresetDictionary?, isSealed: Bool = false) -> Int {
        byteCount(withDictionaryOf: dictionary?.stored.count ?? 0, isSealed: isSealed)
    }

    static func byteCount(withDictionaryOf byteCount: Int, isSealed: Bool) -> Int {
        fixedByteCount + byteCount + (isSealed ? sealedOverhead : 0)
    }
}
