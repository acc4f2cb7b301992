import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// What is waited for until it is on the device, and in what order.
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

    /// The renames, removals and waits that `body` leads to, each with what it is about.
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
                let list = EntryLists.list(ofTag: "t")
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
            #expect(try steps(faulty) { try store.remove(forKey: "a") } == [])
            let entry = try #require(try store.information(forKey: "bb"))
            #expect(try steps(faulty) { try store.remove(entry) } == ["remove entry", "wait for ab"])
            #expect(try steps(faulty) { try store.removeAll() } == ["remove entry", "remove entry", "wait for ab"])
        }
    }

    /// Else a removal that is tried again would find nothing to wait for, and come back after a power failure.
    @Test func aRemovalThatCouldNotWaitWaitsWhenItIsRepeated() throws {
        try withStore(.power, failing: [.synchronize]) { store, faulty, _ in
            try save("a", in: store)
            _ = faulty.planning(.from(0, .fail(EIO))) {
                #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
                #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
            }
            #expect(try steps(faulty) { try store.remove(forKey: "a") } == ["wait for ab"])
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
