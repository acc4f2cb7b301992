import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Stale values, and loads ahead of a deadline.
extension LoadTests {
    // MARK: Stale values

    @Test func servesStaleValuesWhileItLoadsAnew() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(10)).servingStale(for: .seconds(5))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration)
        clock.advance(by: 12)
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await cities.contains(forKey: "a") == false)
        let source = Source(isOpen: false)
        let events = cities.events
        for _ in 0..<3 {
            let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
            #expect(city.name == "old")
        }
        await source.hasRun(1)
        source.open()
        await event(.saved, in: events)
        try await wait(until: cities.core.loads.isEmpty)
        let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(city.name == "loaded" && source.runs == 1)
        #expect(cities.statistics.staleHits == 3)
        // After the window it has to be waited for.
        clock.advance(by: 15)
        source.give(.success(City(name: "third", population: 3)))
        let third = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(third.name == "third" && source.runs == 2)
    }

    enum Background: CaseIterable, Sendable { case stale, ahead }

    /// A producer that hangs in the background holds up the first fetch with a time limit, and no later one.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Background.allCases, [false, true])
    func aHungRefreshEndsWithTheLastTaskThatWaitsForIt(kind: Background, ignoresCancellation: Bool) async throws {
        let cities = try cache()
        let hung = Source(isOpen: false)
        let options = LoadOptions(earlyRefresh: kind == .ahead ? 1e18 : nil)
        let expiration = Expiration.after(.seconds(10)).servingStale(for: .seconds(kind == .stale ? 5 : 0))
        let first = try await cities.fetch(forKey: "a", expiration: expiration) { City(name: "old", population: 1) }
        #expect(first.name == "old")
        if kind == .stale { clock.advance(by: 12) }
        let served = try await cities.fetch(forKey: "a", options: options, expiration: expiration) {
            // A task of its own is not cancelled with the load.
            try await ignoresCancellation ? Task { try await hung.load() }.value : hung.load()
        }
        #expect(served.name == "old")
        await hung.hasRun(1)
        clock.advance(by: 3_600)
        let waiting = (0..<2).map { _ in
            Task { try await cities.fetch(forKey: "a") { City(name: "own", population: 2) } }
        }
        try await waiters(2, of: "a", cities)
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        // The second task still waits.
        try await waiters(1, of: "a", cities)
        #expect(hung.cancellations == 0)
        waiting[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[1].value }
        #expect(hung.cancellations == (ignoresCancellation ? 0 : 1))
        let later = try await cities.fetch(forKey: "a") { City(name: "later", population: 3) }
        #expect(later.name == "later")
        // Its late value is not saved.
        let key = try EntryKey("a")
        let isUnderWay = { cities.core.memory.withLock { $0.isUnderWay(key) } }
        hung.open()
        try await wait(until: !isUnderWay())
        #expect(try await cities.fetch(forKey: "a", freshness: .latest)?.name == "later")
    }

    /// A refresh goes on without a waiting task, also after a task has waited for one of its keys until that was loaded.
    @Test(.timeLimit(.minutes(1 * slowness))) func aRefreshOfSeveralKeysOutlivesAJoinThatWasServed() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(10)).servingStale(for: .seconds(5))
        for key in ["a", "b"] {
            try await cities.save(City(name: "old", population: 1), forKey: key, expiration: expiration)
        }
        clock.advance(by: 12)
        let source = Source(isOpen: false)
        let stale = try await cities.fetch(forKeys: ["a", "b"]) { keys in
            let city = try await source.load()
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, city) })
        }
        #expect(stale.values.map(\.name) == ["old", "old"])
        await source.hasRun(1)
        clock.advance(by: 3_600)
        let joined = Task { try await cities.fetch(forKey: "a") { City(name: "own", population: 2) } }
        try await waiters(1, of: "a", cities)
        source.open()
        #expect(try await joined.value.name == "loaded")
        let other = try await cities.fetch(forKey: "b") { City(name: "own", population: 2) }
        #expect(other.name == "loaded" && source.cancellations == 0)
    }

    @Test func servesStaleValuesIfLoadingFails() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(60))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration)
        clock.advance(by: 30)
        let source = Source(.failure(Refusal()))
        let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(city.name == "old" && source.runs == 1)
        #expect(cities.statistics.staleHits == 1 && cities.statistics.loadFailures == 1)
        #expect(cities.statistics.misses == 0)
        clock.advance(by: 60)
        await #expect(throws: Refusal.self) {
            try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        }
        source.give(.success(City(name: "new", population: 2)))
        let new = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(new.name == "new")
    }

    // MARK: Ahead

    @Test func loadsAheadTheMoreLikelyTheCloserTheDeadline() {
        let settings = LoadOptions(earlyRefresh: 1)
        func share(_ now: TimeInterval, loadTime: TimeInterval, _ settings: LoadOptions) -> Double {
            let chances = (1...1_000).map { Double($0) / 1_000 }
            let due = chances.filter { chance in
                settings.refreshes(loadTime: loadTime, deadline: 100, now: now, chance: chance)
            }
            return Double(due.count) / 1_000
        }
        // The chance is e to the minus remaining time by load time.
        for remaining in [0.5, 1, 2, 3] {
            #expect(abs(share(100 - remaining, loadTime: 1, settings) - exp(-remaining)) < 0.01)
            #expect(abs(share(100 - 2 * remaining, loadTime: 2, settings) - exp(-remaining)) < 0.01)
        }
        #expect(share(100, loadTime: 1, settings) == 1)
        #expect(share(99, loadTime: 0, settings) == 0)
        #expect(share(99, loadTime: 1, LoadOptions()) == 0)
        #expect(share(98, loadTime: 1, LoadOptions(earlyRefresh: 2)) > share(98, loadTime: 1, settings))
    }

    @Test(arguments: [MemorySettings(), .none])
    func loadsAheadInTheBackground(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        // So eager that it always loads ahead.
        let loading = LoadOptions(earlyRefresh: 1e18)
        let expiration = Expiration.after(.seconds(10))
        let source = Source()
        _ = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        source.give(.success(City(name: "second", population: 2)))
        let events = cities.events
        let first = try await cities.fetch(forKey: "a", options: loading, expiration: expiration) {
            try await source.load()
        }
        #expect(first.name == "loaded")
        await event(.saved, in: events)
        #expect(try await cities.fetch(forKey: "a")?.name == "second")
        #expect(source.runs == 2)
        // A saved entry has no load time to refresh by.
        try await cities.save(City(name: "saved", population: 3), forKey: "a", expiration: expiration)
        _ = try await cities.fetch(forKey: "a", options: loading, expiration: expiration) {
            try await source.load()
        }
        #expect(source.runs == 2)
    }
}
