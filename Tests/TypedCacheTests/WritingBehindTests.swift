import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// A cache with deferred saves, beside others on the same directory.
@Suite struct WritingBehindTests {
    let directory = TestDirectory()

    private func cache(_ limit: Int?, layout: DiskSettings.Layout = .automatic) throws -> Cache<City> {
        let writing = limit.map { DiskSettings.Writing.behind(limit: .bytes($0)) } ?? .through
        return try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(disk: DiskSettings(layout: layout, writing: writing))
        )
    }

    private func city(_ number: Int) -> City { City(name: "city", population: number) }

    @Test(arguments: [0, 1_000, 1 << 20]) func whatIsFlushedIsOnDisk(limit: Int) async throws {
        let cities = try cache(limit)
        for number in 0..<100 { try await cities.save(city(number), forKey: number % 10) }
        for number in 90..<100 { #expect(try await cities.fetch(forKey: number % 10)?.population == number) }
        #expect(try await cities.remove(forKey: 3))
        #expect(try await cities.fetch(forKey: 3) == nil)
        try await cities.flush()
        #expect(try directory.entryCount("cities") == 9)
        #expect(try await cities.count() == 9)
        try await cities.removeAll()
        try await cities.save(city(7), forKey: "k")
        #expect(try await cities.fetch(forKey: "k")?.population == 7)
        try await cities.flush()
        #expect(try directory.entryCount("cities") == 1)
    }

    /// Other caches on the directory see deferred saves, and their own later saves and removals win.
    @Test(arguments: [nil, 1 << 20] as [Int?]) func othersOfTheDirectoryAgree(limit: Int?) throws {
        let behind = try cache(1 << 20)
        let other = try cache(limit)
        for number in 0..<200 {
            let key = "k\(number % 7)"
            try behind.save(city(number), forKey: key)
            #expect(try other.fetch(forKey: key)?.population == number, "\(number)")
            try behind.save(city(-number), forKey: key)
            if number % 3 == 0 {
                #expect(try other.remove(forKey: key))
            } else {
                try other.save(city(1_000 + number), forKey: key)
            }
            try behind.flush()
            try other.flush()
            let expected = number % 3 == 0 ? nil : 1_000 + number
            for cities in [behind, other, try cache(nil)] {
                #expect(try cities.fetch(forKey: key)?.population == expected, "\(number)")
            }
        }
    }

    @Test func aDeferredSaveThatFailsIsToldAndLeavesNothing() async throws {
        let cities = try cache(1 << 20, layout: .files)
        try await cities.save(city(1), forKey: "k")
        try await cities.flush()
        // No draft can be made where a file stands in the place of their directory.
        let drafts = directory.url.appending(path: "cities/.drafts")
        try FileManager.default.removeItem(at: drafts)
        try Data().write(to: drafts)
        try await cities.save(city(2), forKey: "k")
        let error = await #expect(throws: CacheError.self) { try await cities.flush() }
        #expect(error?.code == .invalidDirectory)
        #expect(try await cities.fetch(forKey: "k") == nil)
        #expect(cities.statistics.failures == 1)
        try await cities.flush()
    }

    /// Once it holds, no write ends before a failure was reported.
    private final class Holder: CacheObserver {
        private let failed = DispatchSemaphore(value: 0)
        private let holds = Mutex(false)

        func hold(_ isHolding: Bool) { holds.withLock { $0 = isHolding } }

        func cache(_ name: String, did event: CacheEvent) {
            if event.kind == .failed { failed.signal() }
        }

        func cache(_ name: String, didEnd operation: CacheOperation, _ token: Never?) {
            if operation == .write, holds.withLock({ $0 }) { failed.wait() }
        }
    }

    /// Neither the save nor the removal of the former value succeeds, before the call that deferred the save returns.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true])
    func aFailureBeforeTheSaveReturnsHidesTheFormerValue(isBatch: Bool) throws {
        let store = AgreementTests.TestStore()
        let place = "/test/\(UUID().uuidString)"
        let holder = Holder()
        let behind = WriteBehindStore(over: store, byteLimit: 1 << 20)
        let cities = Cache<City>(over: behind, place: place, observer: holder)
        let other = Cache<City>(over: store, place: place)
        func save(_ number: Int) throws {
            if isBatch {
                try cities.save(contentsOf: [("k", city(number))])
            } else {
                try cities.save(city(number), forKey: "k")
            }
        }
        try save(1)
        try cities.flush()
        store.state.withLock { $0 = .init(failsSaves: true, failsRemovals: true) }
        holder.hold(true)
        try save(2)
        holder.hold(false)
        for cache in [cities, other] { #expect(try cache.fetch(forKey: "k") == nil) }
        store.state.withLock { $0 = .init() }
        #expect(throws: CacheError.self) { try cities.flush() }
        for cache in [cities, other] { #expect(try cache.fetch(forKey: "k") == nil) }
        try save(3)
        for cache in [cities, other] { #expect(try cache.fetch(forKey: "k")?.population == 3) }
    }

    /// Does something before a cache hears that a deferred save has failed.
    private final class BeforeFailures: StoreUser {
        private let user: any StoreUser
        private let act: @Sendable () -> Void

        init(of user: any StoreUser, _ act: @escaping @Sendable () -> Void) {
            self.user = user
            self.act = act
        }

        func isInUse(_ key: String) -> Bool { user.isInUse(key) }
        func didEvict(_ entry: EntryInformation) { user.didEvict(entry) }
        func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) {
            act()
            user.didFail(toSave: key, error, leavingStale: save)
        }
    }

    enum Later: CaseIterable, Sendable { case save, batch, saveByAnother, removal }

    /// A save of the key that has begun by then is the later one all the same.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Later.allCases)
    func aFailureThatIsToldLateHidesNoLaterSave(later: Later) throws {
        let store = AgreementTests.TestStore()
        let place = "/test/\(UUID().uuidString)"
        let behind = WriteBehindStore(over: store, byteLimit: 1 << 20)
        let cities = Cache<City>(over: behind, place: place)
        let other = Cache<City>(over: store, place: place)
        let key = try EntryKey("k")
        try cities.save(city(1), forKey: "k")
        try cities.flush()
        let isDone = DispatchSemaphore(value: 0)
        let user = BeforeFailures(of: cities.core) {
            store.state.withLock { $0 = .init() }
            DispatchQueue.global().async {
                let new = City(name: "city", population: 3)
                #expect(throws: Never.self) {
                    switch later {
                    case .save: try cities.save(new, forKey: "k")
                    case .batch: try cities.save(contentsOf: [("k", new)])
                    case .saveByAnother: try other.save(new, forKey: "k")
                    case .removal: try cities.remove(forKey: "k")
                    }
                }
                isDone.signal()
            }
            let memory = (later == .saveByAnother ? other : cities).core.memory
            #expect(throws: Never.self) { try wait(until: memory.withLock { $0.isUnderWay(key) }) }
        }
        behind.setUser(user)
        store.state.withLock { $0 = .init(failsSaves: true, failsRemovals: true) }
        try cities.save(city(2), forKey: "k")
        isDone.wait()
        #expect(throws: CacheError.self) { try cities.flush() }
        for cache in [cities, other] {
            #expect(try cache.fetch(forKey: "k")?.population == (later == .removal ? nil : 3))
        }
        withExtendedLifetime(user) {}
    }
}
