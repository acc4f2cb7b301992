import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// Caches in memory alone: they keep the promises of other caches, and touch no file.
@Suite struct MemoryAloneTests {
    private func open<Value: Encoded & Sendable>(
        _ memory: MemorySettings = MemorySettings(),
        expiration: Expiration = .never,
        clock: any CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil,
        values: ValueSharing = .automatic
    ) throws -> Cache<Value> where Value.Wrapper.Value == Value {
        try Cache(
            name: "cache",
            settings: CacheSettings(
                memory: memory,
                disk: nil,
                valueSharing: values,
                expiration: expiration,
                clock: clock,
                observer: observer
            )
        )
    }

    @Test func nothingIsWritten() throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(name: "cities", directory: directory.url, settings: CacheSettings(disk: .none))
        try cities.save(City(name: "a", population: 1), forKey: "a")
        try cities.flush()
        #expect(cities.directory == nil)
        #expect(!FileManager.default.fileExists(atPath: directory.url.appending(path: "cities").path))
        #expect(try cities.fetch(forKey: "a")?.name == "a")
    }

    @Test func aClosedOneRefusesEverything() throws {
        let numbers: Cache<Int> = try open()
        try numbers.save(1, forKey: "a")
        try numbers.close()
        #expect(code { try numbers.fetch(forKey: "a") } == .closed)
        #expect(code { try numbers.save(2, forKey: "a") } == .closed)
        #expect(code { try numbers.keys().all() } == .closed)
        try numbers.close()
    }

    @Test func nothingIsSaidToHaveBeenOnDisk() throws {
        let (observer, clock) = (EventObserver(), TestClock())
        let numbers: Cache<Int> = try open(clock: clock, observer: observer)
        for key in ["a", "b", "c"] { try numbers.save(1, forKey: key, expiration: .after(.seconds(10))) }
        try numbers.remove(forKey: "a")
        numbers.trimMemory(toCount: 1)
        clock.advance(by: 10)
        try numbers.removeExpired()
        let removals = observer.events.all.filter { $0.kind == .removed }
        #expect(removals.map(\.reason) == [.removed, .evicted, .expired])
        #expect(removals.allSatisfy { $0.tier == .memory })
    }

    @Test func namesAreCheckedAllTheSame() {
        #expect(code { try Cache<City>(name: "a/b", settings: CacheSettings(disk: nil)) } == .invalidName)
    }

    @Test func twoOfOneNameAreSeparate() throws {
        let (one, other): (Cache<Int>, Cache<Int>) = (try open(), try open())
        try one.save(1, forKey: "a")
        try other.save(2, forKey: "a")
        try other.save(3, forKey: "b")
        #expect(try one.fetch(forKey: "a") == 1)
        #expect(try one.fetch(forKey: "b") == nil)
        try one.removeAll()
        #expect(try other.fetch(forKey: "a") == 2)
    }

    /// Beside a dictionary, with both kinds of sharing.
    @Test(arguments: seeds(0..<20)) func itBehavesLikeADictionary(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let clock = TestClock()
        let cache: Cache<String> = try open(clock: clock, values: seed % 2 == 0 ? .shared : .decodedEachTime)
        #expect(cache.sharesValues == (seed % 2 == 0))
        var model: [String: (value: String, end: Date?, tag: String)] = [:]
        for step in 0..<300 {
            let place: Comment = "seed \(seed), step \(step)"
            let key = "\(Int.random(in: 0..<8, using: &random))"
            model = model.filter { $0.value.end.map { clock.now < $0 } ?? true }
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3:
                let seconds = Bool.random(using: &random) ? Int.random(in: 1..<20, using: &random) : nil
                let tag = ["x", "y"].randomElement(using: &random) ?? "x"
                let expiration = seconds.map { Expiration.after(.seconds($0)) } ?? .never
                try cache.save("\(step)", forKey: key, expiration: expiration, tags: [tag])
                model[key] = ("\(step)", seconds.map { clock.now + TimeInterval($0) }, tag)
            case 3..<6: #expect(try cache.fetch(forKey: key) == model[key]?.value, place)
            case 6: #expect(try cache.entry(forKey: key)?.tags.first == model[key]?.tag, place)
            case 7:
                if Bool.random(using: &random) {
                    _ = try cache.remove(forKey: key)
                } else {
                    try cache.modify(forKey: key) { $0 = nil }
                }
                model[key] = nil
            case 8:
                #expect(try cache.contains(forKey: key) == (model[key] != nil), place)
                #expect(try Set(cache.keys().all()) == Set(model.keys), place)
                #expect(try cache.count() == model.count, place)
            case 9:
                try cache.modify(forKey: key, expiration: .never, tags: ["x"]) { $0 = ($0 ?? "") + "m" }
                model[key] = ((model[key]?.value ?? "") + "m", nil, "x")
            case 10:
                if Int.random(in: 0..<4, using: &random) == 0 {
                    _ = try cache.removeAll(tagged: "y")
                    model = model.filter { $0.value.tag != "y" }
                } else {
                    clock.advance(by: TimeInterval(Int.random(in: 0..<8, using: &random)))
                }
            default:
                if Bool.random(using: &random) { try cache.removeExpired() } else { cache.trimMemory(toCount: 100) }
            }
        }
    }

    @Test func limitsHold() throws {
        let cache: Cache<Data> = try open(MemorySettings(byteLimit: .kibibytes(64), countLimit: 10))
        for number in 0..<100 {
            try cache.save(Data(repeating: 1, count: 4_000), forKey: number)
            #expect(try cache.count() <= 10)
            #expect(cache.memory.withLock { $0.count } <= 10)
        }
        #expect(cache.statistics.memoryEvictions == 90)
        #expect(cache.statistics.diskEvictions == 0)
        #expect(code { try cache.save(Data(repeating: 1, count: 65_537), forKey: "large") } == .tooLarge)
        #expect(try cache.fetch(forKey: "large") == nil)
    }

    @Test(arguments: [0, -1]) func aSaveIsRefusedWhereNoEntryMayBeThere(countLimit: Int) async throws {
        let cache: Cache<Data> = try open(MemorySettings(countLimit: countLimit))
        #expect(code { try cache.sync { try $0.save(Data([1]), forKey: "a") } } == .tooLarge)
        #expect(try await cache.fetch(forKey: "a") { Data([2]) } == Data([2]))
        #expect(try await cache.fetch(forKey: "a") == nil)
    }

    /// The policy hears of hits, though they never reach the store: as many come as in the memory of other caches.
    @Test(arguments: seeds(0..<5)) func hitsDecideWhatStays(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let directory = TestDirectory()
        let settings = MemorySettings(byteLimit: nil, countLimit: 50)
        let alone: Cache<Int> = try open(settings)
        let other = try Cache<Int>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(memory: settings)
        )
        for _ in 0..<5_000 {
            // A few keys are fetched often, and most hardly ever.
            let key = Int(1_000 * pow(Double.random(in: 0..<1, using: &random), 4))
            for cache in [alone, other] where try cache.fetch(forKey: key) == nil {
                try cache.save(key, forKey: key)
            }
        }
        let (hits, expected) = (alone.statistics.memoryHits, other.statistics.memoryHits)
        #expect(Double(hits) > 0.95 * Double(expected), "seed \(seed): \(hits), \(expected)")
    }

    /// A value that tells when it ends.
    private final class Ending: Sendable {
        private let tell: @Sendable () -> Void

        init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

        deinit { tell() }
    }

    /// The store asks for uses under its lock, where no value may end: its `deinit` could use the cache.
    @Test(.timeLimit(.minutes(1 * slowness))) func noValueEndsWhereUsesAreAsked() throws {
        let cache: Cache<Int> = try open()
        let (core, key) = (cache.core, try EntryKey("key"))
        let isDone = Atomic<Bool>(false)
        let askCount = Atomic<Int>(0)
        let endings = Atomic<Int>(0)
        let remover = ObjectIdentifier(Thread.current)
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            let asker = Thread {
                while !isDone.load(ordering: .relaxed) {
                    _ = core.takeUses(of: "key")
                    askCount.add(1, ordering: .relaxed)
                }
                group.leave()
            }
            asker.start()
        }
        func entry() -> MemoryEntry {
            let value = Ending {
                if ObjectIdentifier(Thread.current) != remover { endings.add(1, ordering: .relaxed) }
            }
            return ValueEntry(value, key: key, cost: 1, deadline: .infinity, timing: nil)
        }
        var rounds = 0
        while rounds < 100_000 || askCount.load(ordering: .relaxed) < 50_000 {
            rounds += 1
            core.memory.table.insert(entry())
            _ = core.memory.table.remove(forKey: key)
        }
        isDone.store(true, ordering: .relaxed)
        group.wait()
        #expect(endings.load(ordering: .relaxed) == 0)
    }

    @Test func usesAreTakenOnce() throws {
        let cache: Cache<Int> = try open()
        try cache.save(1, forKey: "key")
        _ = cache.core.takeUses(of: "key")
        for uses in [1, 2, 3, 5] {
            for _ in 0..<uses { #expect(try cache.fetch(forKey: "key") == 1) }
            #expect(cache.core.takeUses(of: "key") == min(uses, 3))
            #expect(cache.core.takeUses(of: "key") == 0)
        }
        #expect(cache.core.takeUses(of: "none") == 0)
    }

    @Test func memoryShrinksWhenItIsTold() throws {
        let cache: Cache<Int> = try open()
        for number in 0..<100 { try cache.save(number, forKey: number) }
        cache.trimMemory(toCount: 10)
        #expect(try cache.count() == 10)
        #expect(cache.statistics.memoryEvictions == 90)
        cache.trimMemory(to: .zero)
        #expect(try cache.count() == 0)
        #expect(cache.memory.withLock { $0.count } == 0)
    }

    @Test func idleDeadlinesMoveAndLoadsAreJoined() async throws {
        let clock = TestClock()
        let cache: Cache<Int> = try open(expiration: .afterIdle(.seconds(10)), clock: clock)
        let calls = Mutex(0)
        for _ in 0..<5 {
            let value = try await cache.fetch(forKey: "a") {
                calls.withLock { $0 += 1 }
                return 1
            }
            #expect(value == 1)
            clock.advance(by: 9)
        }
        #expect(calls.withLock { $0 } == 1)
        clock.advance(by: 9)
        #expect(try await cache.fetch(forKey: "a") { 2 } == 2)
        #expect(cache.statistics.saves == 2)
    }

    @Test func limitsHoldWhileManyThreadsUseIt() throws {
        let cache: Cache<Int> = try open(MemorySettings(countLimit: 10))
        let faults = Recorder<String>()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: thread)
            for step in 0..<500 {
                let key = Int.random(in: 0..<30, using: &random)
                do {
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: _ = try cache.remove(forKey: key)
                    case 1: try cache.modify(forKey: key) { $0 = key }
                    case 2: try cache.save(key, forKey: key)
                    default:
                        if let value = try cache.fetch(forKey: key), value != key {
                            faults.add("\(value) for \(key)")
                        }
                    }
                    if step % 50 == 0 { cache.trimMemory(toCount: 5) }
                    if try cache.count() > 10 { faults.add("too many") }
                } catch {
                    faults.add("\(error)")
                }
            }
        }
        #expect(faults.all == [])
        // Memory has nothing that the store has not.
        let keys = try Set(cache.keys().all())
        for key in 0..<30 where cache.memory.table.entry(forKey: try EntryKey("\(key)")) != nil {
            #expect(keys.contains("\(key)"))
        }
    }
}
