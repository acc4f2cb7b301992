import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Synchronous and asynchronous callers at once, of caches that share a directory.
@Suite struct MixedCallersTests {
    private let directory = TestDirectory()
    private let clock = TestClock()

    private func cache(memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(name: "cache", directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    @Test("Sync and async callers on 8 threads: no report, no lost key", arguments: seeds(1..<3))
    func noKeyIsLost(seed: Int) async throws {
        let caches = [try cache(memory: MemorySettings(countLimit: 20)), try cache()]
        let observer = EventObserver()
        let observed = Cache<City>(
            over: try WatchedStore(directory),
            place: directory.url.appending(path: "cache").path,
            observer: observer
        )
        let all = caches + [observed]
        let streams = all.map(\.events)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                let cities = all[thread % 3]
                let seed = UInt64(seed * 100 + thread)
                group.addTask {
                    if thread % 2 == 0 { return try await Self.work(cities, thread: thread, seed: seed) }
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(with: Result { try Self.work(cities, thread: thread, seed: seed) })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for cities in all + [try cache()] {
            try await cities.flush()
            for thread in 0..<8 {
                for key in 0..<5 {
                    #expect(try await cities.fetch(forKey: "\(thread) \(key)")?.population == 79, "seed \(seed)")
                }
            }
            #expect(try await cities.fetch(forKey: "count")?.population == 8 * 8)
        }
        #expect(observer.faults.all == [] && observer.openCount == 0)
        withExtendedLifetime(streams) {}
    }

    /// Saves keys of its own again and again, and disturbs the others' by fetching, listing and trimming.
    private static func work(_ cities: Cache<City>, thread: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for step in 0..<80 {
            let key = "\(thread) \(step % 5)"
            for key in step >= 75 ? (0..<5).map({ "\(thread) \($0)" }) : [key] {
                try cities.save(City(name: "\(thread)", population: step), forKey: key)
            }
            _ = try cities.fetch(forKey: "\(Int.random(in: 0..<8, using: &random)) \(step % 5)")
            if step % 10 == 0 { try cities.modify(forKey: "count") { $0 = next($0) } }
            try cities.save(
                City(name: "shared", population: step),
                forKey: "shared",
                expiration: .afterIdle(.seconds(9))
            )
            switch Int.random(in: 0..<12, using: &random) {
            case 0: _ = try cities.keys().all()
            case 1: try cities.remove(forKey: "shared")
            case 2: cities.trimMemory(toCount: 3)
            case 3: _ = cities.statistics.description
            default: _ = try cities.contains(forKey: "shared")
            }
        }
    }

    private static func work(_ cities: Cache<City>, thread: Int, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for step in 0..<80 {
            let key = "\(thread) \(step % 5)"
            for key in step >= 75 ? (0..<5).map({ "\(thread) \($0)" }) : [key] {
                try await cities.save(City(name: "\(thread)", population: step), forKey: key)
            }
            _ = try await cities.fetch(forKey: "\(Int.random(in: 0..<8, using: &random)) \(step % 5)")
            if step % 10 == 0 { try await cities.modify(forKey: "count") { $0 = next($0) } }
            _ = try await cities.fetch(forKey: "shared") { City(name: "loaded", population: step) }
            switch Int.random(in: 0..<12, using: &random) {
            case 0: for try await _ in try cities.keys() {}
            case 1: try await cities.remove(forKey: "shared")
            case 2: try await cities.removeExpired()
            case 3: try await cities.removeAll(tagged: "none")
            default: _ = try await cities.contains(forKey: "shared")
            }
        }
    }

    private static func next(_ city: City?) -> City { City(name: "count", population: (city?.population ?? 0) + 1) }
}
