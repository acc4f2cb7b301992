import ArchiveStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// A disk that refuses a loaded value: memory keeps it, as an entry like any other.
@Suite struct FailingDiskTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let place = "/test/\(UUID().uuidString)"
    private let runs = Counter()

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private func cache(
        over store: WatchedStore,
        memory: MemorySettings = MemorySettings(),
        observer: (any CacheObserver)? = nil
    ) -> Cache<City> {
        Cache(over: store, place: place, memory: memory, clock: clock, observer: observer)
    }

    private func failingStore(_ number: Int32 = ENOSPC) throws -> WatchedStore {
        let store = try WatchedStore(directory)
        store.interfere { interference in
            interference.save = { _ throws(StoreError) in
                throw StoreError(.io, path: "/x", action: "trying", reason: "refused", errorNumber: number)
            }
        }
        return store
    }

    /// Fetches, and loads the number of the producer's run.
    private func fetch(
        _ cities: Cache<City>,
        _ key: String = "a",
        options: LoadOptions = LoadOptions(),
        tags: Set<String> = []
    ) async throws -> Int {
        let expiration = Expiration.after(.seconds(10))
        return try await cities.fetch(forKey: key, options: options, expiration: expiration, tags: tags) { [runs] in
            City(name: "loaded", population: runs.next())
        }.population
    }

    @Test(arguments: [ENOSPC, EIO, EROFS, EACCES], [true, false])
    func oneProducerForEachKeyAndLifetime(number: Int32, hasMemory: Bool) async throws {
        let observer = EventObserver()
        let cities = cache(
            over: try failingStore(number),
            memory: hasMemory ? MemorySettings() : .none,
            observer: observer
        )
        for lifetime in 1...3 {
            for _ in 0..<5 { _ = try await fetch(cities) }
            #expect(runs.value == (hasMemory ? lifetime : 5 * lifetime))
            clock.advance(by: 9.5)
            #expect((try await cities.fetch(forKey: "a") != nil) == hasMemory)
            #expect(try await cities.contains(forKey: "a") == hasMemory)
            clock.advance(by: 0.5)
            #expect(try await cities.fetch(forKey: "a") == nil)
        }
        // Each refusal is reported.
        let failures = observer.events.all.filter { $0.kind == .failed }
        #expect(failures.count == runs.value)
        #expect(failures.allSatisfy { ($0.cause as? CacheError)?.errorNumber == number })
        // A save throws as usual, and the former entry is gone.
        _ = try await fetch(cities)
        let error = await #expect(throws: CacheError.self) {
            try await cities.save(City(name: "saved", population: 0), forKey: "a")
        }
        #expect(error?.errorNumber == number)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    @Test func notWhereItIsNotWanted() async throws {
        let cities = cache(over: try failingStore())
        for run in 1...3 { #expect(try await fetch(cities, "a", options: LoadOptions(keepsUnsaved: false)) == run) }
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    @Test func severalKeysAndObjects() async throws {
        let store = try failingStore()
        let cities = cache(over: store)
        for _ in 0..<3 {
            let found = try await cities.fetch(forKeys: ["a", "b"]) { [runs] keys in
                let run = runs.next()
                return Dictionary(uniqueKeysWithValues: keys.map { ($0, City(name: $0, population: run)) })
            }
            #expect(found.mapValues(\.population) == ["a": 1, "b": 1])
        }
        let zoo = Cache<Order>(over: store, sharesValues: false)
        let first = try await zoo.fetch(forKey: "o") { Order(order: "Carnivore") }
        let second = try await zoo.fetch(forKey: "o") { Order(order: "none") }
        #expect(first !== second && second.order == "Carnivore")
    }

    enum Change: CaseIterable, Sendable {
        case save, failedSave, modify, remove, removeAll, removeTagged, trim
        case saveByAnother, failedSaveByAnother, removeByAnother, removeAllByAnother, removeTaggedByAnother
    }

    @Test(arguments: Change.allCases)
    func whatChangesTheKeyEndsIt(change: Change) async throws {
        let store = try failingStore()
        let (cities, other) = (cache(over: store), cache(over: store))
        let saved = City(name: "saved", population: 0)
        #expect(try await fetch(cities, tags: ["t"]) == 1)
        #expect(try await fetch(cities, tags: ["t"]) == 1)
        switch change {
        case .failedSave: try? await cities.save(saved, forKey: "a")
        case .failedSaveByAnother: try? await other.save(saved, forKey: "a")
        default: break
        }
        store.interfere { $0.save = nil }
        switch change {
        case .failedSave, .failedSaveByAnother: break
        case .save: try await cities.save(saved, forKey: "a")
        case .modify: try await cities.modify(forKey: "a") { $0 = nil }
        case .remove: #expect(try await cities.remove(forKey: "a"))
        case .removeAll: try await cities.removeAll()
        case .removeTagged: #expect(try await cities.removeAll(tagged: "t") == 1)
        case .trim: cities.trimMemory(toCount: 0)
        case .saveByAnother: try await other.save(saved, forKey: "a")
        case .removeByAnother: try await other.remove(forKey: "a")
        case .removeAllByAnother: try await other.removeAll()
        case .removeTaggedByAnother: #expect(try await other.removeAll(tagged: "t") == 1)
        }
        let isSaved = [Change.save, .saveByAnother].contains(change)
        for cache in [cities, other] { #expect(try await cache.fetch(forKey: "a") == (isSaved ? saved : nil)) }
        // And nothing of it comes back, or stays counted.
        #expect(try await cities.removeAll(tagged: "t") == 0)
        #expect(try await cities.remove(forKey: "a") == isSaved)
    }

    enum End: CaseIterable, Sendable { case save, load, removeTagged, removeChosen, remove }

    /// Two caches of the directory load the same keys.
    @Test(arguments: End.allCases) func eachCacheKeepsItsOwn(end: End) async throws {
        let store = try failingStore()
        let (cities, other) = (cache(over: store), cache(over: store))
        for _ in 0..<3 {
            #expect(try await fetch(cities, tags: ["t"]) == 1)
            #expect(try await fetch(other, tags: ["t"]) == 2)
        }
        // A change that the disk takes counts in both.
        store.interfere { $0.save = nil }
        switch end {
        case .save: try await cities.save(City(name: "saved", population: 3), forKey: "a")
        case .load:
            other.trimMemory(toCount: 0)
            #expect(try await fetch(other) == 3)
        case .removeTagged: #expect(try await cities.removeAll(tagged: "t") == 2)
        case .removeChosen: #expect(try await cities.removeAll { _ in true } == 2)
        case .remove: #expect(try await cities.remove(forKey: "a"))
        }
        let expected = end == .save || end == .load ? 3 : nil
        for cache in [cities, other] { #expect(try await cache.fetch(forKey: "a")?.population == expected) }
    }

    @Test func withinTheLimitsOfMemory() async throws {
        let cities = cache(over: try failingStore(), memory: MemorySettings(countLimit: 3))
        for number in 0..<20 { _ = try await fetch(cities, "\(number)", tags: ["t"]) }
        #expect(cities.statistics.memoryEvictions + cities.statistics.loads >= 17 + 20)
        var found = 0
        for number in 0..<20 where try await cities.fetch(forKey: "\(number)") != nil { found += 1 }
        #expect(found == 3)
        #expect(try await cities.removeAll(tagged: "t") == 3)
    }

    @Test func aLaterLoadIsSavedAgain() async throws {
        let store = try failingStore()
        let cities = cache(over: store)
        #expect(try await fetch(cities) == 1)
        store.interfere { $0.save = nil }
        clock.advance(by: 10)
        #expect(try await fetch(cities) == 2)
        #expect(try await cache(over: store).fetch(forKey: "a")?.population == 2)
        #expect(try await cities.removeAll(tagged: "t") == 0)
    }

    /// The entry that the loaded value was to take the place of.
    @Test func whatBecomesOfTheOldEntryDoesNotMatter() async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(5))
        try await cities.save(City(name: "old", population: 0), forKey: "a", expiration: expiration)
        clock.advance(by: 12)
        store.interfere { $0.save = { _ throws(StoreError) in throw WatchedStore.failure } }
        #expect(try await fetch(cities) == 1)
        clock.advance(by: 5)
        #expect(try await cities.removeExpired() == 1)
        #expect(try await fetch(cities) == 1)
    }

    @Test func anUnchangedValueThatCannotBeRenewed() async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(100))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration)
        clock.advance(by: 20)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        for _ in 0..<3 {
            let found = try await cities.fetch(forKey: "a", expiration: expiration) { [runs] _ in
                _ = runs.next()
                return .unchanged()
            }
            #expect(found.name == "old")
        }
        #expect(runs.value == 1)
        clock.advance(by: 10)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    /// As where the sweep finds the entry on disk beyond its stale window.
    @Test(arguments: [true, false])
    func anUnchangedValueOutlivesTheEntryOnDisk(isByTag: Bool) async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let expiration = Expiration.after(.seconds(60)).servingStaleOnError(for: .seconds(30))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration, tags: ["t"])
        clock.advance(by: 70)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        func fetch() async throws -> City {
            try await cities.fetch(forKey: "a", expiration: expiration) { [runs] former in
                _ = runs.next()
                return former == nil ? .new(City(name: "new", population: 2)) : .unchanged()
            }
        }
        #expect(try await fetch().name == "old")
        clock.advance(by: 25)
        #expect(try await cities.removeExpired() == 1)
        #expect(try await fetch().name == "old")
        #expect(runs.value == 1)
        #expect(try await (isByTag ? cities.removeAll(tagged: "t") : cities.removeAll { _ in true }) == 1)
        #expect(try await fetch().name == "new")
    }

    /// A former value on disk, saved with a stale window, and a loaded one that the disk has refused.
    private func cacheWithFormer(
        _ store: WatchedStore,
        observer: (any CacheObserver)? = nil
    ) async throws -> Cache<City> {
        let cities = cache(over: store, observer: observer)
        let window = Expiration.after(.seconds(5)).servingStaleOnError(for: .seconds(100))
        try await cities.save(
            City(name: "old", population: 0),
            forKey: "a",
            expiration: window,
            tags: ["t", "old"]
        )
        clock.advance(by: 6)
        store.interfere { $0.save = { _ throws(StoreError) in throw WatchedStore.failure } }
        #expect(try await fetch(cities, tags: ["t"]) == 1)
        return cities
    }

    @Test(arguments: [true, false])
    func itsDeadlineIsMovedAndNotTheFormersOne(hasFormer: Bool) async throws {
        let store = try failingStore()
        let cities = hasFormer ? try await cacheWithFormer(WatchedStore(directory)) : cache(over: store)
        if !hasFormer { #expect(try await fetch(cities) == 1) }
        for _ in 0..<5 {
            clock.advance(by: 8)
            #expect(try await cities.extend(forKey: "a", expiration: .after(.seconds(9))))
            clock.advance(by: 8)
            #expect(try await cities.fetch(forKey: "a")?.population == 1)
            #expect(try await cities.extend(forKey: "a", expiration: .after(.seconds(10))))
        }
        clock.advance(by: 10)
        // The former one is no fresher than it was.
        #expect(try await cities.fetch(forKey: "a") == nil)
        if !hasFormer { #expect(try await !cities.extend(forKey: "a", expiration: .never)) }
    }

    @Test func bothAreRemovedByTagAsOneEntry() async throws {
        let observer = EventObserver()
        let cities = try await cacheWithFormer(WatchedStore(directory), observer: observer)
        #expect(try await cities.removeAll(tagged: "t") == 1)
        #expect(observer.events.all.count { $0.kind == .removed } == 1)
        #expect(cities.statistics.removals == 1)
        #expect(try await cities.fetch(forKey: "a") == nil && cities.entries().all().isEmpty)
    }

    @Test(arguments: [true, false], [true, false])
    func itIsAmongThoseThatAreChosen(hasFormer: Bool, isAsync: Bool) async throws {
        let observer = EventObserver()
        let cities =
            hasFormer
            ? try await cacheWithFormer(WatchedStore(directory), observer: observer)
            : cache(over: try failingStore(), observer: observer)
        #expect(try await fetch(cities, tags: ["t"]) == 1)
        let storedAt = clock.now
        clock.advance(by: 1)
        let seen = Recorder<CacheEntry>()
        func remove(if isChosen: Bool) async throws -> Int {
            let choose = { (entry: CacheEntry) in
                seen.add(entry)
                return isChosen
            }
            return isAsync
                ? try await cities.removeAll(where: choose) : try cities.sync { try $0.removeAll(where: choose) }
        }
        #expect(try await remove(if: false) == 0)
        let entry = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(entry.key == "a" && entry.tags == ["t"] && entry.storedAt == storedAt)
        #expect(entry.expiresAt == storedAt + 10 && entry.archiveSize > .bytes(0))
        #expect(try await cities.fetch(forKey: "a")?.population == 1)
        #expect(try await remove(if: true) == 1)
        #expect(observer.events.all.count { $0.kind == .removed } == 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await !cities.remove(forKey: "a"))
    }

    /// Reading it moves its idle deadline: it is the same entry all the same.
    @Test(arguments: [true, false]) func itIsTheSameEntryWhereItIsReadMeanwhile(isAsync: Bool) async throws {
        let cities = cache(over: try failingStore())
        let idle = Expiration.afterIdle(.seconds(80))
        _ = try await cities.fetch(forKey: "a", expiration: idle) { City(name: "loaded", population: 1) }
        let key = try EntryKey("a")
        let read = { [clock] (entry: CacheEntry) in
            clock.advance(by: 40)
            return (try? cities.sync { try $0.fetch(forKey: entry.key) }) != nil
        }
        let known = try #require(cities.core.memory.unsavedInformation(key))
        #expect(read(CacheEntry(known)))
        #expect(cities.core.memory.extend(unsaved: known, key, to: clock.now + 100))
        #expect(try await cities.fetch(forKey: "a")?.population == 1)
        let count =
            isAsync ? try await cities.removeAll(where: read) : try cities.sync { try $0.removeAll(where: read) }
        #expect(count == 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    /// A former value on disk that is fresh, and a newer one that the disk has refused.
    private func cachesWithFreshFormer(
        tags: Set<String>,
        newTags: Set<String>
    ) async throws -> (Cache<City>, other: Cache<City>) {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        #expect(try await fetch(cities, tags: tags) == 1)
        store.interfere { $0.save = { _ throws(StoreError) in throw WatchedStore.failure } }
        clock.advance(by: 1)
        // So eagerly that chance has no say.
        #expect(try await fetch(cities, "a", options: LoadOptions(earlyRefresh: 1e18), tags: newTags) == 1)
        try await wait(until: await cities.fetch(forKey: "a")?.population == 2)
        return (cities, cache(over: store))
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [[], ["t"], ["u"]] as [Set<String>], [false, true])
    func itsRemovalByTagBringsNoFormerOneBack(tags: Set<String>, isByAnother: Bool) async throws {
        let (cities, other) = try await cachesWithFreshFormer(tags: tags, newTags: ["t"])
        #expect(try await (isByAnother ? other : cities).removeAll(tagged: "t") == 1)
        for cache in [cities, other] { #expect(try await cache.fetch(forKey: "a") == nil) }
        #expect(cities.statistics.removals + other.statistics.removals == 1)
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true])
    func itOutlivesTheFormerOneThatHasATag(isByAnother: Bool) async throws {
        let (cities, other) = try await cachesWithFreshFormer(tags: ["t"], newTags: ["u"])
        #expect(try await (isByAnother ? other : cities).removeAll(tagged: "t") == 1)
        #expect(try await cities.fetch(forKey: "a")?.population == 2)
        #expect(try await other.fetch(forKey: "a") == nil && other.entries().all().isEmpty)
        #expect(try await other.removeAll(tagged: "u") == 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    /// A volume that is said to be full, under real stores.
    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func onAFullVolume(layout: DiskSettings.Layout) async throws {
        let full = DiskSettings(layout: layout, minimumFreeSpace: .mebibytes(1 << 30))
        let cities = try Cache<City>(
            name: "full",
            directory: directory.url,
            settings: CacheSettings(disk: full, clock: clock)
        )
        for _ in 0..<5 { #expect(try await fetch(cities) == 1) }
        #expect(cities.statistics.failures == 1 && cities.statistics.memoryHits == 4)
        await #expect(throws: CacheError.self) {
            try await cities.save(City(name: "x", population: 0), forKey: "a")
        }
        #expect(try await fetch(cities) == 2)
    }
}
