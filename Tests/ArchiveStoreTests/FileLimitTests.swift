import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Hears of evictions, and says of some keys that they are in use.
final class TestUser: StoreUser {
    private let state = Mutex((inUse: Set<String>(), evicted: [String](), store: FileStore?.none))
    private let asked = Atomic<Int>(0)

    func isInUse(_ key: String) -> Bool {
        asked.add(1, ordering: .relaxed)
        return state.withLock { $0.inUse.contains(key) }
    }

    /// How often it was asked whether a key is in use.
    var askedCount: Int { asked.load(ordering: .relaxed) }

    func didEvict(_ entry: EntryInformation) {
        // No lock is held: the store can be used.
        let store = state.withLock { $0.store }
        let isThere = (try? store?.information(forKey: entry.key)) != nil
        state.withLock { $0.evicted.append(isThere ? "\(entry.key) is there" : entry.key) }
    }

    func use(_ keys: Set<String>, askingBack store: FileStore? = nil) {
        state.withLock {
            $0.inUse = keys
            $0.store = store
        }
    }

    var evicted: [String] { state.withLock { $0.evicted } }
}

/// A file store keeps to its limits even if its journal is damaged or missing; and which entries it evicts.
@Suite struct FileLimitTests {
    @Test func holdWhileManyThreadsOfTwoProcessesSave() throws {
        try withTemporaryDirectory { path in
            let stores = try (0..<2).map { _ in
                try FileStore(
                    directory: path,
                    create: true,
                    settings: StoreSettings(byteLimit: 30_000, countLimit: 20)
                )
            }
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var random = SeededGenerator(seed: thread)
                for step in 0..<100 {
                    do {
                        let archive = random.bytes(Int.random(in: 0...3_000, using: &random))
                        let key = "key \(Int.random(in: 0..<60, using: &random))"
                        if Int.random(in: 0..<5, using: &random) == 0 {
                            try stores[thread % 2].remove(forKey: key)
                        } else {
                            try stores[thread % 2].save(archive, forKey: key)
                        }
                        // A listing takes time, in which entries come and go: counted are those of one instant only.
                        let names = try filesTotal(path).count
                        if names > 20 + 4 { faults.add("\(names) entries after step \(step)") }
                    } catch {
                        faults.add("\(error)")
                    }
                }
            }
            #expect(faults.all == [])
            let total = try filesTotal(path)
            #expect(total.byteCount <= 30_000 && total.count <= 20)
            for store in stores { store.upkeep.sync {} }
            try checkLedger(path)
        }
    }

    // MARK: Journals that are not as they were written

    /// Contents to replace a journal with, made from its present and an older content.
    private static func damages(_ whole: [UInt8], old: [UInt8]) -> [(name: String, bytes: [UInt8]?)] {
        var damages: [(String, [UInt8]?)] = [("missing", nil), ("older", old), ("no journal", Array("x".utf8))]
        damages += stride(from: 0, to: whole.count, by: 9).map { position in
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            return ("byte \(position) changed", bytes)
        }
        damages += stride(from: 0, to: whole.count, by: 13).map { ("cut off at \($0)", Array(whole[..<$0])) }
        damages.append(("twice", whole + whole))
        damages.append(("with zeros", whole + [UInt8](repeating: 0, count: 100)))
        return damages
    }

    /// - Parameter isRunning: whether a store has the journal open at the same time.
    @Test(arguments: variants([true, false], at: 0)) func holdWhateverHappensToTheJournal(isRunning: Bool) throws {
        try withTemporaryDirectory { path in
            let journal = path + "/journal"
            var random = SeededGenerator(seed: 3)
            let settings = StoreSettings(byteLimit: 4_000, countLimit: 6)
            let running = try FileStore(directory: path, create: true, settings: settings)
            for key in 0..<3 { try running.save(random.bytes(300), forKey: "key \(key)") }
            let old = try readFile(journal)
            for key in 0..<6 { try running.save(random.bytes(500), forKey: "key \(key)") }
            let whole = try readFile(journal)
            for (name, bytes) in Self.damages(whole, old: old) {
                try? FileManager.default.removeItem(atPath: journal)
                if let bytes { try writeFile(bytes, journal) }
                let store = isRunning ? running : try FileStore(directory: path, create: true, settings: settings)
                for key in 0..<4 {
                    let archive = random.bytes(600)
                    try store.save(archive, forKey: "\(name) \(key)")
                    let total = try filesTotal(path)
                    #expect(total.byteCount <= 4_000 && total.count <= 6, "\(name)")
                    #expect(try store.fetch(forKey: "\(name) \(key)")?.archive == archive, "\(name)")
                }
                store.upkeep.sync {}
                try checkLedger(path)
            }
        }
    }

    @Test func holdForEntriesThatWereThereBefore() throws {
        try withTemporaryDirectory { path in
            do {
                let store = try FileStore(directory: path, create: true)
                for key in 0..<50 { try store.save([UInt8](repeating: 1, count: 100), forKey: "key \(key)") }
                #expect(!FileManager.default.fileExists(atPath: path + "/journal"))
            }
            let store = try FileStore(directory: path, create: true, settings: StoreSettings(countLimit: 10))
            try store.save([1], forKey: "new")
            #expect(entries(in: path).count <= 10)
            #expect(try store.fetch(forKey: "new") != nil)
        }
    }

    @Test func aStoreWithoutLimitsRecordsWhereAnotherOneHasSome() throws {
        try withTemporaryDirectory { path in
            let unlimited = try FileStore(directory: path, create: true)
            try unlimited.save([1], forKey: "before")
            let limited = try FileStore(directory: path, create: true, settings: StoreSettings(countLimit: 5))
            try limited.save([1], forKey: "first")
            for key in 0..<20 { try unlimited.save([1], forKey: "key \(key)") }
            try unlimited.remove(forKey: "key 7")
            try checkLedger(path)
            #expect(entries(in: path).count == 21)
            try limited.save([1], forKey: "second")
            #expect(entries(in: path).count <= 5)
            limited.upkeep.sync {}
            try checkLedger(path)
        }
    }

    /// A process killed between an announcement and its rename leaves a journal that announces a file that never came.
    @Test func whatWasAnnouncedAndNeverCameCountsUntilItIsLookedAt() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true, settings: StoreSettings(byteLimit: 10_000))
            try store.save([1], forKey: "key")
            let phantom = JournalRecord(
                .announced,
                of: EntryName(high: 5 << 56, low: 6),
                NameSize(byteCount: 9_900, count: 1),
                writer: 7
            )
            let handle = try #require(FileHandle(forWritingAtPath: path + "/journal"))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(JournalRecord.bytes([phantom])))
            try handle.close()
            for key in 0..<40 {
                try store.save([UInt8](repeating: 1, count: 50), forKey: "key \(key)")
                #expect(try store.fetch(forKey: "key \(key)") != nil)
            }
            // It no longer takes up room.
            #expect(entries(in: path).count > 20)
            store.upkeep.sync {}
            try checkLedger(path)
        }
    }

    @Test func aDirectoryThatIsMadeAgainStartsAnew() throws {
        try withTemporaryDirectory { path in
            let cache = path + "/cache"
            let store = try FileStore(directory: cache, create: true, settings: StoreSettings(countLimit: 5))
            for round in 0..<3 {
                for key in 0..<12 { try store.save([1], forKey: "key \(round) \(key)") }
                #expect(entries(in: cache).count <= 5)
                store.upkeep.sync {}
                try checkLedger(cache)
                try FileManager.default.removeItem(atPath: cache)
            }
        }
    }

    // MARK: Victims

    @Test func whatIsInUseGoesLastAndWhoUsesTheStoreHears() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true, settings: StoreSettings(countLimit: 20))
            let user = TestUser()
            store.setUser(user)
            user.use(["key 0", "key 1", "key 2"], askingBack: store)
            for key in 0..<60 { try store.save([1], forKey: "key \(key)") }
            let left = try (0..<60).map { "key \($0)" }.filter { try store.information(forKey: $0) != nil }
            #expect(Set(left).isSuperset(of: ["key 0", "key 1", "key 2"]))
            #expect(Set(user.evicted) == Set((0..<60).map { "key \($0)" }).subtracting(left))
            #expect(user.evicted.count == Set(user.evicted).count)
            // If all are in use, some go nevertheless.
            user.use(Set((0..<90).map { "key \($0)" }))
            for key in 60..<90 { try store.save([1], forKey: "key \(key)") }
            #expect(entries(in: path).count <= 20)
        }
    }

    @Test func usefulnessIsKnownAfterARestart() throws {
        try withTemporaryDirectory { path in
            var random = SeededGenerator(seed: 9)
            let settings = StoreSettings(countLimit: 100)
            func open() throws -> FileStore { try FileStore(directory: path, create: true, settings: settings) }
            let keys = (0..<100).map { "key \($0)" }
            var store = try open()
            for key in keys { try store.save([1], forKey: key) }
            let useful = Set(keys.shuffled(using: &random).prefix(50))
            for key in useful { for _ in 0..<5 { _ = try store.fetch(forKey: key) } }
            // A later process only reads, and one after it saves.
            store = try open()
            for key in useful { _ = try store.fetch(forKey: key) }
            store = try open()
            store.upkeep.sync {}
            for key in 0..<3_000 { try store.save([1], forKey: "new \(key)") }
            let left = try keys.filter { try store.information(forKey: $0) != nil }
            let usefulLeft = left.filter(useful.contains)
            print("left of 50 useful: \(usefulLeft.count), of 50 others: \(left.count - usefulLeft.count)")
            #expect(usefulLeft.count > 2 * (left.count - usefulLeft.count))
        }
    }

    @Test("Eviction order does not depend on the file system's access times")
    func orderWithoutFileTimes() throws {
        func survivors(_ time: Double?) throws -> [String] {
            var left: [String] = []
            try withTemporaryDirectory { path in
                let settings = StoreSettings(countLimit: 30)
                var store = try FileStore(directory: path, create: true, settings: settings)
                for key in 0..<30 { try store.save([1], forKey: "key \(key)") }
                for key in stride(from: 0, to: 30, by: 3) { _ = try store.fetch(forKey: "key \(key)") }
                store = try FileStore(directory: path, create: true, settings: settings)
                for (index, file) in entries(in: path).enumerated() {
                    guard let time else { continue }
                    var times = [timespec(), timespec()]
                    for which in 0..<2 { times[which].tv_sec = Int(time * Double(index + 1)) }
                    try #require(utimensat(AT_FDCWD, file, times, 0) == 0)
                }
                for key in 0..<25 { try store.save([1], forKey: "new \(key)") }
                left = try (0..<30).map { "key \($0)" }.filter { try store.information(forKey: $0) != nil }
            }
            return left
        }
        let plain = try survivors(nil)
        #expect(plain.count > 0)
        #expect(try survivors(1_000) == plain)
        #expect(try survivors(-1_000) == plain)
    }

    @Test("10,000 hits on one key write nothing to disk but a bounded few")
    func hitsWriteNothing() throws {
        try withTemporaryDirectory { path in
            func state() throws -> [String: Int] {
                var sizes: [String: Int] = [:]
                for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
                    if attributes[.type] as? FileAttributeType == .typeRegular {
                        sizes[name] = attributes[.size] as? Int
                    }
                }
                return sizes
            }
            let settings = StoreSettings(byteLimit: 1 << 20)
            do {
                let store = try FileStore(directory: path, create: true, settings: settings)
                try store.save([1], forKey: "key")
                try store.save([1], forKey: "other")
                let before = try state()
                for _ in 0..<10_000 { _ = try store.fetch(forKey: "key") }
                #expect(try state() == before)
                // With saves in between, the journal grows by the saves' records and a few more.
                let journal = try #require(before["journal"])
                for round in 0..<100 {
                    for _ in 0..<10 { _ = try store.fetch(forKey: "key") }
                    try store.save([UInt8(round)], forKey: "other")
                }
                let grown = try #require(try state()["journal"]) - journal
                #expect(grown <= (100 * 2 + 3) * JournalRecord.byteCount)
                for _ in 0..<10_000 { _ = try store.fetch(forKey: "other") }
            }
            let records = try #require(try journalRecords(path))
            #expect(records.filter { $0.kind == .used }.count <= 6)
            #expect(records.contains { $0.kind == .used })
        }
    }

    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func theJournalIsWrittenAnewWhenMostOfItIsOld() throws {
        try withTemporaryDirectory { path in
            let limited = try FileStore(directory: path, create: true, settings: StoreSettings(countLimit: 100))
            let other = try FileStore(directory: path, create: true, settings: StoreSettings(countLimit: 100))
            let unlimited = try FileStore(directory: path, create: true)
            for round in 0..<2_500 {
                try [limited, other, unlimited][round % 3].save([1], forKey: "key \(round % 7)")
                if round % 100 == 0 {
                    #expect(try readFile(path + "/journal").count <= 1 << 17)
                    for store in [limited, other] { store.upkeep.sync {} }
                    try checkLedger(path)
                }
            }
        }
    }

    // MARK: Room on the volume

    @Test func whatMustStayFreeStaysFree() throws {
        try withTemporaryDirectory { path in
            do {
                let store = try FileStore(directory: path, create: true)
                for key in 0..<10 { try store.save([1], forKey: "key \(key)") }
            }
            var settings = StoreSettings()
            settings.minimumFreeByteCount = .max / 2
            let store = try FileStore(directory: path, create: true, settings: settings)
            let error = #expect(throws: StoreError.self) { try store.save([1], forKey: "key") }
            #expect(error?.code == .io && error?.errorNumber == ENOSPC)
            #expect(entries(in: path) == [])
            settings.minimumFreeByteCount = 1
            try FileStore(directory: path, create: true, settings: settings).save([1], forKey: "key")
        }
    }

    // MARK: Trimming

    @Test(arguments: [false, true]) func trimsToWhatIsAsked(isLimited: Bool) throws {
        try withTemporaryDirectory { path in
            let settings = StoreSettings(countLimit: isLimited ? 1_000 : nil)
            let store = try FileStore(directory: path, create: true, settings: settings)
            for key in 0..<40 {
                let date = Date(timeIntervalSinceReferenceDate: Double(40 - key))
                try store.save([UInt8](repeating: 1, count: 100), forKey: "\(key)", storedAt: date, expiresAt: nil)
            }
            let total = try filesTotal(path).byteCount
            for target in [total, total / 2, 0, -1] {
                var removed: [EntryInformation] = []
                let before = try filesTotal(path)
                try store.trim(toByteCount: target) { removed.append($0) }
                let after = try filesTotal(path)
                #expect(after.byteCount <= max(0, target))
                #expect(removed.count == before.count - after.count)
                #expect(removed.reduce(0) { $0 + $1.storedByteCount } == before.byteCount - after.byteCount)
                // Without a journal, entries are evicted in the order of their saves.
                if target == total / 2, !isLimited { #expect(removed.allSatisfy { (Int($0.key) ?? 0) >= 20 }) }
                if target == total / 2 { #expect(after.byteCount > target - 1_000) }
                // A record of 32 bytes for each entry that is left, and one for the journal's beginning.
                if isLimited, target < total {
                    #expect(try readFile(path + "/journal").count <= 32 * (after.count + 1))
                }
            }
            #expect(FileManager.default.fileExists(atPath: path + "/journal") == isLimited)
        }
    }
}
