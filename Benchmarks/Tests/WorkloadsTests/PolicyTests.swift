import Testing
import Workloads

/// Hits on traces that are worked out by hand, and on random ones against slow, obvious models.
struct PolicyTests {
    private static func trace(_ requests: [UInt32]) -> Trace { Trace(name: "test", requests: requests) }

    private static func randomTrace(seed: UInt64) -> (trace: Trace, capacity: Int) {
        var generator = SeededGenerator(seed: seed)
        let keys = UInt32.random(in: 1...7, using: &generator)
        let requests = (0..<12).map { _ in UInt32.random(in: 0..<keys, using: &generator) }
        return (trace(requests), Int.random(in: 1...4, using: &generator))
    }

    @Test func leastRecentlyUsedGoesFirst() {
        // 2 evicts 1, for 0 was asked for after it; 1 then evicts 0.
        #expect(LRUReplay.hits(in: Self.trace([0, 1, 0, 2, 0, 2, 1, 0]), capacity: 2) == 3)
    }

    @Test func firstInGoesFirst() {
        // 2 evicts 0 in spite of its hit, 0 evicts 1, and 2 is still there.
        #expect(FIFOReplay.hits(in: Self.trace([0, 1, 0, 2, 0, 2, 1]), capacity: 2) == 2)
    }

    @Test func sieveKeepsHitEntries() {
        // 2 evicts 1, for 0 is marked; the hand then stands on 2, which 3 evicts; 0 is hit twice more.
        #expect(SieveReplay.hits(in: Self.trace([0, 1, 0, 2, 3, 0, 1, 0]), capacity: 2) == 2)
    }

    @Test func beladyKeepsTheNextRequested() {
        // 2 evicts 1, which comes last, and so does 3 with 2, which never comes again: 0 is hit each time.
        #expect(BeladyReplay.hits(in: Self.trace([0, 1, 2, 0, 3, 0, 1]), capacity: 2) == 2)
    }

    @Test func loopLargerThanTheCacheHitsNothingButWithBelady() {
        let loop = SyntheticTrace.loop(keys: 5, requests: 100)
        #expect(LRUReplay.hits(in: loop, capacity: 4) == 0)
        #expect(FIFOReplay.hits(in: loop, capacity: 4) == 0)
        // After the first four misses, every fourth request misses.
        #expect(BeladyReplay.hits(in: loop, capacity: 4) == 72)
    }

    @Test(arguments: 0..<200)
    func recencyAgreesWithAnArray(seed: UInt64) {
        let (trace, capacity) = Self.randomTrace(seed: seed)
        var entries: [UInt32] = []
        var hits = 0
        for key in trace.requests {
            if let index = entries.firstIndex(of: key) {
                hits += 1
                entries.remove(at: index)
            } else if entries.count == capacity {
                entries.removeFirst()
            }
            entries.append(key)
        }
        #expect(LRUReplay.hits(in: trace, capacity: capacity) == hits)
    }

    @Test(arguments: 0..<200)
    func insertionOrderAgreesWithAnArray(seed: UInt64) {
        let (trace, capacity) = Self.randomTrace(seed: seed)
        var entries: [UInt32] = []
        var hits = 0
        for key in trace.requests {
            if entries.contains(key) {
                hits += 1
            } else {
                entries = (entries + [key]).suffix(capacity)
            }
        }
        #expect(FIFOReplay.hits(in: trace, capacity: capacity) == hits)
    }

    @Test(arguments: 0..<200)
    func sieveAgreesWithAnArray(seed: UInt64) {
        let (trace, capacity) = Self.randomTrace(seed: seed)
        // The oldest first; the hand is an index.
        var entries: [(key: UInt32, isVisited: Bool)] = []
        var hand = 0
        var hits = 0
        for key in trace.requests {
            if let index = entries.firstIndex(where: { $0.key == key }) {
                hits += 1
                entries[index].isVisited = true
                continue
            }
            if entries.count == capacity {
                while entries[hand].isVisited {
                    entries[hand].isVisited = false
                    hand = (hand + 1) % entries.count
                }
                entries.remove(at: hand)
                // Past the newest it starts at the oldest again, even if a newer one is inserted first.
                if hand == entries.count { hand = 0 }
            }
            entries.append((key, false))
        }
        #expect(SieveReplay.hits(in: trace, capacity: capacity) == hits)
    }

    /// Tries every victim at every miss.
    private static func mostHits(
        _ requests: ArraySlice<UInt32>,
        residents: Set<UInt32>,
        capacity: Int
    ) -> Int {
        guard let key = requests.first else { return 0 }
        let rest = requests.dropFirst()
        if residents.contains(key) { return 1 + mostHits(rest, residents: residents, capacity: capacity) }
        if residents.count < capacity {
            return mostHits(rest, residents: residents.union([key]), capacity: capacity)
        }
        let hits = residents.map { victim in
            mostHits(rest, residents: residents.subtracting([victim]).union([key]), capacity: capacity)
        }
        return hits.max() ?? 0
    }

    @Test(arguments: 0..<100)
    func noChoiceOfVictimsHitsMoreThanBelady(seed: UInt64) {
        let (trace, capacity) = Self.randomTrace(seed: seed)
        let mostHits = Self.mostHits(trace.requests[...], residents: [], capacity: capacity)
        #expect(BeladyReplay.hits(in: trace, capacity: capacity) == mostHits)
    }
}
