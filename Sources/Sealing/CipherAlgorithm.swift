#if !canImport(CryptoKit) && Encryption
    import CCrypto
#endif

/// A cipher that also authenticates, with a key of 32 bytes, a nonce of 12 and a tag of 16. The numbers stand in files.
package enum CipherAlgorithm: UInt8, CaseIterable, Sendable {
    /// AES-256-GCM (NIST SP 800-38D).
    case aes256GCM = 1
    /// ChaCha20-Poly1305 (RFC 8439).
    case chaCha20Poly1305

    /// The one for new data: AES where the processor helps.
    package static let preferred: CipherAlgorithm = {
        #if !canImport(CryptoKit) && Encryption
            crypto_has_aes() != 0 ? .aes256GCM : .chaCha20Poly1305
        #else
            .aes256GCM
        #endif
    }()

    /// Whether this build can encrypt and decrypt: on Apple platforms, and elsewhere with the package's trait.
    package static var isAvailable: Bool {
        #if canImport(CryptoKit) || Encryption
            true
        #else
            false
        #endif
    }
}
