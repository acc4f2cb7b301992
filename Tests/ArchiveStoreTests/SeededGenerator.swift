@testable import ArchiveStore

/// SplitMix64: the same numbers for the same seed, on every platform.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) {
        state = UInt64(seed)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// Bytes of a length between 0 and `limit`, mostly short; of few or of all values.
    mutating func archive(upTo limit: Int = 70_000) -> [UInt8] {
        let count = Int.random(in: 0...(limit >> Int.random(in: 0...10, using: &self)), using: &self)
        let values: ClosedRange<UInt8> = Bool.random(using: &self) ? 0...3 : 0...255
        return (0..<count).map { _ in UInt8.random(in: values, using: &self) }
    }
}
