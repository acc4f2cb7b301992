import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Random operations of every kind on a small cache, with an observer and several streams of events.
final class EventRun {
    private struct Unreachable: Error {}

    private let directory: TestDirectory
    private let clock = TestClock()
    private let store: WatchedStore
    private var random: SeededGenerator
    /// Delivers the events of loads in the background.
    private var latest: AsyncStream<CacheEvent>.Iterator
    let observer: EventObserver
    let cities: Cache<Fickle>
    let streams: [AsyncStream<CacheEvent>]

    init(seed: Int, _ directory: TestDirectory, observing observedEvents: ObservedEvents = .all) throws {
        observer = EventObserver(observedEvents)
        self.directory = directory
        store = try WatchedStore(directory)
        let memory = seed % 3 == 0 ? MemorySettings.none : MemorySettings(countLimit: 4)
        cities = Cache(over: store, memory: memory, clock: clock, observer: observer)
        streams = [cities.events, cities.events, cities.events]
        latest = cities.events.makeAsyncIterator()
        random = SeededGenerator(seed: seed)
    }

    private func expiration() -> Expiration {
        let choices: [Expiration] = [
            .never, .after(.seconds(10)), .after(.zero), .afterIdle(.seconds(16)), .at(clock.now + 20),
            .after(.seconds(8)).servingStale(for: .seconds(10)),
            .after(.seconds(8)).servingStaleOnError(for: .seconds(20)),
            .after(.seconds(6)).servingStale(for: .seconds(6)).servingStaleOnError(for: .seconds(16)),
        ]
        return choices.randomElement(using: &random) ?? .never
    }

    func step() async throws {
        let key = "\(Int.random(in: 0..<8, using: &random))"
        switch Int.random(in: 0..<40, using: &random) {
        case 0...8:
            let tags: [Set<String>] = [[], [], ["a"], ["a", "b"]]
            let chosen = tags.randomElement(using: &random) ?? []
            try await cities.save(Fickle(key), forKey: key, expiration: expiration(), tags: chosen)
        case 9: try? await cities.save(Fickle("bad"), forKey: key)
        case 10...15: _ = try await counting(1) { try await cities.fetch(forKey: key) }
        case 16: _ = try await counting(3) { try await cities.fetch(forKeys: [key, "0\(key)", "1\(key)", key]) }
        case 17, 18: _ = try await counting(0) { try await cities.contains(forKey: key) }
        case 19...23: try await load(key)
        case 24: try await loadTwice(key)
        case 25...28: clock.advance(by: Double.random(in: 0..<5, using: &random))
        case 29: try await cities.remove(forKey: key)
        case 30: try await cities.removeAll(tagged: "a")
        case 31: try await cities.removeExpired()
        case 32: cities.trimMemory(toCount: Int.random(in: 0..<3, using: &random))
        case 33: try await cities.trimDisk(to: .bytes(1_200))
        case 34, 35: if try directory.entryCount("cache") > 0 { try directory.damageEntry("cache") }
        case 36: try await counting(0) { try await cities.modify(forKey: key) { $0?.text += "!" } }
        case 37, 38:
            store.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
            _ = try await counting(1) { try await cities.fetch(forKey: key) }
            _ = try? await cities.remove(forKey: key)
            try? await cities.save(Fickle("bad"), forKey: key)
            store.interfere { $0.remove = nil }
        default: if Int.random(in: 0..<4, using: &random) == 0 { try await cities.removeAll() }
        }
        // Deadlines that are to be moved are moved before the next step.
        await cities.core.queues.drained()
    }

    /// Each of `count` fetches is a hit, a stale hit or a miss, and only one of them.
    private func counting<Result>(_ count: Int, _ body: () async throws -> Result) async rethrows -> Result {
        let before = fetches
        defer { #expect(fetches == before + count) }
        return try await body()
    }

    private var fetches: Int {
        let statistics = cities.statistics
        return statistics.memoryHits + statistics.diskHits + statistics.staleHits + statistics.misses
            + statistics.joins
    }

    private func load(_ key: String) async throws {
        let fails = Bool.random(using: &random)
        let revalidates = Bool.random(using: &random)
        let expiration = expiration()
        try await loading(key) {
            do {
                _ = try await counting(1) {
                    guard revalidates else {
                        return try await cities.fetch(forKey: key, expiration: expiration) {
                            if fails { throw Unreachable() }
                            return Fickle("loaded")
                        }
                    }
                    return try await cities.fetch(forKey: key, expiration: expiration) { former in
                        former == nil ? .new(Fickle("loaded")) : .unchanged()
                    }
                }
            } catch is Unreachable {
                #expect(fails)
            }
        }
    }

    /// Two fetches at once, the second of which joins the first where it finds nothing.
    private func loadTwice(_ key: String) async throws {
        let (cities, entryKey) = (cities, try EntryKey(key))
        let fetch = { @Sendable in
            try await cities.fetch(forKey: key) {
                // No call waits for a load in the background.
                for _ in 0..<1_000 where cities.core.loads.waiterCount(entryKey) < 2 { await Task.yield() }
                return Fickle("loaded")
            }
        }
        try await loading(key) {
            _ = try await counting(2) {
                async let first = fetch()
                async let second = fetch()
                return try await [first, second]
            }
        }
    }

    /// Runs `body`, and waits for the load in the background that a stale hit of it has started.
    private func loading(_ key: String, _ body: () async throws -> Void) async throws {
        let before = cities.statistics
        try await body()
        guard cities.statistics.staleHits > before.staleHits else { return }
        // A stale value is served after a failed load, or starts a load in the background.
        func loads(_ statistics: CacheStatistics) -> Int {
            statistics.loads + statistics.loadFailures + statistics.revalidations
        }
        while loads(cities.statistics) <= loads(before) { _ = await latest.next() }
        try await waitForLoad(of: key)
    }

    /// Waits until nothing is being loaded for a key: joins the load, or begins one of its own that is over at once.
    private func waitForLoad(of key: String) async throws {
        let core = cities.core
        let waiters = try core.loads.join([EntryKey(key)], tags: [], isBackground: false) { _ in
            true
        } begin: { key in
            core.memory.withLock { $0.beginRead(key) }
        } start: { loads in
            Task {
                for load in loads {
                    core.release(core.memory.withLock { $0.endRead(load.key, load.start) })
                    core.loads.finish(load, .absent)
                }
            }
        }
        for waiter in waiters { _ = await core.loads.outcome(of: waiter) }
    }
}
