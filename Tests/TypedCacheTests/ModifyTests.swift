import ArchiveStore
import Foundation
import StoreTrials
import TestSupport
import Testing

@testable import TypedCache

/// Changes in one step: none is lost, and none is half done.
@Suite struct ModifyTests {
    private struct Refusal: Error {}

    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "x", population: 1)

    private func cache(
        memory: MemorySettings = MemorySettings(),
        reporter: (@Sendable (CacheError) -> Void)? = nil
    ) throws -> Cache<City> {
        try Cache(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(
                memory: memory,
                clock: clock,
                observer: reporter.map { FailureObserver(told: $0) }
            )
        )
    }

    private static func increment(_ city: inout City?) -> Int {
        city = City(name: "count", population: (city?.population ?? 0) + 1)
        return city?.population ?? 0
    }

    /// A save of another value fails, and so does the removal of the value that was read.
    @Test(arguments: [false, true], [false, true])
    func aChangeBeginsAnewWhereItsValueIsGone(removes: Bool, isAsync: Bool) async throws {
        let store = AgreementTests.TestStore()
        let cities = Cache<City>(over: store, clock: clock)
        try await cities.save(city, forKey: "a")
        let seen = Recorder<String?>()
        let change = { (value: inout City?) in
            seen.add(value?.name)
            if seen.all.count == 1 {
                store.state.withLock { $0 = .init(failsSaves: true, failsRemovals: true) }
                let new = City(name: "y", population: 2)
                #expect(throws: CacheError.self) { try cities.sync { try $0.save(new, forKey: "a") } }
                store.state.withLock { $0 = .init() }
            }
            value = removes ? nil : City(name: (value?.name ?? "none") + "+", population: 3)
        }
        if isAsync {
            try await cities.modify(forKey: "a", change)
        } else {
            try cities.sync { try $0.modify(forKey: "a", change) }
        }
        #expect(seen.all == ["x", nil])
        #expect(try await cities.fetch(forKey: "a")?.name == (removes ? nil : "none+"))
    }

    @Test(arguments: [MemorySettings(), .none]) func everyIncrementCounts(memory: MemorySettings) throws {
        // The last cache is not a neighbor of the first ones, as a cache of another process is not.
        let caches = [
            try cache(memory: memory), try cache(memory: memory),
            Cache<City>(over: try WatchedStore(directory), memory: memory, clock: clock),
        ]
        let results = Recorder<Int>()
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for _ in 0..<20 {
                do {
                    results.add(try caches[thread % 3].modify(forKey: "x", Self.increment))
                } catch {
                    Issue.record(error)
                }
            }
        }
        // Each change began with the result of the one before it.
        #expect(results.all.sorted() == Array(1...120))
        #expect(try cache().fetch(forKey: "x")?.population == 120)
        // After a change by one of them, its neighbor has nothing else in memory.
        #expect(try caches[0].modify(forKey: "x", Self.increment) == 121)
        for cities in caches[..<2] { #expect(try cities.fetch(forKey: "x")?.population == 121) }
        #expect(caches.map(\.statistics.saves).reduce(0, +) == 121)
        #expect(try directory.entryCount("cache") == 1)
    }

    @Test func everyIncrementCountsAsynchronously() async throws {
        let caches = [
            try cache(), try cache(memory: .none), Cache<City>(over: try WatchedStore(directory), clock: clock),
        ]
        let results = try await withThrowingTaskGroup(of: [Int].self) { group in
            for task in 0..<6 {
                group.addTask {
                    var results: [Int] = []
                    for _ in 0..<20 {
                        results.append(try await caches[task % 3].modify(forKey: "x", Self.increment))
                    }
                    return results
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.sorted() == Array(1...120))
        #expect(try await cache().fetch(forKey: "x")?.population == 120)
    }

    @Test func whatOthersDoMeanwhileIsSeen() throws {
        let cities = try cache()
        let other = try cache()
        try cities.save(city, forKey: "x")
        let interruptions: [(City?) throws -> Void] = [
            { _ in try other.save(City(name: "saved", population: 10), forKey: "x") },
            { _ in try other.remove(forKey: "x") },
            { _ in try other.removeAll() },
            { _ in try other.modify(forKey: "x") { $0 = City(name: "modified", population: 20) } },
        ]
        for (interrupt, wanted) in zip(interruptions, ["saved", nil, nil, "modified"]) {
            try cities.save(city, forKey: "x")
            var seen: [String?] = []
            try cities.modify(forKey: "x") { city in
                seen.append(city?.name)
                if seen.count == 1 { try interrupt(city) }
                city?.population += 1
            }
            #expect(seen == ["x", wanted])
            for cities in [cities, other, try cache()] { #expect(try cities.fetch(forKey: "x")?.name == wanted) }
        }
    }

    @Test(arguments: [true, false]) func nilRemoves(isAsynchronous: Bool) async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "x")
        let found: City?
        if isAsynchronous {
            found = try await Self.takeInBackground("x", from: cities)
            try await cities.modify(forKey: "absent") { #expect($0 == nil) }
        } else {
            found = try Self.take("x", from: cities)
            #expect(try Self.take("absent", from: cities) == nil)
        }
        #expect(found == city)
        for cities in [cities, try cache()] {
            #expect(try await cities.fetch(forKey: "x") == nil)
            #expect(try await cities.count() == 0)
        }
        #expect(cities.statistics.removals == 1 && cities.statistics.saves == 1)
    }

    // A change that throws nothing leaves errors of the cache only.

    private static func take(_ key: String, from cities: Cache<City>) throws(CacheError) -> City? {
        try cities.modify(forKey: key) { $0.take() }
    }

    private static func takeInBackground(_ key: String, from cities: Cache<City>) async throws(CacheError) -> City?
    {
        try await cities.modify(forKey: key) { $0.take() }
    }

    @Test func throwingChangesNothing() async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "x", expiration: .after(.seconds(60)), tags: ["tag"])
        let before = try cities.entries().all()
        let change: (inout City?) throws -> Void = { city in
            city = nil
            throw Refusal()
        }
        for key in ["x", "absent"] {
            await #expect(throws: Refusal.self) { try await cities.modify(forKey: key, change) }
            #expect(throws: Refusal.self) { try Self.modify(cities, key, change) }
        }
        #expect(code { try cities.modify(forKey: "") { $0 = city } } == .invalidKey)
        for cities in [cities, try cache()] {
            #expect(try await cities.fetch(forKey: "x") == city)
            #expect(try cities.entries().all() == before)
        }
        #expect(cities.statistics.saves == 1)
    }

    /// As for a save: the value that was to be replaced is out of date.
    @Test func aRefusedChangeLeavesNoFormerValue() throws {
        let cities = try cache()
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        try cities.save(city, forKey: "x")
        #expect(
            code { try cities.modify(forKey: "x", expiration: .at(never)) { $0 = city } } == .invalidExpiration
        )
        #expect(try cities.fetch(forKey: "x") == nil)
        try cities.save(city, forKey: "x")
        #expect(code { try cities.modify(forKey: "x", tags: [""]) { $0?.population += 1 } } == .invalidTag)
        #expect(try cities.fetch(forKey: "x") == nil)
    }

    private static func modify(_ cities: Cache<City>, _ key: String, _ change: (inout City?) throws -> Void) throws
    {
        try cities.modify(forKey: key, change)
    }

    @Test func anExpiredEntryIsNil() throws {
        for memory in [MemorySettings(), .none] {
            for expiration in [
                Expiration.after(.seconds(10)), .afterIdle(.seconds(10)), .at(clock.now + 10),
                .after(.seconds(10)).servingStaleOnError(for: .seconds(1_000)),
            ] {
                let cities = try cache(memory: memory)
                try cities.save(city, forKey: "x", expiration: expiration)
                clock.advance(by: 10)
                #expect(try cities.modify(forKey: "x", Self.increment) == 1)
                // As long as is said now, not as before.
                clock.advance(by: 1e6)
                #expect(try cities.modify(forKey: "x", Self.increment) == 2)
                try cities.removeAll()
                clock.advance(by: -1e6 - 10)
            }
        }
    }

    @Test func aDamagedEntryIsNil() throws {
        for memory in [MemorySettings(), .none] {
            let reports = Recorder<CacheError>()
            let cities = try cache(memory: memory) { reports.add($0) }
            try cities.save(city, forKey: "x")
            try directory.damageEntry("cache")
            #expect(try cities.modify(forKey: "x", Self.increment) == 1)
            #expect(reports.all.map(\.code) == [.corrupted])
            #expect(cities.statistics.corruptions == 1)
            for cities in [cities, try cache()] { #expect(try cities.fetch(forKey: "x")?.population == 1) }
            try cities.removeAll()
        }
    }

    /// As a program that blocks and as one that suspends.
    @Test(arguments: [false, true]) func expirationAndTagsAreKeptUnlessOthersAreGiven(suspends: Bool) async throws {
        let cities = try Cache<City>(
            name: "kept",
            directory: directory.url,
            settings: CacheSettings(expiration: .after(.seconds(7)), clock: clock)
        )
        func grow(_ key: String, _ expiration: Expiration? = nil, tags: Set<String>? = nil) async throws {
            let change = { (city: inout City?) in
                city = city ?? self.city
                city?.population += 1
            }
            if suspends {
                try await cities.modify(forKey: key, expiration: expiration, tags: tags, change)
            } else {
                let block = { try cities.modify(forKey: key, expiration: expiration, tags: tags, change) }
                try block()
            }
        }
        let start = clock.now
        try await cities.save(city, forKey: "x", expiration: .after(.seconds(60)), tags: ["a", "b"])
        clock.advance(by: 10)
        try await grow("x")
        var entry = try #require(try await cities.entry(forKey: "x"))
        #expect(entry.expiresAt == start + 60 && entry.tags == ["a", "b"] && entry.storedAt == start + 10)
        try await grow("x", tags: ["c"])
        entry = try #require(try await cities.entry(forKey: "x"))
        #expect(entry.expiresAt == start + 60 && entry.tags == ["c"])
        try await grow("x", .never)
        entry = try #require(try await cities.entry(forKey: "x"))
        #expect(entry.expiresAt == nil && entry.tags == ["c"])
        try await grow("x", tags: [])
        #expect(try await cities.entry(forKey: "x")?.tags == [])
        // A new entry has the cache's default, as has one in the place of an expired one.
        try await grow("y")
        #expect(try await cities.entry(forKey: "y")?.expiresAt == clock.now + 7)
        try await cities.save(
            city,
            forKey: "z",
            expiration: .after(.seconds(1)).servingStale(for: .seconds(60)),
            tags: ["a"]
        )
        clock.advance(by: 5)
        try await grow("z")
        entry = try #require(try await cities.entry(forKey: "z"))
        #expect(entry.expiresAt == clock.now + 7 && entry.tags == [])
        // A change reads the entry, so an idle deadline moves.
        try await cities.save(city, forKey: "idle", expiration: .afterIdle(.seconds(20)))
        clock.advance(by: 15)
        try await grow("idle")
        clock.advance(by: 15)
        #expect(try await cities.fetch(forKey: "idle")?.population == city.population + 1)
    }

    /// An error of the change itself, of any code, leaves the entry as it was.
    @Test func aCacheErrorOfTheChangeChangesNothing() async throws {
        let cities = try Cache<City>(name: "own", directory: directory.url, settings: CacheSettings(clock: clock))
        try await cities.save(city, forKey: "x")
        let own = CacheError(.encodingFailed, "of the change")
        for suspends in [false, true] {
            do {
                if suspends {
                    try await cities.modify(forKey: "x") { _ in throw own }
                } else {
                    let block = { try cities.modify(forKey: "x") { _ in throw own } }
                    try block()
                }
                Issue.record("nothing was thrown")
            } catch {
                #expect((error as? CacheError)?.message == "of the change")
            }
            #expect(try await cities.fetch(forKey: "x") == city)
        }
    }

    @Test func expirationAndTagsAreThoseOfTheLastChange() throws {
        let cities = try cache()
        try cities.save(city, forKey: "x", expiration: .after(.seconds(10)), tags: ["old"])
        try cities.modify(forKey: "x", expiration: .after(.seconds(50)), tags: ["new"]) { $0?.population += 1 }
        let entry = try #require(cities.entries().all().first { _ in true })
        #expect(entry.expiresAt == clock.now + 50 && entry.tags == ["new"])
        try cities.modify(forKey: "x", expiration: .after(.zero)) { $0?.population += 1 }
        for cities in [cities, try cache()] { #expect(try cities.fetch(forKey: "x") == nil) }
    }

    @Test func anEntryOfAnotherTypeIsAnErrorAndStays() throws {
        try cache().save(city, forKey: "x")
        let villages = try Cache<Village>(name: "cache", directory: directory.url)
        #expect(code { try villages.modify(forKey: "x") { $0 = nil } } == .typeMismatch)
        #expect(try cache().fetch(forKey: "x") == city)
    }

    @Test func whatMayNotBeUsedIsNilAndCanBeSavedOver() throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store)
        try cities.save(city, forKey: "x")
        let fail: @Sendable () throws(StoreError) -> Void = { () throws(StoreError) in throw WatchedStore.failure }
        store.interfere { ($0.save, $0.remove) = ({ _ throws(StoreError) in try fail() }, fail) }
        #expect(code { try cities.modify(forKey: "x") { $0?.population = 99 } } == .io)
        #expect(try cities.fetch(forKey: "x") == nil)
        store.interfere { ($0.save, $0.remove) = (nil, nil) }
        #expect(try cities.modify(forKey: "x", Self.increment) == 1)
        #expect(try cities.fetch(forKey: "x")?.population == 1)
    }
}
