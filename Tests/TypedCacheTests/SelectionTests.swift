import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Entries chosen by their attributes: the same with a disk and without, blocking and suspending.
@Suite struct SelectionTests {
    enum Place: CaseIterable { case packed, files, behind, memory }

    private let directory = TestDirectory()
    private let clock = TestClock()

    private func open(_ place: Place) throws -> Cache<Data> {
        let disk: DiskSettings? =
            switch place {
            case .packed: DiskSettings(layout: .packed)
            case .files: DiskSettings(layout: .files)
            case .behind: DiskSettings(writing: .behind(limit: .mebibytes(1)))
            case .memory: nil
            }
        return try Cache<Data>(
            name: "\(place)",
            directory: directory.url,
            settings: CacheSettings(disk: disk, clock: clock)
        )
    }

    @Test(arguments: Place.allCases) func oneEntryIsFoundByItself(_ place: Place) throws {
        let cache = try open(place)
        try cache.save(Data([1]), forKey: "a", expiration: .after(.seconds(10)), tags: ["x", "y"])
        // Before, an entry that waits has another size.
        try cache.flush()
        let entry = try #require(try cache.entry(forKey: "a"))
        #expect(entry.key == "a")
        #expect(entry.tags == ["x", "y"])
        #expect(entry.storedAt == clock.now)
        #expect(entry.expiresAt == clock.now + 10)
        #expect(try cache.entries().all() == [entry])
        #expect(try cache.entry(forKey: "b") == nil)
        #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
        clock.advance(by: 10)
        #expect(try cache.entry(forKey: "a") == nil)
        #expect(code { try cache.entry(forKey: "") } == .invalidKey)
    }

    @Test(arguments: Place.allCases) func theAsynchronousTwinFindsItToo(_ place: Place) async throws {
        let cache = try open(place)
        try await cache.save(Data([1]), forKey: "a", expiration: .after(.seconds(10)), tags: ["x", "y"])
        try await cache.flush()
        #expect(try await cache.entry(forKey: "a") == cache.entries().all().first)
        clock.advance(by: 10)
        #expect(try await cache.entry(forKey: "a") == nil)
    }

    @Test func aStaleEntryIsNotFound() throws {
        let cache = try open(.packed)
        try cache.save(Data(), forKey: "a", expiration: .after(.seconds(10)).servingStale(for: .seconds(10)))
        clock.advance(by: 15)
        #expect(try cache.entry(forKey: "a") == nil)
        #expect(try cache.keys().all().isEmpty)
    }

    /// An entry that only some fetches may still return is removed as well: otherwise these would bring back a value that
    /// was removed.
    @Test(arguments: Place.allCases, [true, false])
    func noValueIsServedStaleThatWasRemoved(_ place: Place, isAsync: Bool) async throws {
        struct Failure: Error {}
        let windows: [Expiration] = [
            .after(.seconds(10)).servingStale(for: .seconds(100)),
            .after(.seconds(10)).servingStaleOnError(for: .seconds(100)),
            .afterIdle(.seconds(10)).servingStaleOnError(for: .seconds(100)),
        ]
        let cache = try open(place)
        for (number, expiration) in windows.enumerated() {
            try cache.sync { try $0.save(Data([1]), forKey: number, expiration: expiration) }
        }
        clock.advance(by: 15)
        let count =
            isAsync
            ? try await cache.removeAll { $0.tags.isEmpty }
            : try cache.sync { try $0.removeAll { $0.tags.isEmpty } }
        #expect(count == windows.count)
        for number in windows.indices {
            #expect(try await cache.stored(forKey: number) == nil)
            await #expect(throws: Failure.self) { try await cache.fetch(forKey: number) { throw Failure() } }
        }
    }

    @Test(arguments: Place.allCases) func keysAreFoundByTheirBeginning(_ place: Place) throws {
        let cache = try open(place)
        for key in ["user/1", "user/2", "use", "item/1", "e\u{301}a", "\u{e9}b"] {
            try cache.save(Data(), forKey: key)
        }
        #expect(try cache.keys(withPrefix: "user/").all().sorted() == ["user/1", "user/2"])
        #expect(try cache.keys(withPrefix: "").all().count == 6)
        #expect(try cache.keys(withPrefix: "x").all().isEmpty)
        // By bytes: "é" in one character is another beginning than in two.
        #expect(try cache.keys(withPrefix: "\u{e9}").all().map { Array($0.utf8) } == [Array("\u{e9}b".utf8)])
    }

    private func fill(_ cache: Cache<Data>) throws {
        for number in 0..<100 { try cache.save(Data(count: number), forKey: number, tags: ["\(number % 3)"]) }
    }

    private func expectThirds(_ cache: Cache<Data>, above least: Int) throws {
        for number in 0..<100 {
            let isThere = try cache.fetch(forKey: number) != nil
            #expect(isThere == (number % 3 != 0 && number >= least), "\(number)")
        }
        #expect(try cache.count() == (least..<100).filter { $0 % 3 != 0 }.count)
    }

    @Test(arguments: Place.allCases) func whatIsChosenIsRemoved(_ place: Place) throws {
        let cache = try open(place)
        try fill(cache)
        let before = cache.statistics.removals
        #expect(try cache.removeAll { $0.tags == ["0"] } == 34)
        #expect(cache.statistics.removals == before + 34)
        try expectThirds(cache, above: 0)
        #expect(try cache.removeAll { _ in false } == 0)
        try expectThirds(cache, above: 0)
    }

    @Test(arguments: Place.allCases) func theAsynchronousTwinRemovesItToo(_ place: Place) async throws {
        let cache = try open(place)
        try fill(cache)
        #expect(try await cache.removeAll { $0.tags == ["0"] } == 34)
        #expect(try await cache.removeAll { Int($0.key).map { $0 < 50 } ?? true } == 33)
        try expectThirds(cache, above: 50)
    }

    /// A save over a chosen entry makes another entry, which stays.
    @Test(arguments: Place.allCases) func whatIsSavedMeanwhileStays(_ place: Place) throws {
        let cache = try open(place)
        try cache.save(Data([1]), forKey: "a")
        var failure: (any Error)?
        let count = try cache.removeAll { entry in
            do { try cache.save(Data([2]), forKey: entry.key) } catch { failure = error }
            return true
        }
        #expect(failure == nil)
        #expect(count == 0)
        #expect(try cache.fetch(forKey: "a") == Data([2]))
    }

    @Test func theOneObjectIsKnownAndRemoved() throws {
        let cache = try open(.packed)
        #expect(try !cache.containsObject())
        #expect(try !cache.removeObject())
        try cache.save(object: Data([1]))
        #expect(try cache.containsObject())
        #expect(try cache.removeObject())
        #expect(try cache.fetchObject() == nil)
    }

    @Test func theAsynchronousTwinsDoThatToo() async throws {
        let cache = try open(.packed)
        #expect(try await !cache.containsObject())
        #expect(try await !cache.removeObject())
        try await cache.save(object: Data([1]))
        #expect(try await cache.containsObject())
        #expect(try await cache.removeObject())
        #expect(try await !cache.containsObject())
    }
}
