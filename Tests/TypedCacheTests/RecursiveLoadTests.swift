import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Producers that fetch in turn: a circle is an error, not a hang.
@Suite struct RecursiveLoadTests {
    private let directory = TestDirectory()
    private let city = City(name: "city", population: 1)

    private func cache(_ name: String = "cache") throws -> Cache<City> {
        try Cache(name: name, directory: directory.url)
    }

    /// The error names one key of the circle: the one that was the last to wait.
    private func expectRecursion(_ keys: String..., body: () async throws -> City) async {
        let error = await #expect(throws: CacheError.self) { _ = try await body() }
        #expect(error?.code == .recursiveLoad && error?.cache?.isEmpty == false, "\(String(describing: error))")
        #expect(keys.contains(error?.key ?? ""), "\(String(describing: error))")
    }

    @Test func ofTheSameKey() async throws {
        let cities = try cache()
        await expectRecursion("a") {
            try await cities.fetch(forKey: "a") {
                try await cities.fetch(forKey: "a") { City(name: "in", population: 1) }
            }
        }
        await expectRecursion("a") {
            try await cities.fetch(forKey: "a") {
                let all = try await cities.fetch(forKeys: ["b", "a", "c"]) { _ in [:] }
                return try #require(all["a"])
            }
        }
        // Nothing is left of it.
        try await wait(until: cities.core.loads.isEmpty)
        let found = try await cities.fetch(forKey: "a") { [city] in city }
        #expect(found == city)
    }

    @Test func throughOtherKeysAndCaches() async throws {
        let (cities, others) = (try cache(), try cache("others"))
        await expectRecursion("a", "b", "c") {
            try await cities.fetch(forKey: "a") {
                try await others.fetch(forKey: "b") {
                    try await cities.fetch(forKey: "c") {
                        try await cities.fetch(forKey: "a") { City(name: "in", population: 1) }
                    }
                }
            }
        }
    }

    /// Where loads are joined among processes, the other object waits for a lock, not for a load.
    @Test(arguments: [false, true])
    func throughAnotherObjectOfTheDirectory(byAnotherKey: Bool) async throws {
        let (first, second) = (try cache(), try cache())
        let among = LoadOptions(joins: .processes)
        let load = Task {
            try await first.fetch(forKey: "a", options: among) {
                if !byAnotherKey {
                    return try await second.fetch(forKey: "a", options: among) { City(name: "in", population: 1) }
                }
                return try await second.fetch(forKey: "b", options: among) {
                    try await second.fetch(forKeys: ["c", "a"], options: among) { keys in
                        Dictionary(uniqueKeysWithValues: keys.map { ($0, City(name: $0, population: 1)) })
                    }["a"] ?? City(name: "none", population: 0)
                }
            }
        }
        await expectRecursion("a") { try await load.value }
        for cities in [first, second] { try await wait(until: cities.core.loads.isEmpty) }
        let found = try await second.fetch(forKey: "a", options: among) { [city] in city }
        #expect(found == city)
    }

    @Test func ofTwoObjectsThatCross() async throws {
        let caches = [try cache(), try cache()]
        let among = LoadOptions(joins: .processes)
        let started = Recorder<String>()
        let fetch = { @Sendable (number: Int, key: String, next: String) async -> CacheError.Code? in
            do {
                _ = try await caches[number].fetch(forKey: key, options: among) {
                    started.add(key)
                    try await wait(until: started.all.count == 2)
                    return try await caches[number].fetch(forKey: next, options: among) {
                        City(name: "never", population: 1)
                    }
                }
                return nil
            } catch { return (error as? CacheError)?.code }
        }
        let first = Task { await fetch(0, "a", "b") }
        let second = Task { await fetch(1, "b", "a") }
        let codes = [await first.value, await second.value]
        // The one that is refused lets the other one go on.
        #expect(codes.contains(.recursiveLoad))
        #expect(codes.allSatisfy { $0 == nil || $0 == .recursiveLoad })
    }

    @Test func ofOtherKeysIsFine() async throws {
        let (cities, others) = (try cache(), try cache("others"))
        let found = try await cities.fetch(forKey: "a") { [city] in
            let same = try await others.fetch(forKey: "a") { city }
            let next = try await cities.fetch(forKey: "b") { try await cities.fetch(forKey: "c") { same } }
            return try await cities.fetch(forKey: "c") { next }
        }
        #expect(found == city)
    }

    /// Two loads that began apart, each of which comes to wait for the other.
    @Test func ofTwoThatCross() async throws {
        let cities = try cache()
        let started = Recorder<String>()
        let fetch = { @Sendable (key: String, next: String) async -> CacheError.Code? in
            do {
                _ = try await cities.fetch(forKey: key) {
                    started.add(key)
                    try await wait(until: started.all.count >= 2)
                    return try await cities.fetch(forKey: next) { City(name: "never", population: 1) }
                }
                return nil
            } catch { return (error as? CacheError)?.code }
        }
        let first = Task { await fetch("a", "b") }
        let second = Task { await fetch("b", "a") }
        let codes = [await first.value, await second.value]
        #expect(codes == [.recursiveLoad, .recursiveLoad])
    }

    /// A fetch that is refused in a cancelled task takes no load away from the tasks that wait for it.
    @Test(.timeLimit(.minutes(1 * slowness))) func inACancelledTaskLeavesTheLoadToOthers() async throws {
        let cities = try cache()
        let (city, a, b) = (city, try EntryKey("a"), try EntryKey("b"))
        let first = Task {
            try await cities.fetch(forKey: "a") {
                try await wait(until: cities.core.loads.waiterCount(b) >= 1)
                var code: CacheError.Code?
                // Until the load of b waits for this one.
                while code != .recursiveLoad {
                    let child = Task {
                        withUnsafeCurrentTask { $0?.cancel() }
                        return try await cities.fetch(forKey: "b") { City(name: "never", population: 1) }
                    }
                    try await Task.sleep(for: .milliseconds(1))
                    if case .failure(let error) = await child.result { code = (error as? CacheError)?.code }
                }
                return city
            }
        }
        try await wait(until: cities.core.loads.waiterCount(a) >= 1)
        let second = Task {
            try await cities.fetch(forKey: "b") {
                while true {
                    do {
                        return try await cities.fetch(forKey: "a") { City(name: "never", population: 1) }
                    } catch let error as CacheError where error.code == .recursiveLoad {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
        }
        #expect(try await first.value == city)
        #expect(try await second.value == city)
    }

    /// No fetch waits for a load in the background after a stale hit.
    @Test func ofALoadInTheBackgroundIsNone() async throws {
        let clock = TestClock()
        let cities = try Cache<City>(name: "cache", directory: directory.url, settings: CacheSettings(clock: clock))
        let stale = Expiration.after(.seconds(10)).servingStale(for: .seconds(10))
        try await cities.save(city, forKey: "b", expiration: stale)
        clock.advance(by: 15)
        let found = try await cities.fetch(forKey: "a") {
            try await cities.fetch(forKey: "b", expiration: stale) {
                try await cities.fetch(forKey: "a") { City(name: "none", population: 3) }
            }
        }
        #expect(found == city)
        try await wait(until: cities.core.loads.isEmpty)
        #expect(cities.statistics.loadFailures == 0 && cities.statistics.loads == 2)
    }
}
