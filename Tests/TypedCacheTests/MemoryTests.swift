import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// The table of the memory tier, and its trimming on demand.
@Suite struct MemoryTests {
    /// Keys of all lengths around those at which they are stored and hashed differently.
    private static let keys: [String] = (1...70).flatMap { length in
        ["a", "b"].map { letter in String(repeating: "x", count: length - 1) + letter }
    }

    private func entry(_ value: Int, _ key: String) throws -> ValueEntry<Int> {
        try ValueEntry(value, key: EntryKey(key), cost: 1, deadline: .infinity, timing: nil)
    }

    /// A look in memory alone finds and counts hits, and nothing else.
    @Test(arguments: [ValueSharing.automatic, .decodedEachTime])
    func aLookInMemoryAloneReadsNoDisk(values: ValueSharing) throws {
        let directory = TestDirectory()
        let clock = TestClock()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(valueSharing: values, clock: clock)
        )
        let home = City(name: "home", population: 1)
        try cities.save(home, forKey: 1, expiration: .after(.seconds(10)))
        #expect(try cities.fetchFromMemory(forKey: 1) == home)
        #expect(cities.statistics.memoryHits == 1)
        cities.trimMemory(toCount: 0)
        #expect(try cities.fetchFromMemory(forKey: 1) == nil)
        #expect(try cities.fetch(forKey: 1) == home)
        #expect(try cities.fetchFromMemory(forKey: 1) == home)
        clock.advance(by: 10)
        #expect(try cities.fetchFromMemory(forKey: 1) == nil)
        #expect(cities.statistics.memoryHits == 2 && cities.statistics.diskHits == 1)
        #expect(cities.statistics.misses == 0)
        #expect(code { try cities.fetchFromMemory(forKey: "") } == .invalidKey)
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func theSizeOnDiskIsTheOneThatTheLimitCounts(layout: DiskSettings.Layout) throws {
        let directory = TestDirectory()
        let disk = DiskSettings(layout: layout, byteLimit: .mebibytes(8), compression: .none)
        let texts = try Cache<String>(name: "texts", directory: directory.url, settings: CacheSettings(disk: disk))
        try texts.save("x", forKey: "first")
        let empty = try #require(texts.diskSize)
        for key in 0..<4 { try texts.save(String(repeating: "x", count: 100_000), forKey: key) }
        let full = try #require(texts.diskSize)
        #expect((400_000..<450_000).contains(full.bytes - empty.bytes))
        try texts.removeAll()
        #expect(try #require(texts.diskSize).bytes < 10_000)
        let alone = try Cache<String>(name: "alone", settings: CacheSettings(disk: nil))
        try alone.save("x", forKey: 1)
        #expect(alone.diskSize == nil)
    }

    @Test(arguments: seeds(1..<21)) func theTableFindsWhatIsInIt(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let table = EntryTable()
        defer { table.deallocate() }
        var model: [String: MemoryEntry] = [:]
        for step in 0..<1_000 {
            let text = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
            let key = try EntryKey(text)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let isThere = model[text] != nil
                if !isThere {
                    let made = try entry(step, text)
                    model[text] = made
                    table.insert(made)
                }
            case 1: #expect(table.remove(forKey: key) === model.removeValue(forKey: text), "seed \(seed)")
            default: #expect(table.hit(key) === model[text], "seed \(seed), \(text.utf8.count) bytes")
            }
        }
        for text in Self.keys { try #expect(table.entry(forKey: EntryKey(text)) === model[text], "\(text)") }
    }

