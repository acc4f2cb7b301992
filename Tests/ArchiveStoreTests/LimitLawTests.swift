import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// That every store keeps to its limits, as the file system tells.
@Suite struct LimitLawTests {
    /// A kind of store, and how its content is counted from outside.
    enum Kind: CaseIterable, Sendable {
        case file, packed

        /// - Parameter hasCollisions: whether all keys share seven names, or seven hashes.
        func open(
            _ path: String,
            bytes: Int? = nil,
            count: Int? = nil,
            hasCollisions: Bool = false
        ) throws -> any ArchiveStore {
            let settings = StoreSettings(byteLimit: bytes, countLimit: count)
            switch self {
            case .file:
                return try FileStore(directory: path, create: true, settings: settings) { key in
                    hasCollisions
                        ? EntryName(high: UInt64(key.bytes.reduce(0, ^) % 7) << 56, low: 1) : EntryName(key)
                }
            case .packed:
                return try PackedStore(directory: path, create: true, settings: settings) { key in
                    let digest = KeyDigest(hashing: key)
                    return hasCollisions
                        ? KeyDigest(high: UInt64(key.reduce(0, ^) % 7) << 56, low: digest.low) : digest
                }
            }
        }

        /// The bytes of all entries on disk.
        func byteCount(_ path: String) throws -> Int {
            switch self {
            case .file: try filesTotal(path).byteCount
            case .packed: try PackedSharingTests.byteCount(path)
            }
        }

        /// The number of entries: of the files on disk, or as another store that is open tells.
        func count(_ path: String, _ other: any ArchiveStore) throws -> Int {
            switch self {
            case .file: try filesTotal(path).count
            case .packed: try other.keys().count
            }
        }

        /// Waits for all stores' work in the background, then compares the sizes in a journal with the files.
        func finish(_ stores: [any ArchiveStore], _ path: String) throws {
            for store in stores {
                (store as? PackedStore)?.finishUpkeep()
                (store as? FileStore)?.upkeep.sync {}
            }
            try checkLedger(path)
        }
    }

