import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Which writes each durability waits for until they are on the device, and in which order.
@Suite struct DurabilityTests {
    private func withStore(
        _ durability: StoreSettings.Durability,
        failing: Set<FileLayer.Operation>? = nil,
        _ body: (FileStore, FaultyLayer, String) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a/cache"
            let faulty = FaultyLayer(failing: failing)
            var settings = StoreSettings()
            settings.durability = durability
            let store = try FileStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                EntryName(high: 0xab << 56, low: UInt64($0.bytes.count))
            }
            try body(store, faulty, path)
        }
    }

    /// The renames, removals and waits of `body`, each with the name of its file.
    private func steps(_ faulty: FaultyLayer, _ body: () throws -> Void) rethrows -> [String] {
        try faulty.planning(.nothing, body).compactMap { call in
            let name = call.name.contains(/^[0-9a-f]{16}\./) ? "draft" : call.name
            return switch call.operation {
            case .synchronize: "wait for \(name)"
            case .rename: "rename \(name)"
            case .remove: "remove \(name.hasSuffix(".0") ? "entry" : name)"
            default: nil
            }
        }
    }

    private func save(_ key: String, in store: FileStore) throws {
        try store.save([1], forKey: key, storedAt: .now, expiresAt: nil)
    }

    @Test func aSaveWaitsForTheFileBeforeItsNameAndForTheNameAfterwards() throws {
        try withStore(.power) { store, faulty, path in
            let first = try steps(faulty) { try save("a", in: store) }
            #expect(first == ["wait for draft", "rename draft", "wait for \(path)", "wait for ab"])
            // The directory's own name is known to be there by now.
            #expect(
                try steps(faulty) { try save("b", in: store) } == ["wait for draft", "rename draft", "wait for ab"]
            )
        }
    }

    @Test func aNameIsInItsListBeforeItsEntryIsThere() throws {
        for durability in [StoreSettings.Durability.power, .process] {
            try withStore(durability) { store, faulty, _ in
                var attributes = EntryAttributes(storedAt: .now)
                attributes.tags = ["t"]
                try store.save([1], forKey: "a", attributes: attributes, if: nil)
                let list = EntryNames(nil, naming: nil).list(ofTag: "t")
                let next = try steps(faulty) { try store.save([1], forKey: "b", attributes: attributes, if: nil) }
                let waits = durability == .power
                #expect(next.contains("wait for \(list)") == waits)
                if waits {
                    let listed = try #require(next.firstIndex(of: "wait for \(list)"))
                    #expect(try #require(next.firstIndex(of: "rename draft")) > listed)
                }
            }
        }
    }

    @Test func aStoreWaitsForTheDirectoryThatAnotherOneMade() throws {
        try withStore(.process) { store, _, path in
            try save("a", in: store)
            var settings = StoreSettings()
            settings.durability = .power
            let faulty = FaultyLayer()
            let durable = try FileStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                EntryName(high: 0xab << 56, low: UInt64($0.bytes.count))
            }
            let steps = try steps(faulty) { try save("a", in: durable) }
            #expect(steps == ["wait for draft", "rename draft", "wait for \(path)", "wait for ab"])
        }
    }

    @Test func removalsWaitForTheDirectory() throws {
        try withStore(.power) { store, faulty, _ in
            for key in ["a", "bb", "ccc", "dddd"] { try save(key, in: store) }
            #expect(try steps(faulty) { try store.remove(forKey: "a") } == ["remove entry", "wait for ab"])
            // Another process may have removed it without waiting.
            #expect(try steps(faulty) { try store.remove(forKey: "a") } == ["wait for ab"])
            let entry = try #require(try store.information(forKey: "bb"))
            #expect(try steps(faulty) { try store.remove(entry) } == ["remove entry", "wait for ab"])
            #expect(try steps(faulty) { try store.removeAll() } == ["remove entry", "remove entry", "wait for ab"])
        }
    }

    /// Else a removal that is tried again would find nothing to wait for, and come back after a power failure.
    @Test(arguments: StoreKind.allCases)
    func aRemovalThatCouldNotWaitWaitsWhenItIsRepeated(kind: StoreKind) throws {
        let faulty = FaultyLayer(failing: [.synchronize])
        try withDurableStore(kind, faulty.layer) { store in
            func waitCount(_ removal: () throws -> Void) throws -> Int {
                try steps(faulty, removal).count { $0.hasPrefix("wait") }
            }
            try store.save([1], forKey: "a")
            let withoutEntry = try waitCount { try store.remove(forKey: "b") }
            #expect(withoutEntry == 0)
            _ = faulty.planning(.from(0, .fail(EIO))) {
                #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
                #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
            }
            let repeated = try waitCount { try store.remove(forKey: "a") }
            #expect(repeated > 0)
        }
    }

    /// The one that is there was saved later, so that no removal of this one can be lost.
    @Test func aRemovalOfAFormerEntryThrowsNoErrorOfTheLaterOne() throws {
        let faulty = FaultyLayer(failing: [.synchronize])
        try withDurableStore(.packed, faulty.layer) { store in
            try store.save([1], forKey: "a")
            let former = try #require(try store.information(forKey: "a"))
            _ = faulty.planning(.from(0, .fail(EIO))) {
                #expect(throws: StoreError.self) { try store.save([2], forKey: "a") }
            }
            #expect(try !store.remove(former))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aRemovalOfEverythingThatCouldNotWaitWaitsWhenItIsRepeated(kind: StoreKind) throws {
        let syncs = Atomic<Int>(0)
        let failing = Atomic<Int>(-1)
        let layer = FileLayer { call in
            guard call.operation == .synchronize else { return .proceed }
            let index = syncs.add(1, ordering: .relaxed).oldValue
            return index == failing.load(ordering: .relaxed) ? .fail(EIO) : .proceed
        }
        /// How many waits a removal of everything begins, until one of them fails.
        func removeAll(from store: any ArchiveStore, failing index: Int) throws -> Int {
            (store as? PackedStore)?.finishUpkeep()
            syncs.store(0, ordering: .relaxed)
            failing.store(index, ordering: .relaxed)
            defer { failing.store(-1, ordering: .relaxed) }
            do throws(StoreError) {
                try store.removeAll()
                #expect(index < 0)
            } catch {
                #expect(error.errorNumber == EIO)
            }
            return syncs.load(ordering: .relaxed)
        }
        var count = 0
        try withDurableStore(kind, layer) { store in
            try store.save([1], forKey: "a")
            count = try removeAll(from: store, failing: -1)
        }
        #expect(count > 0)
        for index in 0..<count {
            try withDurableStore(kind, layer) { store in
                try store.save([1], forKey: "a")
                _ = try removeAll(from: store, failing: index)
                let repeated = try removeAll(from: store, failing: -1)
                #expect(repeated > 0, "wait \(index)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aRemovalByTagThatCouldNotWaitWaitsWhenItIsRepeated(kind: StoreKind) throws {
        let faulty = FaultyLayer(failing: [.synchronize])
        try withDurableStore(kind, faulty.layer) { store in
            var attributes = EntryAttributes(storedAt: .now)
            attributes.tags = ["t"]
            for key in ["a", "b"] { try store.save([1], forKey: key, attributes: attributes, if: nil) }
            _ = faulty.planning(.from(0, .fail(EIO))) {
                #expect(throws: StoreError.self) {
                    try store.removeAll(tagged: "t", removing: { _ in }, removed: { _ in })
                }
            }
            try store.save([1], forKey: "c")
            let repeated = try faulty.planning(.nothing) {
                try store.removeAll(tagged: "t", removing: { _ in }, removed: { _ in })
            }
            #expect(repeated.contains { $0.operation == .synchronize })
            // Neither is owed now.
            let third = try steps(faulty) { try store.remove(forKey: "a") }
            // A directory of entries is waited for all the same, for removals by other processes.
            #expect(third.count == (kind == .file ? 1 : 0), "\(third)")
            #expect(try store.keys() == ["c"])
        }
    }

    /// A removal that failed to wait for the device may be lost, even if later records are appended after it.
    @Test func aRemovalThatCouldNotWaitIsAppendedAnewWhenItIsRepeated() throws {
        let faulty = FaultyLayer(failing: [.synchronize])
        try withDurableStore(.packed, faulty.layer) { store in
            try store.save([1], forKey: "a")
            _ = faulty.planning(.from(0, .fail(EIO))) {
                #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
            }
            // That of another key is not refused for that.
            #expect(try !store.remove(forKey: "absent"))
            try store.save([1], forKey: "b")
            func operations(removing key: String) throws -> [FileLayer.Operation] {
                try faulty.planning(.nothing) { try store.remove(forKey: key) }.map(\.operation)
            }
            let calls = try operations(removing: "a")
            let write = try #require(calls.firstIndex(of: .write))
            #expect(calls[write...].contains(.synchronize))
            // Not for ever, and no other key's.
            for key in ["a", "never saved"] { #expect(try !operations(removing: key).contains(.write)) }
        }
    }

    private func withDurableStore(
        _ kind: StoreKind,
        _ layer: FileLayer,
        _ body: (any ArchiveStore) throws -> Void
    ) throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.durability = .power
            switch kind {
            case .packed:
                let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                    KeyDigest(hashing: $0)
                }
                try body(store)
                store.finishUpkeep()
            case .file:
                let store = try FileStore(directory: path, create: true, settings: settings, layer: layer) {
                    EntryName($0)
                }
                try body(store)
            }
        }
    }

    @Test func directoriesThatAreMadeAreWaitedFor() throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            var settings = StoreSettings()
            settings.durability = .power
            let path = directory + "/a/cache"
            let steps = try steps(faulty) {
                _ = try FileStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                    EntryName($0)
                }
            }
            let expected = [
                "wait for \(directory)/.", "wait for \(directory)/a/.", "wait for draft", "rename draft",
                "wait for \(path)",
            ]
            #expect(steps.filter { !$0.hasPrefix("remove") } == expected)
        }
    }

    @Test func withoutItNothingIsWaitedFor() throws {
        try withStore(.process) { store, faulty, _ in
            let steps = try steps(faulty) {
                try save("a", in: store)
                try store.remove(forKey: "a")
                try save("b", in: store)
                try store.removeAll()
            }
            #expect(steps == ["rename draft", "remove entry", "rename draft", "remove entry"])
        }
    }
}
