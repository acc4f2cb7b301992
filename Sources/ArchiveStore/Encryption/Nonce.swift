import Foundation
import Sealing

/// The 12 bytes that tell one use of a key from each other one, drawn at random.
///
/// The last bit is not random: it is 0 for a head, and 1 for the payload of the same record.
struct Nonce: Sendable {
    static let byteCount = AuthenticatedCipher.nonceByteCount
    private var words: (UInt64, UInt32)

    /// From the system each time: numbers that a process keeps at hand would be used twice by a machine that is copied with
    /// its memory.
    static func random(_ layer: FileLayer) -> Nonce {
        var random: (UInt64, UInt64) = (0, 0)
        if let world = layer.world {
            random = (world.randomNumber(), world.randomNumber())
        } else {
            withUnsafeMutableBytes(of: &random) { fill($0) }
        }
        return Nonce(words: (random.0, UInt32(truncatingIfNeeded: random.1)))
    }

    /// Unsafe code, and why it is sound: the system writes as many bytes as there are.
    static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        #if canImport(Darwin)
            arc4random_buf(bytes.baseAddress, bytes.count)
        #else
            precondition(getentropy(bytes.baseAddress, bytes.count) == 0, "the system has no random numbers")
        #endif
    }

    /// Random bytes, up to 256.
    static func randomBytes(_ count: Int, _ layer: FileLayer) -> [UInt8] {
        guard let world = layer.world else {
            return [UInt8](filling: count) { bytes in
                fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
                return count
            }
        }
        var bytes: [UInt8] = []
        while bytes.count < count { bytes.append(bigEndian: world.randomNumber()) }
        return Array(bytes.prefix(count))
    }

    /// As it stands in a file.
    init(_ bytes: UnsafeRawBufferPointer) {
        let fields = ByteReader(bytes)
        words = (fields.number(at: 0), fields.number(at: 8))
    }

    private init(words: (UInt64, UInt32)) { self.words = (words.0, words.1 & ~1) }

    /// The one for the payload.
    var forPayload: Nonce {
        var other = self
        other.words.1 |= 1
        return other
    }

    /// Numbers in their order: for the parts of a file that has a key of its own.
    init(part: UInt32) { words = (0, part) }

    /// Unsafe code, and why it is sound: the buffer has 12 bytes, and the stores are checked.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
            let fields = ByteWriter(bytes)
            fields.store(words.0, at: 0)
            fields.store(words.1, at: 8)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }
}
