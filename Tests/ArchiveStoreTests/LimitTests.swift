import Foundation
import Synchronization
import TestSeeds
import Testing

@testable import ArchiveStore

/// Hears of evictions, and says of some keys that they are in use.
final class TestUser: StoreUser {
    private let state = Mutex((inUse: Set<String>(), evicted: [String](), store: FileStore?.none))

    func isInUse(_ key: String) -> Bool { state.withLock { $0.inUse.contains(key) } }

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

/// That a file store keeps to its limits, as the file system tells, whatever happens to its journal.
@Suite struct LimitTests {
    private func settings(bytes: Int? = nil, count: Int? = nil) -> StoreSettings {
        var settings = StoreSettings()
        settings.byteLimit = bytes
        settings.countLimit = count
        return settings
    }

    private func random(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private func save(_ archive: [UInt8], _ key: String, in store: FileStore) throws {
        try store.save(archive, forKey: key, storedAt: .now, expiresAt: nil)
    }

    @Test("14 byte limit L, 10 × L written: never above L plus one entry")
    func tenTimesTheLimit() throws {
        try withTemporaryDirectory { path in
            let limit = 100_000
            let store = try FileStore(directory: path, create: true, settings: settings(bytes: limit))
            var random = SeededGenerator(seed: 14)
            var written = 0
            var number = 0
            while written < 10 * limit {
                let archive = self.random(Int.random(in: 1...5_000, using: &random), &random)
                try save(archive, "key \(number)", in: store)
                written += archive.count
                number += 1
                #expect(try filesTotal(path).byteCount <= limit, "after \(number) saves")
                #expect(try store.fetch(forKey: "key \(number - 1)")?.archive == archive)
            }
            // Room is used, not only kept free.
            #expect(try filesTotal(path).byteCount > limit / 2)
            store.upkeep.sync {}
            try checkLedger(path)
        }
    }

    /// Two stores with a ledger each are to each other what two processes are.
    @Test(arguments: seeds(0..<30)) func holdForRandomOperationsOfTwoProcesses(seed: Int) throws {
        try withTemporaryDirectory { path in
            var random = SeededGenerator(seed: seed)
            let limit = NameSize(
                byteCount: Int.random(in: 5_000...50_000, using: &random),
                count: Int.random(in: 1...30, using: &random)
            )
            let hasBytes = Int.random(in: 0..<4, using: &random) != 0
            let hasCount = !hasBytes || Bool.random(using: &random)
            let settings = settings(bytes: hasBytes ? limit.byteCount : nil, count: hasCount ? limit.count : nil)
            func open() throws -> FileStore {
                if seed % 5 == 4 {
                    return try FileStore(directory: path, create: true, settings: settings) { key in
                        EntryName(high: UInt64(key.bytes.reduce(0, ^) % 7) << 56, low: 1)
                    }
                }
                return try FileStore(directory: path, create: true, settings: settings)
            }
            var stores = try [open(), open()]
            var last: [String: [UInt8]] = [:]
            for step in 0..<150 {
                let place: Comment = "seed \(seed), step \(step)"
                let which = Int.random(in: 0..<2, using: &random)
                let store = stores[which]
                let key = "key \(Int.random(in: 0..<40, using: &random))"
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<11:
                    let archive = self.random(Int.random(in: 0...4_000, using: &random), &random)
                    try save(archive, key, in: store)
                    last[key] = archive
                    let there = try store.fetch(forKey: key)?.archive
                    #expect(there == archive, place)
                case 11..<15:
                    let archive = try store.fetch(forKey: key)?.archive
                    #expect(archive == nil || archive == last[key], place)
                case 15:
                    try store.remove(forKey: key)
                    last[key] = nil
                case 16:
                    guard let entry = try store.information(forKey: key) else { break }
                    _ = try store.moveDeadline(of: entry, to: Date(timeIntervalSinceReferenceDate: Double(step)))
                case 17:
                    guard let file = entries(in: path).randomElement(using: &random) else { break }
                    try writeFile(self.random(100, &random), file)
                    // The journal cannot know of this. It is as long as an entry may be less.
                    try store.removeDamagedEntries()
                    last = try last.filter { try store.fetch(forKey: $0.key) != nil }
                case 18: stores[which] = try open()
                default:
                    guard Int.random(in: 0..<4, using: &random) == 0 else { break }
                    try store.removeAll()
                    last = [:]
                }
                let total = try filesTotal(path)
                if hasBytes { #expect(total.byteCount <= limit.byteCount, place) }
                if hasCount { #expect(total.count <= limit.count, place) }
            }
            for store in stores { store.upkeep.sync {} }
            try checkLedger(path)
        }
    }

    @Test func holdWhileManyThreadsOfTwoProcessesSave() throws {
        try withTemporaryDirectory { path in
            let stores = try (0..<2).map { _ in
                try FileStore(directory: path, create: true, settings: settings(bytes: 30_000, count: 20))
            }
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var random = SeededGenerator(seed: thread)
                for step in 0..<100 {
                    do {
                        let archive = self.random(Int.random(in: 0...3_000, using: &random), &random)
                        let key = "key \(Int.random(in: 0..<60, using: &random))"
                        if Int.random(in: 0..<5, using: &random) == 0 {
                            try stores[thread % 2].remove(forKey: key)
                        } else {
                            try save(archive, key, in: stores[thread % 2])
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

    @Test func whatIsLargerThanAllIsRefused() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true, settings: settings(bytes: 1_000))
            try save([1], "key", in: store)
            var random = SeededGenerator(seed: 1)
            let error = #expect(throws: StoreError.self) { try save(self.random(1_000, &random), "key", in: store) }
            #expect(error?.code == .tooLarge)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            let none = try FileStore(directory: path, create: true, settings: settings(count: 0))
            #expect(#expect(throws: StoreError.self) { try save([2], "key", in: none) }?.code == .tooLarge)
        }
    }

    // MARK: Journals that are not as they were written

    /// What a journal may be replaced by, given what it is and was.
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

    /// - Parameter isRunning: whether a store has the journal open meanwhile.
    @Test(arguments: [false, true]) func holdWhateverHappensToTheJournal(isRunning: Bool) throws {
        try withTemporaryDirectory { path in
            let journal = path + "/journal"
            var random = SeededGenerator(seed: 3)
            let settings = settings(bytes: 4_000, count: 6)
            let running = try FileStore(directory: path, create: true, settings: settings)
            for key in 0..<3 { try save(self.random(300, &random), "key \(key)", in: running) }
            let old = try readFile(journal)
            for key in 0..<6 { try save(self.random(500, &random), "key \(key)", in: running) }
            let whole = try readFile(journal)
            for (name, bytes) in Self.damages(whole, old: old) {
                try? FileManager.default.removeItem(atPath: journal)
                if let bytes { try writeFile(bytes, journal) }
                let store = isRunning ? running : try FileStore(directory: path, create: true, settings: settings)
                for key in 0..<4 {
                    let archive = self.random(600, &random)
                    try save(archive, "\(name) \(key)", in: store)
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
                for key in 0..<50 { try save([UInt8](repeating: 1, count: 100), "key \(key)", in: store) }
                #expect(!FileManager.default.fileExists(atPath: path + "/journal"))
            }
            let store = try FileStore(directory: path, create: true, settings: settings(count: 10))
            try save([1], "new", in: store)
            #expect(entries(in: path).count <= 10)
            #expect(try store.fetch(forKey: "new") != nil)
        }
    }

    @Test func aStoreWithoutLimitsRecordsWhereAnotherOneHasSome() throws {
        try withTemporaryDirectory { path in
            let unlimited = try FileStore(directory: path, create: true)
            try save([1], "before", in: unlimited)
            let limited = try FileStore(directory: path, create: true, settings: settings(count: 5))
            try save([1], "first", in: limited)
            for key in 0..<20 { try save([1], "key \(key)", in: unlimited) }
            try unlimited.remove(forKey: "key 7")
            try checkLedger(path)
            #expect(entries(in: path).count == 21)
            try save([1], "second", in: limited)
            #expect(entries(in: path).count <= 5)
            limited.upkeep.sync {}
            try checkLedger(path)
        }
    }

    /// What a process leaves that is killed between an announcement and its rename.
    @Test func whatWasAnnouncedAndNeverCameCountsUntilItIsLookedAt() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true, settings: settings(bytes: 10_000))
            try save([1], "key", in: store)
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
                try save([UInt8](repeating: 1, count: 50), "key \(key)", in: store)
                #expect(try store.fetch(forKey: "key \(key)") != nil)
            }
            // It takes up no room any more.
            #expect(entries(in: path).count > 20)
            store.upkeep.sync {}
            try checkLedger(path)
        }
    }

    @Test func aDirectoryThatIsMadeAgainStartsAnew() throws {
        try withTemporaryDirectory { path in
            let cache = path + "/cache"
            let store = try FileStore(directory: cache, create: true, settings: settings(count: 5))
            for round in 0..<3 {
                for key in 0..<12 { try save([1], "key \(round) \(key)", in: store) }
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
            let store = try FileStore(directory: path, create: true, settings: settings(count: 20))
            let user = TestUser()
            store.setUser(user)
            user.use(["key 0", "key 1", "key 2"], askingBack: store)
            for key in 0..<60 { try save([1], "key \(key)", in: store) }
            let left = try (0..<60).map { "key \($0)" }.filter { try store.information(forKey: $0) != nil }
            #expect(Set(left).isSuperset(of: ["key 0", "key 1", "key 2"]))
            #expect(Set(user.evicted) == Set((0..<60).map { "key \($0)" }).subtracting(left))
            #expect(user.evicted.count == Set(user.evicted).count)
            // If all are in use, some go nevertheless.
            user.use(Set((0..<90).map { "key \($0)" }))
            for key in 60..<90 { try save([1], "key \(key)", in: store) }
            #expect(entries(in: path).count <= 20)
        }
    }

    @Test func usefulnessIsKnownAfterARestart() throws {
        try withTemporaryDirectory { path in
            var random = SeededGenerator(seed: 9)
            let settings = settings(count: 100)
            func open() throws -> FileStore { try FileStore(directory: path, create: true, settings: settings) }
            let keys = (0..<100).map { "key \($0)" }
            var store = try open()
            for key in keys { try save([1], key, in: store) }
            let useful = Set(keys.shuffled(using: &random).prefix(50))
            for key in useful { for _ in 0..<5 { _ = try store.fetch(forKey: key) } }
            // A later process only reads, and one after it saves.
            store = try open()
            for key in useful { _ = try store.fetch(forKey: key) }
            store = try open()
            store.upkeep.sync {}
            for key in 0..<2_000 { try save([1], "new \(key)", in: store) }
            let left = try keys.filter { try store.information(forKey: $0) != nil }
            let usefulLeft = left.filter(useful.contains)
            print("left of 50 useful: \(usefulLeft.count), of 50 others: \(left.count - usefulLeft.count)")
            #expect(usefulLeft.count > 2 * (left.count - usefulLeft.count))
        }
    }

    @Test("17 eviction order does not depend on the file system's access times")
    func orderWithoutFileTimes() throws {
        func survivors(_ time: Double?) throws -> [String] {
            var left: [String] = []
            try withTemporaryDirectory { path in
                let settings = settings(count: 30)
                var store = try FileStore(directory: path, create: true, settings: settings)
                for key in 0..<30 { try save([1], "key \(key)", in: store) }
                for key in stride(from: 0, to: 30, by: 3) { _ = try store.fetch(forKey: "key \(key)") }
                store = try FileStore(directory: path, create: true, settings: settings)
                for (index, file) in entries(in: path).enumerated() {
                    guard let time else { continue }
                    var times = [timespec(), timespec()]
                    for which in 0..<2 { times[which].tv_sec = Int(time * Double(index + 1)) }
                    try #require(utimensat(AT_FDCWD, file, times, 0) == 0)
                }
                for key in 0..<25 { try save([1], "new \(key)", in: store) }
                left = try (0..<30).map { "key \($0)" }.filter { try store.information(forKey: $0) != nil }
            }
            return left
        }
        let plain = try survivors(nil)
        #expect(plain.count > 0)
        #expect(try survivors(1_000) == plain)
        #expect(try survivors(-1_000) == plain)
    }

    @Test("18 10,000 hits on one key write nothing to disk but a bounded few")
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
            let settings = settings(bytes: 1 << 20)
            do {
                let store = try FileStore(directory: path, create: true, settings: settings)
                try save([1], "key", in: store)
                try save([1], "other", in: store)
                let before = try state()
                for _ in 0..<10_000 { _ = try store.fetch(forKey: "key") }
                #expect(try state() == before)
                // Nor do they when there are saves in between, but for what the saves write, and a few.
                let journal = try #require(before["journal"])
                for round in 0..<100 {
                    for _ in 0..<10 { _ = try store.fetch(forKey: "key") }
                    try save([UInt8(round)], "other", in: store)
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

    @Test func theJournalIsWrittenAnewWhenMostOfItIsOld() throws {
        try withTemporaryDirectory { path in
            let limited = try FileStore(directory: path, create: true, settings: settings(count: 100))
            let other = try FileStore(directory: path, create: true, settings: settings(count: 100))
            let unlimited = try FileStore(directory: path, create: true)
            for round in 0..<2_500 {
                try save([1], "key \(round % 7)", in: [limited, other, unlimited][round % 3])
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
                for key in 0..<10 { try save([1], "key \(key)", in: store) }
            }
            var settings = StoreSettings()
            settings.minimumFreeByteCount = .max / 2
            let store = try FileStore(directory: path, create: true, settings: settings)
            let error = #expect(throws: StoreError.self) { try save([1], "key", in: store) }
            #expect(error?.code == .io && error?.errorNumber == ENOSPC)
            #expect(entries(in: path) == [])
            settings.minimumFreeByteCount = 1
            try save([1], "key", in: FileStore(directory: path, create: true, settings: settings))
        }
    }

    // MARK: Trimming

    @Test(arguments: [false, true]) func trimsToWhatIsAsked(isLimited: Bool) throws {
        try withTemporaryDirectory { path in
            let settings = settings(count: isLimited ? 1_000 : nil)
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
                // Without a journal, what was saved first goes first.
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
