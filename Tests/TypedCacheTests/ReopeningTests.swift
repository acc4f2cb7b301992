import ArchiveStore
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// The saves that a cache accepted come before everything that a later cache of the same directory does, although the
/// first cache was dropped before it had written them.
@Suite struct ReopeningTests {
    private let directory = TestDirectory()

    enum Writing: CaseIterable {
        case behind, through

        var setting: DiskSettings.Writing { self == .behind ? .behind(limit: .mebibytes(1)) : .through }
    }

    enum Change: CaseIterable {
        case save, remove, removeAll, removeAllTagged, modify

        /// Makes the change for all keys, the last one first.
        func make(in cities: Cache<City>, keys: [Int]) throws {
            switch self {
            case .save: for key in keys.reversed() { try cities.save(ReopeningTests.city(2), forKey: key) }
            case .remove: for key in keys.reversed() { #expect(try cities.remove(forKey: key), "\(key)") }
            case .removeAll: try cities.removeAll()
            case .removeAllTagged: #expect(try cities.removeAll(tagged: "all") == keys.count)
            case .modify:
                for key in keys.reversed() {
                    try cities.modify(forKey: key) { city in
                        city = ReopeningTests.city((city?.population ?? 7) + 1)
                    }
                }
            }
        }

        var expected: Int? { self == .save || self == .modify ? 2 : nil }
    }

    private static func city(_ number: Int) -> City { City(name: "city", population: number) }

    private static func open(
        _ name: String,
        _ layout: DiskSettings.Layout,
        writing: Writing,
        root: URL,
        memory: MemorySettings = MemorySettings()
    ) throws -> Cache<City> {
        let disk = DiskSettings(layout: layout, writing: writing.setting)
        return try Cache(name: name, directory: root, settings: CacheSettings(memory: memory, disk: disk))
    }

    private func open(
        _ name: String,
        _ layout: DiskSettings.Layout,
        writing: Writing,
        memory: MemorySettings = MemorySettings()
    ) throws -> Cache<City> {
        try Self.open(name, layout, writing: writing, root: directory.url, memory: memory)
    }

    /// Waits until nothing is left of the store of a cache that was dropped.
    private struct Remains {
        weak let store: AnyObject?

        init(of cities: Cache<City>) { store = cities.core.store as AnyObject }

