import RedisWire
import TestSupport
import Testing

@testable import SharedCache

/// Names of entries in the engine.
@Suite struct EntryNamesTests {
    @Test func keysComeBackFromTheirNames() throws {
        var random = SeededGenerator(seed: 1)
        let generation = Generation.random()
        let names = EntryNames(prefix: "tc:shop:", cache: "cities: {old}", schema: 7)
        let keys =
            [
                "a", "{", "}", "%", ":", "%7B", "🦁", "e\u{301}", "é", "\0", " ", "a/b",
                String(repeating: "{", count: 300),
            ]
            + (0..<500).map { _ in
                String(decoding: random.bytes(Int.random(in: 1...40, using: &random)), as: UTF8.self)
            }
        for key in keys {
            let name = names.entry(key, generation)
            #expect(name.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(name.filter { $0 == "{" }.count == 1 && name.filter { $0 == "}" }.count == 1)
            let decoded = try #require(names.key(ofEntry: name, generation))
            #expect(Array(decoded.utf8) == Array(key.utf8))
            #expect(names.isEntry(name, of: generation))
            #expect(!names.isEntry(name, of: .random()))
            #expect(names.key(ofEntry: name, .random()) == nil)
        }
        #expect(Set(keys.map { names.entry($0, generation) }).count == Set(keys.map { Array($0.utf8) }).count)
    }

    @Test(arguments: ["%", "%4", "%GG", "%41", "%7b", "%FF", "{", "a:b", " "])
    func otherSpellingsAreNoKeys(text: String) {
        #expect(EntryNames.decoded(text[...]) == nil)
    }

    @Test func generationsAreSixteenDigits() {
        for _ in 0..<100 {
            let generation = Generation.random()
            #expect(Generation(.bulk(Array("\(generation)".utf8))) == generation)
        }
        #expect(Generation(.bulk(Array("+00000000000000f".utf8))) == nil)
        #expect(Generation(.null) == nil)
        #expect(Generation(.bulk([1])) == nil)
    }
}
