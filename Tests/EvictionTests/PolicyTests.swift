import TestSupport
import Testing

@testable import Eviction

@Suite struct PolicyTests {
    /// A policy as the memory tier uses it: a table finds the entries, and marks those that are used.
    private struct Tier<Policy: EvictionPolicy> {
        var policy: Policy
        var entries: [Int: TestEntry] = [:]

        init(count: Int = .max, cost: Int = .max) { policy = Policy(count: count, cost: cost) }

        mutating func value(forKey key: Int) -> Int? {
            entries[key]?.use()
            return entries[key]?.value
        }

        /// - Returns: the keys that were evicted, or the key itself if it was refused.
        mutating func insert(_ value: Int, forKey key: Int, cost: Int = 1) throws -> [Int] {
            remove(forKey: key)
            let entry = TestEntry(value, key: key)
            var removed: [EvictionEntry] = []
            policy.insert(entry, cost: cost, removed: &removed)
            entries[key] = entry
            return drop(removed)
        }

        mutating func remove(forKey key: Int) {
            if let former = entries.removeValue(forKey: key) { policy.remove(former) }
        }

        mutating func trim(toCount count: Int, cost: Int) -> [Int] {
            var removed: [EvictionEntry] = []
            policy.trim(toCount: count, cost: cost, removed: &removed)
            return drop(removed)
        }

        mutating func drop(_ removed: [EvictionEntry]) -> [Int] {
            let keys = removed.compactMap { ($0 as? TestEntry)?.key }
            for (key, entry) in zip(keys, removed) where entries[key] === entry { entries[key] = nil }
            return keys
        }
    }

    // MARK: Every policy

    /// The laws of every policy, tried with random operations in changing patterns.
    private func checkPolicy<Policy: EvictionPolicy>(_ type: Policy.Type, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let countLimit = Int.random(in: 0...20, using: &random)
        let costLimit = Int.random(in: 0...100, using: &random)
        var tier = Tier<Policy>(count: countLimit, cost: costLimit)
        var costs: [Int: Int] = [:]
        var pattern = 0
        for step in 0..<500 {
            // From chance to a loop to a scan and back, so that a policy that adapts does so.
            if step % 60 == 0 { pattern = Int.random(in: 0..<3, using: &random) }
            let chosen = Int.random(in: 0..<30, using: &random)
            let key = pattern == 0 ? chosen : pattern == 1 ? step % 25 : 100 + step
            switch Int.random(in: 0..<20, using: &random) {
            case 0...9:
                let cost = Int.random(in: 0...40, using: &random)
                let removed = try tier.insert(step, forKey: key, cost: cost)
                #expect(Set(removed).count == removed.count, "seed \(seed), step \(step)")
                costs[key] = cost
                let isTaken = countLimit > 0 && cost <= costLimit
                #expect(tier.value(forKey: key) == (isTaken ? step : nil), "seed \(seed), step \(step)")
                #expect(isTaken ? !removed.contains(key) : removed == [key], "seed \(seed), step \(step)")
            case 10...16: _ = tier.value(forKey: key)
            case 17: tier.remove(forKey: key)
            case 18:
                let (count, cost) = (tier.policy.count / 2, tier.policy.cost * 3 / 4)
                _ = tier.trim(toCount: count, cost: cost)
                #expect(tier.policy.count <= count && tier.policy.cost <= cost, "seed \(seed), step \(step)")
            default:
                if Int.random(in: 0..<20, using: &random) == 0 {
                    let removed = tier.policy.removeAll()
                    #expect(tier.drop(removed).count == removed.count, "seed \(seed)")
                    #expect(tier.entries.isEmpty && tier.policy.count == 0, "seed \(seed)")
                }
            }
            #expect(tier.policy.count <= countLimit, "seed \(seed), step \(step)")
            #expect(tier.policy.cost <= costLimit, "seed \(seed), step \(step)")
            // Nothing is lost, and nothing is held that was evicted.
            #expect(tier.policy.count == tier.entries.count, "seed \(seed), step \(step)")
            let held = tier.entries.keys.reduce(0) { $0 + (costs[$1] ?? 0) }
            #expect(tier.policy.cost == held, "seed \(seed), step \(step)")
        }
    }

    /// The victims of some operations, in their order.
    private func victims<Policy: EvictionPolicy>(_ type: Policy.Type, seed: UInt64) throws -> [Int] {
        var random = SeededGenerator(seed: seed)
        var tier = Tier<Policy>(count: 20)
        var victims: [Int] = []
        for step in 0..<2_000 {
            let key = step % 400 < 200 ? step % 25 : Int.random(in: 0..<60, using: &random)
            if tier.value(forKey: key) == nil { victims += try tier.insert(step, forKey: key) }
        }
        return victims
    }

