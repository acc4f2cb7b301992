import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Fetches that load missing entries.
@Suite struct LoadTests {
    struct Refusal: Error, Equatable { var reason = "refused" }

    /// A producer that runs until it is let go, and counts its runs.
    final class Source: Sendable {
        private struct State {
            var runs = 0
            var cancellations = 0
            var isOpen: Bool
            var held: [CheckedContinuation<Void, Never>] = []
            var watchers: [(runs: Int, CheckedContinuation<Void, Never>)] = []
            var result: Result<City, Refusal>
        }

        private let state: Mutex<State>

        init(_ result: Result<City, Refusal> = .success(City(name: "loaded", population: 1)), isOpen: Bool = true) {
            state = Mutex(State(isOpen: isOpen, result: result))
        }

        var runs: Int { state.withLock { $0.runs } }
        var cancellations: Int { state.withLock { $0.cancellations } }
        func give(_ result: Result<City, Refusal>) { state.withLock { $0.result = result } }

        func load() async throws -> City {
            let ready = state.withLock { state in
                state.runs += 1
                defer { state.watchers.removeAll { $0.runs <= state.runs } }
                return state.watchers.filter { $0.runs <= state.runs }.map(\.1)
            }
            for watcher in ready { watcher.resume() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOpen = state.withLock { state in
                        if !state.isOpen { state.held.append(continuation) }
                        return state.isOpen
                    }
                    if isOpen { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.cancellations += 1 }
                open()
            }
            try Task.checkCancellation()
            return try state.withLock { $0.result }.get()
        }

        func open() {
            let held = state.withLock { state in
                state.isOpen = true
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        /// Waits until so many runs have begun.
        func hasRun(_ runs: Int) async {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.runs < runs { state.watchers.append((runs, continuation)) }
                    return state.runs >= runs
                }
                if isThere { continuation.resume() }
            }
        }
    }

    let directory = TestDirectory()
    let clock = TestClock()

    func cache(_ name: String = "cities", memory: MemorySettings = MemorySettings()) throws -> Cache<City> {
        try Cache<City>(name: name, directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    /// Waits for an event that another task brings about.
    func event(_ kind: CacheEvent.Kind, in events: AsyncStream<CacheEvent>) async {
        for await event in events where event.kind == kind { return }
    }

    /// Waits until so many wait for a key.
    func waiters(_ count: Int, of key: String, _ cities: Cache<City>) async throws {
        let key = try EntryKey(key)
        try await wait(until: cities.core.loads.waiterCount(key) >= count)
    }

    // MARK: One producer

    @Test(arguments: [MemorySettings(), .none])
    func loadsOnceAndSaves(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        let source = Source()
        for _ in 0..<3 {
            let city = try await cities.fetch(forKey: "a") { try await source.load() }
            #expect(city.name == "loaded")
        }
        #expect(source.runs == 1)
        let again = try await cache().fetch(forKey: "a")
        #expect(again?.name == "loaded")
        #expect(cities.statistics.loads == 1 && cities.statistics.misses == 1 && cities.statistics.hits == 2)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func aLoadGetsThePriorityOfTheHighestTaskThatWaitsForIt() async throws
    {
        guard #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) else { return }
        let cities = try cache()
        let started = Source()
        let low = Task(priority: .background) {
            try await cities.fetch(forKey: "a") {
                let city = try await started.load()
                try await wait(until: Task.currentPriority >= .high)
                return city
            }
        }
        await started.hasRun(1)
        let high = Task(priority: .high) {
            try await cities.fetch(forKey: "a") { City(name: "own", population: 2) }
        }
        #expect(try await high.value.name == "loaded")
        #expect(try await low.value.name == "loaded")
    }

    @Test("100 concurrent loads of one key: one producer run")
    func oneProducerHoweverManyAsk() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        try await withThrowingTaskGroup(of: City.self) { group in
            for _ in 0..<100 { group.addTask { try await cities.fetch(forKey: "a") { try await source.load() } } }
            await source.hasRun(1)
            // All others are on their way or wait; none of them may start another one.
            try await waiters(100, of: "a", cities)
            source.open()
            for try await city in group { #expect(city.name == "loaded") }
        }
        #expect(source.runs == 1)
        #expect(cities.statistics.loads == 1 && cities.statistics.misses == 1)
        #expect(cities.statistics.joins == 99 && cities.statistics.hitRatio == 0)
    }

    @Test func valuesOfClassesAreDecodedForEachWhoWaits() async throws {
        let zoo = try Cache<Order>(name: "zoo", directory: directory.url)
        let first = try await zoo.fetch(forKey: "a") { Order(order: "Carnivore") }
        let second = try await zoo.fetch(forKey: "a") { Order(order: "not asked") }
        #expect(first.order == "Carnivore" && second.order == "Carnivore" && first !== second)
    }

    @Test func anErrorReachesEverybodyAndIsNotKept() async throws {
        let cities = try cache()
        let source = Source(.failure(Refusal()), isOpen: false)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await cities.fetch(forKey: "a") { try await source.load() }
                        return false
                    } catch { return error as? Refusal == Refusal() }
                }
            }
            try? await waiters(20, of: "a", cities)
            source.open()
            for await isRefused in group { #expect(isRefused) }
        }
        #expect(source.runs == 1 && cities.statistics.loadFailures == 1)
        source.give(.success(City(name: "better", population: 2)))
        let city = try await cities.fetch(forKey: "a") { try await source.load() }
        #expect(city.name == "better" && source.runs == 2)
    }

