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
        durability: StoreSettings.Durability = .power,
        layer: FileLayer = FileLayer(),
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
            let store = try open(layout, directory + "/cache", durability: .power, layer: faulty.layer)
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
            // Other processes may have removed them without waiting: the names of files show nothing of that.
            #expect(nothing == (0, layout == .files ? expected.others : 0))
        }
    }

    @Test(arguments: Layout.allCases) func withoutDurabilityNothingIsWaitedFor(_ layout: Layout) throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(layout, directory + "/cache", durability: .process, layer: faulty.layer)
            _ = store.save(archives(["a"]))
            // Upkeep waits once for the names of a new folder.
            (store as? PackedStore)?.upkeep.finish()
            let keys = (0..<100).map { "\($0)" }
            let waits = waits(faulty) {
                _ = store.save(archives(keys))
                _ = store.remove(forKeys: keys)
            }
            #expect(waits == (0, 0))
        }
    }

    /// A file gets its name only after its bytes are on the device.
    @Test func filesAreWaitedForBeforeTheirNames() throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(.files, directory + "/cache", durability: .power, layer: faulty.layer)
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

    /// Small archives of one call are appended with one write for each segment, with or without limits, unless a
    /// dictionary is to be tried between them.
    @Test(arguments: [nil, 10_000]) func aBatchIsOneWrite(_ countLimit: Int?) throws {
        try withTemporaryDirectory { directory in
            let faulty = FaultyLayer()
            let store = try open(.packed, directory + "/cache", durability: .process, layer: faulty.layer) {
                $0.countLimit = countLimit
            }
            _ = store.save(archives(["first"]))
            let calls = faulty.planning(.nothing) { _ = store.save(archives((0..<60).map { "\($0)" })) }
            #expect(calls.count { $0.operation == .write } == 1)
        }
    }

    /// Archives of many bytes are deflated by several threads; they stand in the log in their order all the same, so that a
    /// process that is killed leaves the first ones. A call with one that cannot be saved still saves the others.
    @Test func archivesStandInTheirOrder() throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let store = try open(.packed, directory + "/cache", durability: .process)
            var new = zip(0..., AlikeArchives.make(count: 1_000, seed: 3)).map { index, archive in
                NewArchive(key: "\(index)", archive: archive, attributes: EntryAttributes(storedAt: .now))
            }
            // With and without the first dictionary.
            for bad in [nil, 700] {
                if let bad {
                    var attributes = EntryAttributes(storedAt: .now)
                    attributes.tags = [String(repeating: "t", count: 4_000)]
                    new[bad] = NewArchive(key: "\(bad)", archive: new[bad].archive, attributes: attributes)
                }
                let results = store.save(new)
                #expect(results.indices.filter { results[$0].failureCode != nil } == [bad].compactMap(\.self))
                let saved = try results.compactMap { $0.failureCode == nil ? try $0.get() : nil }
                #expect(zip(saved, saved.dropFirst()).allSatisfy { $1.identity.isLater(than: $0.identity) })
                for entry in new.indices where entry != bad {
                    let stored = try store.fetch(forKey: new[entry].key)
                    #expect(stored?.archive == new[entry].archive)
                }
            }
        }
    }

    /// Work that processors share comes back whole and in its order, however long it is.
    @Test func sharedWorkKeepsItsOrder() {
        for count in [0, 1, 2, 3, 7, 8, 9, 100, 1_001] {
            let parts = Processors.map(5..<5 + count) { Array($0) }
            #expect(parts.flatMap(\.self) == Array(5..<5 + count))
        }
    }

    /// Entries next to each other are read together, and each gives the same result as a read of its own, also where
    /// one is damaged or too long to be read with its neighbours.
    @Test func neighboursAreReadTogether() throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let faulty = FaultyLayer()
            let store = try open(.packed, directory + "/cache", durability: .process, layer: faulty.layer)
            let keys = (0..<50).map { "\($0)" }
            var new = archives(keys)
            var random = SeededGenerator(seed: 8)
            let long = (0..<(1 << 17)).map { _ in UInt8.random(in: 0...255, using: &random) }
            new[20] = NewArchive(key: "20", archive: long, attributes: new[0].attributes)
            _ = store.save(new)
            try store.remove(forKey: "30")
            func reads(_ body: () throws -> Void) rethrows -> Int {
                try faulty.planning(.nothing, body).count { $0.operation == .read }
            }
            let wanted = Array((keys + ["never", "7"]).shuffled(using: &random))
            var answers: [Result<StoredArchive?, StoreError>] = []
            // Two runs of neighbours, and the long one.
            let readCount = reads { answers = store.fetch(forKeys: wanted) }
            #expect(readCount <= 4)
            for (key, answer) in zip(wanted, answers) {
                let expected = new.first { $0.key == key && key != "30" }?.archive
                let isSame = try answer.get()?.archive == expected
                #expect(isSame, "\(key)")
                #expect(try answer.get().map { $0.information.key == key } ?? true)
            }

            // A damaged entry is reported once, as by a fetch, and the sound ones are returned all the same.
            let packed = try #require(store as? PackedStore)
            let digest = try packed.key("9").1
            let slot = try #require(packed.current.index.slot(digest))
            let segment = directory + "/cache/" + Segment.fileName(slot.place.segment)
            var bytes = try Data(contentsOf: URL(filePath: segment))
            bytes[Int(slot.place.offset) + Int(slot.byteCount) - 1] ^= 1
            try bytes.write(to: URL(filePath: segment), options: [])
            for round in 0..<2 {
                let answers = store.fetch(forKeys: keys)
                #expect(answers[9].failureCode == (round == 0 ? .corrupted : nil))
                #expect(answers.count { (try? $0.get()) != nil } == 48)
            }
        }
    }

    /// A process that is killed while it writes a batch leaves the first records of it, each as it was to be.
    @Test func everyPartOfABatchIsWholeEntries() throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/cache"
            let keys = (0..<12).map { "key \($0 % 9)" }
            let new = keys.enumerated().map { index, key in
                NewArchive(
                    key: key,
                    archive: [UInt8](repeating: UInt8(index), count: 1 + index * 3),
                    attributes: EntryAttributes(storedAt: .now)
                )
            }
            let segment = path + "/" + Segment.fileName(1)
            let start: Int
            do {
                let store = try open(.packed, path, durability: .process)
                _ = store.save(archives(["first"]))
                start = try Data(contentsOf: URL(filePath: segment)).count
                for answer in store.save(new) { _ = try #require(try answer.get()) }
            }
            let bytes = try Data(contentsOf: URL(filePath: segment))
            var counts: Set<Int> = []
            // The short run cuts each record in one or two places.
            for end in start...bytes.count where isLongRun || end.isMultiple(of: 9) || end == bytes.count {
                try removeDirectory(path)
                try open(.packed, path, durability: .process).close()
                try bytes[..<end].write(to: URL(filePath: segment))
                let store = try open(.packed, path, durability: .process)
                #expect(try store.fetch(forKey: "first")?.archive == [1, 2, 3])
                let found = try Set(keys).reduce(into: [:]) { $0[$1] = try store.fetch(forKey: $1)?.archive }
                let count = (0...new.count).first { count in
                    found == new.prefix(count).reduce(into: [:]) { $0[$1.key] = $1.archive }
                }
                counts.insert(try #require(count, "\(end - start) of \(bytes.count - start) bytes"))
                try store.save([7], forKey: "last", storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: "last")?.archive == [7])
            }
            #expect(counts == Set(0...new.count))
        }
    }

    /// Batches leave the entries that saves one by one leave, with the same answers; also where the number of entries is
    /// limited and the clock decides on the evicted ones.
    @Test(arguments: Layout.allCases, [nil, 40])
    func aBatchLeavesTheEntriesOfSingleSaves(_ layout: Layout, _ countLimit: Int?) throws {
        // A store of files evicts entries by a journal, which takes the uses of a batch together.
        if layout == .files, countLimit != nil { return }
        for seed in isLongRun ? seeds(0..<100) : 0..<2 {
            try withTemporaryDirectory(inMemory: true) { directory in
                var random = SeededGenerator(seed: UInt64(seed))
                func store(_ name: String) throws -> any ArchiveStore {
                    try open(layout, directory + name, durability: .process) { settings in
                        settings.countLimit = countLimit
                        settings.compression = seed.isMultiple(of: 2) ? .stored : .automatic
                        settings.maximumArchiveByteCount = 200_000
                    }
                }
                let (together, apart) = (try store("/together"), try store("/apart"))
                for round in 0..<8 {
                    let new = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                        archive(round: round, longest: countLimit == nil ? 600 : 100, using: &random)
                    }
                    let answers = together.save(new)
                    let others = new.map { new in
                        Result { () throws(StoreError) in
                            try apart.save(new.archive, forKey: new.key, attributes: new.attributes, if: nil)
                        }
                    }
                    #expect(answers.map(\.failureCode) == others.map(\.failureCode), "seed \(seed)")
                    for (answer, other) in zip(answers, others) {
                        let (answer, other) = (try? answer.get(), try? other.get())
                        #expect(answer?.attributes == other?.attributes, "seed \(seed)")
                        #expect(answer?.archiveByteCount == other?.archiveByteCount, "seed \(seed)")
                    }
                    #expect(try entries(of: together) == entries(of: apart), "seed \(seed), round \(round)")
                    // Fetched entries are spared when room is made.
                    let key = "key \(Int.random(in: 0..<80, using: &random))"
                    #expect(try together.fetch(forKey: key)?.archive == apart.fetch(forKey: key)?.archive)
                }
            }
        }
    }

    /// Where the clock evicts, archives are short: batches may end segments elsewhere, and the clock's hand goes through
    /// one segment after another.
    private func archive(round: Int, longest: Int, using random: inout SeededGenerator) -> NewArchive {
        let longest = longest > 100 && Int.random(in: 0..<40, using: &random) == 0 ? 201_000 : longest
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: 8e8 + Double(round)))
        if Bool.random(using: &random) { attributes.tags = ["a tag"] }
        if Int.random(in: 0..<4, using: &random) == 0 { attributes.expiresAt = attributes.storedAt + 5 }
        let byte = UInt8.random(in: 0...255, using: &random)
        return NewArchive(
            key: Int.random(in: 0..<50, using: &random) == 0 ? "" : "key \(Int.random(in: 0..<80, using: &random))",
            archive: (0..<Int.random(in: 1...longest, using: &random)).map {
                UInt8(truncatingIfNeeded: $0 / 3) ^ byte
            },
            attributes: attributes
        )
    }

    private func entries(of store: any ArchiveStore) throws -> [String: [UInt8]] {
        var keys: [String] = []
        try store.forEachEntry { entry in
            if case .success(let entry) = entry { keys.append(entry.key) }
            return true
        }
        return try keys.reduce(into: [:]) { $0[$1] = try store.fetch(forKey: $1)?.archive }
    }

    /// A batch of several segments within a limit of bytes, which holds.
    @Test(arguments: Layout.allCases) func aLimitOfBytesHolds(_ layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let store = try open(layout, directory + "/cache", durability: .process) { settings in
                settings.byteLimit = 200_000
                settings.compression = .stored
            }
            let keys = (0..<3_000).map { "key \($0)" }
            for result in store.save(archives(keys, .init(repeating: 5, count: 300))) {
                _ = try #require(try result.get())
            }
            let found = try entries(of: store)
            #expect(found["key 2999"] != nil && found.count < 700)
            #expect(layout == .files || found.count > 200)
            if let packed = store as? PackedStore { #expect(try packed.current.statistics.byteCount <= 200_000) }
        }
    }

    /// A batch that exceeds the limits by far: the limits hold, and each evicted entry is reported.
    @Test(arguments: Layout.allCases, [StoreSettings.Durability.process, .power])
    func limitsHold(_ layout: Layout, _ durability: StoreSettings.Durability) throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let store = try open(layout, directory + "/cache", durability: durability) { settings in
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

    /// If any call to the system fails, every save or removal that reports success has happened; after a reported failure,
    /// the key has its old or its new value.
    @Test(arguments: Layout.allCases, [StoreSettings.Durability.process, .power])
    func theAnswersAreRightWhenCallsFail(_ layout: Layout, _ durability: StoreSettings.Durability) throws {
        for removes in [false, true] {
            let count = try check(layout, durability, removes: removes, plan: .nothing)
            #expect(count > 0)
            for index in stride(from: 0, to: count, by: isLongRun ? 1 : 3) {
                var plans = [EIO, ENOSPC, EINTR].map { FaultyLayer.Plan.once(index, .fail($0)) }
                plans += [.from(index, .fail(EIO)), .once(index, .shorten(1))]
                for plan in variants(plans, at: index) {
                    try check(layout, durability, removes: removes, plan: plan)
                }
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
        plan: FaultyLayer.Plan
    ) throws -> Int {
        var count = 0
        try withTemporaryDirectory(inMemory: true) { directory in
            let place: Comment = "\(layout), \(durability), removes: \(removes), \(plan)"
            let path = directory + "/cache"
            let old: [UInt8] = [1, 1, 1]
            do {
                let store = try open(layout, path, durability: .process)
                for key in ["a", "b", "c", "d", "other"] {
                    try store.save(old, forKey: key, storedAt: .distantPast, expiresAt: nil)
                }
            }
            let faulty = FaultyLayer()
            let store = try open(layout, path, durability: durability, layer: faulty.layer)
            let new = Self.keys.enumerated().map { index, key in
                NewArchive(key: key, archive: [9, UInt8(index)], attributes: EntryAttributes(storedAt: .now))
            }
            // The values that each key may have if its last answer counts.
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

    /// The device fails once, and every save or removal appended before the failure reports it.
    @Test(arguments: Layout.allCases) func whoeverCouldNotBeWaitedForIsTold(_ layout: Layout) throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let faulty = FaultyLayer(failing: [.synchronize])
            let store = try open(layout, directory + "/cache", durability: .power, layer: faulty.layer)
            _ = store.save(archives(["first"]))
            _ = faulty.planning(.from(0, .fail(EIO))) {
                let answers = store.save(archives(["a", "b", "c"]))
                #expect(answers.allSatisfy { $0.failureCode == .io })
                let removals = store.remove(forKeys: ["first", "none"])
                #expect(removals[0].failureCode == .io)
                // It may repeat a removal that could not be waited for; of other shards that is known.
                #expect(layout == .files || removals[1].failureCode == .io)
            }
        }
    }
}
