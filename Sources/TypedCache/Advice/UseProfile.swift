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
            sizes[index].gain = sizes[index].gain * share + later.sizes[index].gain
        }
        startedAt = min(startedAt, later.startedAt)
        updatedAt = max(updatedAt, later.updatedAt)
        (byteLimit, keyCount, byteCount) = (later.byteLimit, later.keyCount, later.byteCount)
    }

    /// The largest size with counts.
    private var topSize: Int? { sizes.lastIndex { $0.uses > 0 } }

    /// Gives the sizes up to `size` the counts of the largest one that has some: that one has never evicted an entry.
    private mutating func reach(_ size: Int?) {
        guard let size, let top = topSize, top < size else { return }
        for index in (top + 1)...size { sizes[index] = sizes[top] }
    }

    /// Corrects the sampled counts by the true number of uses: a sample with too few or too many uses has too few or
    /// too many of the keys that are used most, which are hits at nearly every size, under either policy (SHARDS-adj).
    mutating func adjust(toUses uses: Double) {
        self.uses = uses
        distances.adjust(toUses: uses)
        let most = sizes.reduce(0) { max($0, $1.uses) }
        guard most > 0 else { return }
        for index in sizes.indices { sizes[index].uses *= uses / most }
    }

    /// Has the sampled counts stand for another number of uses.
    mutating func scale(toUses uses: Double) {
        let factor = self.uses > 0 ? uses / self.uses : 1
        self.uses = uses
        distances.scale(by: factor)
        for index in sizes.indices {
            sizes[index].uses *= factor
            sizes[index].gain *= factor
        }
    }

    // MARK: Hits by size

    /// The share of fetches that memory of a size would answer if it evicted the least recently used entry first;
    /// between 0 and 1. `nil` as long as nothing was counted.
    package func leastRecentlyUsedHitRatio(_ byteCount: Double) -> Double? { distances.hitRatio(byteCount) }

    /// The share of fetches that memory of a size would answer under the package's own policy; between 0 and 1. `nil`
    /// below the smallest size that was simulated. Between two of the sizes, as much as lies between their shares.
    package func hitRatio(_ byteCount: Double) -> Double? {
        guard let known = simulatedSizes, byteCount >= SizeScale.byteCount(known.lowerBound) * 0.999 else {
            return nil
        }
        let index = min(max(SizeScale.index(atMost: byteCount), known.lowerBound), known.upperBound)
        guard let low = simulatedHitRatio(index) else { return nil }
        guard index < known.upperBound, let high = simulatedHitRatio(index + 1) else { return low }
        let sizes = (lower: SizeScale.byteCount(index), upper: SizeScale.byteCount(index + 1))
        return low + (high - low) * min(max(0, (byteCount - sizes.lower) / (sizes.upper - sizes.lower)), 1)
    }

    /// The share of a simulated size: that of LRU, which the many keys of `distances` tell, and the policy's gain over
    /// it, which the keys of the miniature tell.
    private func simulatedHitRatio(_ index: Int) -> Double? {
        guard let recent = distances.hitRatio(SizeScale.byteCount(index)), sizes[index].uses > 0 else { return nil }
        return min(max(0, recent + sizes[index].gain / sizes[index].uses), 1)
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
