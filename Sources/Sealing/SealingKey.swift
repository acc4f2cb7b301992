/// A key of 256 bits, with the number by which files name it.
package struct SealingKey: Sendable {
    /// Not 0, which stands for no key.
    package let identifier: UInt64
    package let bytes: SecretBytes

    /// `nil` if the identifier is 0, or the key has not 32 bytes.
    package init?(identifier: UInt64, _ bytes: SecretBytes) {
        guard identifier != 0, bytes.count == AuthenticatedCipher.keyByteCount else { return nil }
        self.identifier = identifier
        self.bytes = bytes
    }

    /// The key with the same number for the files of one cache.
    ///
    /// - Precondition: ``CipherAlgorithm/isAvailable``.
    package func bound(toCache name: String) -> SealingKey {
        SealingKey(self, KeyDerivation.key(from: bytes, salt: [], purpose: Array("typed-cache cache \(name)".utf8)))
    }

    private init(_ key: SealingKey, _ bytes: SecretBytes) {
        (identifier, self.bytes) = (key.identifier, bytes)
    }
}

/// The keys that a store has: one for new data, and others for data that is there.
package struct SealingKeys: Sendable {
    package var current: SealingKey
    /// Those of former data, in any order.
    package var others: [SealingKey]

    package init(current: SealingKey, others: [SealingKey] = []) {
        self.current = current
        self.others = others
    }

    /// The key with an identifier; `nil` if it is not among these.
    package func key(_ identifier: UInt64) -> SealingKey? { all.first { $0.identifier == identifier } }

    package var all: [SealingKey] { [current] + others }

    package func map(_ transform: (SealingKey) -> SealingKey) -> SealingKeys {
        SealingKeys(current: transform(current), others: others.map(transform))
    }
}
