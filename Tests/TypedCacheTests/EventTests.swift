import ArchiveStore
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// The events of a cache agree with its operations and with its statistics.
@Suite struct EventTests {
    private struct Unreachable: Error {}

    private let directory = TestDirectory()

    /// How many events there were of each kind, said without the cache's own counting.
    private func fold(_ events: [CacheEvent]) -> [Int] {
        let all: [(CacheEvent.Kind, CacheEvent.Tier?, CacheEvent.RemovalReason?)] = [
            (.hit, .memory, nil), (.hit, .disk, nil), (.servedStale, nil, nil), (.missed, nil, nil),
            (.joined, nil, nil), (.loaded, nil, nil), (.revalidated, nil, nil), (.loadFailed, nil, nil),
            (.saved, nil, nil), (.removed, .disk, .expired),
            (.removed, .memory, .evicted), (.removed, .disk, .evicted), (.removed, .disk, .removed),
            (.removed, .memory, .replaced), (.removedAll, nil, nil), (.removed, .disk, .corrupted),
            (.failed, nil, nil),
        ]
        return all.map { all in events.filter { ($0.kind, $0.tier, $0.reason) == all }.count }
    }

    private func counts(_ statistics: CacheStatistics) -> [Int] {
        [
            statistics.memoryHits, statistics.diskHits, statistics.staleHits, statistics.misses, statistics.joins,
            statistics.loads, statistics.revalidations, statistics.loadFailures, statistics.saves,
            statistics.expirations, statistics.memoryEvictions,
            statistics.diskEvictions, statistics.removals, statistics.replacements, statistics.clearances,
            statistics.corruptions,
            statistics.failures,
        ]
    }

    @Test func whatIsToldIsWhatIsCounted() async throws {
        let (runs, least) = isLongRun ? (9, 5) : (3, 1)
        var all = fold([])
        var seed = 0
        // More runs follow until each kind of event has come: how often the rare ones come depends on the order of
        // tasks.
        while seed < runs || seed < 5 * runs && all.contains(where: { $0 < least }) {
            seed += 1
            all = zip(all, try await checkRun(seed)).map(+)
        }
        #expect(all.allSatisfy { $0 >= least }, "\(all)")
    }

    private func checkRun(_ seed: Int) async throws -> [Int] {
        let run = try EventRun(seed: seed, TestDirectory())
        for _ in 0..<400 { try await run.step() }
        try await run.cities.removeAll()
        let wanted = counts(run.cities.statistics)
        #expect(fold(run.observer.events.all) == wanted, "seed \(seed)")
        for stream in run.streams {
            var events: [CacheEvent] = []
            for await event in stream {
                events.append(event)
                if events.filter({ $0.kind == .removedAll }).count == run.cities.statistics.clearances { break }
            }
            #expect(fold(events) == wanted, "seed \(seed)")
            #expect(events.map(\.key) == run.observer.events.all.map(\.key))
        }
        #expect(run.observer.faults.all == [] && run.observer.openCount == 0)
        #expect(Set(run.observer.operations.all) == [.read, .write, .remove, .load, .sweep])
        for event in run.observer.events.all {
            let isTold = event.kind == .failed || event.kind == .loadFailed || event.reason == .corrupted
            #expect((event.cause != nil) == isTold, "\(event.kind)")
            #expect((event.key == nil) == (event.kind == .removedAll), "\(event.kind)")
        }
        return wanted
    }

