import ArchiveStore
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Memory and disk agree, with any calls at the same time and after any failure.
@Suite struct AgreementTests {
    /// A store in memory that can fail, and that can be held up in the middle of an operation.
    final class TestStore: ArchiveStore {
        struct State {
            var failsSaves = false
            var failsRemovals = false
        }

        let state = Mutex(State())
        private let entries = ReferenceStore()
        /// Called before a save changes anything.
        let beforeSave = Mutex<(@Sendable () -> Void)?>(nil)
        /// Called after a save has found that it may take place, before the entry has its name.
        let duringSave = Mutex<(@Sendable () -> Void)?>(nil)
        /// Called after a fetch has read.
        let afterFetch = Mutex<(@Sendable () -> Void)?>(nil)

        private static let failure = StoreError(
            .io,
            path: "/x",
            action: "saving",
            reason: "no space left",
            errorNumber: 28
        )

        func save(
            _ archive: [UInt8],
            forKey key: String,
            attributes: EntryAttributes,
            if condition: ((EntryInformation?) -> Bool)?
        ) throws(StoreError) -> EntryInformation? {
            if let wait = beforeSave.withLock({ $0.take() }) { wait() }
            if state.withLock({ $0.failsSaves }) { throw Self.failure }
            if let act = duringSave.withLock({ $0.take() }) {
                guard try condition?(entries.information(forKey: key)) ?? true else { return nil }
                act()
                return try entries.save(archive, forKey: key, attributes: attributes, if: nil)
            }
            return try entries.save(archive, forKey: key, attributes: attributes, if: condition)
        }

        func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
            try entries.moveDeadline(of: entry, to: date)
        }