    @Test func failuresAreRememberedWhereThatIsAskedFor() async throws {
        let cities = try cache()
        let source = Source(.failure(Refusal()))
        let loading = LoadOptions(failureLifetime: .seconds(10))
        func fetch() async -> Bool {
            do {
                _ = try await cities.fetch(forKey: "a", options: loading) { try await source.load() }
                return true
            } catch { return false }
        }
        for _ in 0..<3 { #expect(await !fetch()) }
        #expect(source.runs == 1)
        clock.advance(by: 10)
        #expect(await !fetch())
        #expect(source.runs == 2)
        // A save and a removal end it.
        try await cities.save(City(name: "saved", population: 1), forKey: "a")
        #expect(await fetch())
        try await cities.remove(forKey: "a")
        #expect(await !fetch())
        #expect(source.runs == 3)
        try await cities.removeAll()
        #expect(await !fetch())
        #expect(source.runs == 4)
        // A clock that was set back does not make it last longer.
        clock.advance(by: -3_600)
        #expect(await !fetch())
        #expect(source.runs == 5)
    }

    @Test func aRemovalByTagEndsRememberedFailures() async throws {
        let (cities, other) = (try cache(), try cache())
        let source = Source(.failure(Refusal()))
        let loading = LoadOptions(failureLifetime: .seconds(3_600))
        let expiration = Expiration.after(.seconds(1)).servingStaleOnError(for: .seconds(3_600))
        for remover in [cities, other] {
            try await cities.save(
                City(name: "old", population: 1),
                forKey: "a",
                expiration: expiration,
                tags: ["t"]
            )
            clock.advance(by: 2)
            let runs = source.runs
            for _ in 0..<3 {
                let stale = try await cities.fetch(forKey: "a", options: loading) { try await source.load() }
                #expect(stale.name == "old")
            }
            #expect(source.runs == runs + 1)
            try await remover.removeAll(tagged: "t")
            await #expect(throws: Refusal.self) {
                try await cities.fetch(forKey: "a", options: loading) { try await source.load() }
            }
            #expect(source.runs == runs + 2)
        }
    }

    /// A value that holds an object, by which its end is seen.
    struct Held: Codable, Encoded, Sendable {
        final class Token: Sendable {}

        let token = Token()
        var name = ""

        private enum CodingKeys: CodingKey { case name }
    }

    @Test func nothingIsHeldOnceALoadIsDone() async throws {
        let cache = try Cache<Held>(name: "held", directory: directory.url, settings: CacheSettings(memory: .none))
        weak var token: Held.Token?
        for _ in 0..<2 {
            let made = Mutex<Held?>(Held())
            token = made.withLock { $0?.token }
            #expect(token != nil)
            _ = try await cache.fetch(forKeys: ["a", "b"]) { _ in
                let held = try #require(made.withLock { $0.take() })
                return ["a": held, "b": held]
            }
            try await cache.removeAll()
            try await wait(until: cache.core.loads.isEmpty)
            // The task that loaded may still be ending.
            try await wait(until: token == nil)
        }
    }

