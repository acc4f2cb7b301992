import Foundation

/// The uses of keys by their distances, and those of keys that were not used before.
struct DistanceCounts: Sendable, Hashable {
    /// Uses by the bytes since the key's use before: see ``DistanceScale``.
    var counts = [Double](repeating: 0, count: DistanceScale.count)
    /// All uses, those without a distance included.
    var uses = 0.0

    /// - Parameters:
    ///   - distance: `nil` for the use of a key that was not used before.
    ///   - weight: how many uses this one stands for.
    mutating func add(_ distance: Double?, weight: Double) {
        uses += weight
        if let distance { counts[DistanceScale.index(distance)] += weight }
    }

    /// Adds the counts of a later time to a share of these.
    mutating func add(_ later: DistanceCounts, toShare share: Double) {
        uses = uses * share + later.uses
        for index in counts.indices { counts[index] = counts[index] * share + later.counts[index] }
    }

    /// Corrects the counts by the true number of uses: uses that are missing, or too many, are of the keys that are
    /// used most.
    mutating func adjust(toUses trueUses: Double) {
        guard uses > 0 else { return }
        counts[0] += trueUses - uses
        uses = trueUses
    }

    mutating func scale(by factor: Double) {
        uses *= factor
        for index in counts.indices { counts[index] *= factor }
    }

    /// The share of uses that memory of a size would answer if it evicted the least recently used entry first; between
    /// 0 and 1. `nil` as long as nothing was counted.
    func hitRatio(_ byteCount: Double) -> Double? {
        guard uses > 0 else { return nil }
        var hits = 0.0
        for (index, count) in counts.enumerated() {
            let range = DistanceScale.range(index)
            guard range.lowerBound <= byteCount else { break }
            // Evenly spread in its range.
            let part = (byteCount - range.lowerBound + 1) / (range.upperBound - range.lowerBound)
            hits += count * min(1, part)
        }
        return min(max(0, hits / uses), 1)
    }
}

/// Ranges of distances in bytes: exact up to 31, then sixteen to each doubling.
enum DistanceScale {
    static let count = 720
    private static let partBits = 4

    static func index(_ distance: Double) -> Int {
        guard distance >= 1 else { return 0 }
        let distance = UInt64(min(distance.rounded(), 0x1p60))
        let exponent = 63 - distance.leadingZeroBitCount
        guard exponent >= partBits else { return Int(distance) }
        let part = Int(distance >> UInt64(exponent - partBits)) & 15
        return min(count - 1, 16 * (exponent - partBits + 1) + part)
    }

    /// The distances of an index: whole numbers from the lower bound up to, not including, the upper one.
    static func range(_ index: Int) -> Range<Double> {
        guard index >= 16 else { return Double(index)..<Double(index + 1) }
        let shift = index / 16 - 1
        let lower = Double((16 + index % 16)) * pow(2, Double(shift))
        return lower..<(lower + pow(2, Double(shift)))
    }
}
