/// The hash of a key's bytes: fast, and with a seed of its own in each process, so that an attacker cannot choose keys
/// that share a hash.
///
/// Sixteen bytes at a time are mixed by a multiplication to twice the width, and the halves of the product are folded
/// together. `Hasher` takes several times as long for a key of 24 bytes.
enum KeyHash {
    private struct Seeds: Sendable {
        let start = UInt64.random(in: 0...UInt64.max)
        let step = UInt64.random(in: 0...UInt64.max)
        let last = UInt64.random(in: 0...UInt64.max)
        let end = UInt64.random(in: 0...UInt64.max) | 1
    }

    private static let seeds = Seeds()

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let seeds = seeds
        let count = bytes.count
        var state = fold(UInt64(count) ^ seeds.start, seeds.end)
        var position = 0
        while count - position > 16 {
            state = fold(load(bytes, position) ^ seeds.step, load(bytes, position + 8) ^ state)
            position += 16
        }
        // The last one to sixteen bytes, as two words that may overlap.
        let left: UInt64
        let right: UInt64
        switch count - position {
        case 8...:
            left = load(bytes, position)
            right = load(bytes, count - 8)
        case 4...:
            left = UInt64(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            right = UInt64(bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        case 1...:
            left = UInt64(bytes[position]) << 8 | UInt64(bytes[position + (count - position) / 2])
            right = UInt64(bytes[count - 1])
        default: (left, right) = (0, 0)
        }
        return fold(fold(left ^ seeds.last, right ^ state), seeds.end)
    }

    /// The first 32 bytes; zeros where there are fewer.
    static func start(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        (word(bytes, 0), word(bytes, 8), word(bytes, 16), word(bytes, 24))
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
        let left = bytes.count - position
        if left >= 8 { return load(bytes, position) }
        if left <= 0 { return 0 }
        // A word that ends where the bytes end holds some that belong to the word before.
        if bytes.count >= 8 { return load(bytes, bytes.count - 8) >> (8 * UInt64(8 - left)) }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func load(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