        func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
            let found = try entries.fetch(forKey: key)
            if let wait = afterFetch.withLock({ $0.take() }) { wait() }
            return found
        }

        func information(forKey key: String) throws(StoreError) -> EntryInformation? {
            try entries.information(forKey: key)
        }

        func remove(forKey key: String) throws(StoreError) -> Bool {
            if state.withLock({ $0.failsRemovals }) { throw Self.failure }
            return try entries.remove(forKey: key)
        }

        func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
            if state.withLock({ $0.failsRemovals }) { throw Self.failure }
            return try entries.remove(entry)
        }

        func removeAll() throws(StoreError) { try entries.removeAll() }
        func removeDamagedEntries() throws(StoreError) -> Int { 0 }

        func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
            try entries.forEachEntry(body)
        }
    }

    private func cache(_ store: TestStore, at path: String = "/test/\(UUID().uuidString)") -> Cache<City> {
        Cache(
            name: "test",
            directory: URL(fileURLWithPath: path),
            store: store,
            settings: CacheSettings(),
            isSendable: true
        )
    }

    private func city(_ name: String) -> City { City(name: name, population: 1) }

    @Test func aReadThatASaveOvertakesIsNotKept() throws {
        let store = TestStore()
        let cities = cache(store)
        try cache(store).save(city("old"), forKey: "x")
        store.afterFetch.withLock { $0 = { try? cities.save(city("new"), forKey: "x") } }
        #expect(try cities.fetch(forKey: "x")?.name == "old")
        #expect(try cities.fetch(forKey: "x")?.name == "new")
    }

    @Test func aReadThatARemovalOvertakesIsNotKept() throws {
        let store = TestStore()
        let cities = cache(store)
        for removal in [{ _ = try? cities.remove(forKey: "x") }, { try? cities.removeAll() }]
            as [@Sendable () -> Void]
        {
            try cache(store).save(city("old"), forKey: "x")
            store.afterFetch.withLock { $0 = removal }
            #expect(try cities.fetch(forKey: "x")?.name == "old")
            #expect(try cities.fetch(forKey: "x") == nil)
        }
    }

    @Test func ofTwoSavesAtOnceMemoryNeverHoldsTheOneThatDiskDoesNot() throws {
        let store = TestStore()
        let cities = cache(store)
        // The second save begins and ends while the first has not reached the disk yet: the first wins there.
        store.beforeSave.withLock { $0 = { try? cities.save(city("second"), forKey: "x") } }
        try cities.save(city("first"), forKey: "x")
        #expect(try cache(store).fetch(forKey: "x")?.name == "first")
        #expect(try cities.fetch(forKey: "x")?.name == "first")
    }

    @Test("Disk full under a running cache: thrown, tiers agree")
    func aSaveThatTheDiskRefusesLeavesNothing() throws {
        let store = TestStore()
        let cities = cache(store)
        try cities.save(city("old"), forKey: "x")
        store.state.withLock { $0.failsSaves = true }
        let error = #expect(throws: CacheError.self) { try cities.save(city("new"), forKey: "x") }
        #expect(error?.code == .io)
        #expect(error?.errorNumber == 28)
        #expect(error?.path == "/x")
        #expect(try cities.fetch(forKey: "x") == nil)
        #expect(try cache(store).fetch(forKey: "x") == nil)
    }

    @Test func whatCannotEvenBeRemovedIsNotUsed() throws {
        let store = TestStore()
        let cities = cache(store)
        try cities.save(city("old"), forKey: "x")
        try cities.save(city("other"), forKey: "y")
        store.state.withLock { ($0.failsSaves, $0.failsRemovals) = (true, true) }
        #expect(throws: CacheError.self) { try cities.save(city("new"), forKey: "x") }
        #expect(throws: CacheError.self) { try cities.remove(forKey: "y") }
        for key in ["x", "y"] {
            #expect(try cities.fetch(forKey: key) == nil)
            #expect(try !cities.contains(forKey: key))
        }
        #expect(try cities.keys().all().isEmpty)
        store.state.withLock { ($0.failsSaves, $0.failsRemovals) = (false, false) }
        try cities.save(city("new"), forKey: "x")
        #expect(try cities.fetch(forKey: "x")?.name == "new")
        #expect(try cities.keys().all() == ["x"])
    }

    @Test func whatOneCacheMayNotUseItsNeighborsDoNotUseEither() throws {
        let store = TestStore()
        let path = "/test/\(UUID().uuidString)"
        let first = cache(store, at: path)
        let second = cache(store, at: path)
        try first.save(city("old"), forKey: "x")
        try first.save(city("old"), forKey: "y")
        store.state.withLock { ($0.failsSaves, $0.failsRemovals) = (true, true) }
        #expect(throws: CacheError.self) { try first.save(city("new"), forKey: "x") }
        // Another failure must not lift the bar again.
        #expect(throws: CacheError.self) { try second.save(city("newer"), forKey: "x") }
        #expect(throws: CacheError.self) { try second.remove(forKey: "y") }
        for cities in [first, second] {
            for key in ["x", "y"] { #expect(try cities.fetch(forKey: key) == nil, "\(key)") }
        }
        store.state.withLock { ($0.failsSaves, $0.failsRemovals) = (false, false) }
        try second.save(city("last"), forKey: "x")
        for cities in [first, second] { #expect(try cities.fetch(forKey: "x")?.name == "last") }
    }

    @Test(arguments: seeds(1..<6)) func manyThreadsSeeOnlyWhatWasSaved(seed: Int) throws {
        let directory = TestDirectory()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(memory: MemorySettings(countLimit: 4))
        )
        let keys = (0..<8).map { "key\($0)" }
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededGenerator(seed: seed * 10 + thread)
            for step in 0..<200 {
                guard let key = keys.randomElement(using: &random) else { return }
                do {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0...3: try cities.save(City(name: key, population: step), forKey: key)
                    case 4...7:
                        if let found = try cities.fetch(forKey: key), found.name != key {
                            failures.withLock { $0.append("\(key) gave \(found.name)") }
                        }
                    case 8: try cities.remove(forKey: key)
                    default: _ = try cities.contains(forKey: key)
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        // At rest, memory and disk say the same.
        let cold = try Cache<City>(name: "cities", directory: directory.url, settings: CacheSettings(memory: .none))
        for key in keys { #expect(try cities.fetch(forKey: key) == cold.fetch(forKey: key), "seed \(seed)") }
    }
}
