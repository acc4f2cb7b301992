import Foundation
import Synchronization
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// Behaviours that are promised by number, as far as no other suite is about them.
@Suite struct NumberedBehaviourTests {
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
            memory: memory,
            clock: clock,
            observer: reporter.map { FailureObserver(told: $0) }
        )
    }

    private func city(_ name: String) -> City { City(name: name, population: 1) }

    // MARK: Damage

    enum Look: CaseIterable { case fetch, several, contains, modify, asynchronousFetch }

    @Test("4 a corrupt entry is out of the way after one fetch", arguments: Look.allCases)
    func aCorruptEntryIsOutOfTheWay(look: Look) async throws {
        let reports = Record<CacheError>()
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
        "7 two keys forced onto one file name, or one hash, stay apart",
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
        "15 a value over the limit saved over an old one: error, and the old one is gone",
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

    @Test("16 memory count 2, insert a b c: c is there")
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

    @Test("19 removeAll, save k, flush: k is there, before and after", arguments: [MemorySettings(), .none])
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

    // MARK: Threads

    @Test("20 sync and async callers on 8 threads: no report, no lost key", arguments: [1, 2])
    func noKeyIsLost(seed: Int) async throws {
        let caches = [try cache(memory: MemorySettings(countLimit: 20)), try cache(City.self)]
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
                    if thread % 2 == 0 { return try await Self.work(cities, thread, seed) }
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(with: Result { try Self.work(cities, thread, seed) })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for cities in all + [try cache(City.self)] {
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
    private static func work(_ cities: Cache<City>, _ thread: Int, _ seed: UInt64) throws {
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

    private static func work(_ cities: Cache<City>, _ thread: Int, _ seed: UInt64) async throws {
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

    // MARK: Directories

    @Test(
        "23 directory deleted under a running cache: recreated, tiers agree",
        arguments: [MemorySettings(), .none]
    )
    func aDeletedDirectoryIsMadeAgain(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        for isParentDeleted in [false, true] {
            for key in ["x", "y"] { try await cities.save(city("old"), forKey: key) }
            cities.trimMemory(toCount: 0)
            let root = isParentDeleted ? directory.url : directory.url.appending(path: "cache")
            try FileManager.default.removeItem(at: root)
            // A directory that is gone may be noticed a little later.
            try await Task.sleep(for: .milliseconds(50))
            #expect(try await cities.fetch(forKey: "x") == nil)
            #expect(try await !cities.contains(forKey: "x"))
            #expect(try await cities.count() == 0)
            #expect(try await !cities.remove(forKey: "y"))
            #expect(try await cities.removeExpired() == 0)
            try await cities.removeAll()
            try await cities.save(city("new"), forKey: "x")
            try await cities.modify(forKey: "z") { $0 = city("modified") }
            for cities in [cities, try cache(memory: .none)] {
                #expect(try await cities.fetch(forKey: "x")?.name == "new")
                #expect(try await cities.fetch(forKey: "y") == nil)
                #expect(try await cities.fetch(forKey: "z")?.name == "modified")
                #expect(try cities.keys().all().sorted() == ["x", "z"])
            }
            try await cities.removeAll()
        }
    }

    @Test("23 directory deleted under a running cache: once the store has noticed, memory has forgotten")
    func whatADeletedDirectoryHeldIsForgotten() async throws {
        let cities = try cache(City.self)
        let neighbor = try cache(City.self)
        for key in ["x", "y"] { try await cities.save(city("old"), forKey: key) }
        #expect(try await neighbor.fetch(forKey: "y") != nil)
        try FileManager.default.removeItem(at: directory.url.appending(path: "cache"))
        try await cities.save(city("new"), forKey: "z")
        for cities in [cities, neighbor] {
            #expect(try await cities.fetch(forKey: "y") == nil)
            #expect(try await cities.fetch(forKey: "z")?.name == "new")
            #expect(try cities.keys().all() == ["z"])
        }
    }

    @Test("23 a file in the directory's place: thrown, tiers agree")
    func aFileInPlaceOfTheDirectoryIsAnError() async throws {
        let cities = try cache(City.self)
        try await cities.save(city("old"), forKey: "x")
        let root = directory.url.appending(path: "cache")
        try FileManager.default.removeItem(at: root)
        try Data("mine".utf8).write(to: root)
        await #expect(throws: CacheError.self) { try await cities.save(city("new"), forKey: "x") }
        // What could not be saved is not used, and neither is what it was to replace.
        #expect((try? await cities.fetch(forKey: "x")) == nil)
        #expect(try Data(contentsOf: root) == Data("mine".utf8))
        try FileManager.default.removeItem(at: root)
        try await cities.save(city("newer"), forKey: "x")
        for cities in [cities, try cache(City.self)] {
            #expect(try await cities.fetch(forKey: "x")?.name == "newer")
        }
    }

    // MARK: Versions

    @Test("24 a renamed class: misses, no crash, no wipe")
    func aRenamedClassIsAnErrorAndStays() async throws {
        try await cache(City.self).save(city("x"), forKey: "x", tags: ["t"])
        let before = try directory.entryCount("cache")
        let villages = try cache(Village.self)
        for _ in 0..<2 {
            let error = await #expect(throws: CacheError.self) { try await villages.fetch(forKey: "x") }
            #expect(error?.code == .typeMismatch)
        }
        #expect(try await villages.contains(forKey: "x"))
        #expect(try await villages.count() == 1)
        #expect(villages.statistics.corruptions == 0)
        #expect(try directory.entryCount("cache") == before)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
        // What is saved anew is of the new type.
        try await villages.save(Village(name: "y", population: 2), forKey: "x")
        #expect(try await cache(Village.self).fetch(forKey: "x")?.name == "y")
    }

    @Test("24 an entry of another version: an older one is read, a newer one is left alone")
    func entriesOfOtherVersions() async throws {
        let disk = DiskSettings(layout: .files)
        let cities = try Cache<City>(name: "cache", directory: directory.url, disk: disk)
        try await cities.save(city("plain"), forKey: "plain")
        try await cities.save(city("tagged"), forKey: "tagged", tags: ["t"])
        let files = try directory.entryFiles("cache").map { ($0, try [UInt8](Data(contentsOf: $0))) }
        let versions = files.map { $0.1[$0.1.count - 9] }
        // Both versions that there were so far are read.
        #expect(versions.sorted() == [1, 2])
        #expect(try await cache(City.self).fetch(forKeys: ["plain", "tagged"]).count == 2)
        for (file, bytes) in files where bytes[bytes.count - 9] == 2 {
            var newer = bytes
            newer[newer.count - 9] = 3
            let checksum = newer.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(8))) }
            newer.replaceSubrange(
                newer.count - 8..<newer.count - 4,
                with: withUnsafeBytes(of: checksum.bigEndian, Array.init)
            )
            try Data(newer).write(to: file)
            let cold = try cache(City.self)
            for _ in 0..<2 {
                let error = await #expect(throws: CacheError.self) { try await cold.fetch(forKey: "tagged") }
                #expect(error?.code == .unsupportedVersion)
                #expect(code { try cold.contains(forKey: "tagged") } == .unsupportedVersion)
            }
            #expect(try cold.keys().all() == ["plain"])
            #expect(try [UInt8](Data(contentsOf: file)) == newer)
            #expect(cold.statistics.corruptions == 0)
        }
    }

    @Test("24 a directory of another version: refused, nothing is touched", arguments: ["3", "17", "0", "x", ""])
    func aDirectoryOfAnotherVersionIsRefused(version: String) async throws {
        try await cache(City.self).save(city("x"), forKey: "x")
        let marker = directory.url.appending(path: "cache/format")
        let text = try String(contentsOf: marker, encoding: .utf8)
        let latest = text.contains("packed") ? "1" : "2"
        let other = text.replacing(latest, with: version)
        #expect(other != text)
        try Data(other.utf8).write(to: marker)
        let before = try namesOnDisk()
        let isNewer = (Int(version) ?? 0) > 2
        #expect(code { try cache(City.self) } == (isNewer ? .unsupportedVersion : .invalidDirectory))
        #expect(try namesOnDisk() == before)
        try Data(text.utf8).write(to: marker)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
    }

    /// All but the index that the cache before leaves when it goes, which may be a moment after its last use.
    private func namesOnDisk() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
            .filter { !$0.hasSuffix("/index") && !$0.contains("/.drafts") }
            .sorted()
    }

    @Test("24 a directory of the older format: taken over, with all that is in it")
    func aDirectoryOfTheOlderFormatIsTakenOver() async throws {
        let disk = DiskSettings(layout: .files)
        try await Cache<City>(name: "cache", directory: directory.url, disk: disk).save(city("x"), forKey: "x")
        let marker = directory.url.appending(path: "cache/format")
        let text = try String(contentsOf: marker, encoding: .utf8)
        try Data(text.replacing("2", with: "1").utf8).write(to: marker)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
        #expect(try String(contentsOf: marker, encoding: .utf8) == text)
    }
}