        func vanish() throws { try wait(until: store == nil) }
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files], Change.allCases)
    func whatADroppedCacheAcceptedComesBefore(layout: DiskSettings.Layout, change: Change) throws {
        let keys = Array(0..<(isLongRun ? 300 : 50))
        let link = directory.url.appending(path: "link")
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory.url)
        for first in Writing.allCases {
            for (number, second) in Writing.allCases.enumerated() {
                for root in variants([directory.url, link], at: number) {
                    let name = "\(first) \(second) \(root.lastPathComponent.count)"
                    let former = try {
                        let cities = try open(name, layout, writing: first)
                        for key in keys { try cities.save(Self.city(1), forKey: key, tags: ["all"]) }
                        return Remains(of: cities)
                    }()
                    let next = try {
                        let cities = try Self.open(name, layout, writing: second, root: root)
                        try change.make(in: cities, keys: keys)
                        return Remains(of: cities)
                    }()
                    let look = try open(name, layout, writing: .through, memory: .none)
                    let seen = try keys.filter { try look.fetch(forKey: $0)?.population != change.expected }
                    #expect(seen == [], "\(name): seen at once")
                    try former.vanish()
                    try next.vanish()
                    let last = try open(name, layout, writing: .through, memory: .none)
                    let wrong = try keys.filter { try last.fetch(forKey: $0)?.population != change.expected }
                    #expect(wrong == [], "\(name): on disk in the end")
                }
            }
        }
    }

    /// The next opening sees every accepted save, with each of its calls.
    @Test(arguments: [DiskSettings.Layout.packed, .files], Writing.allCases)
    func whatADroppedCacheAcceptedIsSeen(layout: DiskSettings.Layout, second: Writing) throws {
        let count = isLongRun ? 300 : 60
        for look in 0..<3 {
            let name = "cache \(look)"
            do {
                let cities = try open(name, layout, writing: .behind)
                for key in 0..<count { try cities.save(Self.city(1), forKey: key) }
            }
            let cities = try open(name, layout, writing: second)
            switch look {
            case 0: for key in (0..<count).reversed() { #expect(try cities.fetch(forKey: key)?.population == 1) }
            case 1: #expect(try cities.contains(forKey: "\(count - 1)"))
            default: #expect(try cities.count() == count)
            }
        }
    }

    /// Threads that open the directory, change their own entries, and drop the cache, all at once.
    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func eachOpeningSeesWhatItsThreadDidBefore(layout: DiskSettings.Layout) throws {
        let faults = Recorder<String>()
        let url = directory.url
        @Sendable func work(_ thread: Int) {
            var random = SeededGenerator(seed: thread + 1)
            var model: [String: Int] = [:]
            do {
                for round in 0..<(isLongRun ? 40 : 15) {
                    let writing = Writing.allCases[Int.random(in: 0..<2, using: &random)]
                    let cities = try Self.open("cities", layout, writing: writing, root: url)
                    for _ in 0..<12 {
                        let key = "\(thread) \(Int.random(in: 0..<6, using: &random))"
                        if try cities.fetch(forKey: key)?.population != model[key] { faults.add("\(round) \(key)") }
                        let number = Int.random(in: 0..<1_000, using: &random)
                        switch Int.random(in: 0..<10, using: &random) {
                        case 0...5:
                            try cities.save(Self.city(number), forKey: key, tags: ["\(thread)"])
                            model[key] = number
                        case 6:
                            try cities.modify(forKey: key, tags: ["\(thread)"]) { $0 = Self.city(number) }
                            model[key] = number
                        case 7:
                            try cities.removeAll(tagged: "\(thread)")
                            model = [:]
                        default:
                            if try cities.remove(forKey: key) != (model[key] != nil) {
                                faults.add("\(round) removal of \(key)")
                            }
                            model[key] = nil
                        }
                    }
                }
            } catch {
                faults.add("\(error)")
            }
        }
        DispatchQueue.concurrentPerform(iterations: 4, execute: work)
        #expect(faults.all == [])
    }

    // MARK: Failures

    /// The queue of a dropped cache may fail: a cache that is open then is told, and nothing stale is used.
    @Test func aFailureAfterTheDropIsToldAndLeavesNothingStale() throws {
        let base = try WatchedStore(directory)
        let place = directory.url.path
        let told = Recorder<String>()
        let isHeld = DispatchSemaphore(value: 0)
        do {
            let cities = Cache<City>(over: base, place: place)
            try cities.save(Self.city(1), forKey: "k")
        }
        base.interfere { interference in
            interference.save = { _ throws(StoreError) in
                isHeld.wait()
                throw WatchedStore.failure
            }
            interference.remove = { () throws(StoreError) in throw WatchedStore.failure }
        }
        do {
            let behind = WriteBehindStore(over: base, byteLimit: 1_000)
            let cities = Cache<City>(over: behind, place: place) { told.add("\($0.code)") }
            try cities.save(Self.city(2), forKey: "k")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { isHeld.signal() }
        let next = Cache<City>(over: base, place: place)
        #expect(try next.fetch(forKey: "k") == nil)
        #expect(told.all == ["io"])
    }

    /// An entry that could not be removed is no longer used in this process, by any cache of the directory.
    @Test func whatMayNotBeUsedIsNotUsedByALaterCacheEither() throws {
        let base = try WatchedStore(directory)
        let place = directory.url.path
        base.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
        do {
            let cities = Cache<City>(over: base, place: place)
            for key in ["a", "b"] {
                try cities.save(Self.city(1), forKey: key)
                #expect(throws: CacheError.self) { try cities.remove(forKey: key) }
            }
            #expect(try Cache<City>(over: base, place: place).fetch(forKey: "a") == nil)
        }
        do {
            let next = Cache<City>(over: base, place: place)
            #expect(try next.fetch(forKey: "a") == nil)
            try next.save(Self.city(3), forKey: "a")
        }
        let last = Cache<City>(over: base, place: place)
        #expect(try last.fetch(forKey: "a")?.population == 3)
        #expect(try last.fetch(forKey: "b") == nil)
    }

    /// As above, of caches that are opened at once, while the last of the former ones goes.
    @Test func whatMayNotBeUsedIsNotUsedByCachesThatAreOpenedAtOnce() throws {
        let base = try WatchedStore(directory)
        let place = directory.url.path
        base.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
        let former = Mutex<Cache<City>?>(Cache<City>(over: base, place: place))
        try former.withLock { cities in
            try cities?.save(Self.city(1), forKey: "a")
            #expect(throws: CacheError.self) { try cities?.remove(forKey: "a") }
        }
        let found = Recorder<Int>()
        for _ in 0..<200 {
            DispatchQueue.concurrentPerform(iterations: 3) { place in
                if place == 1 {
                    let last = former.withLock { $0.take() }
                    _ = consume last
                } else {
                    let cities = Cache<City>(over: base, place: directory.url.path)
                    #expect(throws: Never.self) { if try cities.fetch(forKey: "a") != nil { found.add(1) } }
                }
            }
            former.withLock { $0 = Cache<City>(over: base, place: place) }
        }
        #expect(found.all.isEmpty)
    }

    // MARK: Memory

    /// However often a directory is opened, saved to and dropped, no more waits than a limit or two allow.
    @Test func anOpeningWaitsForWhatIsDeferred() throws {
        let base = WatchedStore(ReferenceStore())
        let place = directory.url.path
        let written = Mutex(0)
        base.interfere { interference in
            interference.save = { _ throws(StoreError) in
                usleep(2_000)
                written.withLock { $0 += 1 }
            }
        }
        for round in 0..<20 {
            let behind = WriteBehindStore(over: base, byteLimit: 1 << 20)
            let cities = Cache<City>(over: behind, place: place)
            #expect(written.withLock { $0 } == round)
            try cities.save(Self.city(round), forKey: round)
        }
    }
}
