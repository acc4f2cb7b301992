import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Loading what is missing.
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
        try Cache<City>(name: name, directory: directory.url, memory: memory, clock: clock)
    }

    /// Waits for an event that another task brings about.
    func event(_ kind: CacheEvent.Kind, in events: AsyncStream<CacheEvent>) async {
        for await event in events where event.kind == kind { return }
    }

    /// Waits until so many wait for a key.
    func wait(for count: Int, toAskFor key: String, _ cities: Cache<City>) async throws {
        let key = try EntryKey(key)
        while cities.core.loads.waiterCount(key) < count { await pause() }
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

    @Test("100 concurrent loads of one key: one producer run")
    func oneProducerHoweverManyAsk() async throws {
        let cities = try cache()
        let source = Source(isOpen: false)
        try await withThrowingTaskGroup(of: City.self) { group in
            for _ in 0..<100 { group.addTask { try await cities.fetch(forKey: "a") { try await source.load() } } }
            await source.hasRun(1)
            // All others are on their way or wait; none of them may start another one.
            try await wait(for: 100, toAskFor: "a", cities)
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
            try? await wait(for: 20, toAskFor: "a", cities)
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
        let cache = try Cache<Held>(name: "held", directory: directory.url, memory: .none)
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
            while !cache.core.loads.isEmpty { await pause() }
            // The task that loaded may still be ending.
            for _ in 0..<10_000 where token != nil { await pause() }
            #expect(token == nil)
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
        while source.cancellations == 0 { await pause() }
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
        try await wait(for: 5, toAskFor: "a", cities)
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
        try await wait(for: 5, toAskFor: "a", cities)
        await source.hasRun(1)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        // The producer is told, whenever its task gets there.
        while source.cancellations == 0 { await pause() }
        // Who comes now gets a run of its own.
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

    // MARK: Removals and saves meanwhile

    enum Change: CaseIterable, Sendable { case remove, removeAll, save, removeByAnother, saveByAnother, modify }

    @Test(arguments: Change.allCases)
    func whatHappensDuringALoadCounts(change: Change) async throws {
        let cities = try cache()
        let other = try cache()
        let saved = City(name: "saved", population: 2)
        try await cities.save(City(name: "old", population: 0), forKey: "a", expiration: .after(.seconds(1)))
        clock.advance(by: 2)
        let source = Source(isOpen: false)
        let load = Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        await source.hasRun(1)
        switch change {
        case .remove: try await cities.remove(forKey: "a")
        case .removeAll: try await cities.removeAll()
        case .save: try await cities.save(saved, forKey: "a")
        case .removeByAnother: try await other.remove(forKey: "a")
        case .saveByAnother: try await other.save(saved, forKey: "a")
        case .modify: try await cities.modify(forKey: "a") { $0 = saved }
        }
        source.open()
        // The one who asked gets what was loaded for it; what is kept is what came later.
        #expect(try await load.value.name == "loaded")
        let isSaved = [Change.save, .saveByAnother, .modify].contains(change)
        for cache in [cities, other, try cache()] {
            #expect(try await cache.fetch(forKey: "a")?.name == (isSaved ? "saved" : nil))
        }
    }

    /// A fetch that begins behind a removal does not get a value from before it.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["remove", "removeByAnother", "removeSeveral", "removeAll", "removeTagged", "failedSave"]
    )
    func aLaterFetchJoinsNoLoadFromBeforeARemoval(change: String) async throws {
        let store = AgreementTests.TestStore()
        let inDirectory = change != "failedSave"
        let cities = inDirectory ? try cache() : Cache<City>(over: store, clock: clock)
        let other = try cache()
        let old = City(name: "old", population: 0)
        // Of use still, so that it stays on disk.
        let expiration = Expiration.after(.seconds(1)).servingStaleOnError(for: .seconds(3_600))
        try await cities.save(old, forKey: "a", expiration: expiration, tags: ["t"])
        clock.advance(by: 2)
        let source = Source(isOpen: false)
        let former = Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        await source.hasRun(1)
        switch change {
        case "remove": try await cities.remove(forKey: "a")
        case "removeByAnother": try await other.remove(forKey: "a")
        case "removeSeveral": try await cities.remove(forKeys: ["a"])
        case "removeAll": try await cities.removeAll()
        case "removeTagged": try await cities.removeAll(tagged: "t")
        default:
            store.state.withLock { $0.failsSaves = true }
            await #expect(throws: CacheError.self) { try await cities.save(old, forKey: "a") }
            store.state.withLock { $0.failsSaves = false }
        }
        let later = try await cities.fetch(forKey: "a") { City(name: "later", population: 1) }
        #expect(later.name == "later")
        source.open()
        #expect(try await former.value.name == "loaded")
        #expect(try await cities.fetch(forKey: "a")?.name == "later")
    }

    /// Removals at any moment of a load, many times: nothing that was loaded before comes back.
    @Test(arguments: [false, true])
    func noRemovalIsLost(everything: Bool) async throws {
        let cities = try cache()
        for round in 0..<200 {
            let loaded = Mutex(false)
            let load = Task {
                try await cities.fetch(forKey: "a") {
                    loaded.withLock { $0 = true }
                    return City(name: "\(round)", population: round)
                }
            }
            while !loaded.withLock({ $0 }) { await pause() }
            if everything { try await cities.removeAll() } else { try await cities.remove(forKey: "a") }
            _ = try await load.value
            // Either the load was done before the removal, or it does not count.
            #expect(try await cities.fetch(forKey: "a") == nil, "round \(round)")
            #expect(try await cities.contains(forKey: "a") == false, "round \(round)")
        }
    }

    @Test func aValueThatCannotBeSavedIsReturnedAllTheSame() async throws {
        let reported = Mutex<[CacheError.Code]>([])
        let store = AgreementTests.TestStore()
        store.state.withLock { $0.failsSaves = true }
        let cities = Cache<City>(
            name: "full",
            directory: directory.url,
            store: store,
            memory: MemorySettings(),
            values: ValueTreatment(areShared: true, areSendable: true),
            expiration: .never,
            clock: clock,
            observer: FailureObserver { error in reported.withLock { $0.append(error.code) } }
        )
        let city = try await cities.fetch(forKey: "a") { City(name: "loaded", population: 1) }
        #expect(city.name == "loaded")
        #expect(reported.withLock { $0 } == [.io])
        #expect(cities.statistics.failures == 1 && cities.statistics.loads == 1)
        // Memory alone has it, so it is the latest.
        #expect(try await cities.fetch(forKey: "a", freshness: .latest)?.name == "loaded")
        let again = try await cities.fetch(forKey: "a") { City(name: "again", population: 1) }
        #expect(again.name == "loaded")
    }

    @Test func whatCannotBeArchivedIsAnError() async throws {
        let fickle = try Cache<Fickle>(name: "fickle", directory: directory.url)
        let error = await #expect(throws: CacheError.self) {
            try await fickle.fetch(forKey: "a") { Fickle("bad") }
        }
        #expect(error?.code == .encodingFailed)
        let good = try await fickle.fetch(forKey: "a") { Fickle("good") }
        #expect(good.text == "good")
    }

    /// Refuses to be decoded where it says so.
    struct Picky: Codable, Encoded {
        var isRefused: Bool

        init(isRefused: Bool) { self.isRefused = isRefused }

        init(from decoder: any Decoder) throws {
            isRefused = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isRefused)
            if isRefused { throw Refusal() }
        }
    }

    @Test func anEntryThatItsTypeRefusesIsLoadedAnew() async throws {
        let picky = try Cache<Picky>(name: "picky", directory: directory.url, memory: .none)
        try await picky.save(Picky(isRefused: true), forKey: "a")
        let refusal = await #expect(throws: CacheError.self) { try await picky.fetch(forKey: "a") }
        #expect(refusal?.code == .decodingFailed)
        let loaded = try await picky.fetch(forKey: "a") { Picky(isRefused: false) }
        #expect(!loaded.isRefused)
        #expect(try await picky.fetch(forKey: "a")?.isRefused == false)
    }

    /// As after a type was renamed.
    @Test(arguments: [MemorySettings(), .none])
    func anEntryOfAnotherTypeIsLoadedAnewUnlessToldOtherwise(memory: MemorySettings) async throws {
        func save() async throws { try await cache("x").save(City(name: "old", population: 1), forKey: "a") }
        try await save()
        let villages = try Cache<Village>(name: "x", directory: directory.url, memory: memory)
        let strict = LoadOptions(replacesOtherTypes: false)
        for isBulk in [false, true] {
            let error = await #expect(throws: CacheError.self) {
                if isBulk {
                    _ = try await villages.fetch(forKeys: ["a"], options: strict) { _ in [:] }
                } else {
                    _ = try await villages.fetch(forKey: "a", options: strict) { Village(name: "", population: 2) }
                }
            }
            #expect(error?.code == .typeMismatch)
        }
        #expect(try await cache("x").fetch(forKey: "a")?.name == "old")
        for _ in 0..<2 {
            let loaded = try await villages.fetch(forKey: "a") { Village(name: "new", population: 2) }
            #expect(loaded.name == "new")
        }
        #expect(villages.statistics.loads == 1 && villages.statistics.misses == 1 && villages.statistics.hits == 1)
        try await save()
        let several = try await villages.fetch(forKeys: ["a"]) { _ in ["a": Village(name: "newer", population: 2)] }
        #expect(several["a"]?.name == "newer")
        // It is no former value either, and a plain fetch throws as ever.
        try await save()
        let error = await #expect(throws: CacheError.self) { try await villages.fetch(forKey: "a") }
        #expect(error?.code == .typeMismatch)
        let revalidated = try await villages.fetch(forKey: "a") { former in
            #expect(former == nil)
            return .new(Village(name: "newest", population: 2))
        }
        #expect(revalidated.name == "newest")
    }

    // MARK: Stale values

    @Test func servesStaleValuesWhileItLoadsAnew() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(10)).servingStale(for: .seconds(5))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration)
        clock.advance(by: 12)
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await cities.contains(forKey: "a") == false)
        let source = Source(isOpen: false)
        let events = cities.events
        for _ in 0..<3 {
            let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
            #expect(city.name == "old")
        }
        await source.hasRun(1)
        source.open()
        await event(.saved, in: events)
        while !cities.core.loads.isEmpty { await pause() }
        let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(city.name == "loaded" && source.runs == 1)
        #expect(cities.statistics.staleHits == 3)
        // After the window it has to be waited for.
        clock.advance(by: 15)
        source.give(.success(City(name: "third", population: 3)))
        let third = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(third.name == "third" && source.runs == 2)
    }

    @Test func servesStaleValuesIfLoadingFails() async throws {
        let cities = try cache()
        let expiration = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(60))
        try await cities.save(City(name: "old", population: 1), forKey: "a", expiration: expiration)
        clock.advance(by: 30)
        let source = Source(.failure(Refusal()))
        let city = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(city.name == "old" && source.runs == 1)
        #expect(cities.statistics.staleHits == 1 && cities.statistics.loadFailures == 1)
        #expect(cities.statistics.misses == 0)
        clock.advance(by: 60)
        await #expect(throws: Refusal.self) {
            try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        }
        source.give(.success(City(name: "new", population: 2)))
        let new = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        #expect(new.name == "new")
    }

    // MARK: Ahead

    @Test func loadsAheadTheMoreLikelyTheCloserTheDeadline() {
        let settings = LoadOptions(earlyRefresh: 1)
        func share(_ now: TimeInterval, loadTime: TimeInterval, _ settings: LoadOptions) -> Double {
            let chances = (1...1_000).map { Double($0) / 1_000 }
            let due = chances.filter { chance in
                settings.refreshes(loadTime: loadTime, deadline: 100, now: now, chance: chance)
            }
            return Double(due.count) / 1_000
        }
        // The chance is e to the minus remaining time by load time.
        for remaining in [0.5, 1, 2, 3] {
            #expect(abs(share(100 - remaining, loadTime: 1, settings) - exp(-remaining)) < 0.01)
            #expect(abs(share(100 - 2 * remaining, loadTime: 2, settings) - exp(-remaining)) < 0.01)
        }
        #expect(share(100, loadTime: 1, settings) == 1)
        #expect(share(99, loadTime: 0, settings) == 0)
        #expect(share(99, loadTime: 1, LoadOptions()) == 0)
        #expect(share(98, loadTime: 1, LoadOptions(earlyRefresh: 2)) > share(98, loadTime: 1, settings))
    }

    @Test(arguments: [MemorySettings(), .none])
    func loadsAheadInTheBackground(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        // So eager that it always loads ahead.
        let loading = LoadOptions(earlyRefresh: 1e12)
        let expiration = Expiration.after(.seconds(10))
        let source = Source()
        _ = try await cities.fetch(forKey: "a", expiration: expiration) { try await source.load() }
        source.give(.success(City(name: "second", population: 2)))
        let events = cities.events
        let first = try await cities.fetch(forKey: "a", options: loading, expiration: expiration) {
            try await source.load()
        }
        #expect(first.name == "loaded")
        await event(.saved, in: events)
        #expect(try await cities.fetch(forKey: "a")?.name == "second")
        #expect(source.runs == 2)
        // What was saved, not loaded, has no load time to go by.
        try await cities.save(City(name: "saved", population: 3), forKey: "a", expiration: expiration)
        _ = try await cities.fetch(forKey: "a", options: loading, expiration: expiration) {
            try await source.load()
        }
        #expect(source.runs == 2)
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
        while asked.withLock({ $0.isEmpty }) { await pause() }
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
        while cities.statistics.misses + cities.statistics.joins < 3 { await pause() }
        source.open()
        #expect(try await one.value.name == "own")
        #expect(try await several.value.keys.sorted() == ["b"])
    }
}

extension Cache where Value: Sendable {
    /// The synchronous calls, where asynchronous ones would be chosen.
    func sync<Result>(_ body: (Cache) throws -> Result) rethrows -> Result { try body(self) }
}
