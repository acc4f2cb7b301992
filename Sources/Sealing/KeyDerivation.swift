import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#elseif Encryption
    import CCrypto
#endif

/// Keys from keys: HKDF (RFC 5869) with HMAC-SHA256.
package enum KeyDerivation {
    /// The bytes of a hash.
    package static let hashByteCount = 32

    /// HMAC-SHA256 (RFC 2104).
    ///
    /// - Precondition: ``CipherAlgorithm/isAvailable``.
    package static func authenticationCode(key: SecretBytes, of message: [UInt8]) -> SecretBytes {
        SecretBytes(count: hashByteCount) { output in
            key.withUnsafeBytes { key in
                message.withUnsafeBytes { message in write(output, key: key, message) }
            }
        }
    }

    private static func write(
        _ output: UnsafeMutableRawBufferPointer,
        key: UnsafeRawBufferPointer,
        _ message: UnsafeRawBufferPointer
    ) {
        #if canImport(CryptoKit)
            let code = HMAC<SHA256>.authenticationCode(for: Data(message), using: SymmetricKey(data: key))
            output.copyBytes(from: Data(code))
        #elseif Encryption
            var count: UInt32 = 0
            // Without an address libcrypto would take the key of the call before.
            var none: UInt8 = 0
            let code = withUnsafeBytes(of: &none) { none in
                HMAC(
                    EVP_sha256(),
                    key.baseAddress ?? none.baseAddress,
                    Int32(key.count),
                    message.baseAddress,
                    message.count,
                    output.baseAddress,
                    &count
                )
            }
            precondition(code != nil && Int(count) == output.count, "libcrypto has no memory")
        #else
            preconditionFailure("this build cannot derive keys")
        #endif
    }

    /// A key made of another one.
    ///
    /// - Parameters:
    ///   - salt: random bytes that need not be secret; none count as 32 zeros.
    ///   - purpose: distinguishes this key from other keys of the same secret and salt.
    ///   - byteCount: 1 to 8,160.
    package static func key(
        from secret: SecretBytes,
        salt: [UInt8],
        purpose: [UInt8],
        byteCount: Int = AuthenticatedCipher.keyByteCount
    ) -> SecretBytes {
        precondition(byteCount > 0 && byteCount <= 255 * hashByteCount)
        let extracted = SecretBytes(count: hashByteCount) { output in
            secret.withUnsafeBytes { secret in
                salt.withUnsafeBytes { salt in write(output, key: salt, secret) }
            }
        }
        return SecretBytes(count: byteCount) { output in
            var block: [UInt8] = []
            defer { block.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            var done = 0
            var number: UInt8 = 1
            while done < byteCount {
                block += purpose
                block.append(number)
                let code = authenticationCode(key: extracted, of: block)
                block.withUnsafeMutableBytes { SecretBytes.wipe($0) }
                block = code.withUnsafeBytes { Array($0) }
                let count = min(block.count, byteCount - done)
                let target = UnsafeMutableRawBufferPointer(rebasing: output[done..<done + count])
                target.copyBytes(from: block[..<count])
                done += count
                number &+= 1
            }
        }
    }
}
