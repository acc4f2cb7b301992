import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Stale windows: for plain calls the entry is expired, for fetches that load it is still there, and then it is gone.
@Suite struct StaleTests {
    private struct Unreachable: Error {}

    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "old", population: 1)

    private func cache(memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(name: "cache", directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    /// The number of fetches counted, with any result.
    private func fetches(_ cities: Cache<City>) -> Int {
        let statistics = cities.statistics
        return statistics.hits + statistics.staleHits + statistics.misses
    }

    private func load(_ cities: Cache<City>) async throws -> City {
        try await cities.fetch(forKey: "x") { throw Unreachable() }
    }

    @Test(arguments: [MemorySettings(), .none], [true, false])
    func plainCallsFindNothingInAStaleWindow(memory: MemorySettings, isReopened: Bool) async throws {
        let expiration = Expiration.after(.seconds(100)).servingStaleOnError(for: .seconds(80))
        let writer = try cache(memory: memory)
        try await writer.save(city, forKey: "x", expiration: expiration)
        let cities = isReopened ? try cache(memory: memory) : writer
        for time in [100, 150, 179.5] {
            clock.advance(by: 1_000_000 + time - clock.now.timeIntervalSinceReferenceDate)
            #expect(try await cities.fetch(forKey: "x") == nil)
            #expect(try await cities.fetch(forKeys: ["x"]).isEmpty)
            #expect(try await !cities.contains(forKey: "x"))
            #expect(try cities.keys().all().isEmpty && cities.entries().all().isEmpty)
            #expect(try await cities.count() == 0)
            #expect(try await cities.removeExpired() == 0)
            #expect(try await cities.modify(forKey: "other") { $0 } == nil)
            // None of these calls removed it for fetches that load.
            #expect(try await load(cities) == city, "at \(time)")
            #expect(try directory.entryCount("cache") == 1)
        }
        #expect(cities.statistics.staleHits == 3 && cities.statistics.misses == 6)
        clock.advance(by: 0.5)
        await #expect(throws: Unreachable.self) { try await load(cities) }
        #expect(try directory.entryCount("cache") == 0)
        #expect(cities.statistics.expirations == 1)
    }

    @Test func theWindowsAreSeparate() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(100))
            .servingStale(for: .seconds(20)).servingStaleOnError(for: .seconds(50))
        try await cities.save(city, forKey: "x", expiration: expiration)
        clock.advance(by: 119)
        let new = City(name: "new", population: 2)
        var events = cities.events.makeAsyncIterator()
        // Served at once, and loaded again in the background.
        #expect(try await cities.fetch(forKey: "x", expiration: expiration) { new } == city)
        while let event = await events.next(), event.kind != .saved {}
        try await wait(until: cities.core.loads.isEmpty)
        #expect(try await cities.fetch(forKey: "x") == new)
        clock.advance(by: 120)
        // Served only because loading fails.
        #expect(try await load(cities) == new)
        let newer = City(name: "newer", population: 3)
        #expect(try await cities.fetch(forKey: "x", expiration: expiration) { newer } == newer)
        clock.advance(by: 150)
        await #expect(throws: Unreachable.self) { try await load(cities) }
        #expect(cities.statistics.staleHits == 2)
    }

    @Test func aSaveOverAStaleEntryIsFresh() async throws {
        let cities = try cache()
        try await cities.save(
            city,
            forKey: "x",
            expiration: .after(.seconds(10)).servingStale(for: .seconds(1_000))
        )
        clock.advance(by: 10)
        #expect(try await cities.fetch(forKey: "x") == nil)
        try await cities.save(City(name: "new", population: 2), forKey: "x", expiration: .after(.seconds(10)))
        #expect(try await load(cities).name == "new")
        clock.advance(by: 10)
        await #expect(throws: Unreachable.self) { try await load(cities) }
    }

    /// After its idle deadline an entry stays on disk for a while, for caches that may have read it; for any other
    /// cache it is absent, and a fetch is a miss.
    @Test func anIdleEntryIsNoStaleOne() async throws {
        for memory in [MemorySettings(), .none] {
            let cities = try cache(memory: memory)
            try await cities.save(city, forKey: "x", expiration: .afterIdle(.seconds(80)))
            clock.advance(by: 85)
            let before = fetches(cities)
            await #expect(throws: Unreachable.self) { try await load(cities) }
            #expect(cities.statistics.misses == 1)
            #expect(fetches(cities) == before + 1)
            let new = City(name: "new", population: 2)
            #expect(try await cities.fetch(forKey: "x") { new } == new)
            #expect(fetches(cities) == before + 2)
            try await cities.removeAll()
        }
    }

    /// An entry that is loaded ahead of its deadline: for an idle one that is the deadline that reading has moved.
    @Test func anIdleEntryThatIsReadIsNotLoadedAhead() async throws {
        for memory in [MemorySettings(), .none] {
            let cities = try cache(memory: memory)
            let idle = Expiration.afterIdle(.seconds(1e6))
            let loads = Recorder<Int>()
            for round in 0..<20 {
                // Taken for one that took as long as it really does: next to nothing beside the idle time.
                let found = try await cities.fetch(
                    forKey: "x",
                    options: LoadOptions(earlyRefresh: 1),
                    expiration: idle
                ) {
                    loads.add(round)
                    return City(name: "loaded", population: round)
                }
                #expect(found.population == 0)
                clock.advance(by: 8e5)
                try await cities.flush()
            }
            #expect(loads.all == [0])
            try await cities.removeAll()
        }
    }
}
