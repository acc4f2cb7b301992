import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Many entries that are saved or removed by one call.
@Suite struct ManyEntriesTests {
    private func city(_ population: Int) -> City { City(name: "city", population: population) }

    private final class Note: Codable, Encoded, Sendable {}

    /// Calls of higher layers that look in memory for many keys at once give the same as calls for one key each.
    @Test(arguments: [ValueSharing.automatic, .decodedEachTime], seeds(0..<6))
    func lookingForManyInMemoryIsLookingForEach(values: ValueSharing, seed: Int) throws {
        let clock = TestClock()
        var random = SeededGenerator(seed: seed)
        func open(_ name: String) throws -> Cache<Note> {
            try Cache(name: name, settings: CacheSettings(disk: nil, valueSharing: values, clock: clock))
        }
        let (together, alone) = (try open("together"), try open("alone"))
        let texts = (0..<12).map { "note \($0)" }
        for step in 0..<60 {
            let key = texts[Int.random(in: 0..<12, using: &random)]
            let expiration: Expiration =
                switch Int.random(in: 0..<3, using: &random) {
                case 0: .never
                case 1: .after(.seconds(30))
                default: .afterIdle(.seconds(30))
                }
            for cache in [together, alone] { try cache.save(Note(), forKey: key, expiration: expiration) }
            clock.advance(by: .random(in: 0..<12, using: &random))
            let asked = try PreparedKeys(texts.shuffled(using: &random))
            let expected = try asked.indices.map { try alone.fetchFromMemory(forKey: asked[$0]) != nil }
            var found: [Bool] = []
            try together.forEachFetchedFromMemory(asked) { found.append($0 != nil) }
            #expect(found == expected, "seed \(seed), step \(step)")
            let firsts = expected.firstIndex(of: false) ?? expected.count
            var count = 0
            let hasAll = try together.forEachInMemory(asked, in: asked.indices) { _ in count += 1 }
            #expect(hasAll == (firsts == expected.count))
            #expect(count == firsts)
            for index in 0..<firsts { _ = try alone.fetchFromMemory(forKey: asked[index]) }
            #expect(together.statistics.memoryHits == alone.statistics.memoryHits)
        }
        try together.close()
        #expect(throws: CacheError.self) { try together.forEachFetchedFromMemory(PreparedKeys(texts)) { _ in } }
    }

    /// Random batches beside a dictionary, reopened now and then.
    @Test(arguments: [DiskSettings.Layout.packed, .files], seeds(0..<12))
    func behavesLikeADictionary(layout: DiskSettings.Layout, seed: Int) async throws {
        let directory = TestDirectory(inMemory: true)
        let clock = TestClock()
        var random = SeededGenerator(seed: seed)
        func open() throws -> Cache<City> {
            try Cache(
                name: "cities",
                directory: directory.url,
                settings: CacheSettings(
                    memory: MemorySettings(countLimit: 3),
                    disk: DiskSettings(layout: layout),
                    clock: clock
                )
            )
        }
        var cities = try open()
        var model: [Int: (city: City, deadline: Date?, tags: Set<String>)] = [:]
        for step in 0..<40 {
            let place: Comment = "seed \(seed), step \(step)"
            let keys = (0..<Int.random(in: 0..<9, using: &random)).map { _ in Int.random(in: 0..<10, using: &random)
            }
            switch Int.random(in: 0..<7, using: &random) {
            case 0..<3:
                let entries = keys.map { ($0, city(.random(in: 0..<1_000, using: &random))) }
                let seconds = [nil, 1, 5].randomElement(using: &random) ?? nil
                let expiration = seconds.map { Expiration.after(.seconds($0)) } ?? .never
                let tags: Set<String> = Bool.random(using: &random) ? ["tag"] : []
                if Bool.random(using: &random) {
                    try save(entries, expiration: expiration, tags: tags, in: cities)
                } else {
                    try await cities.save(contentsOf: entries, expiration: expiration, tags: tags)
                }
                for (key, city) in entries {
                    model[key] = (city, seconds.map { clock.now.addingTimeInterval(TimeInterval($0)) }, tags)
                }
            case 3:
                let removed = try await cities.remove(forKeys: keys)
                let known = Set(keys).filter {
                    model[$0].map { ($0.deadline ?? .distantFuture) > clock.now } ?? false
                }
                let expired = Set(keys).filter { model[$0] != nil }.count - known.count
                #expect((known.count...known.count + expired).contains(removed), place)
                for key in keys { model[key] = nil }
            case 4: clock.advance(by: .random(in: 0..<2, using: &random))
            case 5:
                try await cities.removeAll(tagged: "tag")
                model = model.filter { !$0.value.tags.contains("tag") }
            default:
                try await cities.close()
                cities = try open()
            }
            for key in 0..<10 {
                let expected = model[key].flatMap { ($0.deadline ?? .distantFuture) > clock.now ? $0.city : nil }
                let found = try await cities.fetch(forKey: key)
                #expect(found == expected, place)
            }
        }
    }

    private func save(
        _ entries: [(Int, City)],
        expiration: Expiration,
        tags: Set<String>,
        in cities: Cache<City>
    ) throws {
        try cities.save(contentsOf: entries, expiration: expiration, tags: tags)
    }

