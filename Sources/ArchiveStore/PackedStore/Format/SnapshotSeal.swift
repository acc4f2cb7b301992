import Sealing

/// The start of an encrypted snapshot of the index, and the cipher of its pieces.
///
///      0  4  magic       54 43 50 49, "TCPI"
///      4  4  checksum    CRC-32 of bytes 8 to 40
///      8  2  version     UInt16, 4
///     10  1  cipher      as in a segment's header
///     11  1  –           zero
///     12  8  key         UInt64, its identifier
///     20 16  salt        random, of this file
///     36  4  length      UInt32, of the next piece: the bytes before the slots
///
/// The file has a key of its own, so the pieces are numbered in place of random nonces: 0, then 1 to 256 for the parts.
/// The first piece vouches for the 32 bytes before it as well.
struct SnapshotSeal: Sendable {
    static let fixedByteCount = 40
    private static let version: UInt16 = 4

    /// The bytes of the first piece; 0 in a snapshot that is being written.
    let byteCount: Int
    private let start: [UInt8]
    private let cipher: AuthenticatedCipher

    /// For a new snapshot.
    init(_ key: SealingKey) {
        let algorithm = CipherAlgorithm.preferred
        var salt = [UInt8](repeating: 0, count: 16)
        salt.withUnsafeMutableBytes { Nonce.fill($0) }
        var start: [UInt8] = []
        start.append(bigEndian: Self.version)
        start.append(algorithm.rawValue)
        start.append(0)
        start.append(bigEndian: key.identifier)
        start += salt
        self.start = start
        byteCount = 0
        cipher = Self.cipher(algorithm, key, salt: salt)
    }

    /// Reads the first bytes of a snapshot; `nil` if they are not sound, or its key is not here.
    init?(_ bytes: [UInt8], _ keys: SealingKeys) {
        let fields = ByteReader(bytes)
        guard bytes.count >= Self.fixedByteCount, fields.number(at: 0) == IndexSnapshot.magic,
            fields.number(at: 8) == Self.version, let algorithm = CipherAlgorithm(rawValue: bytes[10]),
            let key = keys.key(fields.number(at: 12)),
            fields.number(at: 4) == bytes[8..<Self.fixedByteCount].withUnsafeBytes({ Zlib.crc32($0) })
        else { return nil }
        start = Array(bytes[8..<36])
        byteCount = Int(fields.number(at: 36, as: UInt32.self))
        cipher = Self.cipher(algorithm, key, salt: Array(bytes[20..<36]))
    }

    private static func cipher(
        _ algorithm: CipherAlgorithm,
        _ key: SealingKey,
        salt: [UInt8]
    ) -> AuthenticatedCipher {
        let purpose = Array("typed-cache index".utf8)
        let derived = KeyDerivation.key(from: key.bytes, salt: salt, purpose: purpose)
        return AuthenticatedCipher(key: derived, algorithm)
    }

    // MARK: Writing

    /// The first bytes of the file, all before the first part.
    ///
    /// - Parameter header: the bytes that a snapshot begins with that is not encrypted.
    func sealed(header: [UInt8]) -> [UInt8] {
        var fixed = start
        fixed.append(bigEndian: UInt32(header.count + SealedPiece.overhead))
        var bytes: [UInt8] = []
        bytes.append(bigEndian: IndexSnapshot.magic)
        bytes.append(bigEndian: fixed.withUnsafeBytes { Zlib.crc32($0) })
        bytes += fixed
        return bytes + SealedPiece.seal(header, by: cipher, nonce: Nonce(part: 0), authenticating: fixed[...])
    }

    func seal(_ bytes: [UInt8], part: Int) -> [UInt8] {
        SealedPiece.seal(bytes, by: cipher, nonce: Nonce(part: UInt32(part + 1)))
    }

    // MARK: Reading

    /// The bytes that a snapshot begins with that is not encrypted; `nil` if they are not those that were written.
    func header(of file: borrowing OpenFile) throws(SystemError) -> [UInt8]? {
        var fixed = start
        fixed.append(bigEndian: UInt32(byteCount))
        let piece = try file.read(byteCount, at: Self.fixedByteCount)
        return SealedPiece.open(piece[...], by: cipher, nonce: Nonce(part: 0), authenticating: fixed[...])
    }

    func open(_ piece: [UInt8], part: Int) -> [UInt8]? {
        SealedPiece.open(piece[...], by: cipher, nonce: Nonce(part: UInt32(part + 1)))
    }
}
