import ArchiveStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Two operations on one key, the second of which comes at a certain point of the first.
@Suite struct InterleavingTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let place = "/test/\(UUID().uuidString)"

    private func cache(over store: any ArchiveStore) -> Cache<City> {
        Cache(over: store, place: place, clock: clock)
    }

    private func city(_ number: Int) -> City { City(name: "x", population: number) }

    /// Runs a body once, at its first call.
    private final class Once: Sendable {
        private let isDone = Mutex(false)

        func callAsFunction(_ body: () -> Void) {
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { body() }
        }
    }

    /// Another operation on the key, while a disk refuses a value that was loaded.
    enum Meanwhile: CaseIterable {
        case nothing, aFetchFindsNone, aFetchOfTheLatestValue
    }

    @Test(arguments: Meanwhile.allCases) func aRefusedValueIsLoadedOnce(meanwhile: Meanwhile) async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let key = try EntryKey("a")
        store.interfere { interference in
            interference.save = { _ throws(StoreError) in
                switch meanwhile {
                case .nothing: break
                case .aFetchFindsNone: #expect(throws: Never.self) { try cities.fetch(forKey: "a") }
                case .aFetchOfTheLatestValue: _ = cities.core.makeDoubtful(key)
                }
                throw WatchedStore.failure
            }
        }
        let runs = Recorder<Int>()
        for _ in 0..<3 {
            let found = try await cities.fetch(forKey: "a") {
                runs.add(1)
                return City(name: "loaded", population: runs.all.count)
            }
            #expect(found.population == 1)
        }
        #expect(runs.all.count == 1)
    }

    @Test(arguments: [false, true]) func aRefusedRenewalIsAskedForOnce(isFetchedMeanwhile: Bool) async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let expiration = Expiration.after(.seconds(10))
        try await cities.save(
            city(1),
            forKey: "a",
            expiration: expiration.servingStaleOnError(for: .seconds(1_000))
        )
        clock.advance(by: 20)
        store.interfere { $0.move = { () throws(StoreError) in throw WatchedStore.failure } }
        let runs = Recorder<Int>()
        for _ in 0..<3 {
            _ = try await cities.fetch(forKey: "a", expiration: expiration) { _ in
                runs.add(1)
                if isFetchedMeanwhile { _ = try cities.sync { try $0.fetch(forKey: "a") } }
                return .unchanged()
            }
        }
        #expect(runs.all.count == 1)
    }

    /// An expired value was found in memory, and another one comes before the disk is read: saved, or refused by the
    /// disk.
    @Test(arguments: [false, true]) func aValueStaysThoughTheFormerOneHadExpired(isRefused: Bool) throws {
        let key = try EntryKey("a")
        let table = EntryTable()
        defer { table.deallocate() }
        var tier = MemoryTier(settings: MemorySettings(), table: table)
        func save(isRefused: Bool) -> MemoryEntry {
            let entry = ValueEntry(2, key: key, cost: 1, deadline: 10, timing: nil)
            let save = tier.beginWrite(key)
            let information = isRefused ? EntryInformation.refused("a") : nil
            _ = tier.endWrite(key, since: save.start, keeping: entry, unsaved: information)
            return entry
        }
        let former = save(isRefused: !isRefused)
        let later = save(isRefused: isRefused)
        #expect(tier.removeUseless(former) == nil)
        #expect(table.entry(forKey: key) === later && tier.isUnsaved(key) == isRefused)
        #expect(tier.removeUseless(later) === later)
        #expect(table.entry(forKey: key) == nil && !tier.isUnsaved(key))
    }

    @Test func aRemovalOfAnExpiredValueThatFailsHidesNoneThatWasSavedMeanwhile() throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        try cities.save(city(1), forKey: "a", expiration: .after(.seconds(10)))
        cities.trimMemory(toCount: 0)
        clock.advance(by: 20)
        let once = Once()
        store.interfere { interference in
            interference.remove = { () throws(StoreError) in
                once {
                    #expect(throws: Never.self) { try cities.save(City(name: "x", population: 2), forKey: "a") }
                }
                throw WatchedStore.failure
            }
        }
        _ = try cities.fetch(forKey: "a")
        #expect(try cities.fetch(forKey: "a")?.population == 2)
    }

    /// Another cache of the directory defers a save between the wait for its deferred saves and the read.
    @Test(arguments: [false, true]) func aSaveThatAnotherCacheDefersIsSeen(areSeveral: Bool) async throws {
        let below = try WatchedStore(directory)
        let behind = WatchedStore(WriteBehindStore(over: below, byteLimit: 1 << 20))
        let writer = cache(over: behind)
        let reader = cache(over: try directory.store("cache"))
        try await writer.save(city(1), forKey: "a")
        try await writer.flush()
        writer.trimMemory(toCount: 0)
        let gate = DispatchSemaphore(value: 0)
        below.interfere { $0.save = { _ throws(StoreError) in gate.wait() } }
        let once = Once()
        behind.interfere { interference in
            interference.settled = {
                once {
                    #expect(throws: Never.self) { try writer.save(City(name: "x", population: 2), forKey: "a") }
                }
            }
        }
        if areSeveral {
            _ = try reader.sync { try $0.fetch(forKeys: ["a", "b"]) }
        } else {
            _ = try reader.sync { try $0.fetch(forKey: "a") }
        }
        gate.signal()
        try await writer.flush()
        #expect(try await writer.fetch(forKey: "a")?.population == 2)
        #expect(try await reader.fetch(forKey: "a")?.population == 2)
    }

    /// Entries on disk are chosen, and one is removed although the disk has since refused a newer value of it.
    @Test(.timeLimit(.minutes(1 * slowness))) func aRefusedValueOutlivesTheFormerOneThatWasChosen() async throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(1_000))
        try await cities.save(city(1), forKey: "a", expiration: expiration)
        clock.advance(by: 20)
        let once = Once()
        store.interfere { interference in
            interference.save = { _ throws(StoreError) in throw WatchedStore.failure }
            interference.list = { _ throws(StoreError) in
                once {
                    let isLoaded = DispatchSemaphore(value: 0)
                    Task {
                        _ = try? await cities.fetch(forKey: "a", expiration: expiration) {
                            City(name: "x", population: 2)
                        }
                        isLoaded.signal()
                    }
                    isLoaded.wait()
                }
            }
        }
        let limit = clock.now - 10
        #expect(try await cities.removeAll { $0.storedAt < limit } == 1)
        #expect(try await cities.fetch(forKey: "a")?.population == 2)
        #expect(try await cities.removeAll { _ in true } == 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
    }

    @Test func removingAllTakesNoTombstoneAwayThatCameLater() throws {
        let store = try WatchedStore(directory)
        let cities = cache(over: store)
        try cities.save(city(0), forKey: "a")
        store.interfere { interference in
            interference.removed = { _ in
                #expect(throws: Never.self) { try cities.save(City(name: "x", population: 1), forKey: "a") }
                store.interfere { interference in
                    interference.removed = nil
                    interference.save = { _ throws(StoreError) in throw WatchedStore.failure }
                    interference.remove = { () throws(StoreError) in throw WatchedStore.failure }
                }
                #expect(throws: CacheError.self) { try cities.save(City(name: "x", population: 2), forKey: "a") }
            }
        }
        try cities.removeAll()
        #expect(try cities.fetch(forKey: "a") == nil)
    }
}
