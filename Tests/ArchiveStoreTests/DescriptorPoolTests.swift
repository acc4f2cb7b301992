import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Stores that give their descriptors back while no call uses them.
@Suite struct DescriptorPoolTests {
    enum Layout: CaseIterable { case packed, files }

    private func open(
        _ layout: Layout,
        at path: String,
        _ pool: DescriptorPool?,
        settings: StoreSettings = StoreSettings(),
        create: Bool = true
    ) throws -> any ArchiveStore {
        let layer = FileLayer(pool: pool)
        switch layout {
        case .packed:
            return try PackedStore(directory: path, create: create, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
        case .files:
            return try FileStore(directory: path, create: create, settings: settings, layer: layer) {
                EntryName($0)
            }
        }
    }

    private func save(_ text: String, _ key: String, in store: any ArchiveStore) throws {
        try store.save(Array(text.utf8), forKey: key, storedAt: .now, expiresAt: nil)
    }

    private func value(_ key: String, in store: any ArchiveStore) throws -> String? {
        try store.fetch(forKey: key).map { String(decoding: $0.archive, as: UTF8.self) }
    }

    private func keys(of store: any ArchiveStore, before each: () -> Void = {}) throws -> Set<String> {
        var keys: Set<String> = []
        try store.forEachEntry { entry in
            each()
            if let key = try? entry.get().key { keys.insert(key) }
            return true
        }
        return keys
    }

    private func following() -> StoreSettings {
        var settings = StoreSettings()
        settings.followsOthers = true
        return settings
    }

    /// Waits for upkeep in the background, which uses its store.
    private func suspendAll(_ pool: DescriptorPool) {
        while pool.descriptorCount > 0 {
            if !pool.suspendOne() { usleep(1_000) }
        }
    }

    @Test(arguments: Layout.allCases)
    func manyStoresShareFewDescriptors(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 30)
            let stores = try (0..<40).map { try open(layout, at: "\(path)/\($0)", pool) }
            for round in 0..<3 {
                for (number, store) in stores.enumerated() {
                    if round > 0 { #expect(try value("key", in: store) == "\(number) \(round - 1)") }
                    try save("\(number) \(round)", "key", in: store)
                    // A store whose upkeep runs is in use.
                    (store as? PackedStore)?.finishUpkeep()
                    #expect(pool.descriptorCount <= 30)
                }
            }
            for (number, store) in stores.enumerated() {
                #expect(try value("key", in: store) == "\(number) 2")
                try store.close()
            }
            #expect(pool.descriptorCount == 0)
        }
    }

