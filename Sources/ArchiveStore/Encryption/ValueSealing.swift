import Foundation
import Sealing
import Synchronization

/// Encrypts archives for a server, where other users can read and change them.
///
///      0  4  magic    54 43 53 56, "TCSV"
///      4  1  version  1
///      5  1  cipher   1 AES-256-GCM, 2 ChaCha20-Poly1305
///      6  8  key      UInt64, its identifier
///     14  4  check    of the key: a key of the same identifier with other bytes has another one
///     18 16  salt     random, of this value; the key of its bytes is made of it (HKDF)
///     34 12  nonce    random
///     46  C  content  encrypted: the archive's length, UInt32, and its zlib stream
///        16  tag      of the content; it vouches for bytes 0 to 46, and for the value's place
///
/// A place is a cache's, and the entry's key. So a value that was encrypted for one place does not open at another one. Each value has
/// a key of its own, so there may be any number of values: nonces are random, and with one key two of them would be equal by
/// chance after some 2³² values.
package final class ValueSealing: Sendable {
    /// Why a value cannot be opened.
    package enum Fault: Error, Equatable {
        /// It was saved without a key.
        case notEncrypted
        /// Its key is not here; the reason.
        case locked(String)
        case damaged
        case unsupported(version: Int)
    }

    private static let magic: UInt32 = 0x5443_5356
    private static let version: UInt8 = 1
    private static let headByteCount = 46
    private static let saltRange = 18..<34
    private static let nonceRange = 34..<46
    private static let lengthByteCount = 4
    private static let leastByteCount = headByteCount + lengthByteCount + SealedPiece.overhead

    private struct Keys {
        var keys: SealingKeys
        var checks: [UInt64: UInt32]
        var askedAt: ContinuousClock.Instant
    }

    private let provider: KeyProvider
    private let place: String
    /// `nil` until they are needed.
    private let known = Mutex<Keys?>(nil)

    /// - Parameter place: the cache's; distinguishes it from all caches with the same keys.
    package init(_ provider: KeyProvider, place: String) {
        self.provider = provider
        self.place = place
    }

    /// Whether an archive is an encrypted one, which no keyed archive can be taken for.
    package static func isSealed(_ archive: [UInt8]) -> Bool {
        archive.count >= leastByteCount && ByteReader(archive).number(at: 0) == magic
    }

    // MARK: Keys

    /// Asks for the keys.
    ///
    /// - Throws: `.locked`.
    package func askForKeys() throws(StoreError) { _ = try ask() }

    private func ask() throws(StoreError) -> Keys {
        let keys = try provider.keys(for: place)
        var checks: [UInt64: UInt32] = [:]
        for key in keys.all { checks[key.identifier] = Self.check(of: key) }
        let new = Keys(keys: keys, checks: checks, askedAt: .now)
        known.withLock { $0 = new }
        return new
    }

    private func keys() throws(StoreError) -> Keys {
        if let keys = known.withLock({ $0 }) { return keys }
        return try ask()
    }

    /// How long a key that was not given is not asked for again: a value names any that it likes.
    private static let pause = Duration.seconds(1)

    private func key(_ identifier: UInt64) throws(StoreError) -> (key: SealingKey, check: UInt32)? {
        var keys = try keys()
        if keys.checks[identifier] == nil, .now - keys.askedAt >= Self.pause { keys = try ask() }
        guard let key = keys.keys.key(identifier), let check = keys.checks[identifier] else { return nil }
        return (key, check)
    }

    private static func check(of key: SealingKey) -> UInt32 {
        let bytes = KeyDerivation.key(
            from: key.bytes,
            salt: [],
            purpose: Array("typed-cache value check".utf8),
            byteCount: 4
        )
        return bytes.withUnsafeBytes { ByteReader($0).number(at: 0) }
    }

    private static func cipher(_ key: SealingKey, salt: ArraySlice<UInt8>, _ algorithm: CipherAlgorithm)
        -> AuthenticatedCipher
    {
        let purpose = Array("typed-cache value".utf8)
        return AuthenticatedCipher(
            key: KeyDerivation.key(from: key.bytes, salt: Array(salt), purpose: purpose),
            algorithm
        )
    }

    // MARK: Values

    /// Deflates and encrypts an archive for the entry of a key.
    ///
    /// - Throws: `.locked`.
    package func seal(
        _ archive: [UInt8],
        for key: StoreKey,
        _ compression: ArchiveCompression
    ) throws(StoreError) -> [UInt8] {
        let keys = try keys()
        let current = keys.keys.current
        let algorithm = CipherAlgorithm.preferred
        var head: [UInt8] = []
        head.append(bigEndian: Self.magic)
        head += [Self.version, algorithm.rawValue]
        head.append(bigEndian: current.identifier)
        head.append(bigEndian: keys.checks[current.identifier] ?? 0)
        head += Self.random(Self.saltRange.count)
        head += Self.random(Self.nonceRange.count)
        var content: [UInt8] = []
        content.append(bigEndian: UInt32(archive.count))
        content += Zlib.deflate(archive, compression)
        return head
            + SealedPiece.seal(
                content,
                by: Self.cipher(current, salt: head[Self.saltRange], algorithm),
                nonce: Self.nonce(head),
                authenticating: authenticated(head, key)[...]
            )
    }

    /// The archive of a value that was found for a key.
    ///
    /// - Parameter limit: the most bytes of an archive.
    package func open(_ value: [UInt8], for key: StoreKey, limit: Int) throws(Fault) -> [UInt8] {
        guard Self.isSealed(value) else { throw .notEncrypted }
        guard value[4] == Self.version, let algorithm = CipherAlgorithm(rawValue: value[5]) else {
            throw .unsupported(version: Int(value[4]))
        }
        let head = Array(value[..<Self.headByteCount])
        let identifier: UInt64 = ByteReader(head).number(at: 6)
        let found: (key: SealingKey, check: UInt32)?
        do throws(StoreError) { found = try self.key(identifier) } catch { throw .locked(error.reason) }
        guard let found else {
            throw .locked("it is encrypted with key \(identifier), which is not among those that were given")
        }
        guard found.check == ByteReader(head).number(at: 14) else {
            throw .locked("the key that was given as key \(identifier) is another one")
        }
        let content = SealedPiece.open(
            value[Self.headByteCount...],
            by: Self.cipher(found.key, salt: head[Self.saltRange], algorithm),
            nonce: Self.nonce(head),
            authenticating: authenticated(head, key)[...]
        )
        guard let content, content.count >= Self.lengthByteCount else { throw .damaged }
        let length: UInt32 = ByteReader(content).number(at: 0)
        do throws(InflateError) {
            return try Zlib.inflate(
                from: Self.lengthByteCount,
                count: content.count - Self.lengthByteCount,
                of: content,
                expecting: Int(length),
                limit: limit
            )
        } catch {
            throw .damaged
        }
    }

    /// The bytes that a tag vouches for besides the content. Of a place and a key each has one reading: the first ends with
    /// its length.
    private func authenticated(_ head: [UInt8], _ key: StoreKey) -> [UInt8] {
        var bytes = head
        bytes += place.utf8
        bytes.append(bigEndian: UInt32(place.utf8.count))
        bytes += key.bytes
        return bytes
    }

    private static func nonce(_ head: [UInt8]) -> Nonce {
        head.withUnsafeBytes { Nonce(UnsafeRawBufferPointer(rebasing: $0[nonceRange])) }
    }

    private static func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { Nonce.fill($0) }
        return bytes
    }
}
