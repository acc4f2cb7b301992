import Foundation

/// How a cache is used, as far as its advice on sizes needs it: the distances between uses of a key, and the hits of
/// miniature caches of several sizes. Says nothing about single keys.
///
/// Counts are of all uses, estimated from the sampled ones. Those of several processes, and of several runs, add up;
/// older ones fade by half every week.
package struct UseProfile: Sendable, Hashable {
    /// When the first use was counted, and the last one.
    package var startedAt: Date
    package var updatedAt: Date
    /// The number of fetches, faded, not sampled.
    package var uses = 0.0
    /// Those that were answered from memory.
    package var memoryHits = 0.0
    /// The limit of memory at the last save; `nil` for none.
    package var byteLimit: Int?
    /// How many keys were known at the last save, and their bytes: estimates.
    package var keyCount = 0.0
    package var byteCount = 0.0

    /// Uses by the bytes since the key's use before: see ``DistanceScale``.
    var distances = [Double](repeating: 0, count: DistanceScale.count)
    /// The sampled uses of `distances`, those of keys that were not used before included.
    var sampledUses = 0.0
    /// For each size of ``SizeScale``.
    var sizes = [SizeCount](repeating: SizeCount(), count: SizeScale.count)

    package init(startedAt: Date) {
        self.startedAt = startedAt
        updatedAt = startedAt
    }

    // MARK: Counting

    /// Counts a fetch by its distance, and makes its key the last one used.
    ///
    /// - Parameter byteCount: of the key's value; `nil` if there is none: then the key is removed.
    mutating func count(_ hash: UInt64, _ byteCount: Int?, in order: inout ReuseDistances) {
        let weight = 1 / order.rate.share
        sampledUses += weight
        guard let byteCount else { return order.remove(hash) }
        if let distance = order.distance(hash) { distances[DistanceScale.index(distance)] += weight }
        order.use(hash, byteCount: byteCount)
    }

    // MARK: Joining

    static var halfLife: TimeInterval { 7 * 86_400 }

    /// Adds the counts of a later time, after these have faded by the time between.
    mutating func add(_ later: UseProfile) {
        let age = min(max(0, later.updatedAt.timeIntervalSince(updatedAt)), 100 * Self.halfLife)
        let share = pow(2, -age / Self.halfLife)
        var later = later
        later.reach(topSize)
        reach(later.topSize)
        uses = uses * share + later.uses
        memoryHits = memoryHits * share + later.memoryHits
        sampledUses = sampledUses * share + later.sampledUses
        for index in distances.indices { distances[index] = distances[index] * share + later.distances[index] }
        for index in sizes.indices {
            sizes[index].uses = sizes[index].uses * share + later.sizes[index].uses
            sizes[index].hits = sizes[index].hits * share + later.sizes[index].hits
        }
        startedAt = min(startedAt, later.startedAt)
        updatedAt = max(updatedAt, later.updatedAt)
        (byteLimit, keyCount, byteCount) = (later.byteLimit, later.keyCount, later.byteCount)
    }

    /// The largest size with counts.
    private var topSize: Int? { sizes.lastIndex { $0.uses > 0 } }

    /// Gives the sizes up to `size` the counts of the largest one that has some: that one has never given up an entry.
    private mutating func reach(_ size: Int?) {
        guard let size, let top = topSize, top < size else { return }
        for index in (top + 1)...size { sizes[index] = sizes[top] }
    }

    /// Corrects the sampled counts by the true number of uses: a sample with too few or too many uses has too few or
    /// too many of the keys that are used most, which are hits at nearly every size (SHARDS-adj).
    mutating func adjust(toUses uses: Double) {
        self.uses = uses
        guard sampledUses > 0 else { return }
        distances[0] += uses - sampledUses
        sampledUses = uses
        let most = sizes.reduce(0) { max($0, $1.uses) }
        guard most > 0 else { return }
        for index in sizes.indices {
            let missing = (uses - most) * sizes[index].uses / most
            sizes[index].uses += missing
            sizes[index].hits += missing
        }
    }

    // MARK: Hits by size

    /// The share of fetches that memory of a size would answer if it gave up the least recently used entry first;
    /// between 0 and 1. `nil` as long as nothing was counted.
    package func leastRecentlyUsedHitRatio(_ byteCount: Double) -> Double? {
        guard sampledUses > 0 else { return nil }
        var hits = 0.0
        for (index, count) in distances.enumerated() {
            let range = DistanceScale.range(index)
            guard range.lowerBound <= byteCount else { break }
            // Evenly spread in its range.
            let part = (byteCount - range.lowerBound + 1) / (range.upperBound - range.lowerBound)
            hits += count * min(1, part)
        }
        return min(max(0, hits / sampledUses), 1)
    }

    /// The share of fetches that memory of a size would answer under the package's own policy; between 0 and 1. `nil`
    /// below the smallest size that was simulated. Between two of the sizes, as much as lies between their shares.
    package func hitRatio(_ byteCount: Double) -> Double? {
        guard let known = simulatedSizes, byteCount >= SizeScale.byteCount(known.lowerBound) * 0.999 else {
            return nil
        }
        let position = min(max(2 * log2(max(1, byteCount)), Double(known.lowerBound)), Double(known.upperBound))
        let index = Int(position)
        let low = sizes[index].ratio
        guard index < known.upperBound else { return low }
        return low + (sizes[index + 1].ratio - low) * (position - Double(index))
    }

    /// The sizes that were simulated for the greater part of all uses.
    var simulatedSizes: ClosedRange<Int>? {
        let most = sizes.reduce(0) { max($0, $1.uses) }
        guard most > 0, let top = topSize else { return nil }
        var lowest = top
        while lowest > 0, sizes[lowest - 1].uses > most / 2 { lowest -= 1 }
        return lowest...top
    }

    /// The shares at a size; `nil` below the smallest simulated one.
    func point(_ byteCount: Double) -> SizeAdvice.Point? {
        guard let hitRatio = hitRatio(byteCount), let recent = leastRecentlyUsedHitRatio(byteCount) else {
            return nil
        }
        return SizeAdvice.Point(
            byteCount: Int(byteCount.rounded()),
            hitRatio: hitRatio,
            leastRecentlyUsed: recent
        )
    }

    /// The share of fetches that memory answered, 0 to 1.
    package var measuredHitRatio: Double { uses > 0 ? min(1, memoryHits / uses) : 0 }
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
