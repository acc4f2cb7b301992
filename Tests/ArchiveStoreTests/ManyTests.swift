import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Many archives that are saved or removed by one call.
@Suite struct ManyTests {
    enum Layout: CaseIterable, Sendable { case files, packed }

    private func open(
        _ layout: Layout,
        _ path: String,
        _ durability: StoreSettings.Durability = .power,
        _ layer: FileLayer = FileLayer(),
        change: (inout StoreSettings) -> Void = { _ in }
    ) throws -> any ArchiveStore {
        var settings = StoreSettings()
        settings.durability = durability
        change(&settings)
        switch layout {
        // Two directories of entries.
        case .files:
            return try FileStore(directory: path, create: true, settings: settings, layer: layer) { key in
                let name = EntryName(key)
                return EntryName(high: UInt64(key.bytes[0] & 1) << 56 | name.high & 0xffff, low: name.low)
            }
        case .packed:
            return try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
        }
    }

    private func archives(_ keys: [String], _ archive: [UInt8] = [1, 2, 3]) -> [NewArchive] {
        keys.map { NewArchive(key: $0, archive: archive, attributes: EntryAttributes(storedAt: .now)) }
    }

    /// How often `body` waits for drafts of entries, and for all else.
    private func waits(_ faulty: FaultyLayer, _ body: () throws -> Void) rethrows -> (drafts: Int, others: Int) {
        let names = try faulty.planning(.nothing, body).filter { $0.operation == .synchronize }.map(\.name)
        let drafts = names.count { $0.contains(/^[0-9a-f]{16}\./) }
        return (drafts, names.count - drafts)
    }

