/// SipHash-2-4 with 128-bit output (Aumasson and Bernstein, `siphash.c` of the reference implementation).
///
/// Fixed keys, since names on disk must be the same for every process: it spreads keys over names, and no way
/// is known to find two keys of one name in less than 2^64 steps. Nothing but speed rests on that.
struct SipHash128 {
    let high: UInt64
    let low: UInt64

    /// - Parameter key: 16 bytes as two little-endian numbers, as the reference takes them.
    init(_ bytes: [UInt8], key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)) {
        var v0 = 0x736f_6d65_7073_6575 ^ key.0
        var v1 = 0x646f_7261_6e64_6f6d ^ key.1 ^ 0xee
        var v2 = 0x6c79_6765_6e65_7261 ^ key.0
        var v3 = 0x7465_6462_7974_6573 ^ key.1

        func rounds(_ count: Int) {
            for _ in 0..<count {
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
        }
        func take(_ word: UInt64) {
            v3 ^= word
            rounds(2)
            v0 ^= word
        }

        let words = bytes.count / 8
        for word in 0..<words {
            take((0..<8).reduce(0) { $0 | UInt64(bytes[word * 8 + $1]) << ($1 * 8) })
        }
        let end = UInt64(bytes.count) << 56
        take((words * 8..<bytes.count).reduce(end) { $0 | UInt64(bytes[$1]) << ($1 % 8 * 8) })
        v2 ^= 0xee
        rounds(4)
        high = (v0 ^ v1 ^ v2 ^ v3).byteSwapped
        v1 ^= 0xdd
        rounds(4)
        low = (v0 ^ v1 ^ v2 ^ v3).byteSwapped
    }
}
