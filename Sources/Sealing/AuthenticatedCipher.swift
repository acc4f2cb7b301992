import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#elseif Encryption
    import CCrypto
    import Synchronization
#endif

/// Encrypts and decrypts in place, with one key.
///
/// No two calls of ``seal(_:nonce:authenticating:tag:)`` with one key may have the same nonce.
package final class AuthenticatedCipher: Sendable {
    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    private let key: SecretBytes
    private let algorithm: CipherAlgorithm
    #if !canImport(CryptoKit) && Encryption
        /// Contexts that are not in use, with the key set up.
        private let sealing = Mutex<[CipherContext]>([])
        private let opening = Mutex<[CipherContext]>([])
        /// How many idle contexts are kept for each direction.
        private static let mostIdle = 4
    #endif

    /// - Precondition: the key has 32 bytes, and ``CipherAlgorithm/isAvailable``.
    package init(key: SecretBytes, _ algorithm: CipherAlgorithm) {
        precondition(key.count == Self.keyByteCount && CipherAlgorithm.isAvailable)
        self.key = key
        self.algorithm = algorithm
    }

    /// Encrypts `bytes` in place, and writes the tag, which vouches for them and for `authenticated`.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - tag: room for 16 bytes.
    package func seal(
        _ bytes: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer,
        authenticating authenticated: UnsafeRawBufferPointer,
        tag: UnsafeMutableRawBufferPointer
    ) {
        precondition(nonce.count == Self.nonceByteCount && tag.count == Self.tagByteCount)
        #if canImport(CryptoKit)
            sealByCryptoKit(bytes, nonce: nonce, authenticating: authenticated, tag: tag)
        #elseif Encryption
            let context = sealing.withLock { $0.popLast() } ?? CipherContext(algorithm, key, seals: true)
            context.seal(bytes, nonce: nonce, authenticating: authenticated, tag: tag)
            sealing.withLock { if $0.count < Self.mostIdle { $0.append(context) } }
        #else
            preconditionFailure("this build cannot encrypt")
        #endif
    }

    /// Decrypts `bytes` in place.
    ///
    /// - Parameters: as they were given to ``seal(_:nonce:authenticating:tag:)``.
    /// - Returns: whether all is as it was sealed; if not, `bytes` are zeros.
    package func open(
        _ bytes: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer,
        authenticating authenticated: UnsafeRawBufferPointer,
        tag: UnsafeRawBufferPointer
    ) -> Bool {
        guard nonce.count == Self.nonceByteCount, tag.count == Self.tagByteCount else { return false }
        var isOpen = false
        #if canImport(CryptoKit)
            isOpen = openByCryptoKit(bytes, nonce: nonce, authenticating: authenticated, tag: tag)
        #elseif Encryption
            let context = opening.withLock { $0.popLast() } ?? CipherContext(algorithm, key, seals: false)
            isOpen = context.open(bytes, nonce: nonce, authenticating: authenticated, tag: tag)
            opening.withLock { if $0.count < Self.mostIdle { $0.append(context) } }
        #endif
        if !isOpen, bytes.count > 0 { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
        return isOpen
    }

    #if canImport(CryptoKit)
        private func sealByCryptoKit(
            _ bytes: UnsafeMutableRawBufferPointer,
            nonce: UnsafeRawBufferPointer,
            authenticating authenticated: UnsafeRawBufferPointer,
            tag: UnsafeMutableRawBufferPointer
        ) {
            let key = key.withUnsafeBytes { SymmetricKey(data: $0) }
            do {
                let sealed: (ciphertext: Data, tag: Data)
                switch algorithm {
                case .aes256GCM:
                    let box = try AES.GCM.seal(
                        Data(bytes),
                        using: key,
                        nonce: AES.GCM.Nonce(data: Data(nonce)),
                        authenticating: Data(authenticated)
                    )
                    sealed = (box.ciphertext, box.tag)
                case .chaCha20Poly1305:
                    let box = try ChaChaPoly.seal(
                        Data(bytes),
                        using: key,
                        nonce: ChaChaPoly.Nonce(data: Data(nonce)),
                        authenticating: Data(authenticated)
                    )
                    sealed = (box.ciphertext, box.tag)
                }
                bytes.copyBytes(from: sealed.ciphertext)
                tag.copyBytes(from: sealed.tag)
            } catch {
                preconditionFailure("CryptoKit refuses a key or nonce of the right length")
            }
        }

        private func openByCryptoKit(
            _ bytes: UnsafeMutableRawBufferPointer,
            nonce: UnsafeRawBufferPointer,
            authenticating authenticated: UnsafeRawBufferPointer,
            tag: UnsafeRawBufferPointer
        ) -> Bool {
            let key = key.withUnsafeBytes { SymmetricKey(data: $0) }
            do {
                let opened: Data
                switch algorithm {
                case .aes256GCM:
                    let box = try AES.GCM.SealedBox(
                        nonce: AES.GCM.Nonce(data: Data(nonce)),
                        ciphertext: Data(bytes),
                        tag: Data(tag)
                    )
                    opened = try AES.GCM.open(box, using: key, authenticating: Data(authenticated))
                case .chaCha20Poly1305:
                    let box = try ChaChaPoly.SealedBox(
                        nonce: ChaChaPoly.Nonce(data: Data(nonce)),
                        ciphertext: Data(bytes),
                        tag: Data(tag)
                    )
                    opened = try ChaChaPoly.open(box, using: key, authenticating: Data(authenticated))
                }
                bytes.copyBytes(from: opened)
                return true
            } catch {
                return false
            }
        }
    #endif
}