    @Test(arguments: seeds(1..<51)) func everyPolicyKeepsItsLimits(seed: Int) throws {
        try checkPolicy(LeastRecentlyUsed.self, seed: UInt64(seed))
        try checkPolicy(ShortestReuse.self, seed: UInt64(seed))
    }

    @Test(arguments: seeds(1..<11)) func theSameOperationsHaveTheSameVictims(seed: Int) throws {
        try #expect(
            victims(LeastRecentlyUsed.self, seed: UInt64(seed))
                == victims(LeastRecentlyUsed.self, seed: UInt64(seed))
        )
        try #expect(
            victims(ShortestReuse.self, seed: UInt64(seed)) == victims(ShortestReuse.self, seed: UInt64(seed))
        )
    }

    @Test func theLeastRecentlyUsedGoesFirst() throws {
        var tier = Tier<LeastRecentlyUsed>(count: 3)
        for key in 0..<3 { try #expect(tier.insert(key, forKey: key).isEmpty) }
        #expect(tier.value(forKey: 0) == 0)
        try #expect(tier.insert(3, forKey: 3) == [1])
        try #expect(tier.insert(4, forKey: 2).isEmpty)
        try #expect(tier.insert(5, forKey: 5) == [0])
    }

    // MARK: The purpose of the adaptive policy

    /// The share of requests that are hits, where a miss inserts.
    private func hitRatio(_ requests: some Sequence<Int>, count: Int) throws -> Double {
        var tier = Tier<ShortestReuse>(count: count)
        return try hitRatio(requests, &tier)
    }

    private func hitRatio(_ requests: some Sequence<Int>, _ tier: inout Tier<ShortestReuse>) throws -> Double {
        var (hits, total) = (0, 0)
        for key in requests {
            total += 1
            if tier.value(forKey: key) != nil { hits += 1 } else { _ = try tier.insert(key, forKey: key) }
        }
        return Double(hits) / Double(total)
    }

    @Test(arguments: [150, 250, 290]) func aLoopThatIsLongerThanMemoryHitsWhatFits(length: Int) throws {
        let ratio = try hitRatio((0..<length * 50).lazy.map { $0 % length }, count: 100)
        #expect(ratio > 0.95 * 100 / Double(length))
    }

    @Test func aScanDoesNotWashOutWhatIsUsed() throws {
        var tier = Tier<ShortestReuse>(count: 100)
        for _ in 0..<10 { _ = try hitRatio(0..<90, &tier) }
        _ = try hitRatio(1_000..<1_500, &tier)
        #expect(try hitRatio(0..<90, &tier) > 0.85)
    }

    @Test func whatIsOfNoUseAnyMoreGivesWay() throws {
        var tier = Tier<ShortestReuse>(count: 100)
        for _ in 0..<10 { _ = try hitRatio(0..<90, &tier) }
        // A loop that is far longer than the list of keys that the policy remembers after their eviction.
        for _ in 0..<10 { _ = try hitRatio(1_000..<1_800, &tier) }
        #expect(try hitRatio((0..<4_000).lazy.map { 1_000 + $0 % 800 }, &tier) > 0.1)
    }

    @Test func keysThatComeBackSoonAndNeverAgainAreHits() throws {
        // Each key comes back twice, each time after more others than the small queue has at first.
        let ratio = try hitRatio(
            (0..<5_000).lazy.flatMap { step in [step, step - 7, step - 14].filter { $0 >= 0 } },
            count: 100
        )
        #expect(ratio > 0.6)
    }

    @Test func whatIsSavedOverKeepsItsPlace() throws {
        var tier = Tier<ShortestReuse>(count: 100)
        for _ in 0..<10 { _ = try hitRatio(0..<90, &tier) }
        for key in 0..<90 { _ = try tier.insert(-key, forKey: key) }
        _ = try hitRatio(1_000..<1_500, &tier)
        #expect(try hitRatio(0..<90, &tier) > 0.8)
    }
}

/// A number under a number.
private final class TestEntry: EvictionEntry, @unchecked Sendable {
    let key: Int
    let value: Int

    init(_ value: Int, key: Int) {
        self.key = key
        self.value = value
        super.init()
    }

    override var hash: UInt64 {
        var random = SeededGenerator(seed: key)
        return random.next()
    }
}
