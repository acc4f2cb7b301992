import Testing
import Workloads

struct GeneratorTests {
    @Test func sameSeedGivesTheSameTraceAndAnotherSeedAnother() {
        let trace = SyntheticTrace.zipf(0.99, keys: 100, requests: 1_000, seed: 1)
        #expect(trace.requests == SyntheticTrace.zipf(0.99, keys: 100, requests: 1_000, seed: 1).requests)
        #expect(trace.requests != SyntheticTrace.zipf(0.99, keys: 100, requests: 1_000, seed: 2).requests)
    }

    /// The published first output of SplitMix64 for seed 0.
    @Test func generatorIsSplitMix64() {
        var generator = SeededGenerator(seed: 0)
        #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
    }

    @Test(arguments: [0, 0.8, 0.99])
    func ranksAreAskedForInTheirShares(exponent: Double) {
        let distribution = ZipfDistribution(count: 10, exponent: exponent)
        var generator = SeededGenerator(seed: 7)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<100_000 { counts[distribution.next(using: &generator)] += 1 }
        let weights = (1...10).map { rank in power(Double(rank), -exponent) }
        let sum = weights.reduce(0, +)
        for (count, weight) in zip(counts, weights) {
            #expect(abs(Double(count) / 100_000 - weight / sum) < 0.006)
        }
    }

    /// By the series of e^x, not by the function that is tested.
    private func power(_ base: Double, _ exponent: Double) -> Double {
        guard exponent != 0 else { return 1 }
        // ln by halving towards 1, where ln(1 + x) is about x - x²/2.
        var root = base
        for _ in 0..<20 { root = root.squareRoot() }
        let logarithm = ((root - 1) - (root - 1) * (root - 1) / 2) * Double(1 << 20)
        var (sum, term) = (1.0, 1.0)
        for step in 1...60 {
            term *= exponent * logarithm / Double(step)
            sum += term
        }
        return sum
    }

    @Test func scansAskForEachKeyOnce() {
        let trace = SyntheticTrace.scanPolluted(keys: 50, requests: 10_000, scan: 100, seed: 3)
        let scanned = trace.requests.filter { $0 >= 50 }
        #expect(scanned.count == 2_000)
        #expect(Set(scanned).count == 2_000)
    }

    @Test func popularKeysChangeWithThePhase() {
        let trace = SyntheticTrace.shifting(keys: 100, requests: 10_000, phases: 4, seed: 3)
        let favourites = (0..<4).map { phase in
            let counts = trace.requests[(phase * 2_500)..<((phase + 1) * 2_500)].reduce(into: [:]) { counts, key in
                counts[key, default: 0] += 1
            }
            return counts.max { $0.value < $1.value }?.key
        }
        #expect(favourites == [0, 25, 50, 75])
    }

    @Test func chainKeepsKeysApartAndComesBack() {
        let chain = Trace.chain(
            Trace(name: "first", requests: [0, 2]),
            Trace(name: "second", requests: [1, 0])
        )
        #expect(chain.requests == [0, 2, 4, 3, 0, 2])
        #expect(chain.keyCount == 5)
    }

    @Test(arguments: [1, 256, 10_240])
    func textIsAsLongAsAskedForAndTheSameForASeed(byteCount: Int) {
        let texts = (0..<2).map { _ in
            var generator = SeededGenerator(seed: 11)
            return GeneratedText(seed: 5).text(byteCount: byteCount, using: &generator)
        }
        #expect(texts[0] == texts[1])
        #expect((byteCount..<(byteCount + 40)).contains(texts[0].utf8.count))
    }
}
