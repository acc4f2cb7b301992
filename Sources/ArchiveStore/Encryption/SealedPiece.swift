import Sealing

/// Bytes that are encrypted in one piece, with their tag after them.
enum SealedPiece {
    /// By how many bytes a piece is longer than its content.
    static let overhead = AuthenticatedCipher.tagByteCount

    /// Unsafe code, and why it is sound: the parts of a buffer are taken at lengths that were checked.
    static func seal(
        _ content: [UInt8],
        by cipher: AuthenticatedCipher,
        nonce: Nonce,
        authenticating authenticated: ArraySlice<UInt8> = []
    ) -> [UInt8] {
        var bytes = content + [UInt8](repeating: 0, count: overhead)
        bytes.withUnsafeMutableBytes { bytes in
            let tag = UnsafeMutableRawBufferPointer(rebasing: bytes[content.count...])
            let text = UnsafeMutableRawBufferPointer(rebasing: bytes[..<content.count])
            nonce.withUnsafeBytes { nonce in
                authenticated.withUnsafeBytes {
                    cipher.seal(text, nonce: nonce, authenticating: $0, tag: tag)
                }
            }
        }
        return bytes
    }

    /// The content of a piece; `nil` if it is not as it was sealed.
    static func open(
        _ piece: ArraySlice<UInt8>,
        by cipher: AuthenticatedCipher,
        nonce: Nonce,
        authenticating authenticated: ArraySlice<UInt8> = []
    ) -> [UInt8]? {
        guard piece.count >= overhead else { return nil }
        var content = Array(piece.dropLast(overhead))
        let isOpen = content.withUnsafeMutableBytes { content in
            piece.suffix(overhead).withUnsafeBytes { tag in
                nonce.withUnsafeBytes { nonce in
                    authenticated.withUnsafeBytes {
                        cipher.open(content, nonce: nonce, authenticating: $0, tag: tag)
                    }
                }
            }
        }
        return isOpen ? content : nil
    }
}
