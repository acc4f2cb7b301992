import Sealing

extension AuthenticatedCipher {
    /// The encrypted text, and its tag.
    func sealed(_ text: [UInt8], nonce: [UInt8], authenticating authenticated: [UInt8]) -> [UInt8] {
        var text = text
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        text.withUnsafeMutableBytes { text in
            tag.withUnsafeMutableBytes { tag in
                nonce.withUnsafeBytes { nonce in
                    authenticated.withUnsafeBytes {
                        seal(text, nonce: nonce, authenticating: $0, tag: tag)
                    }
                }
            }
        }
        return text + tag
    }

    /// The text; `nil` if it is not as it was sealed. Then no byte of it is to be had.
    func opened(_ sealed: [UInt8], nonce: [UInt8], authenticating authenticated: [UInt8]) -> [UInt8]? {
        var text = Array(sealed.dropLast(Self.tagByteCount))
        let isOpen = text.withUnsafeMutableBytes { text in
            sealed.suffix(Self.tagByteCount).withUnsafeBytes { tag in
                nonce.withUnsafeBytes { nonce in
                    authenticated.withUnsafeBytes {
                        open(text, nonce: nonce, authenticating: $0, tag: tag)
                    }
                }
            }
        }
        precondition(isOpen || text.allSatisfy { $0 == 0 })
        return isOpen ? text : nil
    }
}

extension SecretBytes {
    /// A copy that tests compare.
    var array: [UInt8] { withUnsafeBytes { Array($0) } }
}
