import Sealing

/// The file `names` of an encrypted file store: a salt, and the secret that its ``NameKeys`` are made from, encrypted with
/// the key for new entries.
///
///      0  4  magic     54 43 4e 4d, "TCNM"
///      4  4  checksum  CRC-32 of bytes 8 to 96
///      8  2  version   UInt16, 1
///     10  1  cipher    1 AES-256-GCM, 2 ChaCha20-Poly1305
///     11  1  –         zero
///     12  8  key       UInt64, its identifier
///     20 16  salt      random, the same as long as the secret is
///     36 12  nonce     random, of this file
///     48 32  secret    random, encrypted
///     80 16  tag       of the secret; it vouches for bytes 8 to 48 as well
///
/// The checksum needs no key: so a missing key is told from damage before anything is touched. The secret outlives the key,
/// since names do: the file is written again with another key. It is on the device before any entry gets a name.
struct NamesFile {
    static let fileName = "names"
    static let byteCount = 96
    private static let magic: UInt32 = 0x5443_4E4D
    private static let version: UInt16 = 1
    static let saltByteCount = 16

    let salt: [UInt8]
    let secret: SecretBytes
    /// The identifier of the key that the file is encrypted with.
    let key: UInt64

    /// New ones, for a store that is being made.
    init(_ layer: FileLayer, key: UInt64) {
        salt = Nonce.randomBytes(Self.saltByteCount, layer)
        secret = SecretBytes(Nonce.randomBytes(NameKeys.secretByteCount, layer))
        self.key = key
    }

    // MARK: Reading

    /// The salt in the bytes of a file; `nil` if they are not sound.
    static func salt(in bytes: [UInt8]) -> [UInt8]? { isSound(bytes) ? Array(bytes[20..<36]) : nil }

    /// Whether a file with these bytes is one, whatever its version.
    static func begins(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && ByteReader(bytes).number(at: 0) == magic
    }

    private static func isSound(_ bytes: [UInt8]) -> Bool {
        bytes.count == byteCount && begins(bytes)
            && ByteReader(bytes).number(at: 4) == bytes[8...].withUnsafeBytes { Zlib.crc32($0) }
    }

    /// Decrypts the bytes of the file in the store's directory at `path`.
    ///
    /// - Throws: `.locked` if the key is missing or another one; `.invalidDirectory` if the bytes are damaged,
    ///   `.unsupportedVersion`.
    init(_ bytes: [UInt8], keys: SealingKeys, path: String) throws(StoreError) {
        let filePath = path + "/" + Self.fileName
        guard Self.isSound(bytes) else {
            let reason =
                "it is damaged, and without it no entry can be read: restore it from a backup, or remove the directory to"
                + " start empty"
            throw StoreError(.invalidDirectory, path: filePath, action: "opening a store", reason: reason)
        }
        let fields = ByteReader(bytes)
        let version = fields.number(at: 8, as: UInt16.self)
        guard version == Self.version, let algorithm = CipherAlgorithm(rawValue: bytes[10]) else {
            let reason = "it has version \(version) or a cipher that this version does not know"
            throw StoreError(.unsupportedVersion, path: filePath, action: "opening a store", reason: reason)
        }
        key = fields.number(at: 12)
        salt = Array(bytes[20..<36])
        guard let user = keys.key(key) else { throw .unknownKey(key, path: path) }
        let cipher = Self.cipher(algorithm, user, salt: salt)
        let nonce = bytes.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[36..<48])) }
        let content = SealedPiece.open(bytes[48...], by: cipher, nonce: nonce, authenticating: bytes[8..<48])
        guard var content else {
            // The checksum is right: so the bytes are those that were written, or were made to look like it.
            throw .locked(path, "the key that was given under the cache's identifier is another one")
        }
        secret = SecretBytes(content)
        content.withUnsafeMutableBytes { SecretBytes.wipe($0) }
    }

    // MARK: Writing

    /// The bytes of the file, encrypted with a key.
    func bytes(_ key: SealingKey, _ layer: FileLayer) -> [UInt8] {
        let algorithm = CipherAlgorithm.preferred
        let nonce = Nonce.random(layer)
        var rest: [UInt8] = []
        rest.append(bigEndian: Self.version)
        rest.append(algorithm.rawValue)
        rest.append(0)
        rest.append(bigEndian: key.identifier)
        rest += salt
        rest += nonce.withUnsafeBytes { Array($0) }
        let cipher = Self.cipher(algorithm, key, salt: salt)
        var content = secret.withUnsafeBytes { Array($0) }
        rest += SealedPiece.seal(content, by: cipher, nonce: nonce, authenticating: rest[...])
        content.withUnsafeMutableBytes { SecretBytes.wipe($0) }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: rest.withUnsafeBytes { Zlib.crc32($0) })
        return bytes + rest
    }

    private static func cipher(
        _ algorithm: CipherAlgorithm,
        _ key: SealingKey,
        salt: [UInt8]
    ) -> AuthenticatedCipher {
        let purpose = Array("typed-cache file of names".utf8)
        return AuthenticatedCipher(key: KeyDerivation.key(from: key.bytes, salt: salt, purpose: purpose), algorithm)
    }
}
