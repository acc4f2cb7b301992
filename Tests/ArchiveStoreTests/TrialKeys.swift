import Sealing

@testable import ArchiveStore

/// Keys for tests.
enum TrialKeys {
    static let one = key(1)
    static let two = key(2)

    /// The key with an identifier; each variant of each has other bytes.
    static func key(_ identifier: UInt64, variant: UInt8 = 0) -> SealingKey {
        let bytes = (UInt8(0)..<32).map { $0 &* 7 ^ UInt8(truncatingIfNeeded: identifier) ^ variant << 4 }
        guard let key = SealingKey(identifier: identifier, SecretBytes(bytes)) else {
            preconditionFailure("the key is one")
        }
        return key
    }
}

extension KeyProvider {
    /// A provider of these keys.
    static func of(_ current: SealingKey, _ others: SealingKey...) -> KeyProvider {
        KeyProvider { SealingKeys(current: current, others: others) }
    }
}