    /// An enumeration that is under way goes on.
    @Test(arguments: Layout.allCases)
    func whatIsUnderWayGoesOn(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 1)
            let store = try open(layout, at: path, pool)
            let keys = Set((0..<300).map { "\($0)" })
            for key in keys { try save("of " + key, key, in: store) }
            #expect(try self.keys(of: store) { while pool.suspendOne() {} } == keys)
            suspendAll(pool)
            #expect(pool.descriptorCount == 0)
            #expect(try value("8", in: store) == "of 8")
        }
    }

    /// Stores that were used lately stay open.
    @Test func theOneThatIsUsedLeastIsSuspended() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 12)
            let stores = try (0..<3).map { try open(.packed, at: "\(path)/\($0)", pool) as! PackedStore }
            // The marks of opening.
            _ = try open(.packed, at: "\(path)/3", pool)
            #expect(stores.filter { $0.current != nil }.count <= 2)
            for round in 4..<20 {
                #expect(try value("key", in: stores[1]) == nil)
                _ = try open(.packed, at: "\(path)/\(round)", pool)
                #expect(stores[1].current != nil, "\(round)")
            }
        }
    }

    @Test(arguments: Layout.allCases)
    func aSuspendedStoreIsClosed(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 100)
            let store = try open(layout, at: path, pool)
            try save("value", "key", in: store)
            suspendAll(pool)
            try store.close()
            #expect(throws: StoreError.self) { try value("key", in: store) }
            #expect(throws: StoreError.self) { try save("value", "key", in: store) }
            #expect(pool.descriptorCount == 0)
        }
    }

    /// The folder goes while its store is suspended: nothing is found, and the next save makes it again.
    @Test(arguments: Layout.allCases)
    func aFolderThatGoesMeanwhileIsMissed(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 100)
            let store = try open(layout, at: path + "/store", pool, settings: following())
            for call in 0..<9 {
                try save("value", "key", in: store)
                _ = try store.changesByOthers()
                suspendAll(pool)
                try FileManager.default.removeItem(atPath: path + "/store")
                switch call {
                case 0: #expect(try value("key", in: store) == nil)
                case 1: #expect(try store.remove(forKeys: ["key"]).map { try $0.get() } == [false])
                case 2: #expect(try store.fetch(forKeys: ["key", "b"]).allSatisfy { try $0.get() == nil })
                case 3: #expect(try keys(of: store) == [])
                case 4: try store.removeAll()
                case 5: #expect(try store.compact() == 0)
                case 6: #expect(try store.information(forKey: "key") == nil)
                case 7: #expect(try !store.remove(forKey: "key"))
                default:
                    if case .keys = try store.changesByOthers() { Issue.record("memory keeps its entries") }
                }
            }
        }
    }

    /// A change by another process while a store is suspended is told, and an unchanged log of the packed layout has
    /// memory keep its entries.
    @Test(arguments: Layout.allCases)
    func changesWhileItIsSuspendedAreTold(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 100)
            let store = try open(layout, at: path, pool, settings: following())
            let other = try open(layout, at: path, nil)
            func changes() throws -> Set<UInt64>? {
                if case .keys(let keys) = try store.changesByOthers() { Set(keys.map(\.high)) } else { nil }
            }
            try save("value", "key", in: store)
            _ = try changes()
            #expect(try changes() == [])
            suspendAll(pool)
            if layout == .packed { #expect(try changes() == []) }
            _ = try changes()

            suspendAll(pool)
            try save("other", "key", in: other)
            #expect(try changes() != [])
            #expect(try value("key", in: store) == "other")

            // A change that was not asked for before.
            try save("third", "key", in: other)
            #expect(try value("key", in: store) == "third")
            suspendAll(pool)
            #expect(try changes() != [])
            #expect(try changes() == [])

            // And a removal of everything, and of the segments.
            for change in 0..<3 {
                suspendAll(pool)
                switch change {
                case 0: try other.remove(forKey: "key")
                case 1: try other.removeAll()
                default: _ = try other.compact()
                }
                if change < 2 { #expect(try changes() != [], "\(change)") }
                _ = try changes()
            }
        }
    }

    /// Saves, fetches, suspensions and the end of a store, all at once.
    @Test(arguments: Layout.allCases)
    func threadsAndSuspensionsAtOnce(layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let pool = DescriptorPool(limit: 10)
            let stores = try (0..<6).map { try open(layout, at: "\(path)/\($0)", pool) }
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                var random = SeededGenerator(seed: UInt64(thread))
                var latest = [Int](repeating: -1, count: stores.count)
                for step in 0..<300 {
                    let number = Int.random(in: 0..<stores.count, using: &random)
                    do {
                        let found = try value("\(thread)", in: stores[number])
                        let expected = latest[number] < 0 ? nil : "\(latest[number])"
                        if found != expected { Issue.record("\(found ?? "nothing"), not \(expected ?? "nothing")") }
                        try save("\(step)", "\(thread)", in: stores[number])
                        latest[number] = step
                        if step % 16 == 0 { _ = pool.suspendOne() }
                    } catch { Issue.record(error) }
                }
            }
            for store in stores { try store.close() }
            #expect(pool.descriptorCount == 0)
        }
    }
}