    @Test func aProducerThatWasToldToStopSaysNothing() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        let loading = LoadOptions(failureLifetime: .seconds(300))
        let task = Task {
            try await cities.fetch(forKey: "a", options: loading) {
                do { return try await source.load() } catch { throw Refusal(reason: "stopped") }
            }
        }
        await source.hasRun(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await wait(until: source.cancellations != 0)
        let city = try await cities.fetch(forKey: "a", options: loading) { City(name: "next", population: 1) }
        #expect(city.name == "next")
    }

    // MARK: Cancellation

    @Test func cancellingOneWhoWaitsHarmsNoOther() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        let tasks = (0..<5).map { _ in
            Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        }
        try await waiters(5, of: "a", cities)
        await source.hasRun(1)
        for task in tasks[..<4] {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(source.cancellations == 0)
        source.open()
        #expect(try await tasks[4].value.name == "loaded")
        #expect(source.runs == 1)
    }

    @Test func cancellingAllWhoWaitCancelsTheProducer() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        let tasks = (0..<5).map { _ in
            Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        }
        try await waiters(5, of: "a", cities)
        await source.hasRun(1)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        // The producer is cancelled, whenever its task gets there.
        try await wait(until: source.cancellations != 0)
        // A later fetch starts a run of its own.
        source.open()
        let city = try await cities.fetch(forKey: "a") { try await source.load() }
        #expect(city.name == "loaded" && source.runs == 2)
    }

    @Test func aTaskThatWasCancelledBeforeGetsWhatIsThere() async throws {
        let cities = try cache()
        try cities.sync { try $0.save(City(name: "there", population: 1), forKey: "a") }
        // It loads nothing, so that only the cancellation ends the task.
        let source = Source(isOpen: false)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let there = try await cities.fetch(forKey: "a") { try await source.load() }
            #expect(there.name == "there")
            _ = try await cities.fetch(forKey: "b") { try await source.load() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        source.open()
    }

    // MARK: Several keys

    @Test func severalKeysAreLoadedByOneCall() async throws {
        let cities = try cache()
        try await cities.save(City(name: "a", population: 0), forKey: "a")
        let asked = Mutex<[[String]]>([])
        let found = try await cities.fetch(forKeys: ["a", "b", "c", "b", "d"]) { keys in
            asked.withLock { $0.append(keys.sorted()) }
            return [
                "b": City(name: "b", population: 1), "c": City(name: "c", population: 2),
                "z": City(name: "z", population: 9),
            ]
        }
        #expect(asked.withLock { $0 } == [["b", "c", "d"]])
        #expect(found.mapValues(\.name) == ["a": "a", "b": "b", "c": "c"])
        #expect(try await cities.fetch(forKey: "z") == nil)
        let again = try await cities.fetch(forKeys: ["a", "b", "c"]) { _ in throw Refusal() }
        #expect(again.count == 3)
        let plain = try await cities.fetch(forKeys: ["a", "c", "q"])
        #expect(plain.mapValues(\.name) == ["a": "a", "c": "c"])
    }

    @Test func keysThatAreBeingLoadedAreWaitedFor() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        let first = Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        await source.hasRun(1)
        let asked = Mutex<[String]>([])
        let both = Task {
            try await cities.fetch(forKeys: ["a", "b"]) { keys in
                asked.withLock { $0 += keys }
                return ["b": City(name: "b", population: 2)]
            }
        }
        try await wait(until: !asked.withLock({ $0.isEmpty }))
        source.open()
        #expect(try await both.value.mapValues(\.name) == ["a": "loaded", "b": "b"])
        #expect(try await first.value.name == "loaded")
        #expect(asked.withLock { $0 } == ["b"] && source.runs == 1)
    }

    @Test func whoWaitsForAnothersProducerInVainHasItsOwn() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        let several = Task {
            try await cities.fetch(forKeys: ["a", "b"]) { _ in
                ["b": try await source.load()]
            }
        }
        await source.hasRun(1)
        let one = Task { try await cities.fetch(forKey: "a") { City(name: "own", population: 3) } }
        try await wait(until: cities.statistics.misses + cities.statistics.joins >= 3)
        source.open()
        #expect(try await one.value.name == "own")
        #expect(try await several.value.keys.sorted() == ["b"])
    }
}

extension Cache where Value: Sendable {
    /// The synchronous calls, where asynchronous ones would be chosen.
    func sync<Result>(_ body: (Cache) throws -> Result) rethrows -> Result { try body(self) }
}