    @Test(arguments: Layout.allCases) func theDeviceIsWaitedForOnce(_ layout: Layout) throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(layout, directory + "/cache", .power, faulty.layer)
            _ = store.save(archives(["a", "b"]))
            _ = store.remove(forKeys: ["a", "b"])
            let keys = (0..<100).map { "\($0)" }
            // Files are waited for before their names, directories once.
            let expected = layout == .files ? (drafts: 100, others: 2) : (drafts: 0, others: 1)
            for _ in 0..<2 {
                var failures = 0
                let saving = waits(faulty) { failures = store.save(archives(keys)).count { $0.failureCode != nil } }
                #expect(saving == expected)
                #expect(failures == 0)
            }
            var removed = 0
            let removing = waits(faulty) {
                removed = store.remove(forKeys: keys).count { if case .success(true) = $0 { true } else { false } }
            }
            #expect(removing == (0, expected.others))
            #expect(removed == 100)
            let nothing = waits(faulty) {
                _ = store.remove(forKeys: keys)
                _ = store.save([])
            }
            #expect(nothing == (0, 0))
        }
    }

    @Test(arguments: Layout.allCases) func withoutDurabilityNothingIsWaitedFor(_ layout: Layout) throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(layout, directory + "/cache", .process, faulty.layer)
            _ = store.save(archives(["a"]))
            let keys = (0..<100).map { "\($0)" }
            let waits = waits(faulty) {
                _ = store.save(archives(keys))
                _ = store.remove(forKeys: keys)
            }
            #expect(waits == (0, 0))
        }
    }

    /// No name is given to a file whose bytes are not on the device.
    @Test func filesAreWaitedForBeforeTheirNames() throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(.files, directory + "/cache", .power, faulty.layer)
            let keys = (0..<150).map { "\($0)" }
            let calls = faulty.planning(.nothing) { _ = store.save(archives(keys)) }
            var synchronized: Set<String> = []
            var renames = 0
            for call in calls {
                if call.operation == .synchronize { synchronized.insert(call.name) }
                guard call.operation == .rename, call.newName?.count == 32 else { continue }
                renames += 1
                #expect(synchronized.contains(call.name))
            }
            #expect(renames == 150)
        }
    }

    @Test(arguments: Layout.allCases) func whatFailsKeepsNothingElseFromBeingSaved(_ layout: Layout) throws {
        try withTemporaryDirectory { directory in
            let store = try open(layout, directory + "/cache") { $0.maximumArchiveByteCount = 100 }
            let long = String(repeating: "k", count: 1_025)
            var new = archives(["a", long, "b", "c", "b"])
            new[2] = NewArchive(key: "b", archive: .init(repeating: 7, count: 101), attributes: new[0].attributes)
            var tooTagged = new[0].attributes
            tooTagged.tags = [String(repeating: "t", count: 70_000)]
            new[3] = NewArchive(key: "c", archive: [1], attributes: tooTagged)
            let codes = store.save(new).map(\.failureCode)
            #expect(codes == [nil, .invalidArgument, .tooLarge, .invalidArgument, nil])
            #expect(try store.fetch(forKey: "a")?.archive == [1, 2, 3])
            #expect(try store.fetch(forKey: "b")?.archive == [1, 2, 3])
            #expect(try store.fetch(forKey: "c") == nil)
        }
    }

    /// A batch within limits that it exceeds by far: they hold, and what was given up is told.
    @Test(arguments: Layout.allCases, [StoreSettings.Durability.process, .power])
    func limitsHold(_ layout: Layout, _ durability: StoreSettings.Durability) throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let store = try open(layout, directory + "/cache", durability) { settings in
                settings.countLimit = 20
                settings.compression = .stored
            }
            let keys = (0..<100).map { "key \($0)" }
            for result in store.save(archives(keys)) { _ = try #require(try result.get()) }
            var found: [String] = []
            try store.forEachEntry { entry in
                if case .success(let entry) = entry { found.append(entry.key) }
                return true
            }
            #expect(found.count <= 20 && found.contains("key 99"))
        }
    }

    /// Whatever call to the system fails: what is said to be saved is there, and what is not is as it was or as it was to
    /// be; likewise what is said to be removed.
    @Test(arguments: Layout.allCases, [StoreSettings.Durability.process, .power])
    func theAnswersAreRightWhenCallsFail(_ layout: Layout, _ durability: StoreSettings.Durability) throws {
        for removes in [false, true] {
            let count = try check(layout, durability, removes: removes, .nothing)
            #expect(count > 0)
            for index in 0..<count {
                for number in [EIO, ENOSPC, EINTR] {
                    try check(layout, durability, removes: removes, .once(index, .fail(number)))
                }
                try check(layout, durability, removes: removes, .from(index, .fail(EIO)))
                try check(layout, durability, removes: removes, .once(index, .shorten(1)))
            }
        }
    }

    private static let keys = ["a", "b", "new", "c", "a", "d"]

    /// - Returns: how many calls were made.
    @discardableResult
    private func check(
        _ layout: Layout,
        _ durability: StoreSettings.Durability,
        removes: Bool,
        _ plan: FaultyLayer.Plan
    ) throws -> Int {
        var count = 0
        try withTemporaryDirectory(inMemory: true) { directory in
            let place: Comment = "\(layout), \(durability), removes: \(removes), \(plan)"
            let path = directory + "/cache"
            let old: [UInt8] = [1, 1, 1]
            do {
                let store = try open(layout, path, .process)
                for key in ["a", "b", "c", "d", "other"] {
                    try store.save(old, forKey: key, storedAt: .distantPast, expiresAt: nil)
                }
            }
            let faulty = FaultyLayer()
            let store = try open(layout, path, durability, faulty.layer)
            let new = Self.keys.enumerated().map { index, key in
                NewArchive(key: key, archive: [9, UInt8(index)], attributes: EntryAttributes(storedAt: .now))
            }
            // What each key may hold, if the last answer for it counts.
            var allowed: [String: [[UInt8]?]] = [:]
            var failed = false
            count =
                faulty.planning(plan) {
                    if removes {
                        let answers = store.remove(forKeys: Self.keys)
                        for (key, answer) in zip(Self.keys, answers) {
                            failed = failed || answer.failureCode != nil
                            let before = allowed[key] ?? [key == "new" ? nil : old]
                            allowed[key] = answer.failureCode == nil ? [nil] : before + [nil]
                            if case .success(let wasThere) = answer {
                                #expect(before.contains { ($0 != nil) == wasThere }, "\(key); \(place)")
                            }
                        }
                    } else {
                        for (new, answer) in zip(new, store.save(new)) {
                            failed = failed || answer.failureCode != nil
                            let before = allowed[new.key] ?? [new.key == "new" ? nil : old]
                            allowed[new.key] = answer.failureCode == nil ? [new.archive] : before + [new.archive]
                        }
                    }
                    (store as? PackedStore)?.finishUpkeep()
                }.count
            #expect(!failed || !plan.mustNotShow, place)
            let other = try open(layout, path)
            for key in Set(Self.keys).union(["other"]) {
                let found = try store.fetch(forKey: key)?.archive
                #expect((allowed[key] ?? [old]).contains(found), "\(key); \(place)")
                #expect(try other.fetch(forKey: key)?.archive == found, "\(key); \(place)")
            }
            for key in Self.keys {
                try store.save([7], forKey: key, storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: key)?.archive == [7], place)
            }
        }
        return count
    }

    /// The device fails once, and nobody who appended before that is told that all is well.
    @Test(arguments: Layout.allCases) func whoeverCouldNotBeWaitedForIsTold(_ layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let faulty = FaultyLayer(failing: [.synchronize])
            let store = try open(layout, directory + "/cache", .power, faulty.layer)
            _ = store.save(archives(["first"]))
            _ = faulty.planning(.from(0, .fail(EIO))) {
                let answers = store.save(archives(["a", "b", "c"]))
                #expect(answers.allSatisfy { $0.failureCode == .io })
                let removals = store.remove(forKeys: ["first", "none"])
                #expect(removals[0].failureCode == .io)
                // In a directory that could not be waited for, nothing is known of other removals either.
                #expect(layout == .files || removals[1].failureCode == nil)
            }
        }
    }
}
