import TestSupport
import Testing

@testable import ModelCache

@Suite struct BoundedTableTests {
    @Test(arguments: seeds(0..<10))
    func keepsTheLatestKeysInTheOrderInWhichTheyCame(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        var table = BoundedTable<Int, Int>()
        var expected: [(key: Int, value: Int)] = []
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<2_000, using: &generator)
            let place = expected.firstIndex { $0.key == key }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                #expect(
                    table.remove(key) == place.map { expected.remove(at: $0).value },
                    "seed \(seed), step \(step)"
                )
                continue
            }
            let put = table.put(step, key)
            if let place {
                #expect(put.former == expected[place].value && put.oldest == nil, "seed \(seed), step \(step)")
                expected[place].value = step
            } else {
                expected.append((key, step))
                let oldest = expected.count > 1_024 ? expected.removeFirst() : nil
                #expect(put.former == nil && put.oldest?.value == oldest?.value, "seed \(seed), step \(step)")
            }
            #expect(table[key] == step, "seed \(seed), step \(step)")
        }
        #expect(expected.allSatisfy { table[$0.key] == $0.value }, "seed \(seed)")
    }
}
