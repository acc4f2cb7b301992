import ArchiveStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Deadlines that are moved, and looks at entries that have expired.
@Suite struct ExtendTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "city", population: 1)

    private func cache(
        memory: MemorySettings = MemorySettings(),
        writing: DiskSettings.Writing = .through
    ) throws -> Cache<City> {
        let disk = DiskSettings(writing: writing)
        return try Cache(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(memory: memory, disk: disk, clock: clock)
        )
    }

    private func extend(_ cities: Cache<City>, _ expiration: Expiration, isAsync: Bool) async throws -> Bool {
        isAsync
            ? try await cities.extend(forKey: "a", expiration: expiration)
            : try cities.sync { try $0.extend(forKey: "a", expiration: expiration) }
    }

    @Test(arguments: [MemorySettings(), .none], [true, false])
    func movesTheDeadlineOfWhatIsThere(memory: MemorySettings, isAsync: Bool) async throws {
        let cities = try cache(memory: memory)
        let other = try cache(memory: memory)
        let saved = clock.now
        #expect(try await !extend(cities, .after(.seconds(10)), isAsync: isAsync))
        try await cities.save(city, forKey: "a", expiration: .after(.seconds(10)), tags: ["t"])
        #expect(try await other.fetch(forKey: "a") == city)
        for _ in 0..<3 {
            clock.advance(by: 9)
            #expect(try await extend(cities, .after(.seconds(10)), isAsync: isAsync))
        }
        let stored = try #require(try await cities.stored(forKey: "a"))
        #expect(stored.storedAt == saved && stored.expiresAt == clock.now + 10 && stored.tags == ["t"])
        #expect(stored.value == city && !stored.isExpired)
        clock.advance(by: 9)
        for cache in [cities, other, try cache()] { #expect(try await cache.fetch(forKey: "a") == city) }
        // Earlier as well: no memory may know better.
        #expect(try await extend(cities, .after(.seconds(2)), isAsync: isAsync))
        clock.advance(by: 2)
        for cache in [cities, other, try cache()] {
            #expect(try await cache.fetch(forKey: "a") == nil)
            #expect(try await cache.stored(forKey: "a") == nil)
        }
        #expect(try await !extend(cities, .never, isAsync: isAsync))
        #expect(cities.statistics.saves == 1)
    }

    @Test func anEntryThatIsSavedOverAtTheSameTimeIsThere() throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, place: directory.url.path, clock: clock)
        try cities.save(city, forKey: "a", expiration: .after(.seconds(10)))
        let archive = try #require(try store.base.fetch(forKey: "a")).archive
        let saves = Mutex(3)
        store.interfere {
            $0.move = { [base = store.base, now = clock.now] () throws(StoreError) in
                let isSavedOver = saves.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isSavedOver else { return }
                let attributes = EntryAttributes(storedAt: now, expiresAt: now + 20)
                _ = try base.save(archive, forKey: "a", attributes: attributes, if: nil)
            }
        }
        #expect(try cities.extend(forKey: "a", expiration: .after(.seconds(100))))
        #expect(saves.withLock { $0 } < 0)
        #expect(try cities.stored(forKey: "a")?.expiresAt == clock.now + 100)
    }

    @Test func whatExpiredIsExtendedWithinItsStaleWindowsOnly() async throws {
        let cities = try cache()
        let stale = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(10))
        try await cities.save(city, forKey: "a", expiration: stale)
        clock.advance(by: 19.5)
        let stored = try #require(try await cities.stored(forKey: "a"))
        #expect(stored.isExpired && stored.value == city)
        #expect(try await cities.extend(forKey: "a", expiration: .after(.seconds(10))))
        #expect(try await cities.fetch(forKey: "a") == city)
        clock.advance(by: 20)
        #expect(try await cities.stored(forKey: "a") == nil)
        #expect(try await !cities.extend(forKey: "a", expiration: .after(.seconds(10))))
        // An eighth of an idle duration does not count as a window.
        try await cities.save(city, forKey: "a", expiration: .afterIdle(.seconds(80)))
        clock.advance(by: 85)
        #expect(try await !cities.extend(forKey: "a", expiration: .after(.seconds(10))))
        #expect(try await cities.stored(forKey: "a") == nil)
    }

    @Test func anIdleTimeIsGivenByASaveAlone() async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "a")
        #expect(try await cities.extend(forKey: "a", expiration: .afterIdle(.seconds(10))))
        clock.advance(by: 9)
        #expect(try await cities.fetch(forKey: "a") == city)
        clock.advance(by: 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    @Test func forEver() async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "a", expiration: .after(.seconds(10)))
        #expect(try await cities.extend(forKey: "a", expiration: .never))
        clock.advance(by: 1e9)
        for cache in [cities, try cache()] { #expect(try await cache.fetch(forKey: "a") == city) }
        #expect(try await cities.extend(forKey: "a", expiration: .after(.seconds(10))))
        clock.advance(by: 10)
        for cache in [cities, try cache()] { #expect(try await cache.fetch(forKey: "a") == nil) }
    }

    @Test func whatIsStillToBeWritten() async throws {
        let cities = try cache(writing: .behind(limit: .mebibytes(1)))
        for _ in 0..<20 {
            try await cities.save(city, forKey: "a", expiration: .after(.seconds(10)))
            #expect(try await cities.extend(forKey: "a", expiration: .after(.seconds(100))))
            clock.advance(by: 50)
            #expect(try await cities.fetch(forKey: "a") == city)
            try await cities.removeAll()
        }
    }

    @Test func aLoadThatIsUnderWayCounts() async throws {
        let cities = try cache()
        let stale = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(10))
        try await cities.save(city, forKey: "a", expiration: stale)
        clock.advance(by: 15)
        _ = try await cities.fetch(forKey: "a") { () -> City in
            _ = try await cities.extend(forKey: "a", expiration: .after(.seconds(10)))
            return City(name: "loaded", population: 2)
        }
        for cache in [cities, try cache()] { #expect(try await cache.fetch(forKey: "a")?.name == "loaded") }
    }

    @Test func countsAsNoFetchAndMovesNoIdleDeadline() async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "a", expiration: .afterIdle(.seconds(80)))
        clock.advance(by: 79)
        #expect(try await cities.stored(forKey: "a")?.value == city)
        clock.advance(by: 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(cities.statistics.hits == 0 && cities.statistics.misses == 1)
    }
}
