import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// One producer among all caches of a directory that join loads; ``ProcessTests`` has the same between processes.
@Suite struct JoinedLoadTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let among = LoadOptions(joins: .processes)
    private let city = City(name: "city", population: 1)

    private func cache(observer: (any CacheObserver)? = nil) throws -> Cache<City> {
        try Cache(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(clock: clock, observer: observer)
        )
    }

    private var path: String { directory.url.appending(path: "cache").path }

    @Test(arguments: [true, false])
    func amongCacheObjects(revalidates: Bool) async throws {
        let caches = try (0..<4).map { _ in try cache() }
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(100))
        for key in 0..<20 { try await caches[0].save(city, forKey: key, expiration: expiration) }
        clock.advance(by: 20)
        let (among, city, runs) = (among, city, Recorder<Int>())
        let tasks = caches.map { cities in
            Task {
                for key in 0..<20 {
                    let found: City
                    if revalidates {
                        found = try await cities.fetch(forKey: key, options: among, expiration: expiration) {
                            former in
                            runs.add(key)
                            try await Task.sleep(for: .milliseconds(1))
                            return former == nil ? .new(City(name: "none", population: 0)) : .unchanged()
                        }
                    } else {
                        found = try await cities.fetch(forKey: key, options: among, expiration: expiration) {
                            runs.add(key)
                            try await Task.sleep(for: .milliseconds(1))
                            return city
                        }
                    }
                    #expect(found == city)
                }
            }
        }
        for task in tasks { try await task.value }
        #expect(runs.all.sorted() == Array(0..<20))
    }

    /// Loading ahead: a cache that gets the lock later finds the deadline moved, and does not load.
    @Test func loadingAheadAsksOnce() async throws {
        let caches = try (0..<4).map { _ in try cache() }
        let options = LoadOptions(earlyRefresh: 1e15, joins: .processes)
        let expiration = Expiration.after(.seconds(100))
        let (city, runs) = (city, Recorder<Int>())
        _ = try await caches[0].fetch(forKey: "a", expiration: expiration) { city }
        var locks: KeyLocks? = try KeyLocks(directory: path)
        #expect(try locks?.tryLock(KeyLocks.Offset(key: "a")) == true)
        clock.advance(by: 50)
        for cities in caches {
            let found = try await cities.fetch(forKey: "a", options: options, expiration: expiration) { former in
                runs.add(1)
                return former == nil ? .new(City(name: "none", population: 0)) : .unchanged()
            }
            #expect(found == city)
        }
        #expect(runs.all.isEmpty)
        locks = nil
        for cities in caches { try await wait(until: cities.core.loads.isEmpty) }
        #expect(runs.all == [1])
    }

    @Test func severalKeysInAnyOrder() async throws {
        let caches = try (0..<4).map { _ in try cache() }
        let (among, city, asked) = (among, city, Recorder<[Int]>())
        let tasks = caches.enumerated().map { number, cities in
            Task {
                var random = SeededGenerator(seed: number)
                for batch in 0..<10 {
                    let keys = (batch * 10..<batch * 10 + 10).shuffled(using: &random)
                    let found = try await cities.fetch(forKeys: keys, options: among) { missing in
                        asked.add(missing)
                        return Dictionary(uniqueKeysWithValues: missing.map { ($0, city) })
                    }
                    #expect(found.count == 10)
                }
            }
        }
        for task in tasks { try await task.value }
        #expect(asked.all.flatMap { $0 }.sorted() == Array(0..<100))
    }

    /// A lock that another process has.
    @Test func waitsForTheLockAndLooksAgain() async throws {
        let cities = try cache()
        var locks: KeyLocks? = try KeyLocks(directory: path)
        #expect(try locks?.tryLock(KeyLocks.Offset(key: "a")) == true)
        let (among, city, runs) = (among, city, Recorder<Int>())
        let load = Task {
            try await cities.fetch(forKey: "a", options: among) {
                runs.add(1)
                return City(name: "own", population: 2)
            }
        }
        // Other keys are free in the meantime.
        let free = try await cities.fetch(forKey: "b", options: among) { city }
        #expect(free == city && runs.all.isEmpty)
        let other = try cache()
        try await other.save(city, forKey: "a")
        locks = nil
        #expect(try await load.value == city)
        #expect(runs.all.isEmpty)
    }

    @Test func waitingIsCancelled() async throws {
        let cities = try cache()
        var locks: KeyLocks? = try KeyLocks(directory: path)
        #expect(try locks?.tryLock(KeyLocks.Offset(key: "a")) == true)
        let (among, city) = (among, city)
        let load = Task { try await cities.fetch(forKey: "a", options: among) { city } }
        let key = try EntryKey("a")
        try await wait(until: cities.core.loads.waiterCount(key) >= 1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await wait(until: cities.core.loads.isEmpty)
        locks = nil
        let found = try await cities.fetch(forKey: "a", options: among) { city }
        #expect(found == city)
    }

    /// The producer of several keys, one of which another cache object has saved before the producer runs.
    @Test(.timeLimit(.minutes(1 * slowness))) func theRestIsCancelledWithItsLastWaiter() async throws {
        let cities = try cache()
        var locks: KeyLocks? = try KeyLocks(directory: path)
        #expect(try locks?.tryLock(KeyLocks.Offset(key: "a")) == true)
        let source = LoadTests.Source(isOpen: false)
        let among = among
        let load = Task {
            try await cities.fetch(forKeys: ["a", "b"], options: among) { missing in
                #expect(missing == ["b"])
                return ["b": try await source.load()]
            }
        }
        let key = try EntryKey("a")
        try await wait(until: cities.core.loads.waiterCount(key) >= 1)
        try await cache().save(city, forKey: "a")
        locks = nil
        await source.hasRun(1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await wait(until: source.cancellations == 1)
        source.open()
        try await wait(until: cities.core.loads.isEmpty)
    }

    /// The last task that waits for a producer of several keys waits for a key that ends before the others.
    @Test(.timeLimit(.minutes(1 * slowness))) func theRestIsCancelledWhenNoTaskWaitsForIt() async throws {
        let cities = try cache()
        var locks: KeyLocks? = try KeyLocks(directory: path)
        #expect(try locks?.tryLock(KeyLocks.Offset(key: "a")) == true)
        let source = LoadTests.Source()
        let among = among
        let load = Task {
            try await cities.fetch(forKeys: ["a", "b"], options: among) { _ in ["b": try await source.load()] }
        }
        let key = try EntryKey("a")
        try await wait(until: cities.core.loads.waiterCount(key) >= 1)
        let other = Task {
            try await cities.fetch(forKey: "a", options: among) { City(name: "never", population: 1) }
        }
        try await wait(until: cities.core.loads.waiterCount(key) >= 2)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await cache().save(city, forKey: "a")
        locks = nil
        #expect(try await other.value == city)
        // A later fetch does not join the cancelled producer.
        let found = try await cities.fetch(forKey: "b", options: among) { City(name: "new", population: 2) }
        #expect(found.name == "new")
        #expect(source.cancellations == source.runs)
    }

    @Test func withoutLocksTheProcessIsLeft() async throws {
        let observer = EventObserver()
        let cities = try cache(observer: observer)
        // Nothing that could be locked; a link is not followed either.
        try FileManager.default.createSymbolicLink(
            atPath: path + "/.loads",
            withDestinationPath: directory.url.appending(path: "elsewhere").path
        )
        for key in 0..<5 {
            let found = try await cities.fetch(forKey: key, options: among) { [city] in city }
            #expect(found == city)
        }
        #expect(observer.events.all.count { $0.kind == .failed } == 1)
        #expect(!FileManager.default.fileExists(atPath: directory.url.appending(path: "elsewhere").path))
    }

    @Test func locksAreOfOneObjectAndGoWithIt() throws {
        _ = try cache()
        var first: KeyLocks? = try KeyLocks(directory: path)
        let second = try KeyLocks(directory: path)
        let (a, b) = (KeyLocks.Offset(key: "a"), KeyLocks.Offset(key: "b"))
        #expect(try first?.tryLock(a) == true)
        #expect(try first?.tryLock(a) == true)
        #expect(try !second.tryLock(a))
        #expect(try second.tryLock(b))
        first = nil
        #expect(try second.tryLock(a))
        #expect(throws: StoreError.self) { try KeyLocks(directory: path + "/none") }
    }
}