    /// An observer of failures gets the events that have an error, and one of operations no event, as a stream gives
    /// them.
    @Test(arguments: [ObservedEvents.failures, .none]) func anObserverIsToldItsEventsAlone(
        observed: ObservedEvents
    ) async throws {
        for seed in 1...(isLongRun ? 9 : 3) {
            let run = try EventRun(seed: seed, TestDirectory(), observing: observed)
            for _ in 0..<400 { try await run.step() }
            try await run.cities.removeAll()
            var wanted: [CacheEvent] = []
            var clearances = 0
            for await event in try #require(run.streams.first) {
                if event.cause != nil, observed == .failures { wanted.append(event) }
                if event.kind == .removedAll { clearances += 1 }
                if clearances == run.cities.statistics.clearances { break }
            }
            #expect(fold(run.observer.events.all) == fold(wanted), "seed \(seed)")
            #expect(run.observer.events.all.map(\.key) == wanted.map(\.key), "seed \(seed)")
            #expect(wanted.isEmpty == (observed == .none))
            #expect(!run.observer.operations.all.isEmpty)
        }
    }

    /// An observer of failures gets no hit, and holds up none.
    @Test(arguments: [ObservedEvents.all, .failures, .none]) func onlyAnObserverOfAllEventsIsToldHits(
        observed: ObservedEvents
    ) async throws {
        let cities = Cache<City>(over: WatchedStore(ReferenceStore()), observer: EventObserver(observed))
        #expect(cities.core.listeners.isActive == (observed == .all))
        var stream: AsyncStream<CacheEvent>? = cities.events
        _ = stream
        #expect(cities.core.listeners.isActive)
        stream = nil
        try await wait(until: cities.core.listeners.isActive == (observed == .all))
    }

    /// Also where it was found in the store of a cache that has no disk.
    @Test func aHitOfACacheWithoutADiskIsOneInMemory() async throws {
        let observer = EventObserver()
        let cities = try Cache<City>(name: "cities", settings: CacheSettings(disk: nil, observer: observer))
        func empty() async throws {
            // Then only the store has the entries.
            for key in ["a", "b"] { _ = try await cities.extend(forKey: key, expiration: .after(.seconds(60))) }
        }
        for key in ["a", "b"] {
            try await cities.save(City(name: key, population: 1), forKey: key, expiration: .after(.seconds(60)))
        }
        try await empty()
        #expect(try await cities.fetch(forKey: "a") != nil)
        try await empty()
        #expect(try await cities.fetch(forKeys: ["a", "b"]).count == 2)
        #expect(cities.statistics.memoryHits == 3 && cities.statistics.diskHits == 0)
        #expect(observer.events.all.filter { $0.kind == .hit }.map(\.tier) == [.memory, .memory, .memory])
    }

    /// An entry in memory that its type cannot decode.
    @Test func aHitThatCannotBeDecodedIsNone() async throws {
        struct Picky: Codable, Encoded {
            static let refuses = Mutex(true)
            var number: Int

            init(number: Int) { self.number = number }

            init(from decoder: any Decoder) throws {
                number = try decoder.singleValueContainer().decode(Int.self)
                if Self.refuses.withLock({ $0 }) {
                    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "refused"))
                }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
        }
        let observer = EventObserver()
        let cache = try Cache<Picky>(
            name: "picky",
            directory: directory.url,
            settings: CacheSettings(valueSharing: .decodedEachTime, observer: observer)
        )
        try await cache.save(Picky(number: 1), forKey: "a")
        for _ in 0..<3 { _ = try? await cache.fetch(forKey: "a") { Picky(number: 2) } }
        for _ in 0..<2 { _ = try? await cache.fetch(forKeys: ["a"]) }
        #expect(fold(observer.events.all) == counts(cache.statistics))
        #expect(cache.statistics.memoryHits == 0)
        Picky.refuses.withLock { $0 = false }
        #expect(try await cache.fetch(forKey: "a")?.number == 2)
        #expect(fold(observer.events.all) == counts(cache.statistics))
    }

    @Test func whatSeveralThreadsDoIsCountedOnce() throws {
        let observer = EventObserver()
        let clock = TestClock()
        let cities = Cache<City>(
            over: try WatchedStore(directory),
            memory: MemorySettings(countLimit: 5),
            clock: clock,
            observer: observer
        )
        let fetches = Recorder<Void>()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: thread)
            for step in 0..<200 {
                let key = Int.random(in: 0..<10, using: &random)
                let expiration = [Expiration.never, .after(.seconds(3)), .afterIdle(.seconds(4))].randomElement(
                    using: &random
                )
                do {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0...2:
                        try cities.save(City(name: "x", population: step), forKey: key, expiration: expiration)
                    case 3: try cities.remove(forKey: key)
                    case 4 where step % 9 == 0: try cities.removeAll()
                    default:
                        fetches.add(())
                        _ = try cities.fetch(forKey: key)
                    }
                } catch {
                    Issue.record(error)
                }
                clock.advance(by: 0.01)
            }
        }
        try cities.flush()
        #expect(fold(observer.events.all) == counts(cities.statistics))
        #expect(cities.statistics.hits + cities.statistics.misses == fetches.all.count)
        #expect(observer.faults.all == [] && observer.openCount == 0)
    }

    @Test func afterwardsEachOperationHasEndedHoweverItDid() async throws {
        let store = try WatchedStore(directory)
        let observer = EventObserver()
        let cities = Cache<Fickle>(over: store, memory: .none, observer: observer)
        let fail: @Sendable () throws(StoreError) -> Void = { () throws(StoreError) in throw WatchedStore.failure }
        store.interfere { interference in
            interference.fetch = { _ throws(StoreError) in try fail() }
            interference.save = { _ throws(StoreError) in try fail() }
            interference.remove = fail
        }
        await #expect(throws: CacheError.self) { try await cities.fetch(forKey: "x") }
        await #expect(throws: CacheError.self) { try await cities.save(Fickle("x"), forKey: "y") }
        await #expect(throws: CacheError.self) { try await cities.remove(forKey: "z") }
        await #expect(throws: CacheError.self) { try await cities.removeAll() }
        await #expect(throws: CacheError.self) { try await cities.removeExpired() }
        store.interfere { $0.fetch = nil }
        await #expect(throws: Unreachable.self) { try await cities.fetch(forKey: "w") { throw Unreachable() } }
        #expect(observer.operations.all == [.read, .write, .remove, .remove, .sweep, .read, .load])
        #expect(observer.faults.all == [] && observer.openCount == 0)
    }

    // MARK: Listening

    @Test func nobodyListensOnceTheStreamsAreDropped() async throws {
        let cities = Cache<City>(over: WatchedStore(ReferenceStore()))
        #expect(!cities.core.listeners.isActive)
        var first: AsyncStream<CacheEvent>? = cities.events
        var second = cities.events.makeAsyncIterator() as AsyncStream<CacheEvent>.Iterator?
        #expect(cities.core.listeners.isActive && first != nil)
        first = nil
        #expect(cities.core.listeners.isActive)
        try await cities.save(City(name: "x", population: 1), forKey: "x")
        #expect(await second?.next()?.kind == .saved)
        second = nil
        #expect(!cities.core.listeners.isActive)
        // A task that iterates and is cancelled no longer listens either.
        let third = cities.events
        let task = Task { for await _ in third {} }
        #expect(cities.core.listeners.isActive)
        task.cancel()
        await task.value
        #expect(!cities.core.listeners.isActive)
        // An observer stays.
        let observed = Cache<City>(over: WatchedStore(ReferenceStore()), observer: EventObserver())
        _ = observed.events
        #expect(observed.core.listeners.isActive)
    }

    @Test func aStreamBeginsWhenItIsAskedForAndEndsWithTheCache() async throws {
        var cities: Cache<City>? = Cache(over: WatchedStore(ReferenceStore()))
        try await cities?.save(City(name: "x", population: 1), forKey: "before")
        let stream = try #require(cities?.events)
        try await cities?.save(City(name: "x", population: 1), forKey: "after")
        cities = nil
        var keys: [String] = []
        for await event in stream { keys.append(event.key ?? "") }
        #expect(keys == ["after"])
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true]) func closingEndsAllStreams(isOnDisk: Bool)
        async throws
    {
        let directory = TestDirectory()
        let cities = try Cache<City>(
            name: "x",
            directory: directory.url,
            settings: CacheSettings(disk: isOnDisk ? DiskSettings() : nil)
        )
        let streams = [cities.events, cities.events]
        try await cities.save(City(name: "x", population: 1), forKey: "x")
        try await cities.close()
        for stream in streams {
            var kinds: [CacheEvent.Kind] = []
            for await event in stream { kinds.append(event.kind) }
            #expect(kinds == [.saved])
        }
        for await event in cities.events { Issue.record("\(event.kind)") }
        #expect(!cities.core.listeners.isActive)
    }

    @Test func whatNobodyTakesIsBounded() async throws {
        let cities = Cache<City>(over: WatchedStore(ReferenceStore()))
        let slow = cities.events
        try await cities.save(City(name: "x", population: 1), forKey: "x")
        for _ in 0..<5_000 { _ = try await cities.fetch(forKey: "x") }
        try await cities.removeAll()
        var kinds: [CacheEvent.Kind] = []
        for await event in slow {
            kinds.append(event.kind)
            if event.kind == .removedAll { break }
        }
        // The latest ones are left.
        #expect(kinds.count == 4_096)
        #expect(kinds.dropLast().allSatisfy { $0 == .hit })
        #expect(cities.statistics.memoryHits == 5_000)
    }

    // MARK: In words

    @Test func statisticsOfTwoMomentsAreSubtracted() {
        var earlier = CacheStatistics()
        var later = CacheStatistics()
        for (number, occurrence) in Occurrence.allCases.enumerated() {
            earlier.count(occurrence, times: number)
            later.count(occurrence, times: 3 * number + 1)
        }
        var difference = CacheStatistics()
        for (number, occurrence) in Occurrence.allCases.enumerated() {
            difference.count(occurrence, times: 2 * number + 1)
        }
        #expect(later - earlier == difference)
        let all = counts(difference) + [difference.invalidations, difference.verifications]
        #expect(Set(all).count == Occurrence.allCases.count)
    }

    @Test func statisticsAreOneLine() {
        var statistics = CacheStatistics()
        #expect(statistics.description == "0.0 % hits")
        #expect(statistics.hitRatio == 0)
        for occurrence in [
            Occurrence.memoryHit, .memoryHit, .diskHit, .missed, .servedStale, .saved, .failed,
        ] {
            statistics.count(occurrence)
        }
        #expect(statistics.hitRatio == 0.6)
        #expect(
            statistics.description
                == "60.0 % hits, 2 memory hits, 1 disk hits, 1 stale hits, 1 misses, 1 saves, 1 failures"
        )
        for _ in 0..<1_000 { statistics.count(.memoryHit) }
        #expect(statistics.description.hasPrefix("99.8 % hits, 1002 memory hits, "))
    }
}
