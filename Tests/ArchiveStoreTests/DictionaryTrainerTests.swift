import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct DictionaryTrainerTests {
    @Test func shrinksAlikeArchivesThatItHasNotSeen() throws {
        let samples = AlikeArchives.make(count: 64, seed: 1)
        let dictionary = try #require(DictionaryTrainer.train(samples))
        let others = AlikeArchives.make(count: 100, seed: 2)
        let with = others.reduce(0) { $0 + dictionary.deflate($1).count }
        let without = others.reduce(0) { $0 + Zlib.deflate($1).count }
        #expect(with * 3 < without)

        let saving = DictionaryTrainer.saving(of: dictionary, on: others)
        #expect(abs(saving - (1 - Double(with) / Double(without))) < 1e-9)
    }

    @Test(arguments: [-1, 0, 1, 100, 1000, 1 << 30])
    func keepsTheLimit(byteLimit: Int) {
        let samples = AlikeArchives.make(count: 64, seed: 3)
        let dictionary = DictionaryTrainer.train(samples, byteLimit: byteLimit)
        let count = dictionary?.bytes.count ?? 0
        #expect(count <= max(0, min(byteLimit, PresetDictionary.largestByteCount)))
        #expect((dictionary == nil) == (byteLimit < 100))
    }

    @Test func buildsTheSameFromTheSame() {
        let samples = AlikeArchives.make(count: 300, seed: 4)
        let dictionary = DictionaryTrainer.train(samples)
        #expect(dictionary?.bytes.isEmpty == false)
        #expect(DictionaryTrainer.train(samples)?.bytes == dictionary?.bytes)
    }

    @Test func buildsNoneWhereNoneHelps() {
        var random = SeededGenerator(seed: 5)
        let noise = (0..<64).map { _ in random.bytes(300) }
        #expect(DictionaryTrainer.train(noise) == nil)
        #expect(DictionaryTrainer.train([]) == nil)
        #expect(DictionaryTrainer.train([[]]) == nil)
        #expect(DictionaryTrainer.train([[], [], [], []]) == nil)
        #expect(DictionaryTrainer.train(AlikeArchives.make(count: 1, seed: 6)) == nil)
        let long = [UInt8](repeating: 7, count: PresetDictionary.largestInput + 1)
        #expect(DictionaryTrainer.train([[UInt8]](repeating: long, count: 8)) == nil)
    }

    /// Bytes of their own take no room that shared ones need.
    @Test func leavesOutWhatNoOtherSampleHas() throws {
        var random = SeededGenerator(seed: 7)
        let alike = AlikeArchives.make(count: 60, seed: 8)
        let noise = (0..<60).map { _ in random.bytes(600) }
        let mixed = zip(alike, noise).enumerated().flatMap { $0 % 2 == 0 ? [$1.0, $1.1] : [$1.1, $1.0] }
        let pure = try #require(DictionaryTrainer.train(alike, byteLimit: 2000))
        let impure = try #require(DictionaryTrainer.train(mixed, byteLimit: 2000))
        let others = AlikeArchives.make(count: 60, seed: 9)
        let loss =
            DictionaryTrainer.saving(of: pure, on: others) - DictionaryTrainer.saving(of: impure, on: others)
        #expect(loss < 0.05)
    }

    @Test func tellsWhatOtherTypesLose() throws {
        let dictionary = try #require(DictionaryTrainer.train(AlikeArchives.make(count: 64, seed: 10)))
        var random = SeededGenerator(seed: 11)
        let others = (0..<64).map { _ in (0..<300).map { _ in UInt8.random(in: 0...3, using: &random) } }
        #expect(DictionaryTrainer.saving(of: dictionary, on: others) < DictionaryTrainer.leastSaving)
        #expect(DictionaryTrainer.saving(of: dictionary, on: []) == 0)
    }

    /// However many samples there are: no more of them are looked at.
    @Test func takesBoundedTime() {
        let sample = AlikeArchives.make(count: 1, seed: 12)[0]
        func duration(_ count: Int) -> Duration {
            let samples = [[UInt8]](repeating: sample, count: count)
            return (0..<5).map { _ in ContinuousClock().measure { _ = DictionaryTrainer.train(samples) } }.min()
                ?? .zero
        }
        #expect(duration(50_000) < duration(DictionaryTrainer.largestSampleCount) * 20)
    }
}
