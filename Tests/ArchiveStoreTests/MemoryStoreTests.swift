import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Limits of a store in memory; the laws of all stores cover the rest.
@Suite struct MemoryStoreTests {
    /// Uses some keys all the time, and hears of evictions.
    private final class User: StoreUser {
        let used = Mutex<Set<String>>([])
        let evicted = Mutex<[String]>([])

        func isInUse(_ key: String) -> Bool { false }
        func takeUses(of key: String) -> UInt8 { used.withLock { $0.contains(key) } ? 3 : 0 }
        func didEvict(_ entry: EntryInformation) { evicted.withLock { $0.append(entry.key) } }
    }

    private func save(_ byteCount: Int, _ key: String, in store: MemoryStore) throws {
        try store.save([UInt8](repeating: 1, count: byteCount), forKey: key, storedAt: .now, expiresAt: nil)
    }

    private func entries(of store: MemoryStore) throws -> [EntryInformation] {
        try store.entries(inPart: 0).map { try $0.get() }
    }

    @Test(arguments: seeds(0..<10)) func limitsHoldAfterEachSave(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let store = MemoryStore(byteLimit: 10_000, countLimit: 20)
        let user = User()
        store.setUser(user)
        var saved: Set<String> = []
        for step in 0..<500 {
            let key = "\(Int.random(in: 0..<60, using: &random))"
            try save(Int.random(in: 0...2_000, using: &random), key, in: store)
            saved.insert(key)
            let entries = try entries(of: store)
            #expect(entries.count <= 20, "seed \(seed), step \(step)")
            #expect(entries.reduce(0) { $0 + $1.archiveByteCount } <= 10_000, "seed \(seed), step \(step)")
        }
        // Every entry that is gone was reported as evicted.
        let there = Set(try entries(of: store).map(\.key))
        #expect(saved.subtracting(there).subtracting(user.evicted.withLock { $0 }).isEmpty)
        #expect(!there.isEmpty)
    }

    @Test func usesElsewhereCount() throws {
        let store = MemoryStore(byteLimit: nil, countLimit: 100)
        let user = User()
        store.setUser(user)
        let used = Set((0..<10).map { "used \($0)" })
        for key in used { try save(1, key, in: store) }
        user.used.withLock { $0 = used }
        for number in 0..<1_000 { try save(1, "\(number)", in: store) }
        #expect(used.isSubset(of: try entries(of: store).map(\.key)))
        #expect(user.evicted.withLock { $0.count } == 910)
    }

    @Test func fetchesCountAsUses() throws {
        let store = MemoryStore(byteLimit: nil, countLimit: 100)
        for number in 0..<1_000 {
            try save(1, "\(number)", in: store)
            for _ in 0..<2 { #expect(try store.fetch(forKey: "0") != nil) }
        }
    }

    @Test func whatIsAboveTheLimitIsRefusedAndChangesNothing() throws {
        let store = MemoryStore(byteLimit: 100, countLimit: nil)
        try save(100, "a", in: store)
        let error = #expect(throws: StoreError.self) { try save(101, "a", in: store) }
        #expect(error?.code == .tooLarge)
        #expect(error?.reason == "101 bytes are more than the limit of 100 bytes")
        #expect(try store.fetch(forKey: "a")?.archive.count == 100)
    }

    @Test(arguments: [0, -1]) func everySaveIsRefusedWhereThereIsNoRoomForAnEntry(countLimit: Int) throws {
        let store = MemoryStore(byteLimit: nil, countLimit: countLimit)
        let error = #expect(throws: StoreError.self) { try save(1, "a", in: store) }
        #expect(error?.code == .tooLarge)
        #expect(try entries(of: store).isEmpty)
    }

    @Test func trimmingGivesUpTheLeastUseful() throws {
        let store = MemoryStore(byteLimit: nil, countLimit: nil)
        for number in 0..<100 { try save(10, "\(number)", in: store) }
        for _ in 0..<3 { _ = try store.fetch(forKey: "7") }
        var removed: [String] = []
        try store.trim(toByteCount: 105) { removed.append($0.key) }
        #expect(removed.count == 90)
        #expect(try entries(of: store).count == 10)
        #expect(try store.fetch(forKey: "7") != nil)
        #expect(store.evict(toCount: 0, byteCount: .max).count == 10)
        #expect(try entries(of: store).isEmpty)
    }
}
