import ArchiveStore
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// The asynchronous twins: the same results, off the threads that run tasks, and no suspension where none is needed.
@Suite struct AsyncTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "x", population: 1)

    private func cache(_ name: String = "cache", memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache(name: name, directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    // MARK: The same as the synchronous ones

    private enum Step {
        case save(String, Expiration?, Set<String>)
        case fetch(String)
        case fetchSeveral([String])
        case contains(String)
        case remove(String)
        case modify(String)
        case object
        case count
        case removeTagged(String)
        case removeExpired
        case removeAll
        case trimDisk
        case flush

        static func random(_ random: inout SeededGenerator) -> Step {
            // Too long, too short, and usable ones.
            let key =
                ["", String(repeating: "k", count: 1_025), "a", "b", "c", "d", "e", "é"]
                .randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<24, using: &random) {
            case 0...6:
                let expirations =
                    [nil, .never, .after(.seconds(5)), .after(.zero), .afterIdle(.seconds(5)), .at(.distantPast)]
                    as [Expiration?]
                let tags: [Set<String>] = [[], ["t"], ["u", "t"], [""]]
                return .save(
                    key,
                    expirations.randomElement(using: &random) ?? nil,
                    tags.randomElement(using: &random) ?? []
                )
            case 7...11: return .fetch(key)
            case 12: return .fetchSeveral(["a", "b", "c", "a", "é", "e\u{301}"])
            case 13, 14: return .contains(key)
            case 15: return .remove(key)
            case 16: return .modify(key)
            case 17: return .object
            case 18: return .count
            case 19: return .removeTagged(["t", "u", ""].randomElement(using: &random) ?? "")
            case 20: return .removeExpired
            case 21: return Int.random(in: 0..<4, using: &random) == 0 ? .removeAll : .trimDisk
            default: return .flush
            }
        }
    }

    private func outcome(_ body: () throws -> Any?) -> String {
        do { return try text(body()) } catch { return "\((error as? CacheError)?.code.description ?? "\(error)")" }
    }

    private func asyncOutcome(_ body: () async throws -> Any?) async -> String {
        do { return try await text(body()) } catch {
            return "\((error as? CacheError)?.code.description ?? "\(error)")"
        }
    }

    private func text(_ value: Any?) -> String {
        if let values = value as? [String: City] {
            return values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.description
        }
        return value.map { "\($0)" } ?? "nil"
    }

    private func takeSynchronously(_ step: Step, _ number: Int, on cities: Cache<City>) -> String {
        outcome { () throws -> Any? in
            switch step {
            case .save(let key, let expiration, let tags):
                let city = City(name: key, population: number)
                return try cities.save(city, forKey: key, expiration: expiration, tags: tags)
            case .fetch(let key): return try cities.fetch(forKey: key)
            case .fetchSeveral(let keys): return try cities.fetch(forKeys: keys)
            case .contains(let key): return try cities.contains(forKey: key)
            case .remove(let key): return try cities.remove(forKey: key)
            case .modify(let key):
                return try cities.modify(forKey: key) { city in
                    city?.population += 1
                    return city
                }
            case .object:
                try cities.save(object: City(name: "object", population: number))
                return try cities.fetch(City.self, forKey: Cache<City>.objectKey) == cities.fetchObject()
            case .count:
                return try (cities.count(), cities.keys().all().sorted(), Set(cities.entries().all()).count)
            case .removeTagged(let tag): return try cities.removeAll(tagged: tag)
            case .removeExpired: return try cities.removeExpired()
            case .removeAll: return try cities.removeAll()
            case .trimDisk: return try cities.trimDisk(to: .kibibytes(1))
            case .flush: return try cities.flush()
            }
        }
    }

    private func takeAsynchronously(_ step: Step, _ number: Int, on cities: Cache<City>) async -> String {
        await asyncOutcome { () async throws -> Any? in
            switch step {
            case .save(let key, let expiration, let tags):
                let city = City(name: key, population: number)
                return try await cities.save(city, forKey: key, expiration: expiration, tags: tags)
            case .fetch(let key): return try await cities.fetch(forKey: key)
            case .fetchSeveral(let keys): return try await cities.fetch(forKeys: keys)
            case .contains(let key): return try await cities.contains(forKey: key)
            case .remove(let key): return try await cities.remove(forKey: key)
            case .modify(let key):
                return try await cities.modify(forKey: key) { city in
                    city?.population += 1
                    return city
                }
            case .object:
                try await cities.save(object: City(name: "object", population: number))
                let found = try await cities.fetch(City.self, forKey: Cache<City>.objectKey)
                return try await found == cities.fetchObject()
            case .count:
                var (keys, entries): ([String], Set<CacheEntry>) = ([], [])
                for try await key in try cities.keys() { keys.append(key) }
                for try await entry in try cities.entries() { entries.insert(entry) }
                return try await (cities.count(), keys.sorted(), entries.count)
            case .removeTagged(let tag): return try await cities.removeAll(tagged: tag)
            case .removeExpired: return try await cities.removeExpired()
            case .removeAll: return try await cities.removeAll()
            case .trimDisk: return try await cities.trimDisk(to: .kibibytes(1))
            case .flush: return try await cities.flush()
            }
        }
    }

    @Test(arguments: seeds(1..<7)) func twinsGiveTheSame(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        // A trim takes the oldest, of which there must not be two.
        let memory = seed % 2 == 0 ? MemorySettings.none : MemorySettings(countLimit: 3)
        let (first, second) = (try cache("first", memory: memory), try cache("second", memory: memory))
        for number in 0..<300 {
            let step = Step.random(&random)
            let wanted = takeSynchronously(step, number, on: first)
            let found = await takeAsynchronously(step, number, on: second)
            #expect(found == wanted, "seed \(seed), step \(number): \(step)")
            // Otherwise the move of a deadline and the next step could run in either order.
            for cities in [first, second] { await cities.core.queues.drained() }
            clock.advance(by: 0.25)
        }
        try await first.flush()
        try await second.flush()
        #expect(try first.keys().all().sorted() == second.keys().all().sorted())
        #expect(first.statistics.saves == second.statistics.saves)
        #expect(first.statistics.hitRatio > 0 && first.statistics.removals == second.statistics.removals)
    }

    // MARK: Order

    @Test func savesAndRemovalsOfOneTaskAreDoneInItsOrder() async throws {
        let cities = try cache()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: task)
                    for step in 0..<60 {
                        // Some threads save themselves, others have it done.
                        let city = City(name: "\(task)", population: step)
                        try await cities.save(city, forKey: task)
                        #expect(try await cities.fetch(forKey: task) == city)
                        if Bool.random(using: &random) {
                            #expect(try await cities.remove(forKey: task))
                            #expect(try await cities.fetch(forKey: task) == nil)
                        }
                        try await cities.save(city, forKey: task)
                    }
                    try await cities.save(City(name: "last", population: task), forKey: task)
                }
            }
            try await group.waitForAll()
        }
        for cities in [cities, try cache()] {
            for task in 0..<8 { #expect(try await cities.fetch(forKey: task)?.population == task) }
        }
    }

    // MARK: No suspension

    /// Runs one thing after another on a thread of its own, and counts them: a task that suspends comes back as one
    /// more.
    private final class CountingExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "counting")
        private let jobs = Atomic<Int>(0)

        var count: Int { jobs.load(ordering: .relaxed) }

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(1, ordering: .relaxed)
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private actor Reader {
        private nonisolated let executor = CountingExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// How often `body` was suspended.
        func suspensions<Result: Sendable>(
            _ body: @Sendable (isolated Reader) async throws -> Result
        ) async rethrows -> (Result, Int) {
            let before = executor.count
            let result = try await body(self)
            return (result, executor.count - before)
        }
    }

    @Test func aHitInMemoryNeverSuspends() async throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store, clock: clock)
        let reader = Reader()
        try await cities.save(city, forKey: "x")
        try await cities.save(city, forKey: "idle", expiration: .afterIdle(.seconds(80)))
        try await cities.save(city, forKey: "after", expiration: .after(.seconds(80)))
        try await cities.save(object: city)
        clock.advance(by: 40)
        let fetches = store.counts.fetches
        for key in ["x", "idle", "after"] {
            #expect(try await reader.suspensions { _ in try await cities.fetch(forKey: key) } == (city, 0))
            #expect(try await reader.suspensions { _ in try await cities.contains(forKey: key) } == (true, 0))
            #expect(
                try await reader.suspensions { _ in
                    try await cities.fetch(forKey: key) { throw CancellationError() }
                } == (city, 0)
            )
        }
        #expect(try await reader.suspensions { _ in try await cities.fetchObject() } == (city, 0))
        #expect(try await reader.suspensions { _ in try await cities.fetch(City.self, forKey: "x") } == (city, 0))
        let (several, count) = try await reader.suspensions { _ in try await cities.fetch(forKeys: ["x", "after"]) }
        #expect(several.count == 2 && count == 0)
        #expect(store.counts.fetches == fetches)
        // That this would show a suspension: the disk is waited for. On a busy machine it may be there first.
        var isShown = false
        for _ in 0..<1_000 where !isShown {
            cities.trimMemory(toCount: 0)
            let (found, suspensions) = try await reader.suspensions { _ in try await cities.fetch(forKey: "x") }
            #expect(found == city)
            isShown = suspensions > 0
        }
        #expect(isShown)
    }

    // MARK: Off the pool

    @Test func blockedFetchesStopNoOtherTask() async throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store)
        let gate = Gate()
        let faults = Recorder<String>()
        for key in 0..<64 { try await cities.save(city, forKey: "cold \(key)") }
        cities.trimMemory(toCount: 0)
        try await cities.save(city, forKey: "hot")
        store.interfere {
            $0.fetch = { _ throws(StoreError) in
                // A thread of the pool must not be held up: the test would never end.
                let isOnPool = withUnsafeCurrentTask { $0 != nil }
                if isOnPool { faults.add("disk work on a thread that runs tasks") }
                gate.pass(waits: !isOnPool)
            }
        }
        let blocked = (0..<64).map { key in Task { try await cities.fetch(forKey: "cold \(key)") } }
        await gate.someoneWaits()
        // More tasks than there are threads, each with some suspensions.
        let sums = await withTaskGroup(of: Int.self) { group in
            for task in 0..<64 {
                group.addTask {
                    await Task.yield()
                    let found = try? await cities.fetch(forKey: "hot")
                    await Task.yield()
                    return found == nil ? -1_000 : task
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sums == 64 * 63 / 2)
        gate.open()
        for task in blocked { #expect(try await task.value == city) }
        #expect(faults.all == [])
    }

    @Test func allDiskWorkIsOffThePool() async throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store)
        let calls = Recorder<Bool>()
        let note: @Sendable () -> Void = { calls.add(withUnsafeCurrentTask { $0 != nil }) }
        store.interfere { interference in
            interference.fetch = { _ throws(StoreError) in note() }
            interference.save = { _ throws(StoreError) in note() }
            interference.remove = { () throws(StoreError) in note() }
            interference.list = { _ throws(StoreError) in note() }
        }
        try await cities.save(city, forKey: "x", tags: ["t"])
        cities.trimMemory(toCount: 0)
        _ = try await cities.fetch(forKey: "x")
        _ = try await cities.fetch(forKeys: ["y", "z"])
        try await cities.modify(forKey: "x") { $0?.population += 1 }
        for try await _ in try cities.keys() {}
        _ = try await cities.count()
        try await cities.removeExpired()
        try await cities.removeAll(tagged: "t")
        try await cities.remove(forKey: "x")
        try await cities.removeAll()
        _ = try await cities.fetch(forKey: "x") { City(name: "loaded", population: 1) }
        #expect(calls.all.count == 14 && !calls.all.contains(true))
    }

    /// Holds threads up until it is opened.
    private final class Gate: Sendable {
        private let group = DispatchGroup()
        private let arrivals = AsyncStream.makeStream(of: Void.self)

        init() { group.enter() }

        func pass(waits: Bool) {
            arrivals.continuation.yield()
            if waits { group.wait() }
        }

        func someoneWaits() async {
            for await _ in arrivals.stream { return }
        }

        func open() { group.leave() }
    }
}
