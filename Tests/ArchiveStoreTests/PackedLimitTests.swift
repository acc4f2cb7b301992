import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// That a packed store keeps to its limits where that is hard, and which entries it evicts.
@Suite struct PackedLimitTests {
    /// The record of a victim's removal may be longer than the entry that the victim makes room for.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: seeds(0..<8)) func holdTogetherForLongKeys(seed: Int)
        throws
    {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: seed)
            let (bytes, count) = (1_200 + 200 * seed, 1 + seed % 4)
            let store = try PackedStore(
                directory: path,
                create: true,
                settings: StoreSettings(byteLimit: bytes, countLimit: count)
            )
            let user = User()
            store.setUser(user)
            var saved: Set<String> = []
            for number in 0..<200 {
                let key = "\(number)" + String(repeating: "k", count: Int.random(in: 0..<bytes / 3, using: &random))
                try store.save([UInt8(number)], forKey: key)
                #expect(try store.fetch(forKey: key)?.archive == [UInt8(number)])
                #expect(try PackedSharingTests.byteCount(path) <= bytes, "save \(number)")
                saved.insert(key)
                let there = try store.keys()
                #expect(there.count <= count, "save \(number)")
                #expect(saved.subtracting(there) == Set(user.evicted), "save \(number)")
            }
            // Each one once.
            #expect(Set(user.evicted).count == user.evicted.count)
        }
    }

    @Test func aLimitWithoutRoomForAnyEntrySaysSo() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 100))
            let error = #expect(throws: StoreError.self) { try store.save([1], forKey: "key") }
            #expect(error?.code == .tooLarge)
            #expect(error?.reason.contains("a limit of 100 bytes has no room") == true, "\(error?.reason ?? "")")
        }
    }

    /// It is gone, even if there is no room to say so.
    @Test(.timeLimit(.minutes(1 * slowness))) func aLimitThatIsLessThanAKeyDoesNotKeepItFromBeingRemoved() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let key = String(repeating: "k", count: 700)
            try PackedStore(directory: path, create: true).save([1], forKey: key)
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 300))
            try store.remove(forKey: key)
            #expect(try store.keys() == [])
            #expect(try PackedStore(directory: path, create: false).keys() == [])
        }
    }

    /// It was made without one, and stands in the header of each segment.
    @Test(
        .timeLimit(.minutes(1 * slowness)),
        arguments: isLongRun ? [5_000, 12_000, 20_000, 32_768, 100_000, 250_000] : [5_000, 32_768]
    )
    func holdWhereTheDictionaryIsLongerThanSegments(limit: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            do {
                let store = try PackedStore(directory: path, create: true)
                for seed in 0..<8 {
                    let archives = AlikeArchives.make(count: 100, seed: seed)
                    for (number, archive) in archives.enumerated() {
                        try store.save(archive, forKey: "key \(seed * 100 + number)")
                    }
                }
                store.finishUpkeep()
            }
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: limit))
            let dictionaryByteCount = store.current.tail.dictionary?.bytes.count ?? 0
            try #require(dictionaryByteCount > 1_500)
            try store.remove(forKey: "key 799")
            #expect(try store.fetch(forKey: "key 799") == nil)
            var random = SeededGenerator(seed: limit)
            for number in 0..<300 {
                do {
                    let archive = random.bytes(Int.random(in: 0...300, using: &random))
                    try store.save(archive, forKey: "new \(number)")
                    #expect(try store.fetch(forKey: "new \(number)")?.archive == archive)
                    #expect(try PackedSharingTests.byteCount(path) <= limit, "after \(number) saves")
                } catch let error as StoreError where error.code == .tooLarge {
                    // No room beside the dictionary.
                    #expect(limit < 4 * dictionaryByteCount)
                }
            }
        }
    }

    /// Where no segment but its own can be dropped.
    @Test func whatIsRemovedIsNotEvicted() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 2_000))
            let user = User()
            store.setUser(user)
            var removed: Set<String> = []
            for number in 0..<400 {
                try store.save([UInt8(number % 256)], forKey: "key \(number)")
                let oldest = try store.keys().min { Int($0.dropFirst(4)) ?? 0 < Int($1.dropFirst(4)) ?? 0 }
                guard !number.isMultiple(of: 3), let oldest else { continue }
                #expect(try store.remove(forKey: oldest))
                removed.insert(oldest)
            }
            #expect(removed.count > 20)
            #expect(removed.isDisjoint(with: user.evicted))
        }
    }

    /// Room for a value may be made of the segment that has the key's former one.
    @Test func noFormerValueIsThereAfterRoomWasMade() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 12_000))
            var random = SeededGenerator(seed: 2)
            for round in 0..<400 {
                let key = "key \(round % 3)"
                let archive = random.bytes(Int.random(in: 500...3_000, using: &random))
                // Used, so that it is kept when room is made.
                _ = try store.fetch(forKey: key)
                try store.save(archive, forKey: key)
                #expect(try store.fetch(forKey: key)?.archive == archive)
                #expect(try PackedStore(directory: path, create: false).fetch(forKey: key)?.archive == archive)
            }
        }
    }

    /// A store that is opened with smaller limits than before evicts at once the entries above them.
    @Test(arguments: [true, false]) func smallerLimitsCountFromTheOpeningOn(isOfBytes: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 4)
            do {
                let settings = StoreSettings(
                    byteLimit: isOfBytes ? 8 << 20 : nil,
                    countLimit: isOfBytes ? nil : 2_000
                )
                let store = try PackedStore(directory: path, create: true, settings: settings)
                for number in 0..<1_000 { try store.save(random.bytes(5_000), forKey: "key \(number)") }
                try store.close()
            }
            let settings = StoreSettings(byteLimit: isOfBytes ? 1 << 20 : nil, countLimit: isOfBytes ? nil : 100)
            let store = try PackedStore(directory: path, create: true, settings: settings)
            store.finishUpkeep()
            if isOfBytes {
                #expect(try PackedSharingTests.byteCount(path) <= 1 << 20)
                #expect(try PackedSharingTests.byteCount(path) > 1 << 19)
            } else {
                #expect(try store.keys().count == 100)
            }
            #expect(try store.keys().contains("key 999"))
        }
    }

    // MARK: The order of eviction

    private final class User: StoreUser {
        private let inUse: Set<String>
        private let gone = Mutex<[String]>([])
        var evicted: [String] { gone.withLock { $0 } }

        init(inUse: Set<String> = []) { self.inUse = inUse }
        func isInUse(_ key: String) -> Bool { inUse.contains(key) }
        func didEvict(_ entry: EntryInformation) { gone.withLock { $0.append(entry.key) } }
    }

    @Test func theOldestGoFirstUnlessTheyWereFetched() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(countLimit: 10))
            let user = User(inUse: ["key 3"])
            store.setUser(user)
            for key in 0..<10 { try store.save([UInt8(key)], forKey: "key \(key)") }
            _ = try store.fetch(forKey: "key 0")
            _ = try store.fetch(forKey: "key 5")
            for key in 10..<17 { try store.save([UInt8(key)], forKey: "key \(key)") }
            #expect(user.evicted == [1, 2, 4, 6, 7, 8, 9].map { "key \($0)" })
            #expect(try store.keys() == Set([0, 3, 5, 10, 11, 12, 13, 14, 15, 16].map { "key \($0)" }))
        }
    }

    /// Entries that are fetched all the time are evicted as well, if there are no others.
    @Test func theCountHoldsWhileAllIsBeingFetched() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(countLimit: 2))
            let isOver = Atomic<Bool>(false)
            let group = DispatchGroup()
            for _ in 0..<2 {
                group.enter()
                Thread.detachNewThread {
                    while !isOver.load(ordering: .relaxed) {
                        for key in 0..<8 { _ = try? store.fetch(forKey: "key \(key)") }
                    }
                    group.leave()
                }
            }
            defer {
                isOver.store(true, ordering: .relaxed)
                group.wait()
            }
            for step in 0..<rounds(2_000, short: 200) {
                try store.save([UInt8(step % 256)], forKey: "key \(step % 8)")
                #expect(try store.statistics().entryCount <= 2)
            }
        }
    }

    @Test func fetchedEntriesOutliveOthersUnderAByteLimit() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 100_000))
            let user = User()
            store.setUser(user)
            var random = SeededGenerator(seed: 3)
            for key in 0..<60 { try store.save(random.bytes(1_000), forKey: "old \(key)") }
            for step in 0..<150 {
                // No two of one segment, half of which is kept at most.
                for key in 0..<10 { _ = try store.fetch(forKey: "old \(key * 6)") }
                try store.save(random.bytes(1_000), forKey: "new \(step)")
            }
            store.finishUpkeep()
            #expect(try store.keys().isSuperset(of: (0..<10).map { "old \($0 * 6)" }))
            // Told once for each, and for none that is there.
            #expect(Set(user.evicted).count == user.evicted.count)
            #expect(try store.keys().union(user.evicted).count == 210)
            #expect(try store.keys().isDisjoint(with: user.evicted))
        }
    }

    @Test func theVolumesRoomIsKept() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.minimumFreeByteCount = 1
            do {
                let store = try PackedStore(directory: path, create: true, settings: settings)
                for key in 0..<10 { try store.save([UInt8(key)], forKey: "key \(key)") }
                #expect(try store.keys().count == 10)
            }
            settings.minimumFreeByteCount = .max / 2
            let store = try PackedStore(directory: path, create: true, settings: settings)
            let user = User()
            store.setUser(user)
            let error = #expect(throws: StoreError.self) { try store.save([1], forKey: "new") }
            #expect(error?.errorNumber == ENOSPC)
            // Every entry that could be evicted was evicted.
            #expect(try store.keys().isEmpty)
            #expect(Set(user.evicted) == Set((0..<10).map { "key \($0)" }))
        }
    }

    // MARK: Entries in no segment

    enum Loss: CaseIterable {
        /// There are other bytes after the last record.
        case damagedEnd
        /// Heads of records in the middle of the log.
        case damagedHeads
    }

    private func lose(_ loss: Loss, of path: String) throws {
        switch loss {
        case .damagedEnd: try changeLastSegment(path) { $0 += [UInt8](repeating: 0xAB, count: 100) }
        case .damagedHeads:
            try changeLastSegment(path) { bytes in
                for place in bytes.indices[(bytes.count / 4)..<(bytes.count / 2)] { bytes[place] = 0xAB }
            }
        }
    }

    private func changeLastSegment(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
        let file = path + "/" + (try #require(names.max()))
        var bytes = try readFile(file)
        body(&bytes)
        try writeFile(bytes, file)
    }

    /// Has a store with a limit lose entries while it is open.
    private func withLoss(
        _ loss: Loss,
        _ settings: StoreSettings,
        entryByteCount: Int,
        _ body: (PackedStore, _ path: String) throws -> Void
    ) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 8)
            do {
                var filling = settings
                filling.minimumFreeByteCount = 0
                let store = try PackedStore(directory: path, create: true, settings: filling)
                for key in 0..<100 { try store.save(random.bytes(entryByteCount), forKey: "key \(key)") }
                try store.close()
            }
            try lose(loss, of: path)
            let calls = Atomic<Int>(0)
            // A save that would go on for ever fails in the end.
            let layer = FileLayer { _ in
                calls.add(1, ordering: .relaxed).newValue > 20_000 ? .fail(EIO) : .proceed
            }
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            #expect(store.current.index.total.count >= 100)
            try body(store, path)
        }
    }

    @Test(arguments: Loss.allCases) func aSaveWithoutRoomOnTheVolumeFails(loss: Loss) throws {
        var settings = StoreSettings(byteLimit: 1 << 20)
        settings.minimumFreeByteCount = .max / 2
        try withLoss(loss, settings, entryByteCount: 1_500) { store, _ in
            let error = #expect(throws: StoreError.self) { try store.save([1], forKey: "new") }
            #expect(error?.errorNumber == ENOSPC)
            #expect(store.current.index.total.count == 0)
        }
    }

    @Test(arguments: Loss.allCases) func anEntryAsLongAsTheLimitAllowsIsSaved(loss: Loss) throws {
        try withLoss(loss, StoreSettings(byteLimit: 1 << 20), entryByteCount: 1_500) { store, path in
            let log = try #require(store.current)
            let limit = try #require(try log.lock.withWriterLock { log.space.budget.recordByteLimit(of: $0.log) })
            var random = SeededGenerator(seed: 9)
            let archive = random.bytes(limit)
            var longest = 0
            for byteCount in stride(from: limit - 300, through: limit, by: 10) {
                do throws(StoreError) {
                    try store.save(Array(archive[..<byteCount]), forKey: "new")
                    longest = byteCount
                } catch {
                    #expect(error.code == .tooLarge)
                    break
                }
            }
            #expect(longest > limit - 200)
            #expect(store.current.index.total.count <= 1)
            #expect(try PackedSharingTests.byteCount(path) <= 1 << 20)
        }
    }

    @Test(arguments: Loss.allCases) func theCountIsThatOfEntriesThatAreThere(loss: Loss) throws {
        try withLoss(loss, StoreSettings(countLimit: 100), entryByteCount: 300) { store, _ in
            for key in 0..<100 { try store.save([UInt8(key)], forKey: "new \(key)") }
            #expect(try store.keys().isSuperset(of: (0..<100).map { "new \($0)" }))
            #expect(store.current.index.total.count <= 100)
        }
    }

    /// Heads of records are damaged once more after the clock has passed the damage of their segment.
    @Test func theLimitOfEntriesHoldsWhereASegmentIsDamagedTwice() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 7)
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(countLimit: 20))
            let file = path + "/" + Segment.fileName(1)
            func damage(_ keys: [String]) throws {
                for key in keys {
                    let slot = try #require(store.current.index.slot(store.key(key).1))
                    let handle = try #require(FileHandle(forUpdatingAtPath: file))
                    try handle.seek(toOffset: UInt64(slot.place.offset) + 8)
                    try handle.write(contentsOf: [0xAB, 0xAB])
                    try handle.close()
                }
            }
            for number in 0..<20 { try store.save(random.bytes(100), forKey: "first \(number)") }
            try damage(["first 3"])
            for number in 0..<15 { try store.save(random.bytes(100), forKey: "second \(number)") }
            try damage(store.keys().sorted().enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element))
            for number in 0..<100 { try store.save(random.bytes(100), forKey: "third \(number)") }
            #expect(try store.keys().count == 20)
        }
    }

    /// Neither a whole segment that cannot be read nor a place in it keeps entries from being saved at a limit.
    @Test(arguments: [StoreSettings(byteLimit: 1 << 19), StoreSettings(countLimit: 50)], [true, false])
    func anUnreadablePlaceKeepsNoEntryFromBeingSaved(settings: StoreSettings, isWhole: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 4)
            let fault = Fault()
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: fault.layer) {
                KeyDigest(hashing: $0)
            }
            let user = User()
            store.setUser(user)
            for number in 0..<200 { try store.save(random.bytes(4_000), forKey: "former \(number)") }
            store.finishUpkeep()
            let slots = try (0..<200).compactMap { try store.current.index.slot(store.key("former \($0)").1) }
            let name = Segment.fileName(try #require(slots.first).place.segment)
            let readCount = Atomic<Int>(0)
            fault.set { call in
                guard call.operation == .read, call.name == name else { return false }
                return isWhole || !readCount.add(1, ordering: .relaxed).newValue.isMultiple(of: 2)
            }
            for number in 0..<200 { try store.save(random.bytes(4_000), forKey: "key \(number)") }
            store.finishUpkeep()
            fault.set(nil)
            #expect(try store.fetch(forKey: "key 199") != nil)
            let statistics = try store.statistics()
            #expect(statistics.entryCount <= settings.countLimit ?? .max)
            #expect(statistics.byteCount <= settings.byteLimit ?? .max)
        }
    }

    /// The file of a segment is deleted while the store is open: the clock goes on after it.
    @Test(arguments: [UInt32(1), 2]) func theLimitOfEntriesHoldsWithoutASegment(number: UInt32) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings.shortSegments
            settings.countLimit = 100
            var random = SeededGenerator(seed: 6)
            let former = try PackedStore(directory: path, create: true, settings: settings)
            for number in 0..<100 { try former.save(random.bytes(8_000), forKey: "former \(number)") }
            try former.close()
            let store = try PackedStore(directory: path, create: true, settings: settings)
            try #require(store.current.tail.number ?? 0 > 3)
            try FileManager.default.removeItem(atPath: path + "/" + Segment.fileName(number))
            for number in 0..<300 { try store.save(random.bytes(80), forKey: "key \(number)") }
            store.finishUpkeep()
            #expect(try store.statistics().entryCount <= 100)
            #expect(try store.fetch(forKey: "key 299") != nil)
        }
    }
}
