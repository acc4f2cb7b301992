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

    /// The steps of the lowest rate that samples a hash.
    static func steps(of hash: UInt64) -> Int {
        let zeros = hash.leadingZeroBitCount
        let steps = 2 * zeros
        return min(mostSteps, SamplingRate(steps: steps + 1).samples(hash) ? steps + 1 : steps)
    }

    var lower: SamplingRate { SamplingRate(steps: steps + 1) }
}

/// The sizes of memory for which hits are counted: 1 byte, and each larger than the one before by the square root of two.
enum SizeScale {
    /// The largest is above 10¹⁴ bytes.
    static let count = 96

    static func byteCount(_ index: Int) -> Double { pow(2, Double(index) / 2) }

    /// The first size that is at least `byteCount`, or the last one.
    static func index(atLeast byteCount: Double) -> Int {
        let index = self.index(atMost: byteCount)
        return Self.byteCount(index) < byteCount ? min(count - 1, index + 1) : index
    }

    /// The last size that is at most `byteCount`, or the first one.
    static func index(atMost byteCount: Double) -> Int {
        guard byteCount > 1 else { return 0 }
        // The logarithm of a size may come out a little below the whole number that it is.
        let index = min(count - 1, Int(2 * log2(byteCount)))
        return index + 1 < count && Self.byteCount(index + 1) <= byteCount ? index + 1 : index
    }
}
