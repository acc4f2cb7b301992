import Eviction

/// The package's own eviction policy on a sample of the keys, in caches of several sizes at once: each has the limit
/// that it stands for, times its sampling rate (Waldspurger and others, Cache Modeling and Optimization using Miniature
/// Simulations, ATC 2017).
///
/// Each cache has a rate of its own, since a small one with few keys has too few entries to be like the cache that it
/// stands for. It is the rate of the keys whose order is known as long as the entries are not too many; otherwise it is
/// lowered by steps, and the cache goes on with the keys that are left, and with a smaller limit.
///
/// The largest cache has room for all of its keys, so where a larger one is needed, it begins as a copy of that, with
/// its counts, and its entries in about the same order. The smallest one goes then.
struct MiniatureCaches {
    /// Unchecked, as every entry of a policy: the caches, which are one value, guard its mutable fields.
    private final class Resident: EvictionEntry, @unchecked Sendable {
        override var hash: UInt64 { keyHash }
        private let keyHash: UInt64
        let byteCount: Int

        init(hash: UInt64, byteCount: Int) {
            keyHash = hash
            self.byteCount = byteCount
            super.init()
        }
    }

    private struct Miniature {
        /// The index on ``SizeScale`` of the size that it stands for.
        let size: Int
        private(set) var rate: SamplingRate
        /// The share of all bytes that its keys have: about that of the keys.
        private var share: Double
        private var policy: ShortestReuse
        private var residents: [UInt64: Resident] = [:]

        init(size: Int, rate: SamplingRate, share: Double) {
            self.size = size
            self.rate = rate
            self.share = share
            policy = ShortestReuse(count: .max, cost: Self.limit(size, share), sampledShare: share)
        }

        /// A larger cache with the same keys.
        ///
        /// - Parameter removed: left as it was, but for its room.
        init(size: Int, copying smaller: Miniature, removed: inout [EvictionEntry]) {
            self.init(size: size, rate: smaller.rate, share: smaller.share)
            smaller.policy.forEachEntry { entry in
                guard let former = entry as? Resident else { return }
                let copy = Resident(hash: former.hash, byteCount: former.byteCount)
                residents[copy.hash] = copy
                policy.insert(copy, cost: copy.byteCount, removed: &removed)
                copy.uses = former.uses
            }
            release(&removed)
        }

        private static func limit(_ size: Int, _ share: Double) -> Int {
            Int((SizeScale.byteCount(size) * share).rounded())
        }

        var count: Int { policy.count }

        /// The size that would have room for the entries, and for one more.
        func size(withRoomFor byteCount: Int) -> Int {
            SizeScale.index(atLeast: Double(policy.cost + byteCount) / share)
        }

        /// Returns whether the key has an entry, which counts as used then.
        func use(_ hash: UInt64) -> Bool {
            guard let resident = residents[hash] else { return false }
            resident.use()
            return true
        }

        func holds(_ hash: UInt64) -> Bool { residents[hash] != nil }

        mutating func insert(_ hash: UInt64, _ byteCount: Int, removed: inout [EvictionEntry]) {
            let resident = Resident(hash: hash, byteCount: byteCount)
            residents[hash] = resident
            policy.insert(resident, cost: byteCount, removed: &removed)
            release(&removed)
        }

        mutating func remove(_ hash: UInt64) {
            guard let resident = residents.removeValue(forKey: hash) else { return }
            policy.remove(resident)
        }

        mutating func removeAll() { self = Miniature(size: size, rate: rate, share: share) }

        mutating func lowerRate(to lower: SamplingRate, removed: inout [EvictionEntry]) {
            share *= lower.share / rate.share
            rate = lower
            for hash in residents.keys where !rate.samples(hash) { remove(hash) }
            resize(share: share, removed: &removed)
        }

        mutating func resize(share: Double, removed: inout [EvictionEntry]) {
            self.share = share
            policy.resample(
                count: .max,
                cost: Self.limit(size, share),
                sampledShare: share,
                removed: &removed
            )
            release(&removed)
        }

        /// Forgets the entries that the policy evicted.
        private mutating func release(_ removed: inout [EvictionEntry]) {
            for victim in removed { residents[victim.hash] = nil }
            removed.removeAll(keepingCapacity: true)
        }
    }

    /// How many sizes are simulated at once.
    static let mostSizes = 13

    private let mostEntries: Int
    private let largestSize: Double
    /// The smallest first.
    private var caches: [Miniature] = []
    /// Has room for the entries that a policy evicts, so that no use allocates it; empty between uses.
    private var removed: [EvictionEntry] = []

