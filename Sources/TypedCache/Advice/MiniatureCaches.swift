import Eviction

/// The package's own eviction policy on a sample of the keys, in caches of several sizes at once: each has the limit
/// that it stands for, times the sampling rate (Waldspurger and others, Cache Modeling and Optimization using Miniature
/// Simulations, ATC 2017).
///
/// The largest one has always had room for all of the sampled keys, so where a larger one is needed, it begins as a copy
/// of that, with its counts, and its entries in about the same order. The smallest one goes then. When the sample has
/// become too large, the rate is lowered by one step: every cache goes on with the keys that are left, and its limit
/// shrinks with the rate.
struct MiniatureCaches {
    /// Unchecked, as every entry of a policy: the caches, which are one value, guard its mutable fields.
    private final class Resident: EvictionEntry, @unchecked Sendable {
        let slot: Int32

        init(hash: UInt64, slot: Int32) {
            self.slot = slot
            super.init(hash: hash)
        }
    }

    private struct Miniature {
        /// The index on ``SizeScale`` of the size that it stands for.
        let size: Int
        var policy: ShortestReuse
        /// The entry of each slot that has one here.
        var residents: [Resident?]

        init(size: Int, slots: Int, rate: SamplingRate) {
            self.size = size
            policy = ShortestReuse(count: .max, cost: Self.limit(size, rate), sampledShare: rate.share)
            residents = Array(repeating: nil, count: slots)
        }

        private static func limit(_ size: Int, _ rate: SamplingRate) -> Int {
            Int((SizeScale.byteCount(size) * rate.share).rounded())
        }

        mutating func resample(_ rate: SamplingRate, removed: inout [EvictionEntry]) {
            policy.resample(
                count: .max,
                cost: Self.limit(size, rate),
                sampledShare: rate.share,
                removed: &removed
            )
        }
    }

    private struct Slot {
        var hash: UInt64
        var byteCount: Int
        /// How many of the caches have the key.
        var residentCount: Int
    }

    /// How many sizes are simulated at once.
    static let mostSizes = 7

    private let mostKeys: Int
    private let largestSize: Double
    private(set) var rate: SamplingRate
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []
    private var places: [UInt64: Int32] = [:]
    /// The smallest first.
    private var caches: [Miniature] = []
    /// The bytes of all keys.
    private(set) var byteCount = 0
    private var removed: [EvictionEntry] = []

    init(mostKeys: Int, largestSize: Double = .infinity, rate: SamplingRate = SamplingRate()) {
        self.mostKeys = max(1, mostKeys)
        self.largestSize = largestSize
        self.rate = rate
        places.reserveCapacity(self.mostKeys)
    }

    var count: Int { places.count }
    /// How many entries all caches have together.
    var residentCount: Int { caches.reduce(0) { $0 + $1.policy.count } }

    /// Uses a key, and counts the use, and the hits, for each size.
    ///
    /// - Parameter byteCount: of the key's value, one or more; `nil` if there is none: then the key is removed.
    mutating func use(_ hash: UInt64, byteCount: Int?, counting counts: inout [SizeCount]) {
        // The smallest size: it grows with the first value, and its counts go along.
        if caches.isEmpty { caches.append(Miniature(size: 0, slots: slots.count, rate: rate)) }
        let weight = 1 / rate.share
        let slot = places[hash]
        for index in caches.indices {
            let size = caches[index].size
            let resident = slot.flatMap { caches[index].residents[Int($0)] }
            counts[size].uses += weight
            guard let resident, byteCount != nil else { continue }
            resident.use()
            counts[size].hits += weight
        }
        if let byteCount { insert(hash, byteCount, replacing: false, counts: &counts) } else { remove(hash) }
    }

    /// Takes a value in that was saved, in place of the key's former one.
    mutating func save(_ hash: UInt64, byteCount: Int, counting counts: inout [SizeCount]) {
        insert(hash, byteCount, replacing: true, counts: &counts)
    }

    mutating func remove(_ hash: UInt64) {
        guard let slot = places[hash] else { return }
        for index in caches.indices { take(slot, from: index) }
        free(slot)
    }

    mutating func removeAll() {
        slots = []
        freeSlots = []
        places.removeAll(keepingCapacity: true)
        for index in caches.indices { caches[index] = Miniature(size: caches[index].size, slots: 0, rate: rate) }
        byteCount = 0
    }

    // MARK: Keys

