import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Groups of entries that are removed together.
@Suite struct TagTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "x", population: 1)

    private func cache(memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(name: "cache", directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    private func tags(_ cities: Cache<City>) throws -> [String: Set<String>] {
        Dictionary(uniqueKeysWithValues: try cities.entries().all().map { ($0.key, $0.tags) })
    }

    @Test func tagsAreThoseOfTheLastSave() throws {
        let cities = try cache()
        try cities.save(city, forKey: "x", tags: ["old", "both"])
        try cities.save(city, forKey: "y", tags: ["both"])
        #expect(try tags(cache()) == ["x": ["old", "both"], "y": ["both"]])
        try cities.save(city, forKey: "x", tags: ["new", "both"])
        try cities.save(city, forKey: "y")
        for cities in [cities, try cache()] { #expect(try tags(cities) == ["x": ["new", "both"], "y": []]) }
        #expect(try cities.removeAll(tagged: "old") == 0)
        #expect(try cities.removeAll(tagged: "both") == 1)
        for cities in [cities, try cache()] { #expect(try tags(cities) == ["y": []]) }
    }

    @Test func movingADeadlineKeepsTags() throws {
        let cities = try cache()
        try cities.save(city, forKey: "x", expiration: .afterIdle(.seconds(80)), tags: ["a", "b"])
        clock.advance(by: 60)
        #expect(try cities.fetch(forKey: "x") == city)
        try cities.flush()
        let entry = try #require(try cache().entries().all().first)
        #expect(entry.expiresAt == clock.now + 80 && entry.tags == ["a", "b"])
        #expect(try cities.removeAll(tagged: "b") == 1)
    }

    @Test(arguments: seeds(1..<7)) func removingByTagRemovesThoseAndNoOthers(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let caches = [try cache(), try cache(memory: .none)]
        let groups = ["a", "A", "b", "😀", "a b", String(repeating: "t", count: 256)]
        var model: [String: Set<String>] = [:]
        for step in 0..<120 {
            let cities = caches[Int.random(in: 0..<2, using: &random)]
            let key = "\(Int.random(in: 0..<15, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0...6:
                let chosen = Set(groups.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
                try cities.save(city, forKey: key, tags: chosen)
                model[key] = chosen
            case 7: #expect(try cities.remove(forKey: key) == (model.removeValue(forKey: key) != nil))
            default:
                let tag = groups[Int.random(in: 0..<groups.count, using: &random)]
                let wanted = model.filter { $0.value.contains(tag) }
                #expect(try cities.removeAll(tagged: tag) == wanted.count, "seed \(seed), step \(step)")
                for key in wanted.keys { model[key] = nil }
                for cities in caches {
                    for key in 0..<15 {
                        #expect(try (cities.fetch(forKey: key) != nil) == (model["\(key)"] != nil), "seed \(seed)")
                    }
                }
            }
        }
        for cities in caches { #expect(try tags(cities) == model, "seed \(seed)") }
        #expect(try caches[0].removeAll(tagged: "no such tag") == 0)
    }

    @Test func whatWasRemovedByTagIsToldAndCounted() async throws {
        let observer = EventObserver()
        let cities = Cache<City>(over: try WatchedStore(directory), clock: clock, observer: observer)
        for key in ["x", "y"] { try await cities.save(city, forKey: key, tags: ["t"]) }
        try await cities.save(city, forKey: "z")
        #expect(try await cities.removeAll(tagged: "t") == 2)
        #expect(Set(observer.events.all.filter { $0.reason == .removed }.map(\.key)) == ["x", "y"])
        #expect(cities.statistics.removals == 2)
    }

    /// A change with them is out of reach, but the value that it was to replace is out of date.
    @Test func unusableTagsAreRefusedAndTheFormerValueIsGone() async throws {
        let cities = try cache()
        let long = String(repeating: "t", count: 257)
        let unusable: [Set<String>] = [[""], [long], ["fine", long], Set((0..<11).map { "\($0)" })]
        let new = City(name: "new", population: 2)
        func expectRefusal(_ change: () async throws -> Void) async throws {
            try await cities.save(city, forKey: "x", tags: ["kept"])
            let error = await #expect(throws: CacheError.self) { try await change() }
            #expect(error?.code == .invalidTag)
            #expect(error?.key == "x")
            for cities in [cities, try cache()] { #expect(try await cities.fetch(forKey: "x") == nil) }
        }
        for tags in unusable {
            try await expectRefusal { try cities.sync { try $0.save(new, forKey: "x", tags: tags) } }
            try await expectRefusal { try await cities.save(new, forKey: "x", tags: tags) }
            try await expectRefusal { try cities.sync { try $0.save(contentsOf: [("x", new)], tags: tags) } }
            try await expectRefusal { try await cities.save(contentsOf: [("x", new)], tags: tags) }
            try await expectRefusal { try cities.sync { try $0.modify(forKey: "x", tags: tags) { $0 = new } } }
            try await expectRefusal { try await cities.modify(forKey: "x", tags: tags) { $0 = new } }
        }
        try await cities.save(city, forKey: "x", tags: ["kept"])
        // A fetch saves nothing yet.
        for (tags, key) in zip(unusable, ["x", "y", "x", "y"]) {
            await #expect(throws: CacheError.self) {
                try await cities.fetch(forKey: key, tags: tags) {
                    Issue.record("loaded")
                    return new
                }
            }
        }
        for tag in ["", long] {
            #expect(code { try cities.removeAll(tagged: tag) } == .invalidTag)
            await #expect(throws: CacheError.self) { try await cities.removeAll(tagged: tag) }
        }
        for cities in [cities, try cache()] {
            #expect(try await cities.fetch(forKey: "x") == city)
            #expect(try tags(cities) == ["x": ["kept"]])
        }
        // The most that is allowed, with the longest key.
        let most = Set((0..<10).map { "\($0)" + String(repeating: "t", count: 255) })
        let key = String(repeating: "k", count: 1_024)
        let expiration = Expiration.afterIdle(.seconds(9)).servingStaleOnError(for: .seconds(9)).servingStale(
            for:
                .seconds(9)
        )
        try await cities.save(city, forKey: key, expiration: expiration, tags: most)
        #expect(try tags(cache())[key] == most)
        #expect(try await cities.removeAll(tagged: "5" + String(repeating: "t", count: 255)) == 1)
    }
}
