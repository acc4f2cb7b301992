import ArchiveStore
import Foundation
import Sealing

/// A key that a cache's files are encrypted with: 256 random bits, and a number by which the files name it.
///
/// The bits are kept in memory that is overwritten when the last copy of this value goes, and are never printed. Bytes
/// that the key was made from are the program's to wipe.
public struct EncryptionKey: Sendable {
    let key: SealingKey

    /// The number of bytes: 32.
    public static let byteCount = AuthenticatedCipher.keyByteCount

    /// Makes a key of its bytes.
    ///
    /// - Parameters:
    ///   - identifier: Tells the key from the others of the cache; not secret, and not 0. Another key gets another number.
    ///   - bytes: 32 bytes that nobody can guess: from a random number generator, not from a password.
    /// - Returns: `nil` if the identifier is 0, or there are more or fewer bytes.
    public init?(identifier: UInt64, bytes: some Collection<UInt8>) {
        guard let key = SealingKey(identifier: identifier, SecretBytes(bytes)) else { return nil }
        self.key = key
    }

    /// The number by which the files name the key.
    public var identifier: UInt64 { key.identifier }

    /// A new key of random bits, and a random number that names it.
    ///
    /// - Returns: the key, and its bytes for a keychain or a file, since the key does not give them.
    public static func random() -> (key: EncryptionKey, bytes: [UInt8]) {
        var generator = SystemRandomNumberGenerator()
        while true {
            let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let identifier = UInt64.random(in: 1 ... .max, using: &generator)
            if let key = EncryptionKey(identifier: identifier, bytes: bytes) { return (key, bytes) }
        }
    }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
    /// The number, never the bytes.
    public var description: String { "key \(identifier)" }
    /// A mirror with the number alone, never the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["identifier": identifier]) }
}

extension DiskSettings {
    /// Whether a cache's files are encrypted, and with which keys.
    ///
    /// Entries, keys, tags, times and the index are encrypted and authenticated with AES-256-GCM, or ChaCha20-Poly1305 where
    /// the processor has no AES. Someone who has the files sees how many there are, how long they and the records in them
    /// are, and when they were written. Fetches from memory do not take longer. <doc:EncryptedCaches> has the details.
    ///
    /// On Apple platforms the system's CryptoKit does the work; elsewhere OpenSSL 3, in programs that are built with the
    /// package's trait `Encryption`. Caches of both layouts can be encrypted.
    public struct Encryption: Sendable {
        /// `nil`: the files are not encrypted.
        let provider: Provider?

        final class Provider: Sendable {
            let keys: KeyProvider
            init(_ keys: KeyProvider) { self.keys = keys }
        }

        /// For layers above, whose values are not in files.
        package var keyProvider: KeyProvider? { provider?.keys }

        /// The files are not encrypted. A cache that is encrypted is refused with `.locked`.
        public static let none = Encryption(provider: nil)

        /// The files are encrypted with the keys that `provider` gives.
        ///
        /// It is called when the cache is opened, when its directory is opened again, and when an entry has a key that was
        /// not among those that it gave, on any thread: it may block, and must not use the cache. If it throws, the cache is refused with `.locked`, and so is a cache that is not encrypted,
        /// or of which the keys are others; nothing of it is touched then.
        ///
        /// - Parameter provider: Gives the key for new entries, and others that entries which are there may have.
        public static func keys(
            _ provider: @escaping @Sendable () throws -> (current: EncryptionKey, others: [EncryptionKey])
        ) -> Encryption {
            let keys = KeyProvider {
                let (current, others) = try provider()
                return SealingKeys(current: current.key, others: others.map(\.key))
            }
            return Encryption(provider: Provider(keys))
        }

        /// The files are encrypted with one key.
        public static func key(_ key: EncryptionKey) -> Encryption { .keys { (key, []) } }
    }
}

/// Two are equal if they are copies of one.
extension DiskSettings.Encryption: Hashable {
    /// Whether both are copies of one.
    public static func == (one: Self, other: Self) -> Bool { one.provider === other.provider }

    /// Hashes the identity of the original.
    public func hash(into hasher: inout Hasher) { hasher.combine(provider.map(ObjectIdentifier.init)) }
}