    private mutating func insert(
        _ hash: UInt64,
        _ byteCount: Int,
        replacing: Bool,
        counts: inout [SizeCount]
    ) {
        let slot = slot(of: hash, byteCount)
        if replacing, slots[Int(slot)].byteCount != byteCount {
            self.byteCount += byteCount - slots[Int(slot)].byteCount
            slots[Int(slot)].byteCount = byteCount
        }
        makeLargeEnough(&counts)
        for index in caches.indices {
            if replacing { take(slot, from: index) }
            if caches[index].residents[Int(slot)] == nil { put(slot, into: index) }
        }
        if slots[Int(slot)].residentCount == 0 { free(slot) }
        while places.count > mostKeys, rate.steps < SamplingRate.mostSteps { lowerRate() }
    }

    private mutating func slot(of hash: UInt64, _ byteCount: Int) -> Int32 {
        if let slot = places[hash] { return slot }
        let new = Slot(hash: hash, byteCount: byteCount, residentCount: 0)
        let slot: Int32
        if let free = freeSlots.popLast() {
            slot = free
            slots[Int(slot)] = new
        } else {
            slot = Int32(slots.count)
            slots.append(new)
            for index in caches.indices { caches[index].residents.append(nil) }
        }
        places[hash] = slot
        self.byteCount += byteCount
        return slot
    }

    private mutating func free(_ slot: Int32) {
        places[slots[Int(slot)].hash] = nil
        byteCount -= slots[Int(slot)].byteCount
        freeSlots.append(slot)
    }

    private mutating func put(_ slot: Int32, into index: Int) {
        let key = slots[Int(slot)]
        let resident = Resident(hash: key.hash, slot: slot)
        caches[index].residents[Int(slot)] = resident
        slots[Int(slot)].residentCount += 1
        removed.removeAll(keepingCapacity: true)
        caches[index].policy.insert(resident, cost: key.byteCount, removed: &removed)
        release(from: index, except: slot)
    }

    /// Forgets the entries that a policy gave up, and keys that no cache has any more.
    private mutating func release(from index: Int, except kept: Int32?) {
        for case let victim as Resident in removed {
            caches[index].residents[Int(victim.slot)] = nil
            slots[Int(victim.slot)].residentCount -= 1
            if slots[Int(victim.slot)].residentCount == 0, victim.slot != kept { free(victim.slot) }
        }
        removed.removeAll(keepingCapacity: true)
    }

    private mutating func take(_ slot: Int32, from index: Int) {
        guard let resident = caches[index].residents[Int(slot)].take() else { return }
        caches[index].policy.remove(resident)
        slots[Int(slot)].residentCount -= 1
    }

    // MARK: Sizes

    /// Adds larger caches until the largest one has room for all keys, or stands for the largest size of interest.
    private mutating func makeLargeEnough(_ counts: inout [SizeCount]) {
        let needed = SizeScale.index(atLeast: Double(byteCount) / rate.share)
        guard let last = caches.last else {
            caches.append(Miniature(size: needed, slots: slots.count, rate: rate))
            return
        }
        var top = last.size
        while top < needed, SizeScale.byteCount(top) < largestSize {
            top += 1
            var larger = Miniature(size: top, slots: slots.count, rate: rate)
            removed.removeAll(keepingCapacity: true)
            caches[caches.count - 1].policy.forEachEntry { entry in
                guard let former = entry as? Resident else { return }
                let copy = Resident(hash: former.hash, slot: former.slot)
                larger.residents[Int(former.slot)] = copy
                slots[Int(former.slot)].residentCount += 1
                larger.policy.insert(copy, cost: slots[Int(former.slot)].byteCount, removed: &removed)
                copy.uses = former.uses
            }
            caches.append(larger)
            release(from: caches.count - 1, except: nil)
            // A larger cache than one that never gave up an entry would have had the same hits.
            if counts[top - 1].uses > counts[top].uses { counts[top] = counts[top - 1] }
            if caches.count > Self.mostSizes { dropSmallest() }
        }
    }

    private mutating func dropSmallest() {
        for case let resident? in caches[0].residents {
            slots[Int(resident.slot)].residentCount -= 1
            if slots[Int(resident.slot)].residentCount == 0 { free(resident.slot) }
        }
        caches.removeFirst()
    }

    private mutating func lowerRate() {
        rate = rate.lower
        for hash in places.keys where !rate.samples(hash) { remove(hash) }
        for index in caches.indices {
            removed.removeAll(keepingCapacity: true)
            caches[index].resample(rate, removed: &removed)
            release(from: index, except: nil)
        }
    }
}

/// The uses of keys, and the hits among them, in a cache of one size.
struct SizeCount: Sendable, Hashable {
    var uses = 0.0
    var hits = 0.0

    /// Between 0 and 1.
    var ratio: Double { uses > 0 ? min(max(0, hits / uses), 1) : 0 }
}
