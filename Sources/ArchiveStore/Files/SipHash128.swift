/// SipHash-2-4 with 128-bit output (Aumasson and Bernstein, `siphash.c` of the reference implementation).
///
/// Fixed keys, since names on disk must be the same for every process: it spreads keys over names, and no way
/// is known to find two keys of one name in less than 2^64 steps. If there were two, a packed store would keep one of
/// them; a file store keeps both.
struct SipHash128 {
    let high: UInt64
    let low: UInt64

    /// Unsafe code, and why it is sound: words are loaded at offsets of at least 8 before the end.
    ///
    /// - Parameter key: 16 bytes as two little-endian numbers, as the reference takes them.
    init(_ bytes: [UInt8], key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)) {
        self = bytes.withUnsafeBytes { bytes in
            var state = State(key)
            let wordEnd = bytes.count & ~7
            for offset in stride(from: 0, to: wordEnd, by: 8) {
                state.take(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            var last = UInt64(bytes.count) << 56
            for position in wordEnd..<bytes.count { last |= UInt64(bytes[position]) << (position % 8 * 8) }
            state.take(last)
            state.v2 ^= 0xee
            let high = state.finish()
            state.v1 ^= 0xdd
            return SipHash128(high: high, low: state.finish())
        }
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(_ key: (UInt64, UInt64)) {
            v0 = 0x736f_6d65_7073_6575 ^ key.0
            v1 = 0x646f_7261_6e64_6f6d ^ key.1 ^ 0xee
            v2 = 0x6c79_6765_6e65_7261 ^ key.0
            v3 = 0x7465_6462_7974_6573 ^ key.1
        }

        mutating func round() {
            v0 &+= v1
            v1 = v1 << 13 | v1 >> 51
            v1 ^= v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = v3 << 16 | v3 >> 48
            v3 ^= v2
            v0 &+= v3
            v3 = v3 << 21 | v3 >> 43
            v3 ^= v0
            v2 &+= v1
            v1 = v1 << 17 | v1 >> 47
            v1 ^= v2
            v2 = v2 << 32 | v2 >> 32
        }

        mutating func take(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        /// One half of the hash.
        mutating func finish() -> UInt64 {
            for _ in 0..<4 { round() }
            return (v0 ^ v1 ^ v2 ^ v3).byteSwapped
        }
    }
}
