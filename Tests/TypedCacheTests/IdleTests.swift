import ArchiveStore
import Foundation
import StoreTrials
import TestSupport
import Testing

@testable import TypedCache

/// Deadlines that reading moves: at once in memory, seldom and never too far on disk.
@Suite struct IdleTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "x", population: 1)
    private let idle = Expiration.afterIdle(.seconds(80))
    /// The seconds by which a deadline on disk may be too early.
    private let lag = 10.0

    private func cache(memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(name: "cache", directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    /// When `x` expires as far as the disk knows, in seconds from now; `nil`: never.
    private func deadlineOnDisk() throws -> TimeInterval? {
        try #require(try cache().entries().all().first { $0.key == "x" }).expiresAt?.timeIntervalSince(clock.now)
    }

    @Test("Idle time: reading moves only the idle deadline")
    func readingMovesAnIdleDeadline() throws {
        let cities = try cache()
        try cities.save(city, forKey: "x", expiration: idle)
        try cities.save(city, forKey: "unread", expiration: idle)
        try cities.save(city, forKey: "absolute", expiration: .after(.seconds(80 * 5)))
        for _ in 0..<5 {
            clock.advance(by: 79.5)
            #expect(try cities.fetch(forKey: "x") == city)
            #expect(try cities.fetch(forKey: "absolute") == city)
        }
        clock.advance(by: 2.5)
        #expect(try cities.fetch(forKey: "unread") == nil)
        #expect(try cities.fetch(forKey: "absolute") == nil)
        clock.advance(by: 77)
        #expect(try cities.fetch(forKey: "x") == city)
        clock.advance(by: 80)
        #expect(try cities.fetch(forKey: "x") == nil)
    }

    @Test func onlyFetchesCountAsReading() throws {
        for memory in [MemorySettings(), .none] {
            let cities = try cache(memory: memory)
            try cities.save(city, forKey: "x", expiration: idle)
            for _ in 0..<8 {
                clock.advance(by: 9.5)
                #expect(try cities.contains(forKey: "x"))
                #expect(try cities.keys().all() == ["x"] && cities.entries().all().count == 1)
                #expect(try cities.count() == 1)
                #expect(try cities.removeExpired() == 0)
            }
            clock.advance(by: 4)
            #expect(try cities.fetch(forKey: "x") == nil)
        }
    }

    /// Flushes a cache when another one has saved.
    private final class Flusher: CacheObserver {
        private let cities: Cache<City>
        private let store: WatchedStore
        let moves = Recorder<Int>()

        init(_ cities: Cache<City>, _ store: WatchedStore) { (self.cities, self.store) = (cities, store) }

        func cache(_ name: String, did event: CacheEvent) {
            guard event.kind == .saved else { return }
            #expect(throws: Never.self) { try cities.flush() }
            moves.add(store.counts.moves)
        }
    }

    /// As in an observer, which is called on the queues of its own cache.
    @Test func flushingOnAQueueOfAnotherCacheWaits() async throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store, clock: clock)
        try await cities.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 69)
        let isMoving = DispatchSemaphore(value: 0)
        store.interfere { $0.move = { () throws(StoreError) in isMoving.wait() } }
        #expect(try await cities.fetch(forKey: "x") == city)
        let flusher = Flusher(cities, store)
        let others = Cache<City>(over: WatchedStore(ReferenceStore()), observer: flusher)
        let city = city
        async let saved: Void = others.save(city, forKey: "y")
        try await Task.sleep(for: .milliseconds(50))
        isMoving.signal()
        try await saved
        #expect(flusher.moves.all == [1])
    }

    /// The disk need not know of a reading that moved the deadline by little.
    @Test func allLooksAgreeWhereTheDiskLags() throws {
        let cities = try cache()
        try cities.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 9)
        #expect(try cities.fetch(forKey: "x") == city)
        clock.advance(by: 76)
        #expect(try cities.entries().all().map(\.key) == ["x"])
        #expect(try cities.entry(forKey: "x")?.key == "x")
        #expect(try cities.stored(forKey: "x")?.isExpired == false)
        clock.advance(by: 4)
        #expect(try cities.entry(forKey: "x") == nil && cities.entries().all().isEmpty)
    }

    @Test(
        "The disk follows an idle deadline by less than an eighth, and is never ahead of it",
        arguments: seeds(1..<5)
    )
    func theDiskFollows(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        for memory in [MemorySettings(), .none] {
            let cities = try cache(memory: memory)
            try cities.save(city, forKey: "x", expiration: idle)
            for _ in 0..<60 {
                // Less than the disk may be wrong by, without memory.
                clock.advance(by: Double.random(in: 0..<69, using: &random))
                #expect(try cities.fetch(forKey: "x") == city, "seed \(seed)")
                try cities.flush()
                let deadline = try #require(try deadlineOnDisk())
                #expect((80 - lag...80).contains(deadline), "seed \(seed)")
            }
            clock.advance(by: 80 - lag - 0.5)
            #expect(try cache().fetch(forKey: "x") == city)
            try cities.removeAll()
        }
    }

    /// Reading moves the deadline at once, whether or not memory has the entry and the disk knows yet.
    @Test("Idle time: a fetch counts at once, without memory too")
    func aFetchCountsAtOnceWithoutMemory() throws {
        for (memory, isHeld) in [
            (MemorySettings.none, false), (.none, true), (MemorySettings(countLimit: 1), true),
        ] {
            let store = WatchedStore(ReferenceStore())
            let place = "/test/\(UUID().uuidString)"
            let cities = Cache<City>(over: store, place: place, memory: memory, clock: clock)
            let neighbor = Cache<City>(over: store, place: place, memory: memory, clock: clock)
            let moving = DispatchSemaphore(value: 0)
            if isHeld { store.interfere { $0.move = { () throws(StoreError) in moving.wait() } } }
            for round in 0..<12 {
                let key = "x\(round)"
                try cities.save(city, forKey: key, expiration: idle)
                for look in 0..<4 {
                    clock.advance(by: 69)
                    #expect(try (look == 2 ? neighbor : cities).fetch(forKey: key) == city, "\(round) \(look)")
                    // Takes the place of the other one in memory.
                    try cities.save(city, forKey: "y")
                }
                clock.advance(by: 69)
                #expect(try neighbor.contains(forKey: key) && cities.contains(forKey: key))
                #expect(try neighbor.count() == 2)
                #expect(try neighbor.modify(forKey: key, expiration: idle) { $0 } == city)
                clock.advance(by: 91)
                #expect(try cities.fetch(forKey: key) == nil)
            }
            for _ in 0..<1_000 { moving.signal() }
            store.interfere { $0.move = nil }
        }
    }

    /// The state after a save over an entry while another cache is still moving its deadline.
    @Test func theDeadlineThatIsMovedIsThatOfTheSameSave() throws {
        let store = WatchedStore(ReferenceStore())
        let place = "/test/\(UUID().uuidString)"
        let caches = (0..<2).map { _ in Cache<City>(over: store, place: place, memory: .none, clock: clock) }
        let key = try EntryKey("x")
        var former = EntryAttributes(storedAt: clock.now, expiresAt: clock.now + 80)
        former.idleTime = 80
        let formerEntry = EntryInformation(
            key: "x",
            attributes: former,
            archiveByteCount: 1,
            storedByteCount: 1,
            identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
        let formerTiming = try #require(EntryTiming.of(former, entry: formerEntry))
        clock.advance(by: 1)
        try caches[0].save(city, forKey: "x", expiration: idle)
        let entry = try #require(try store.information(forKey: "x"))
        let timing = try #require(EntryTiming.of(entry.attributes, entry: entry))
        clock.advance(by: 60)
        _ = timing.use(at: clock.now.timeIntervalSinceReferenceDate)
        caches[0].core.memory.moves.begin(key, formerTiming)
        caches[1].core.memory.moves.begin(key, timing)
        defer {
            caches[0].core.memory.moves.end(key)
            caches[1].core.memory.moves.end(key)
        }
        clock.advance(by: 60)
        for cache in caches {
            #expect(try cache.contains(forKey: "x"))
            #expect(try cache.count() == 1)
        }
        #expect(try caches[0].fetch(forKey: "x") == city)
    }

    @Test(arguments: [false, true]) func whatWasReadIsNotRemovedAsExpired(isAsync: Bool) async throws {
        let store = WatchedStore(ReferenceStore())
        let place = directory.url.path
        let cities = Cache<City>(over: store, place: place, memory: .none, clock: clock)
        let neighbor = Cache<City>(over: store, place: place, clock: clock)
        store.interfere { $0.move = { () throws(StoreError) in usleep(1_000) } }
        for round in 0..<10 {
            let key = "\(round)"
            try await cities.save(city, forKey: key, expiration: idle)
            clock.advance(by: 69)
            let fetch = { () throws(CacheError) in try cities.fetch(forKey: key) }
            #expect(try fetch() == city)
            clock.advance(by: 69)
            let remove = { () throws(CacheError) in try neighbor.removeExpired() }
            let removed = if isAsync { try await neighbor.removeExpired() } else { try remove() }
            #expect(removed == 0)
            #expect(try fetch() == city)
            try await cities.removeAll()
        }
    }

    /// Every call goes by the deadline that memory knows.
    @Test func whatMemoryKnowsToBeFreshIsFreshForEveryCall() async throws {
        let cities = try cache()
        try await cities.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 9)
        #expect(try await cities.fetch(forKey: "x") == city)
        try await cities.flush()
        #expect(try deadlineOnDisk() == 71)
        clock.advance(by: 75)
        #expect(try await cities.contains(forKey: "x"))
        #expect(try cities.keys().all() == ["x"])
        #expect(try await cities.count() == 1)
        #expect(try await cities.modify(forKey: "x", expiration: idle) { $0 } == city)
    }

    @Test("Idle time: a later save wins over a pending move", arguments: [0, 1, 2])
    func aLaterSaveWins(writer: Int) throws {
        for expiration in [
            Expiration.never, .after(.seconds(1_000)), .afterIdle(.seconds(20)), idle, .at(clock.now + 5e3),
        ] {
            let store = try WatchedStore(directory)
            let place = directory.url.path
            let cities = Cache<City>(over: store, place: place, clock: clock)
            let neighbor = Cache<City>(over: store.base, place: place, clock: clock)
            let stranger = Cache<City>(over: store.base, clock: clock)
            let other = [cities, neighbor, stranger][writer]
            try cities.save(city, forKey: "x", expiration: idle)
            clock.advance(by: 60)
            let new = City(name: "new", population: 2)
            store.interfere {
                $0.move = { () throws(StoreError) in
                    do throws(CacheError) {
                        try other.save(new, forKey: "x", expiration: expiration)
                    } catch { throw WatchedStore.failure }
                }
            }
            #expect(try cities.fetch(forKey: "x") == city)
            try cities.flush()
            store.interfere { $0.move = nil }
            #expect(store.counts.moveRequests == 1 && store.counts.moves == 0)
            let wanted = try expiration.attributes(savedAt: clock.now).expiresAt
            #expect(try deadlineOnDisk() == wanted?.timeIntervalSince(clock.now))
            #expect(try cache().fetch(forKey: "x") == new)
            try cities.removeAll()
        }
    }

    @Test func aRemovalWinsOverAPendingMove() throws {
        for removal in [{ try? $0.remove(forKey: "x") }, { try? $0.removeAll() }]
            as [@Sendable (Cache<City>) -> Any?]
        {
            let store = try WatchedStore(directory)
            let cities = Cache<City>(over: store, clock: clock)
            try cities.save(city, forKey: "x", expiration: idle)
            clock.advance(by: 60)
            store.interfere { $0.move = { () throws(StoreError) in _ = removal(cities) } }
            #expect(try cities.fetch(forKey: "x") == city)
            try cities.flush()
            #expect(store.counts.moveRequests == 1)
            for cities in [cities, try cache()] {
                #expect(try cities.fetch(forKey: "x") == nil)
                #expect(try cities.count() == 0)
            }
        }
    }

    /// A move of a deadline after a call that sets another one does not undo that call.
    @Test func anEarlierDeadlineWinsOverAPendingMove() throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, clock: clock)
        try cities.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 60)
        let (begun, extensions) = (Recorder<Void>(), Recorder<Bool>())
        store.interfere {
            $0.move = { () throws(StoreError) in
                // The extension moves the deadline, too.
                if !begun.all.isEmpty { return }
                begun.add(())
                extensions.add((try? cities.extend(forKey: "x", expiration: .after(.seconds(2)))) ?? false)
            }
        }
        #expect(try cities.fetch(forKey: "x") == city)
        try cities.flush()
        #expect(extensions.all == [true])
        #expect(try deadlineOnDisk() == 2)
        clock.advance(by: 3)
        for cities in [cities, try cache()] { #expect(try cities.fetch(forKey: "x") == nil) }
    }

    // MARK: Several caches of one directory

    @Test(arguments: [0, 1]) func whatOneOfTwoCachesReadsStaysForBoth(reader: Int) throws {
        let first = try cache()
        let second = try cache()
        let (going, stopping) = reader == 0 ? (first, second) : (second, first)
        try first.save(city, forKey: "x", expiration: idle)
        // Both have it in memory, and both move its deadline on disk in turn.
        for _ in 0..<4 {
            for cities in [first, second] {
                clock.advance(by: 30)
                #expect(try cities.fetch(forKey: "x") == city)
                try cities.flush()
            }
        }
        // One of them stops reading: the other one's reads keep the entry for both.
        for _ in 0..<8 {
            clock.advance(by: 40)
            #expect(try going.fetch(forKey: "x") == city)
            try going.flush()
            #expect(try (80 - lag...80).contains(#require(try deadlineOnDisk())))
        }
        #expect(try stopping.fetch(forKey: "x") == city)
        clock.advance(by: 81)
        for cities in [first, second, try cache()] { #expect(try cities.fetch(forKey: "x") == nil) }
    }

    @Test func whatOneCacheRemovesAsExpiredIsGoneForTheOthers() throws {
        let store = try WatchedStore(directory)
        let reader = Cache<City>(over: store, place: directory.url.path, clock: clock)
        let other = Cache<City>(over: store.base, place: directory.url.path, memory: .none, clock: clock)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        try reader.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 60)
        #expect(try reader.fetch(forKey: "x") == city)
        try reader.flush()
        clock.advance(by: 40)
        // The disk could not be told of the reading.
        #expect(try other.fetch(forKey: "x") == nil)
        #expect(try reader.fetch(forKey: "x") == nil)
        #expect(try !reader.contains(forKey: "x"))
    }

    // MARK: Writing little

    @Test(arguments: [MemorySettings(), .none])
    func manyHitsWriteFewFiles(memory: MemorySettings) throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, memory: memory, clock: clock)
        try cities.save(city, forKey: "x", expiration: idle)
        let hits = memory == .none ? 1_000 : 10_000
        // At one moment: one file at most.
        clock.advance(by: 20)
        for _ in 0..<hits { #expect(try cities.fetch(forKey: "x") == city) }
        try cities.flush()
        #expect(store.counts.moves == 1)
        // Over five idle times: one for each eighth of one at most.
        for hit in 0..<hits {
            clock.advance(by: 400.0 / Double(hits))
            #expect(try cities.fetch(forKey: "x") == city)
            // This clock is faster than any disk.
            if hit % (hits / 200) == 0 { try cities.flush() }
        }
        try cities.flush()
        #expect((5...41).contains(store.counts.moves))
        #expect(try directory.entryCount("cache") == 1)
    }

    @Test func manyThreadsThatReadAtOnceWriteFewFiles() throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, clock: clock)
        try cities.save(city, forKey: "x", expiration: idle)
        for round in 1...20 {
            clock.advance(by: 11)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                for _ in 0..<50 { _ = try? cities.fetch(forKey: "x") }
            }
            try cities.flush()
            #expect(store.counts.moveRequests == round)
        }
    }

    // MARK: Failures

    @Test func aMoveThatFailedIsReportedAndTriedAgain() throws {
        let store = try WatchedStore(directory)
        let reports = Recorder<CacheError>()
        let cities = Cache<City>(over: store, clock: clock) { reports.add($0) }
        try cities.save(city, forKey: "x", expiration: idle)
        clock.advance(by: 60)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        #expect(try cities.fetch(forKey: "x") == city)
        try cities.flush()
        #expect(reports.all.map(\.code) == [.io] && cities.statistics.failures == 1)
        store.interfere { $0.move = nil }
        #expect(try cities.fetch(forKey: "x") == city)
        try cities.flush()
        #expect(store.counts.moves == 1)
        #expect(try deadlineOnDisk() == 80)
    }

    @Test func aDamagedEntryWhoseDeadlineWasToBeMovedIsGoneInBothTiers() throws {
        let reports = Recorder<CacheError>()
        let cities = try Cache<City>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(clock: clock, observer: FailureObserver { reports.add($0) })
        )
        try cities.save(city, forKey: "x", expiration: idle)
        try directory.damageEntry("cache")
        clock.advance(by: 60)
        // Memory does not know yet.
        #expect(try cities.fetch(forKey: "x") == city)
        try cities.flush()
        #expect(reports.all.map(\.code) == [.corrupted])
        #expect(cities.statistics.corruptions == 1 && cities.statistics.failures == 0)
        for cities in [cities, try cache()] { #expect(try cities.fetch(forKey: "x") == nil) }
        #expect(try directory.entryCount("cache") == 0)
    }
}
