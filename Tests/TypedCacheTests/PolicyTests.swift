import Testing

@testable import TypedCache

@Suite struct PolicyTests {
    /// What every policy must keep to, tried with random operations.
    private func checkPolicy<Policy: EvictionPolicy<Int, Int>>(_ type: Policy.Type, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let countLimit = Int.random(in: 0...20, using: &random)
        let costLimit = Int.random(in: 0...100, using: &random)
        var policy = Policy(count: countLimit, cost: costLimit)
        // The last value and cost that each key was given.
        var last: [Int: (value: Int, cost: Int)] = [:]
        var alive = 0
        for step in 0..<500 {
            let key = Int.random(in: 0..<30, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                let cost = Int.random(in: 0...40, using: &random)
                var removed: [Int] = []
                let evictions = policy.insert(step, forKey: key, cost: cost, removed: &removed)
                last[key] = (step, cost)
                alive += 1 - removed.count
                #expect(evictions <= removed.count, "seed \(seed)")
                let isTaken = countLimit > 0 && cost <= costLimit
                #expect((policy.value(forKey: key) == step) == isTaken, "seed \(seed), step \(step)")
                if !isTaken { #expect(policy.value(forKey: key) == nil, "seed \(seed)") }
            case 5...7:
                if let value = policy.value(forKey: key) {
                    #expect(value == last[key]?.value, "seed \(seed), step \(step)")
                }
            case 8:
                let value = policy.remove(forKey: key)
                if let value {
                    #expect(value == last[key]?.value, "seed \(seed)")
                    alive -= 1
                }
                #expect(policy.value(forKey: key) == nil, "seed \(seed)")
            default:
                if Int.random(in: 0..<20, using: &random) == 0 {
                    #expect(policy.removeAll().count == alive, "seed \(seed)")
                    alive = 0
                    #expect(policy.cost == 0)
                }
            }
            #expect(policy.count <= countLimit, "seed \(seed), step \(step)")
            #expect(policy.cost <= costLimit, "seed \(seed), step \(step)")
            #expect(policy.count == alive, "seed \(seed), step \(step)")
            var held = 0
            for key in 0..<30 where policy.value(forKey: key) != nil { held += last[key]?.cost ?? 0 }
            #expect(policy.cost == held, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: 1...50) func everyPolicyKeepsItsLimits(seed: Int) {
        checkPolicy(LeastRecentlyUsed<Int, Int>.self, seed: UInt64(seed))
        checkPolicy(SmallFirst<Int, Int>.self, seed: UInt64(seed))
    }

    @Test func theLeastRecentlyUsedGoesFirst() {
        var policy = LeastRecentlyUsed<String, Int>(count: 3, cost: .max)
        var removed: [Int] = []
        for (value, key) in ["a", "b", "c"].enumerated() {
            #expect(policy.insert(value, forKey: key, cost: 1, removed: &removed) == 0)
        }
        #expect(policy.value(forKey: "a") == 0)
        #expect(policy.insert(3, forKey: "d", cost: 1, removed: &removed) == 1)
        #expect(removed == [1])
        #expect(policy.value(forKey: "b") == nil)
        #expect(policy.insert(4, forKey: "c", cost: 1, removed: &removed) == 0)
        #expect(removed == [1, 2])
        #expect(policy.insert(5, forKey: "e", cost: 1, removed: &removed) == 1)
        #expect(removed == [1, 2, 0])
    }
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
