import Sealing

/// The identity of a log: random numbers that are the same in the headers of all its segments.
struct LogIdentity: Sendable, Equatable {
    /// With which the checksums of records begin.
    var seed: UInt32
    /// With the seed, the salt of the keys of its segments; 0 where nothing is encrypted.
    var salt: UInt64

    /// The key of a segment.
    func segmentKey(_ number: UInt32, of key: SealingKey) -> SecretBytes {
        var salt: [UInt8] = []
        salt.append(bigEndian: seed)
        salt.append(bigEndian: self.salt)
        var purpose = Array("typed-cache segment ".utf8)
        purpose.append(bigEndian: number)
        return KeyDerivation.key(from: key.bytes, salt: salt, purpose: purpose)
    }

    /// The ciphers that the records of a segment may have been encrypted with, if its header is damaged.
    func segmentCiphers(_ number: UInt32, of keys: SealingKeys) -> [AuthenticatedCipher] {
        keys.all.flatMap { key in
            let derived = segmentKey(number, of: key)
            return CipherAlgorithm.allCases.map { AuthenticatedCipher(key: derived, $0) }
        }
    }
}