    /// The values of operations that are under way, by key.
    @Test(arguments: seeds(1..<21)) func valuesByKeyAreFound(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        var table = KeyTable<Int>()
        var model: [String: Int] = [:]
        for step in 0..<1_000 {
            let text = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
            let key = try EntryKey(text)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let position = table.position(of: key, adding: step)
                #expect(table[position] == model[text, default: step], "seed \(seed)")
                model[text] = table[position]
            case 1:
                let position = table.position(of: key)
                #expect((position != nil) == (model.removeValue(forKey: text) != nil), "seed \(seed)")
                if let position { table.remove(at: position) }
            case 2:
                guard let position = table.position(of: key) else { continue }
                table[position] += 1
                model[text, default: 0] += 1
            default: #expect(table.position(of: key).map { table[$0] } == model[text], "seed \(seed)")
            }
            #expect(table.isEmpty == model.isEmpty && table.isSound, "seed \(seed)")
        }
        // A table that has grown for many keys is empty at the end, and goes on.
        let keys = try (0..<3_000).map { try EntryKey("\($0)") }
        for (index, key) in keys.enumerated() { _ = table.position(of: key, adding: index) }
        for key in try keys + Self.keys.map({ try EntryKey($0) }) {
            if let position = table.position(of: key) { table.remove(at: position) }
        }
        #expect(table.isEmpty && table.isSound && table.position(of: keys[0]) == nil)
        #expect(table[table.position(of: keys[0], adding: 7)] == 7 && table.isSound)
    }

    /// Every removal moves others up, which must be found all the same.
    @Test(arguments: seeds(1..<21)) func slotsFindWhatIsInThem(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        var slots = EntrySlots()
        var model: [String: MemoryEntry] = [:]
        let texts = (0..<40).map { "key\($0)" }
        for step in 0..<1_000 {
            guard let text = texts.randomElement(using: &random) else { return }
            let key = try EntryKey(text)
            if Bool.random(using: &random) {
                #expect(slots.remove(forKey: key) === model.removeValue(forKey: text), "seed \(seed)")
            } else if model[text] == nil {
                let made = try entry(step, text)
                model[text] = made
                slots.insert(made)
            }
            #expect(slots.isSound, "seed \(seed)")
            for text in texts { try #expect(slots.entry(forKey: EntryKey(text)) === model[text], "seed \(seed)") }
        }
    }

    @Test func memoryShrinksWhenItIsTold() throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(name: "cities", directory: directory.url)
        let keys = (0..<100).map { "city\($0)" }
        for key in keys { try cities.save(City(name: key, population: 1), forKey: key) }
        for key in keys[..<10] { for _ in 0..<3 { _ = try cities.fetch(forKey: key) } }

        cities.trimMemory(toCount: 200)
        #expect(cities.statistics.memoryEvictions == 0)
        cities.trimMemory(toCount: 20)
        #expect(cities.statistics.memoryEvictions == 80)
        #expect(cities.memory.withLock { $0.count } == 20)
        // The used entries are left in memory, and the rest is on disk.
        let before = cities.statistics.memoryHits
        for key in keys[..<10] { #expect(try cities.fetch(forKey: key)?.name == key) }
        #expect(cities.statistics.memoryHits == before + 10)
        for key in keys { #expect(try cities.fetch(forKey: key)?.name == key) }

        let cost = cities.memory.withLock { $0.cost }
        cities.trimMemory(to: .bytes(cost / 3))
        #expect(cities.memory.withLock { $0.cost } <= cost / 3)
        #expect(cities.memory.withLock { $0.count } > 20)
        cities.core.relieve(isCritical: false)
        #expect(cities.memory.withLock { $0.cost } <= cost / 6)
        #expect(cities.memory.withLock { $0.cost } > 0)
        cities.core.relieve(isCritical: true)
        #expect(cities.memory.withLock { $0.count } == 0)
        cities.trimMemory(toCount: -1)
        for key in keys { #expect(try cities.fetch(forKey: key)?.name == key) }
    }

    @Test func limitsHoldWhileManyThreadsUseMemory() throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(memory: MemorySettings(countLimit: 10))
        )
        let excess = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: thread)
            for step in 0..<300 {
                let key = "\(Int.random(in: 0..<30, using: &random))"
                do {
                    if try cities.fetch(forKey: key) == nil {
                        try cities.save(City(name: key, population: step), forKey: key)
                    }
                    if step % 50 == 0 { cities.trimMemory(toCount: 5) }
                } catch {
                    excess.withLock { $0 += 1_000 }
                }
                let count = cities.memory.withLock { $0.count }
                if count > 10 { excess.withLock { $0 += 1 } }
            }
        }
        #expect(excess.withLock { $0 } == 0)
        let found = try (0..<30).filter { try cities.memory.table.entry(forKey: EntryKey("\($0)")) != nil }
        #expect(found.count == cities.memory.withLock { $0.count })
    }
}