    /// - Parameters:
    ///   - mostEntries: of each cache.
    ///   - largestSize: in bytes; no cache larger than the first that reaches it is added.
    init(mostEntries: Int, largestSize: Double = .infinity) {
        self.mostEntries = max(1, mostEntries)
        self.largestSize = largestSize
    }

    /// How many entries each cache has, the smallest size first.
    var entryCounts: [Int] { caches.map(\.count) }

    /// Uses a key, and counts the use, and the hits, for each size.
    ///
    /// - Parameters:
    ///   - distance: the bytes since the key's use before; `nil` if it was not used before.
    ///   - byteCount: of the key's value, one or more; `nil` if there is none: then the key is removed.
    ///   - rate: of the keys whose distances are known; the key is one of them.
    mutating func use(
        _ hash: UInt64,
        distance: Double?,
        byteCount: Int?,
        rate: SamplingRate,
        counting counts: inout [SizeCount]
    ) {
        // The smallest size: it grows with the first value, and its counts go along.
        if caches.isEmpty { caches.append(Miniature(size: 0, rate: rate, share: rate.share)) }
        if let byteCount { makeLargeEnough(for: hash, byteCount: byteCount, &counts) }
        for index in caches.indices {
            lowerRate(of: index, to: rate)
            let size = caches[index].size
            counts[size].uses += 1 / rate.share
            guard caches[index].rate.samples(hash) else { continue }
            let weight = 1 / caches[index].rate.share
            if let distance, distance <= SizeScale.byteCount(size) { counts[size].gain -= weight }
            guard let byteCount else {
                caches[index].remove(hash)
                continue
            }
            if caches[index].use(hash) { counts[size].gain += weight } else { insert(hash, byteCount, into: index) }
        }
    }

    /// Takes a value in that was saved, in place of the key's former one.
    mutating func save(_ hash: UInt64, byteCount: Int, rate: SamplingRate, counting counts: inout [SizeCount]) {
        if caches.isEmpty { caches.append(Miniature(size: 0, rate: rate, share: rate.share)) }
        remove(hash)
        makeLargeEnough(for: hash, byteCount: byteCount, &counts)
        for index in caches.indices {
            lowerRate(of: index, to: rate)
            if caches[index].rate.samples(hash) { insert(hash, byteCount, into: index) }
        }
    }

    mutating func remove(_ hash: UInt64) {
        for index in caches.indices { caches[index].remove(hash) }
    }

    mutating func removeAll() {
        for index in caches.indices { caches[index].removeAll() }
    }

    private mutating func insert(_ hash: UInt64, _ byteCount: Int, into index: Int) {
        caches[index].insert(hash, byteCount, removed: &removed)
        while caches[index].count > mostEntries, caches[index].rate.steps < SamplingRate.mostSteps {
            caches[index].lowerRate(to: caches[index].rate.lower, removed: &removed)
        }
    }

    /// Has a cache sample no more keys than those whose distances are known.
    private mutating func lowerRate(of index: Int, to highest: SamplingRate) {
        guard caches[index].rate.steps < highest.steps else { return }
        caches[index].lowerRate(to: highest, removed: &removed)
    }

    // MARK: Sizes

    /// Gives each cache the share of its size that its keys have of all bytes, of which the larger sample knows more than
    /// the rate tells.
    mutating func resize(by distances: ReuseDistances) {
        for index in caches.indices {
            guard let share = distances.share(of: caches[index].rate) else { continue }
            caches[index].resize(share: share, removed: &removed)
        }
    }

    /// Adds larger caches until the largest one has room for all keys, or stands for the largest size of interest.
    private mutating func makeLargeEnough(for hash: UInt64, byteCount: Int, _ counts: inout [SizeCount]) {
        guard let last = caches.last, last.rate.samples(hash), !last.holds(hash) else { return }
        let needed = last.size(withRoomFor: byteCount)
        var top = last.size
        while top < needed, SizeScale.byteCount(top) < largestSize {
            top += 1
            caches.append(Miniature(size: top, copying: caches[caches.count - 1], removed: &removed))
            // A larger cache than one that never evicted an entry would have had the same hits.
            if counts[top - 1].uses > counts[top].uses { counts[top] = counts[top - 1] }
            if caches.count > Self.mostSizes { caches.removeFirst() }
        }
    }
}

/// The uses of keys in a cache of one size.
struct SizeCount: Sendable, Hashable {
    /// The uses while the cache was there.
    var uses = 0.0
    /// By how many more hits the policy had than one that evicts the least recently used entry: below zero if it had
    /// fewer.
    var gain = 0.0
}
