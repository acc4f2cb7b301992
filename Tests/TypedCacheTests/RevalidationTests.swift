import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Producers that are given the expired value.
@Suite struct RevalidationTests {
    private struct Unreachable: Error {}

    private let directory = TestDirectory()
    private let clock = TestClock()
    private let old = City(name: "old", population: 1)
    private let new = City(name: "new", population: 2)
    /// Ten seconds, and a hundred more in which the value is kept for producers.
    private let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(100))

    private func cache(memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(memory: memory, expiration: expiration, clock: clock)
        )
    }

    @Test(arguments: [MemorySettings(), .none])
    func anUnchangedValueGetsANewDeadlineAndNothingElse(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        let saved = clock.now
        try await cities.save(old, forKey: "a", tags: ["t"])
        for round in 1...5 {
            clock.advance(by: 10)
            #expect(try await cities.fetch(forKey: "a") == nil)
            let formers = Recorder<City?>()
            // In the window, not before; and not again while the new deadline has not passed.
            for _ in 0..<3 {
                let found = try await cities.fetch(forKey: "a") { former in
                    formers.add(former)
                    return .unchanged()
                }
                #expect(found == old)
            }
            #expect(formers.all == [old])
            #expect(cities.statistics.revalidations == round && cities.statistics.loads == 0)
            #expect(cities.statistics.saves == 1 && cities.statistics.replacements == 0)
            clock.advance(by: 9.5)
            for cache in [cities, try cache(memory: .none)] { #expect(try await cache.fetch(forKey: "a") == old) }
            clock.advance(by: 0.5)
            for cache in [cities, try cache(memory: .none)] { #expect(try await cache.fetch(forKey: "a") == nil) }
            let stored = try #require(try await cities.stored(forKey: "a"))
            #expect(stored.storedAt == saved && stored.tags == ["t"] && stored.isExpired)
            #expect(stored.expiresAt == clock.now)
            clock.advance(by: -10)
        }
        #expect(try await cities.removeAll(tagged: "t") == 1)
    }

    @Test func aNewValueIsSavedWithItsOwnExpirationAndTags() async throws {
        let cities = try cache()
        try await cities.save(old, forKey: "a", tags: ["t"])
        clock.advance(by: 20)
        let found = try await cities.fetch(forKey: "a", tags: ["u"]) { [new] former in
            #expect(former?.name == "old")
            return .new(new, expiration: .after(.seconds(1_000)), tags: ["v"])
        }
        #expect(found == new && cities.statistics.loads == 1 && cities.statistics.revalidations == 0)
        let stored = try #require(try await cities.stored(forKey: "a"))
        #expect(stored.tags == ["v"] && stored.storedAt == clock.now && stored.expiresAt == clock.now + 1_000)
        // The fetch's own tags and expiration apply where the answer has none.
        _ = try await cities.fetch(forKey: "b", expiration: .after(.seconds(7)), tags: ["u"]) { [new] former in
            #expect(former == nil)
            return .new(new)
        }
        let other = try #require(try await cities.stored(forKey: "b"))
        #expect(other.tags == ["u"] && other.expiresAt == clock.now + 7)
        let error = await #expect(throws: CacheError.self) {
            try await cities.fetch(forKey: "c") { [new] _ in .new(new, tags: [""]) }
        }
        #expect(error?.code == .invalidTag)
    }

    @Test func anUnchangedValueMayHaveADeadlineOfItsOwn() async throws {
        let cities = try cache()
        try await cities.save(old, forKey: "a")
        clock.advance(by: 20)
        _ = try await cities.fetch(forKey: "a") { _ in .unchanged(expiration: .after(.seconds(50))) }
        #expect(try await cities.stored(forKey: "a")?.expiresAt == clock.now + 50)
        clock.advance(by: 49)
        #expect(try await cities.fetch(forKey: "a") == old)
        clock.advance(by: 1)
        _ = try await cities.fetch(forKey: "a") { _ in .unchanged(expiration: .never) }
        clock.advance(by: 1e9)
        for cache in [cities, try cache()] { #expect(try await cache.fetch(forKey: "a") == old) }
        #expect(try await cities.stored(forKey: "a")?.expiresAt == nil)
    }

    @Test func unchangedWithoutAValueIsAnError() async throws {
        let cities = try cache()
        let error = await #expect(throws: CacheError.self) {
            try await cities.fetch(forKey: "a") { former in
                #expect(former == nil)
                return .unchanged()
            }
        }
        #expect(error?.code == .nothingToRevalidate && error?.key == "a")
        #expect(cities.statistics.loadFailures == 1 && cities.statistics.revalidations == 0)
    }

    @Test func anErrorServesTheStaleValueOrIsThrown() async throws {
        let cities = try cache()
        try await cities.save(old, forKey: "a")
        clock.advance(by: 50)
        let served = try await cities.fetch(forKey: "a") { former in
            #expect(former != nil)
            throw Unreachable()
        }
        #expect(served == old && cities.statistics.staleHits == 1)
        clock.advance(by: 100)
        await #expect(throws: Unreachable.self) {
            try await cities.fetch(forKey: "a") { former in
                // After the windows there is no former value.
                #expect(former == nil)
                throw Unreachable()
            }
        }
    }

    @Test func revalidatesBehindAStaleValueAndAheadOfADeadline() async throws {
        let cities = try cache()
        let stale = Expiration.after(.seconds(10)).servingStale(for: .seconds(10))
        try await cities.save(old, forKey: "a", expiration: stale)
        clock.advance(by: 15)
        let formers = Recorder<City?>()
        let found = try await cities.fetch(forKey: "a", expiration: stale) { former in
            formers.add(former)
            return .unchanged()
        }
        #expect(found == old)
        try await wait(until: cities.statistics.revalidations >= 1 && cities.core.loads.isEmpty)
        #expect(formers.all == [old])
        #expect(try await cities.fetch(forKey: "a") == old)

        _ = try await cities.fetch(forKey: "b", expiration: stale) { [new] _ in .new(new) }
        clock.advance(by: 9)
        let early = Recorder<City?>()
        // So eagerly that chance has no say.
        let ahead = try await cities.fetch(
            forKey: "b",
            options: LoadOptions(earlyRefresh: 1e18),
            expiration: stale
        ) { former in
            early.add(former)
            return .unchanged()
        }
        #expect(ahead == new)
        try await wait(until: cities.statistics.revalidations >= 2 && cities.core.loads.isEmpty)
        #expect(early.all == [new])
        clock.advance(by: 9)
        #expect(try await cities.fetch(forKey: "b") == new)
    }

    /// A fetch may find an entry due, and another one's load may end before the first one begins its own.
    @Test(arguments: [MemorySettings(), .none])
    func anEntryThatWasReplacedSinceItWasFoundDueIsNotLoadedAgain(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        let key = try EntryKey("a")
        let former = clock.now + 10
        try await cities.save(old, forKey: "a", expiration: .at(former))
        clock.advance(by: 9)
        try await cities.save(new, forKey: "a", expiration: .after(.seconds(10)))
        let loads = Recorder<String>()
        let plan = try LoadPlan(cities, LoadOptions(earlyRefresh: 1), expiration: nil, tags: [], revalidates: false)
        {
            [old] keys, _ in
            for key in keys { loads.add(key) }
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, .new(old)) })
        }
        plan.startAhead([.init(key: key, deadline: former)])
        try await wait(until: cities.core.loads.isEmpty)
        #expect(loads.all.isEmpty)
        #expect(try await cities.fetch(forKey: "a") == new)
        // One that is due still is loaded.
        plan.startAhead([.init(key: key, deadline: clock.now + 10)])
        try await wait(until: cities.core.loads.isEmpty)
        #expect(loads.all == ["a"])
    }

    /// The former deadline no longer counts in any cache of the directory.
    @Test func aRenewalToAnEarlierDeadlineCountsEverywhere() async throws {
        let cities = try cache()
        let other = try cache()
        _ = try await cities.fetch(forKey: "a", expiration: .after(.seconds(3_600))) { [old] _ in .new(old) }
        #expect(try await other.fetch(forKey: "a") == old)
        clock.advance(by: 1)
        let options = LoadOptions(earlyRefresh: 1e18)
        _ = try await cities.fetch(forKey: "a", options: options, expiration: .after(.seconds(10))) { _ in
            .unchanged()
        }
        try await wait(until: cities.statistics.revalidations >= 1 && cities.core.loads.isEmpty)
        for cache in [cities, other] { #expect(try await cache.fetch(forKey: "a") == old) }
        clock.advance(by: 20)
        // The other one first: a fetch that finds an expired entry has all caches drop it.
        for cache in [other, cities, try cache()] { #expect(try await cache.fetch(forKey: "a") == nil) }
    }

    enum Change: CaseIterable, Sendable { case remove, removeAll, save, removeByAnother, saveByAnother }

    @Test(arguments: Change.allCases, [MemorySettings(), .none])
    func whatHappensDuringARevalidationCounts(change: Change, memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        let other = try cache()
        try await cities.save(old, forKey: "a")
        clock.advance(by: 20)
        let found = try await cities.fetch(forKey: "a") { [new] _ in
            switch change {
            case .remove: try await cities.remove(forKey: "a")
            case .removeAll: try await cities.removeAll()
            case .save: try await cities.save(new, forKey: "a")
            case .removeByAnother: try await other.remove(forKey: "a")
            case .saveByAnother: try await other.save(new, forKey: "a")
            }
            return .unchanged()
        }
        #expect(found == old)
        let isSaved = [Change.save, .saveByAnother].contains(change)
        for cache in [cities, other, try cache()] {
            #expect(try await cache.fetch(forKey: "a") == (isSaved ? new : nil))
        }
    }

    @Test func oneProducerOfEitherKindRuns() async throws {
        let cities = try cache()
        try await cities.save(old, forKey: "a")
        clock.advance(by: 20)
        let key = try EntryKey("a")
        let runs = Recorder<Int>()
        let gather = { @Sendable (number: Int) async throws in
            runs.add(number)
            try await wait(until: cities.core.loads.waiterCount(key) >= 20)
        }
        let tasks = (0..<20).map { number in
            Task {
                if number % 2 == 0 {
                    return try await cities.fetch(forKey: "a") { () -> City in
                        try await gather(number)
                        return City(name: "old", population: 1)
                    }
                }
                return try await cities.fetch(forKey: "a") { _ in
                    try await gather(number)
                    return .unchanged()
                }
            }
        }
        for task in tasks { #expect(try await task.value == old) }
        #expect(runs.all.count == 1)
    }

    @Test func severalKeysAreRevalidatedByOneProducer() async throws {
        let cities = try cache()
        try await cities.save(old, forKey: 1)
        try await cities.save(old, forKey: 2)
        clock.advance(by: 20)
        try await cities.save(new, forKey: 3)
        let found = try await cities.fetch(forKeys: [1, 2, 3, 4, 5]) { [new, old] missing, formers in
            #expect(missing.sorted() == [1, 2, 4, 5])
            #expect(formers == [1: old, 2: old])
            return [1: .unchanged(), 2: .new(new), 4: .new(new)]
        }
        #expect(found == [1: old, 2: new, 3: new, 4: new])
        #expect(cities.statistics.revalidations == 1 && cities.statistics.loads == 2)
        #expect(try await cities.fetch(forKeys: [1, 2, 3, 4, 5]) == found)
    }

    /// Each caller gets an object of its own, and so does the producer.
    @Test func objectsAreNotShared() async throws {
        let zoo = try Cache<Order>(
            name: "zoo",
            directory: directory.url,
            settings: CacheSettings(expiration: expiration, clock: clock)
        )
        try zoo.keep(Order(order: "Carnivore"), forKey: "a")
        clock.advance(by: 20)
        let found = try await zoo.fetch(forKey: "a") { former in
            former?.order += "!"
            return .unchanged()
        }
        #expect(found.order == "Carnivore")
        #expect(try await zoo.fetch(forKey: "a")?.order == "Carnivore")
    }

    @Test func aValueThatCannotBeRenewedIsReturnedAllTheSame() async throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, memory: .none, expiration: expiration, clock: clock)
        try await cities.save(old, forKey: "a")
        clock.advance(by: 20)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        #expect(try await cities.fetch(forKey: "a") { _ in .unchanged() } == old)
        #expect(cities.statistics.failures == 1 && cities.statistics.revalidations == 1)
        store.interfere { $0.move = nil }
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await cities.fetch(forKey: "a") { _ in .unchanged() } == old)
        #expect(try await cities.fetch(forKey: "a") == old)
    }
}

extension Cache {
    /// A synchronous save, where the asynchronous one would be chosen.
    func keep(_ value: Value, forKey key: String) throws { try save(value, forKey: key) }
}
