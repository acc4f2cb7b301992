import Foundation

/// The share of all keys that is sampled: a key is in the sample if its hash lies below a threshold, so the sample has
/// each use of its keys, and no use of the others (SHARDS: Waldspurger and others, FAST 2015).
///
/// Rates are powers of the square root of one half.
struct SamplingRate: Sendable, Hashable {
    /// 0 is the whole.
    private(set) var steps: Int

    /// No rate is lower.
    static let mostSteps = 64

    init(steps: Int = 0) { self.steps = min(max(0, steps), Self.mostSteps) }

    /// Between 0 and 1.
    var share: Double { pow(2, -Double(steps) / 2) }

    /// Hashes below it are sampled.
    var threshold: UInt64 { steps == 0 ? .max : UInt64(share * 0x1p64) }

    func samples(_ hash: UInt64) -> Bool { steps == 0 || hash < threshold }

    var lower: SamplingRate { SamplingRate(steps: steps + 1) }
}

/// The sizes of memory for which hits are counted: 1 byte, and each twice as large as the one before.
enum SizeScale {
    /// The largest is above 10¹⁴ bytes.
    static let count = 48

    static func byteCount(_ index: Int) -> Double { Double(1 << index) }

    /// The first size that is at least `byteCount`.
    static func index(atLeast byteCount: Double) -> Int {
        guard byteCount > 1 else { return 0 }
        let whole = UInt64(min(byteCount.rounded(.up), 0x1p60))
        return min(count - 1, UInt64.bitWidth - (whole - 1).leadingZeroBitCount)
    }
}
