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

    /// Uses by the bytes since the key's use before.
    var distances = DistanceCounts()
    /// For each size of ``SizeScale``.
    var sizes = [SizeCount](repeating: SizeCount(), count: SizeScale.count)

    package init(startedAt: Date) {
        self.startedAt = startedAt
        updatedAt = startedAt
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
        distances.add(later.distances, toShare: share)
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
        distances.adjust(toUses: uses)
        let most = sizes.reduce(0) { max($0, $1.uses) }
        guard most > 0 else { return }
        for index in sizes.indices {
            let missing = (uses - most) * sizes[index].uses / most
            sizes[index].uses += missing
            sizes[index].hits += missing
        }
    }

    /// Corrects the hits of the sizes by how far the keys that were simulated are from the larger sample of
    /// `distances`: in both, the hits of LRU are known.
    ///
    /// - Parameter simulated: the uses of the simulated keys, by distances in the larger sample.
    mutating func correct(by simulated: DistanceCounts) {
        for index in sizes.indices where sizes[index].uses > 0 {
            let size = SizeScale.byteCount(index)
            guard let larger = distances.hitRatio(size), let smaller = simulated.hitRatio(size) else { return }
            let hits = sizes[index].hits + (larger - smaller) * sizes[index].uses
            sizes[index].hits = min(max(0, hits), sizes[index].uses)
        }
    }

    /// Has the sampled counts stand for another number of uses.
    mutating func scale(toUses uses: Double) {
        let factor = self.uses > 0 ? uses / self.uses : 1
        self.uses = uses
        distances.scale(by: factor)
        for index in sizes.indices {
            sizes[index].uses *= factor
            sizes[index].hits *= factor
        }
    }

    // MARK: Hits by size

    /// The share of fetches that memory of a size would answer if it gave up the least recently used entry first;
    /// between 0 and 1. `nil` as long as nothing was counted.
    package func leastRecentlyUsedHitRatio(_ byteCount: Double) -> Double? { distances.hitRatio(byteCount) }

    /// The share of fetches that memory of a size would answer under the package's own policy; between 0 and 1. `nil`
    /// below the smallest size that was simulated. Between two of the sizes, as much as lies between their shares.
    package func hitRatio(_ byteCount: Double) -> Double? {
        guard let known = simulatedSizes, byteCount >= SizeScale.byteCount(known.lowerBound) * 0.999 else {
            return nil
        }
        let index = min(max(Int(log2(max(1, byteCount))), known.lowerBound), known.upperBound)
        let low = sizes[index].ratio
        guard index < known.upperBound else { return low }
        let size = SizeScale.byteCount(index)
        return low + (sizes[index + 1].ratio - low) * min(max(0, byteCount / size - 1), 1)
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