    @Test(
        "Byte limit L, 10 × L written: never above L plus one entry",
        // Of a packed store 1,000 bytes are four segments, of four records at most.
        arguments: [(Kind.file, 100_000), (.packed, 1_000), (.packed, 20_000), (.packed, 100_000)]
    )
    func tenTimesTheLimit(kind: Kind, limit: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try kind.open(path, bytes: limit)
            var random = SeededGenerator(seed: limit)
            var written = 0
            var number = 0
            while written < 10 * limit {
                let archive = random.bytes(Int.random(in: 1...(limit / 20), using: &random))
                try store.save(archive, forKey: "key \(number)")
                written += archive.count
                number += 1
                #expect(try kind.byteCount(path) <= limit, "after \(number) saves")
                #expect(try store.fetch(forKey: "key \(number - 1)")?.archive == archive)
            }
            // Room is used, not only kept free.
            try kind.finish([store], path)
            #expect(try kind.byteCount(path) > limit / 2)
        }
    }

    /// How a store hears that entries are in use.
    enum Use: CaseIterable, Sendable { case fetches, memory }

    /// Entries in use are evicted after all others, also where they were saved together and fill whole segments.
    @Test(arguments: Kind.allCases, Use.allCases)
    func entriesInUseOutliveOthers(kind: Kind, use: Use) throws {
        for bytes in [nil, 1 << 21] as [Int?] {
            try withTemporaryDirectory(inMemory: true) { path in
                let entryByteCount = 1_700
                let count = (bytes ?? 1 << 21) / entryByteCount
                let store = try kind.open(path, bytes: bytes, count: bytes == nil ? count : nil)
                let user = TestUser()
                store.setUser(user)
                var random = SeededGenerator(seed: 5)
                let used = (0..<count / 4).map { "used \($0)" }
                if use == .memory { user.use(Set(used)) }
                for key in used { try store.save(random.bytes(entryByteCount), forKey: key) }
                var turn = 0
                var lost = Set<String>()
                for number in 0..<count * 4 {
                    try store.save(random.bytes(entryByteCount), forKey: "other \(number)")
                    for _ in 0..<2 where use == .fetches {
                        let key = used[turn % used.count]
                        turn += 1
                        if try store.fetch(forKey: key) != nil { continue }
                        lost.insert(key)
                        try store.save(random.bytes(entryByteCount), forKey: key)
                    }
                }
                lost.formUnion(Set(user.evicted).intersection(used))
                #expect(lost.count <= used.count / 100, "limit of bytes: \(bytes != nil)")
            }
        }
    }

    /// Where all entries are in use, some go all the same, and no save asks about all of them.
    @Test(arguments: Kind.allCases) func savesGoOnWhereAllIsInUse(kind: Kind) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try kind.open(path, count: 200)
            let user = TestUser()
            store.setUser(user)
            user.use(Set((0..<1_000).map { "\($0)" }))
            for number in 0..<400 { try store.save([1], forKey: "\(number)") }
            let former = user.askedCount
            for number in 400..<500 { try store.save([1], forKey: "\(number)") }
            #expect(user.askedCount - former <= 100 * 20)
            #expect(try store.keys().count <= 200)
        }
    }

    /// Two stores of one process, each with its own ledger or index, stand for two processes.
    @Test(arguments: Kind.allCases, seeds(0..<30))
    func holdForRandomOperationsOfTwoProcesses(kind: Kind, seed: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: seed)
            let bytes = Int.random(in: (kind == .file ? 5_000 : 8_000)...50_000, using: &random)
            let count = Int.random(in: 1...30, using: &random)
            let hasBytes = Int.random(in: 0..<4, using: &random) != 0
            let hasCount = !hasBytes || Bool.random(using: &random)
            func open() throws -> any ArchiveStore {
                try kind.open(
                    path,
                    bytes: hasBytes ? bytes : nil,
                    count: hasCount ? count : nil,
                    hasCollisions: seed % 5 == 4
                )
            }
            var stores = try [open(), open()]
            var last: [String: [UInt8]] = [:]
            for step in 0..<150 {
                let place: Comment = "\(kind), seed \(seed), step \(step)"
                let which = Int.random(in: 0..<2, using: &random)
                let store = stores[which]
                let key = "key \(Int.random(in: 0..<40, using: &random))"
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<11:
                    let length = Int.random(in: 0...(kind == .file ? 4_000 : 2_000), using: &random)
                    let archive = random.bytes(length)
                    try store.save(archive, forKey: key)
                    last[key] = archive
                    let there = try store.fetch(forKey: key)?.archive
                    #expect(there == archive, place)
                case 11..<15:
                    let archive = try value(key, in: store, kind)
                    #expect(archive == nil || archive == last[key], place)
                case 15:
                    try store.remove(forKey: key)
                    last[key] = nil
                case 16:
                    guard let entry = try store.information(forKey: key) else { break }
                    _ = try store.moveDeadline(of: entry, to: Date(timeIntervalSinceReferenceDate: Double(step)))
                case 17 where kind == .packed: try store.trim(toByteCount: bytes / 2) { _ in }
                case 17:
                    guard let file = entries(in: path).randomElement(using: &random) else { break }
                    try writeFile(random.bytes(100), file)
                    // The journal cannot know of this. It is as long as an entry may be less.
                    try store.removeDamagedEntries()
                    last = try last.filter { try store.fetch(forKey: $0.key) != nil }
                case 18: stores[which] = try open()
                default:
                    guard Int.random(in: 0..<4, using: &random) == 0 else { break }
                    try store.removeAll()
                    last = [:]
                }
                if hasBytes { #expect(try kind.byteCount(path) <= bytes, place) }
                if hasCount { #expect(try kind.count(path, stores[1 - which]) <= count, place) }
            }
            try kind.finish(stores, path)
            let found = try stores[0].keys()
            #expect(try stores[1].keys() == found)
            #expect(try open().keys() == found)
            #expect(found.isSubset(of: Set(last.keys)))
        }
    }

    /// The archive of an entry; `nil` as well for an entry of a packed store that is damaged.
    private func value(_ key: String, in store: any ArchiveStore, _ kind: Kind) throws -> [UInt8]? {
        do throws(StoreError) {
            return try store.fetch(forKey: key)?.archive
        } catch {
            guard kind == .packed, error.code == .corrupted else { throw error }
            return nil
        }
    }

    @Test(arguments: Kind.allCases) func whatIsLargerThanAllIsRefused(kind: Kind) throws {
        try withTemporaryDirectory { path in
            let store = try kind.open(path, bytes: 1_000)
            try store.save([1], forKey: "key")
            var random = SeededGenerator(seed: 1)
            let archive = random.bytes(1_000)
            #expect(code { try store.save(archive, forKey: "key") } == .tooLarge)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            let none = try kind.open(path, count: 0)
            #expect(code { try none.save([2], forKey: "key") } == .tooLarge)
        }
    }
}
