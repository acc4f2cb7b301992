#if !canImport(CryptoKit) && Encryption
    import CCrypto

    /// A context of libcrypto with a key, for one direction. To make one takes longer than to encrypt a small record with it.
    ///
    /// Unsafe code, and why it is sound: the context is made in `init` and freed in `deinit` by the same object, which
    /// wipes its key; libcrypto writes as many bytes as it reads, to where it reads them.
    ///
    /// `@unchecked Sendable`: the guard is `AuthenticatedCipher`, which lends it to one caller at a time.
    final class CipherContext: @unchecked Sendable {
        private let context: OpaquePointer
        private static let aes = Fetched("AES-256-GCM")
        private static let chaCha = Fetched("ChaCha20-Poly1305")
        /// The most bytes of one call, whose counts are 32-bit integers.
        private static let mostBytes = 1 << 30

        /// A cipher as libcrypto has it: looked up by name once. `@unchecked Sendable`: libcrypto never changes it.
        private final class Fetched: @unchecked Sendable {
            let cipher: OpaquePointer

            init(_ name: String) {
                guard let found = EVP_CIPHER_fetch(nil, name, nil) else {
                    preconditionFailure("libcrypto has no \(name)")
                }
                cipher = found
            }
        }

        init(_ algorithm: CipherAlgorithm, _ key: SecretBytes, seals: Bool) {
            let cipher =
                switch algorithm {
                case .aes256GCM: Self.aes.cipher
                case .chaCha20Poly1305: Self.chaCha.cipher
                }
            guard let made = EVP_CIPHER_CTX_new() else { preconditionFailure("libcrypto has no memory") }
            context = made
            let isSet = key.withUnsafeBytes { key in
                EVP_CipherInit_ex2(context, cipher, key.baseAddress, nil, seals ? 1 : 0, nil)
            }
            precondition(isSet == 1, "libcrypto has no memory")
        }

        deinit { EVP_CIPHER_CTX_free(context) }

        func seal(
            _ bytes: UnsafeMutableRawBufferPointer,
            nonce: UnsafeRawBufferPointer,
            authenticating authenticated: UnsafeRawBufferPointer,
            tag: UnsafeMutableRawBufferPointer
        ) {
            var isDone = begin(nonce, authenticated) && transform(bytes) && finish()
            let count = Int32(tag.count)
            isDone =
                isDone && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, count, tag.baseAddress) == 1
            precondition(isDone, "libcrypto cannot encrypt")
        }

        func open(
            _ bytes: UnsafeMutableRawBufferPointer,
            nonce: UnsafeRawBufferPointer,
            authenticating authenticated: UnsafeRawBufferPointer,
            tag: UnsafeRawBufferPointer
        ) -> Bool {
            guard begin(nonce, authenticated), transform(bytes) else { return false }
            let expected = UnsafeMutableRawPointer(mutating: tag.baseAddress)
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), expected) == 1 else {
                return false
            }
            return finish()
        }

        private func begin(_ nonce: UnsafeRawBufferPointer, _ authenticated: UnsafeRawBufferPointer) -> Bool {
            guard EVP_CipherInit_ex2(context, nil, nil, nonce.baseAddress, -1, nil) == 1 else { return false }
            var count: Int32 = 0
            if authenticated.isEmpty { return true }
            return EVP_CipherUpdate(
                context,
                nil,
                &count,
                authenticated.baseAddress,
                Int32(authenticated.count)
            ) == 1
        }

        private func transform(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(Self.mostBytes))
                var count: Int32 = 0
                guard
                    EVP_CipherUpdate(context, piece.baseAddress, &count, piece.baseAddress, Int32(piece.count))
                        == 1,
                    Int(count) == piece.count
                else { return false }
                rest = rest.dropFirst(piece.count)
            }
            return true
        }

        private func finish() -> Bool {
            var last: (UInt64, UInt64) = (0, 0)
            var count: Int32 = 0
            return withUnsafeMutableBytes(of: &last) { EVP_CipherFinal_ex(context, $0.baseAddress, &count) } == 1
        }
    }
#endif