    /// A batch counts and keeps in memory as much as saves one by one, in each layout and without a disk.
    @Test(arguments: [.packed, .files, nil] as [DiskSettings.Layout?], seeds(0..<4))
    func aBatchCountsLikeSingleSaves(layout: DiskSettings.Layout?, seed: Int) throws {
        let directory = TestDirectory(inMemory: true)
        let clock = TestClock()
        var random = SeededGenerator(seed: seed)
        func open(_ name: String) throws -> Cache<City> {
            try Cache(
                name: name,
                directory: directory.url,
                settings: CacheSettings(disk: layout.map { DiskSettings(layout: $0) }, clock: clock)
            )
        }
        let (together, alone) = (try open("together"), try open("alone"))
        for step in 0..<20 {
            let keys = (0..<30).shuffled(using: &random).prefix(Int.random(in: 0..<30, using: &random))
            let entries = keys.map { ($0, city(.random(in: 0..<1_000, using: &random))) }
            let seconds = [0, 5, 1_000].randomElement(using: &random) ?? 0
            let expiration: Expiration = seconds == 0 ? .never : .after(.seconds(seconds))
            try together.save(contentsOf: entries, expiration: expiration)
            for (key, city) in entries { try alone.save(city, forKey: key, expiration: expiration) }
            clock.advance(by: .random(in: 0..<3, using: &random))
            let asked = (0..<5).map { _ in Int.random(in: 0..<30, using: &random) }
            #expect(try together.fetch(forKeys: asked) == alone.fetch(forKeys: asked), "seed \(seed), step \(step)")
            #expect(together.statistics == alone.statistics, "seed \(seed), step \(step)")
        }
    }

    /// Of a sequence that is made lazily, no more than a batch is taken before that is saved.
    @Test func aLongSequenceIsSavedInBatches() throws {
        let directory = TestDirectory(inMemory: true)
        let texts = try Cache<String>(name: "texts", directory: directory.url)
        let text = String(repeating: "x", count: 1 << 20)
        var most = 0
        let entries = (0..<20).lazy.map { number in
            most = max(most, number - Int(texts.statistics.saves))
            return (number, text)
        }
        try texts.save(contentsOf: entries)
        #expect(try texts.count() == 20)
        #expect((1...5).contains(most))
    }

    @Test func aDictionaryIsSavedByItsKeys() async throws {
        let directory = TestDirectory()
        let clock = TestClock()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(clock: clock)
        )
        let entries = [1: city(1), 2: city(2)]
        try cities.sync { try $0.save(contentsOf: entries, expiration: .after(.seconds(5)), tags: ["tag"]) }
        #expect(try await cities.fetch(forKeys: [1, 2, 3]) == entries)
        clock.advance(by: 5)
        #expect(try await cities.count() == 0)
        try await cities.save(contentsOf: ["a": city(3)], tags: ["other"])
        #expect(try await cities.fetch(forKey: "a") == city(3))
        #expect(try await cities.removeAll(tagged: "other") == 1)
    }

    @Test func theFirstFailureIsThrownAndAllOthersAreSaved() throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(name: "cities", directory: directory.url)
        let entries = [
            ("a", city(1)), ("", city(2)), ("b", city(3)), (String(repeating: "k", count: 2_000), city(4)),
        ]
        let error = #expect(throws: CacheError.self) { try cities.save(contentsOf: entries) }
        #expect(error?.code == .invalidKey)
        #expect(error?.key == "")
        #expect(error?.message.hasSuffix("; another entry failed") == true)
        #expect(try cities.fetch(forKeys: ["a", "b"]).count == 2)
        let removal = #expect(throws: CacheError.self) { try cities.remove(forKeys: ["a", "", "b"]) }
        #expect(removal?.key == "")
        #expect(try cities.count() == 0)
    }

    /// Composed and decomposed, and a sign of Kelvin, which is a K to Swift.
    @Test(arguments: [("\u{e9}", "e\u{301}"), ("K", "\u{212a}")])
    func keysThatAreTheSameTextInDifferentBytesAreRefused(one: String, other: String) async throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(name: "cities", directory: directory.url)
        let blocking: ([String]) throws -> [String: City] = { try cities.fetch(forKeys: $0) }
        try await cities.save(contentsOf: [(one, city(1)), (other, city(2)), ("a", city(3))])
        #expect(try blocking([one, "a", one]) == [one: city(1), "a": city(3)])
        #expect(try await cities.fetch(forKeys: [other, "a", "b", other]) == [other: city(2), "a": city(3)])
        let error = #expect(throws: CacheError.self) { try blocking(["a", one, other]) }
        #expect(error?.code == .invalidKey)
        await #expect(throws: CacheError.self) { try await cities.fetch(forKeys: [other, "a", one]) }
    }

    @Test func whatTheDiskRefusesIsNotLeftStale() throws {
        let store = AgreementTests.TestStore()
        let cities = Cache<City>(over: store)
        try cities.save(contentsOf: [("a", city(1)), ("b", city(2))])
        store.state.withLock { $0.failsSaves = true }
        let error = #expect(throws: CacheError.self) {
            try cities.save(contentsOf: [("a", city(3)), ("b", city(4))])
        }
        #expect(error?.key == "a" && error?.code == .io)
        #expect(try cities.fetch(forKeys: ["a", "b"]).isEmpty)
        store.state.withLock { $0.failsRemovals = true }
        #expect(throws: CacheError.self) { try cities.save(contentsOf: [("a", city(3))]) }
        #expect(try cities.fetch(forKey: "a") == nil)
    }

    @Test func whatIsSavedIsCountedAndTold() throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(name: "cities", directory: directory.url)
        try cities.save(contentsOf: [("a", city(1)), ("a", city(2)), ("b", city(3))])
        #expect(try cities.fetch(forKey: "a") == city(2))
        try cities.save(contentsOf: [("a", city(4))])
        #expect(cities.statistics.saves == 4)
        #expect(cities.statistics.replacements == 1)
        #expect(try cities.remove(forKeys: ["a", "a", "c"]) == 1)
        #expect(cities.statistics.removals == 1)
        try cities.close()
        let error = #expect(throws: CacheError.self) { try cities.save(contentsOf: [("a", city(1))]) }
        #expect(error?.code == .closed)
    }
}
