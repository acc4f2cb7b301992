import TestSupport
import Testing

@testable import Sealing

/// The ciphers and hashes against published answers, and against those of another implementation.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct KnownAnswerTests {
    struct Vector: Sendable, CustomStringConvertible {
        let description: String
        let algorithm: CipherAlgorithm
        let key: String
        let nonce: String
        let text: String
        let authenticated: String
        /// The encrypted text and its tag.
        let sealed: String
    }

    private static let gcmKey = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let gcmText =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let gcmSealed =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

    static let vectors = [
        Vector(
            description: "AES-256-GCM, test case 13 of the specification that NIST received",
            algorithm: .aes256GCM,
            key: String(repeating: "00", count: 32),
            nonce: String(repeating: "00", count: 12),
            text: "",
            authenticated: "",
            sealed: "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        Vector(
            description: "test case 14",
            algorithm: .aes256GCM,
            key: String(repeating: "00", count: 32),
            nonce: String(repeating: "00", count: 12),
            text: String(repeating: "00", count: 16),
            authenticated: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
        ),
        Vector(
            description: "test case 15",
            algorithm: .aes256GCM,
            key: gcmKey,
            nonce: "cafebabefacedbaddecaf888",
            text: gcmText + "1aafd255",
            authenticated: "",
            sealed: gcmSealed + "898015adb094dac5d93471bdec1a502270e3cc6c"
        ),
        Vector(
            description: "test case 16",
            algorithm: .aes256GCM,
            key: gcmKey,
            nonce: "cafebabefacedbaddecaf888",
            text: gcmText,
            authenticated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: gcmSealed + "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
        Vector(
            description: "ChaCha20-Poly1305, RFC 8439, section 2.8.2",
            algorithm: .chaCha20Poly1305,
            key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647",
            text: hexadecimal(
                Array(
                    ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
                        + "sunscreen would be it.").utf8
                )
            ),
            authenticated: "50515253c0c1c2c3c4c5c6c7",
            sealed: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
                + "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
                + "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                + "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691"
        ),
    ]

    @Test(arguments: vectors) func publishedCiphers(_ vector: Vector) throws {
        let cipher = AuthenticatedCipher(key: SecretBytes(bytes(vector.key)), vector.algorithm)
        let nonce = bytes(vector.nonce)
        let authenticated = bytes(vector.authenticated)
        let sealed = cipher.sealed(bytes(vector.text), nonce: nonce, authenticating: authenticated)
        #expect(hexadecimal(sealed) == vector.sealed)
        #expect(cipher.opened(sealed, nonce: nonce, authenticating: authenticated) == bytes(vector.text))
    }

    /// Every bit of text, tag, nonce and authenticated bytes counts, and the right bytes still open after a wrong one.
    @Test(arguments: vectors) func everyChangedBitIsRefused(_ vector: Vector) {
        let cipher = AuthenticatedCipher(key: SecretBytes(bytes(vector.key)), vector.algorithm)
        let inputs = [bytes(vector.sealed), bytes(vector.nonce), bytes(vector.authenticated)]
        for part in inputs.indices {
            for bit in 0..<inputs[part].count * 8 {
                var changed = inputs
                changed[part][bit / 8] ^= 1 << (bit % 8)
                let opened = cipher.opened(changed[0], nonce: changed[1], authenticating: changed[2])
                #expect(opened == nil, "part \(part), bit \(bit)")
            }
        }
        #expect(cipher.opened(inputs[0], nonce: inputs[1], authenticating: inputs[2]) == bytes(vector.text))
        for count in 16..<inputs[0].count {
            let short = Array(inputs[0].prefix(count))
            #expect(cipher.opened(short, nonce: inputs[1], authenticating: inputs[2]) == nil)
        }
        let other = AuthenticatedCipher(key: SecretBytes([UInt8](repeating: 7, count: 32)), vector.algorithm)
        #expect(other.opened(inputs[0], nonce: inputs[1], authenticating: inputs[2]) == nil)
    }

    /// Texts of 0 to 299 bytes by both ciphers: one code over all results, which Python's `cryptography` 48 gives as well.
    @Test func textsOfManyLengths() {
        func row(_ step: Int, of number: Int, count: Int) -> [UInt8] {
            (0..<count).map { UInt8((step * number + $0) % 256) }
        }
        var all: [UInt8] = []
        for number in 0..<300 {
            for algorithm in CipherAlgorithm.allCases {
                let cipher = AuthenticatedCipher(key: SecretBytes(row(1, of: number, count: 32)), algorithm)
                all += cipher.sealed(
                    row(3, of: number, count: number),
                    nonce: row(2, of: number, count: 12),
                    authenticating: row(5, of: number, count: number % 40)
                )
            }
        }
        let code = KeyDerivation.authenticationCode(key: SecretBytes(Array("many".utf8)), of: all)
        #expect(
            hexadecimal(code.array) == "9f78adff95ca239e07c4a836d9c17f942f753e63de4f056dbab599f5bcff3d46"
        )
    }

    /// RFC 4231, cases 1, 2 and 6.
    @Test func authenticationCodes() {
        func code(_ key: [UInt8], _ text: String) -> String {
            hexadecimal(KeyDerivation.authenticationCode(key: SecretBytes(key), of: Array(text.utf8)).array)
        }
        #expect(
            code([UInt8](repeating: 0x0b, count: 20), "Hi There")
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        )
        #expect(
            code(Array("Jefe".utf8), "what do ya want for nothing?")
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        #expect(
            code([UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First")
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    /// RFC 5869, cases 1 to 3.
    @Test func derivedKeys() {
        func key(_ secret: [UInt8], salt: [UInt8], purpose: [UInt8], count: Int) -> String {
            let key = KeyDerivation.key(
                from: SecretBytes(secret),
                salt: salt,
                purpose: purpose,
                byteCount: count
            )
            return hexadecimal(key.array)
        }
        let secret = [UInt8](repeating: 0x0b, count: 22)
        #expect(
            key(secret, salt: Array(0...12), purpose: Array(0xf0...0xf9), count: 42)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )
        #expect(
            key(Array(0...0x4f), salt: Array(0x60...0xaf), purpose: Array(0xb0...0xff), count: 82)
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        )
        #expect(
            key(secret, salt: [], purpose: [], count: 42)
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        )
    }

    /// A key is told by its number alone, wherever it is printed.
    @Test func keysArePrintedWithoutTheirBytes() throws {
        let key = try #require(SealingKey(identifier: 5, SecretBytes([UInt8](repeating: 0xab, count: 32))))
        var dumped = ""
        dump(SealingKeys(current: key), to: &dumped)
        for text in ["\(key)", "\(key.bytes)", String(reflecting: key), dumped] {
            #expect(!text.lowercased().contains("ab, ") && !text.contains("171"), "\(text)")
        }
        #expect(SealingKey(identifier: 0, key.bytes) == nil)
        #expect(SealingKey(identifier: 1, SecretBytes([UInt8](repeating: 1, count: 31))) == nil)
    }

    /// Many threads encrypt and decrypt with one cipher.
    @Test func oneCipherServesManyThreads() async {
        let cipher = AuthenticatedCipher(key: SecretBytes(Array(0..<32)), .preferred)
        await withTaskGroup(of: Bool.self) { group in
            for number in UInt8(0)..<8 {
                group.addTask {
                    (UInt8(0)..<200).allSatisfy { turn in
                        let nonce = [number, turn] + [UInt8](repeating: 0, count: 10)
                        let text = [UInt8](repeating: number, count: Int(turn) * 7)
                        let sealed = cipher.sealed(text, nonce: nonce, authenticating: nonce)
                        return cipher.opened(sealed, nonce: nonce, authenticating: nonce) == text
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

private func bytes(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
