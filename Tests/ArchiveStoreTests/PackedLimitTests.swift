import Foundation
import Synchronization
import TestSeeds
import Testing

@testable import ArchiveStore

/// That a packed store keeps to its limits, as the file system tells, and what goes first.
@Suite struct PackedLimitTests {
    private func settings(bytes: Int? = nil, count: Int? = nil) -> StoreSettings {
        var settings = StoreSettings()
        settings.byteLimit = bytes
        settings.countLimit = count
        return settings
    }

    private func random(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private func save(_ archive: [UInt8], _ key: String, in store: PackedStore) throws {
        try store.save(archive, forKey: key, storedAt: .now, expiresAt: nil)
    }

    /// `nil` as well for what is damaged.
    private func value(_ key: String, in store: PackedStore) throws -> [UInt8]? {
        do throws(StoreError) {
            return try store.fetch(forKey: key)?.archive
        } catch {
            guard error.code == .corrupted else { throw error }
            return nil
        }
    }

    private func keys(_ store: PackedStore) throws -> Set<String> {
        var keys: Set<String> = []
        try store.forEachEntry { entry in
            if case .success(let entry) = entry { keys.insert(entry.key) }
            return true
        }
        return keys
    }

    /// 1,000 bytes are four segments, of four records at most.
    @Test(arguments: [1_000, 20_000, 100_000])
    func tenTimesTheLimit(limit: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: limit))
            var random = SeededGenerator(seed: limit)
            var written = 0
            var number = 0
            while written < 10 * limit {
                let archive = self.random(Int.random(in: 1...(limit / 20), using: &random), &random)
                try save(archive, "key \(number)", in: store)
                written += archive.count
                number += 1
                #expect(try PackedSharingTests.byteCount(path) <= limit, "after \(number) saves")
                #expect(try store.fetch(forKey: "key \(number - 1)")?.archive == archive)
            }
            // Room is used, not only kept free.
            store.finishUpkeep()
            #expect(try PackedSharingTests.byteCount(path) > limit / 2)
        }
    }

    /// Two stores with an index each are to each other what two processes are.
    @Test(arguments: seeds(0..<30)) func holdForRandomOperationsOfTwoProcesses(seed: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: seed)
            let bytes = Int.random(in: 8_000...50_000, using: &random)
            let count = Int.random(in: 1...30, using: &random)
            let hasBytes = Int.random(in: 0..<4, using: &random) != 0
            let hasCount = !hasBytes || Bool.random(using: &random)
            let settings = settings(bytes: hasBytes ? bytes : nil, count: hasCount ? count : nil)
            func open() throws -> PackedStore {
                guard seed % 5 == 4 else {
                    return try PackedStore(directory: path, create: true, settings: settings)
                }
                return try PackedStore(directory: path, create: true, settings: settings) { key in
                    KeyDigest(high: UInt64(key.reduce(0, ^) % 7) << 56, low: KeyDigest(hashing: key).low)
                }
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
                    let archive = self.random(Int.random(in: 0...2_000, using: &random), &random)
                    try save(archive, key, in: store)
                    last[key] = archive
                    let there = try store.fetch(forKey: key)?.archive
                    #expect(there == archive, place)
                case 11..<15:
                    let archive = try value(key, in: store)
                    #expect(archive == nil || archive == last[key], place)
                case 15:
                    try store.remove(forKey: key)
                    last[key] = nil
                case 16:
                    guard let entry = try store.information(forKey: key) else { break }
                    _ = try store.moveDeadline(of: entry, to: Date(timeIntervalSinceReferenceDate: Double(step)))
                case 17: try store.trim(toByteCount: bytes / 2) { _ in }
                case 18: stores[which] = try open()
                default:
                    guard Int.random(in: 0..<4, using: &random) == 0 else { break }
                    try store.removeAll()
                    last = [:]
                }
                if hasBytes { #expect(try PackedSharingTests.byteCount(path) <= bytes, place) }
                if hasCount { #expect(try keys(stores[1 - which]).count <= count, place) }
            }
            for store in stores { store.finishUpkeep() }
            let found = try keys(stores[0])
            #expect(try keys(stores[1]) == found)
            #expect(try keys(open()) == found)
            #expect(found.isSubset(of: Set(last.keys)))
        }
    }

    /// What says that a victim was removed may be longer than what it is removed for.
    @Test(.timeLimit(.minutes(1)), arguments: seeds(0..<8)) func holdTogetherForLongKeys(seed: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: seed)
            let (bytes, count) = (1_200 + 200 * seed, 1 + seed % 4)
            let store = try PackedStore(
                directory: path,
                create: true,
                settings: settings(bytes: bytes, count: count)
            )
            let user = User()
            store.setUser(user)
            var saved: Set<String> = []
            for number in 0..<200 {
                let key = "\(number)" + String(repeating: "k", count: Int.random(in: 0..<bytes / 3, using: &random))
                try save([UInt8(number)], key, in: store)
                #expect(try store.fetch(forKey: key)?.archive == [UInt8(number)])
                #expect(try PackedSharingTests.byteCount(path) <= bytes, "save \(number)")
                saved.insert(key)
                let there = try keys(store)
                #expect(there.count <= count, "save \(number)")
                #expect(saved.subtracting(there) == Set(user.evicted), "save \(number)")
            }
            // Each one once.
            #expect(Set(user.evicted).count == user.evicted.count)
        }
    }

    /// It is gone, even if there is no room to say so.
    @Test(.timeLimit(.minutes(1))) func aLimitThatIsLessThanAKeyDoesNotKeepItFromBeingRemoved() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let key = String(repeating: "k", count: 700)
            try save([1], key, in: PackedStore(directory: path, create: true, settings: settings()))
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: 300))
            try store.remove(forKey: key)
            #expect(try keys(store) == [])
            #expect(try keys(PackedStore(directory: path, create: false, settings: settings())) == [])
        }
    }

    /// It was made without one, and stands in the header of each segment.
    @Test(.timeLimit(.minutes(1)), arguments: [5_000, 12_000, 20_000, 32_768, 100_000, 250_000])
    func holdWhereTheDictionaryIsLongerThanSegments(limit: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            do {
                let store = try PackedStore(directory: path, create: true, settings: settings())
                for seed in 0..<8 {
                    let archives = AlikeArchives.make(count: 100, seed: seed)
                    for (number, archive) in archives.enumerated() {
                        try save(archive, "key \(seed * 100 + number)", in: store)
                    }
                }
                store.finishUpkeep()
            }
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: limit))
            let dictionaryByteCount = store.current.tail.dictionary?.bytes.count ?? 0
            try #require(dictionaryByteCount > 1_500)
            try store.remove(forKey: "key 799")
            #expect(try store.fetch(forKey: "key 799") == nil)
            var random = SeededGenerator(seed: limit)
            for number in 0..<300 {
                do {
                    let archive = self.random(Int.random(in: 0...300, using: &random), &random)
                    try save(archive, "new \(number)", in: store)
                    #expect(try store.fetch(forKey: "new \(number)")?.archive == archive)
                    #expect(try PackedSharingTests.byteCount(path) <= limit, "after \(number) saves")
                } catch let error as StoreError where error.code == .tooLarge {
                    // No room beside the dictionary.
                    #expect(limit < 4 * dictionaryByteCount)
                }
            }
        }
    }

    /// Where nothing but its own segment can be given up.
    @Test func whatIsRemovedIsNotEvicted() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: 2_000))
            let user = User()
            store.setUser(user)
            var removed: Set<String> = []
            for number in 0..<400 {
                try save([UInt8(number % 256)], "key \(number)", in: store)
                let oldest = try keys(store).min { Int($0.dropFirst(4)) ?? 0 < Int($1.dropFirst(4)) ?? 0 }
                guard !number.isMultiple(of: 3), let oldest else { continue }
                #expect(try store.remove(forKey: oldest))
                removed.insert(oldest)
            }
            #expect(removed.count > 20)
            #expect(removed.isDisjoint(with: user.evicted))
        }
    }

    @Test func whatIsLargerThanAllIsRefused() throws {
        try withTemporaryDirectory { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: 1_000))
            try save([1], "key", in: store)
            var random = SeededGenerator(seed: 1)
            let error = #expect(throws: StoreError.self) { try save(self.random(1_000, &random), "key", in: store) }
            #expect(error?.code == .tooLarge)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            let none = try PackedStore(directory: path, create: true, settings: settings(count: 0))
            #expect(#expect(throws: StoreError.self) { try save([2], "key", in: none) }?.code == .tooLarge)
        }
    }

    /// Room for a value may be made of the segment that has the key's former one.
    @Test func noFormerValueIsThereAfterRoomWasMade() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: 12_000))
            var random = SeededGenerator(seed: 2)
            for round in 0..<400 {
                let key = "key \(round % 3)"
                let archive = self.random(Int.random(in: 500...3_000, using: &random), &random)
                // Used, so that it is kept when room is made.
                _ = try store.fetch(forKey: key)
                try save(archive, key, in: store)
                #expect(try store.fetch(forKey: key)?.archive == archive)
                #expect(try PackedStore(directory: path, create: false).fetch(forKey: key)?.archive == archive)
            }
        }
    }

    // MARK: What goes first

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
            let store = try PackedStore(directory: path, create: true, settings: settings(count: 10))
            let user = User(inUse: ["key 3"])
            store.setUser(user)
            for key in 0..<10 { try save([UInt8(key)], "key \(key)", in: store) }
            _ = try store.fetch(forKey: "key 0")
            _ = try store.fetch(forKey: "key 5")
            for key in 10..<17 { try save([UInt8(key)], "key \(key)", in: store) }
            #expect(user.evicted == [1, 2, 4, 6, 7, 8, 9].map { "key \($0)" })
            #expect(try keys(store) == Set([0, 3, 5, 10, 11, 12, 13, 14, 15, 16].map { "key \($0)" }))
        }
    }

    /// Who is fetched all the time gives way as well, if there is nobody else.
    @Test func theCountHoldsWhileAllIsBeingFetched() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(count: 2))
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
            for step in 0..<2_000 {
                try save([UInt8(step % 256)], "key \(step % 8)", in: store)
                #expect(try store.statistics().entryCount <= 2)
            }
        }
    }

    @Test func fetchedEntriesOutliveOthersUnderAByteLimit() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true, settings: settings(bytes: 100_000))
            let user = User()
            store.setUser(user)
            var random = SeededGenerator(seed: 3)
            for key in 0..<60 { try save(self.random(1_000, &random), "old \(key)", in: store) }
            for step in 0..<150 {
                // No two of one segment, half of which is kept at most.
                for key in 0..<10 { _ = try store.fetch(forKey: "old \(key * 6)") }
                try save(self.random(1_000, &random), "new \(step)", in: store)
            }
            store.finishUpkeep()
            #expect(try keys(store).isSuperset(of: (0..<10).map { "old \($0 * 6)" }))
            // Told once for each, and for none that is there.
            #expect(Set(user.evicted).count == user.evicted.count)
            #expect(try keys(store).union(user.evicted).count == 210)
            #expect(try keys(store).isDisjoint(with: user.evicted))
        }
    }

    @Test func theVolumesRoomIsKept() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.minimumFreeByteCount = 1
            do {
                let store = try PackedStore(directory: path, create: true, settings: settings)
                for key in 0..<10 { try save([UInt8(key)], "key \(key)", in: store) }
                #expect(try keys(store).count == 10)
            }
            settings.minimumFreeByteCount = .max / 2
            let store = try PackedStore(directory: path, create: true, settings: settings)
            let user = User()
            store.setUser(user)
            let error = #expect(throws: StoreError.self) { try save([1], "new", in: store) }
            #expect(error?.errorNumber == ENOSPC)
            // All that could be given up was.
            #expect(try keys(store).isEmpty)
            #expect(Set(user.evicted) == Set((0..<10).map { "key \($0)" }))
        }
    }
}
