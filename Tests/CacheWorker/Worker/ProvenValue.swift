import Foundation
import TestSupport
import TypedCache

/// A value that proves by itself that it is whole, and which key and save it belongs to.
///
/// The length and the bytes of the payload follow from key, writer and number, so a value that was torn, mixed from two
/// or made up is recognized. Most are short; one in sixteen is about 100 KiB long.
struct ProvenValue: Codable, Encoded {
    let key: String
    let writer: Int
    let number: Int
    let payload: Data

    init(key: String, identity: ValueIdentity) {
        self.key = key
        writer = identity.writer
        number = identity.number
        payload = Self.payload(key: key, identity)
    }

    var identity: ValueIdentity { ValueIdentity(writer: writer, number: number) }

    /// The fault of a value that was fetched for `key`; `nil` if it is right.
    func fault(fetchedFor key: String) -> String? {
        let expected = Self.payload(key: self.key, identity)
        if payload != expected {
            return
                "value \(identity) of \(self.key) has \(payload.count) bytes that differ from its \(expected.count)"
        }
        return self.key == key ? nil : "value \(identity) belongs to \(self.key)"
    }

    private static func payload(key: String, _ identity: ValueIdentity) -> Data {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var random = SeededGenerator(
            seed: hash ^ UInt64(truncatingIfNeeded: identity.writer) << 40
                ^ UInt64(truncatingIfNeeded: identity.number)
        )
        let byteCount =
            switch Int.random(in: 0..<16, using: &random) {
            case 0: Int.random(in: 90_000...110_000, using: &random)
            case 1...2: Int.random(in: 1_000...9_000, using: &random)
            default: Int.random(in: 0...600, using: &random)
            }
        // Half of them do not shrink, so that their files are as long.
        let wordCount = byteCount / 8 + 1
        let period = Bool.random(using: &random) ? wordCount : min(16, wordCount)
        let words = (0..<period).map { _ in random.next() }
        let bytes = (0..<wordCount).map { words[$0 % period] }.withUnsafeBytes { Array($0.prefix(byteCount)) }
        return Data(bytes)
    }
}
