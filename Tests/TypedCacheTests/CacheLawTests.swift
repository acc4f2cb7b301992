import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// The promises of every cache about its entries, over any store, with memory and without.
@Suite struct CacheLawTests {
    private let directory = TestDirectory()
    private let clock = TestClock()

    private func cache<Value: Encoded & Sendable>(
        _ type: Value.Type = City.self,
        memory: MemorySettings = MemorySettings(),
        reporter: (@Sendable (CacheError) -> Void)? = nil
    ) throws -> Cache<Value> where Value.Wrapper.Value == Value {
        try Cache(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(
                memory: memory,
                clock: clock,
                observer: reporter.map { FailureObserver(told: $0) }
            )
        )
    }

    private func city(_ name: String) -> City { City(name: name, population: 1) }

    // MARK: Damage

    enum Look: CaseIterable { case fetch, several, contains, modify, asynchronousFetch }

    @Test("A corrupt entry is out of the way after one fetch", arguments: Look.allCases)
    func aCorruptEntryIsOutOfTheWay(look: Look) async throws {
        let reports = Recorder<CacheError>()
        let cities = try cache(memory: .none) { reports.add($0) }
        try await cities.save(city("x"), forKey: "x")
        try directory.damageEntry("cache")
        for _ in 0..<2 {
            switch look {
            case .fetch: #expect(try synchronously(cities) { try $0.fetch(forKey: "x") } == nil)
            case .several: #expect(try synchronously(cities) { try $0.fetch(forKeys: ["x"]) }.isEmpty)
            case .contains: #expect(try synchronously(cities) { try !$0.contains(forKey: "x") })
            case .modify: try synchronously(cities) { try $0.modify(forKey: "x") { #expect($0 == nil) } }
            case .asynchronousFetch: #expect(try await cities.fetch(forKey: "x") == nil)
            }
            #expect(try directory.entryCount("cache") == 0)
            #expect(reports.all.map(\.code) == [.corrupted] && cities.statistics.corruptions == 1)
        }
        try await cities.save(city("new"), forKey: "x")
        #expect(try await cities.fetch(forKey: "x")?.name == "new")
    }

    private func synchronously<Result>(
        _ cities: Cache<City>,
        _ body: (Cache<City>) throws -> Result
    ) rethrows -> Result {
        try body(cities)
    }

    // MARK: Keys that share a name

    @Test(
        "Two keys forced onto one file name, or one hash, stay apart",
        arguments: [MemorySettings(), .none],
        StoreKind.allCases
    )
    func keysOfOneNameStayApart(memory: MemorySettings, kind: StoreKind) throws {
        let path = directory.url.appending(path: "cache").path
        func open() throws -> Cache<City> {
            let store: any ArchiveStore =
                switch kind {
                case .file: try FileStore(directory: path, create: true) { _ in EntryName(high: 1, low: 2) }
                case .packed:
                    try PackedStore(directory: path, create: true) {
                        KeyDigest(high: 1, low: KeyDigest(hashing: $0).low)
                    }
                }
            return Cache(over: store, place: path, memory: memory, clock: clock)
        }
        let cities = try open()
        let keys = ["a", "b", "c", "d"]
        for key in keys { try cities.save(city(key), forKey: key, tags: key == "b" ? ["t"] : []) }
        func check(_ wanted: [String: String]) throws {
            for cities in [cities, try open()] {
                for key in keys {
                    #expect(try cities.fetch(forKey: key)?.name == wanted[key])
                    #expect(try cities.contains(forKey: key) == (wanted[key] != nil))
                }
                #expect(try cities.keys().all().sorted() == wanted.keys.sorted())
            }
            guard kind == .file else { return }
            #expect(try Set(directory.entryFiles("cache").map { $0.deletingPathExtension() }).count == 1)
        }
        try check(["a": "a", "b": "b", "c": "c", "d": "d"])
        try cities.save(city("a2"), forKey: "a", expiration: .after(.seconds(10)))
        try cities.modify(forKey: "d") { $0?.name += "2" }
        try check(["a": "a2", "b": "b", "c": "c", "d": "d2"])
        #expect(try cities.removeAll(tagged: "t") == 1)
        try check(["a": "a2", "c": "c", "d": "d2"])
        clock.advance(by: 10)
        try check(["c": "c", "d": "d2"])
        #expect(try cities.remove(forKey: "c"))
        #expect(try !cities.remove(forKey: "a"))
        try check(["d": "d2"])
    }

    // MARK: Limits

    @Test(
        "A value over the limit saved over an old one: error, and the old one is gone",
        arguments: StoreKind.allCases
    )
    func aValueOverTheLimitLeavesNothing(kind: StoreKind) async throws {
        var settings = StoreSettings()
        settings.maximumArchiveByteCount = 2_000
        let path = directory.url.appending(path: "cache").path
        let store: any ArchiveStore =
            switch kind {
            case .file: try FileStore(directory: path, create: true, settings: settings)
            case .packed: try PackedStore(directory: path, create: true, settings: settings)
            }
        let cities = Cache<City>(over: store, place: path)
        let neighbor = Cache<City>(over: store, place: path)
        let large = city(String(repeating: "x", count: 2_000))
        for isAsynchronous in [true, false] {
            try await cities.save(city("old"), forKey: "x")
            try await cities.save(city("other"), forKey: "y")
            #expect(try await neighbor.fetch(forKey: "x")?.name == "old")
            if isAsynchronous {
                let error = await #expect(throws: CacheError.self) { try await cities.save(large, forKey: "x") }
                #expect(error?.code == .tooLarge)
            } else {
                #expect(code { try cities.save(large, forKey: "x") } == .tooLarge)
            }
            for cities in [cities, neighbor, Cache<City>(over: store)] {
                #expect(try await cities.fetch(forKey: "x") == nil)
                #expect(try await !cities.contains(forKey: "x"))
                #expect(try cities.keys().all() == ["y"])
            }
        }
    }

    @Test("Memory count 2, insert a b c: c is there")
    func theLatestIsInMemory() throws {
        for uses in 0..<3 {
            let cities = try cache(memory: MemorySettings(countLimit: 2))
            for key in ["a", "b", "c"] {
                try cities.save(city(key), forKey: key)
                let before = cities.statistics.memoryHits
                for _ in 0...uses { #expect(try cities.fetch(forKey: key)?.name == key) }
                #expect(cities.statistics.memoryHits == before + uses + 1, "\(key) after \(uses) uses each")
            }
            #expect(cities.statistics.diskHits == 0)
        }
    }

    // MARK: Order

    @Test("removeAll, save k, flush: k is there, before and after", arguments: [MemorySettings(), .none])
    func whatIsSavedAfterARemovalOfAllStays(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        let neighbor = try cache(memory: memory)
        func check(_ round: Int) async throws {
            for cities in [cities, neighbor, try cache(City.self)] {
                #expect(try await cities.fetch(forKey: "k")?.population == round)
                #expect(try await cities.fetch(forKey: "other") == nil)
                #expect(try cities.keys().all() == ["k"])
            }
        }
        for round in 0..<10 {
            let new = City(name: "new", population: round)
            try await neighbor.save(city("other"), forKey: "other")
            if round % 2 == 0 {
                try await cities.removeAll()
                try await cities.save(new, forKey: "k")
                try await check(round)
                try await cities.flush()
            } else {
                try synchronously(cities) {
                    try $0.removeAll()
                    try $0.save(new, forKey: "k")
                }
                try await check(round)
                try synchronously(cities) { try $0.flush() }
            }
            try await check(round)
        }
    }
}
