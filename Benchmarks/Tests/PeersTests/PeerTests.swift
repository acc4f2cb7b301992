import Foundation
import StoreMeasuring
import Testing
import Workloads

@testable import benchmarks

/// The behaviour that all stores of bytes share: without it, their figures would be of different work.
struct ByteStoreTests {
    private static let stores: [(name: String, open: @Sendable (URL) throws -> any ByteStore)] = {
        var stores: [(name: String, open: @Sendable (URL) throws -> any ByteStore)] = [
            ("files", { HandFileStore($0) })
        ]
        #if SQLITE
            stores.append(("SQLite, off", { try SQLiteStore($0, synchronous: .off) }))
            stores.append(("SQLite, without rowid", { try SQLiteStore($0, synchronous: .off, hasRowid: false) }))
            stores.append(("SQLite, normal", { try SQLiteStore($0, synchronous: .normal) }))
            stores.append(("SQLite, full", { try SQLiteStore($0, synchronous: .full) }))
        #endif
        #if LMDB
            stores.append(("LMDB, nosync", { try LMDBStore($0, isSynchronous: false) }))
            stores.append(("LMDB, sync", { try LMDBStore($0, isSynchronous: true) }))
        #endif
        return stores
    }()

    @Test(arguments: 0..<stores.count)
    func savesFetchesOverwritesAndRemoves(index: Int) throws {
        let (name, open) = Self.stores[index]
        let folder = FileManager.default.temporaryDirectory.appending(path: "byte-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        do {
            let store = try open(folder)
            #expect(try store.fetch(forKey: "a") == nil, "\(name)")
            try store.save([1, 2, 3], forKey: "a")
            try store.together { for number in 0..<100 { try store.save([UInt8(number)], forKey: "\(number)") } }
            try store.save([], forKey: "empty")
            try store.save([4], forKey: "a")
            try store.remove(forKey: "7")
            #expect(try store.fetch(forKey: "a") == [4], "\(name)")
        }
        let store = try open(folder)
        #expect(try store.fetch(forKey: "a") == [4], "\(name)")
        #expect(try store.fetch(forKey: "empty") == [], "\(name)")
        #expect(try store.fetch(forKey: "7") == nil, "\(name)")
        for number in 0..<100 where number != 7 {
            #expect(try store.fetch(forKey: "\(number)") == [UInt8(number)], "\(name)")
        }
    }
}

struct ArticleCodecTests {
    @Test(arguments: [false, true])
    func articlesComeBack(reusesStreams: Bool) throws {
        let codec = ArticleCodec(reusesStreams: reusesStreams)
        for article in Article.make(count: 5, textByteCount: 3_000) {
            let bytes = try codec.bytes(of: article)
            let again = try codec.article(in: bytes)
            #expect(again.text == article.text)
            #expect(again.number == article.number)
            // As text of real models does, it shrinks to about a half.
            #expect((1_000..<2_200).contains(bytes.count))
        }
    }

    @Test(arguments: [false, true])
    func damagedBytesAreRefused(reusesStreams: Bool) throws {
        let codec = ArticleCodec(reusesStreams: reusesStreams)
        let article = try #require(Article.make(count: 1, textByteCount: 300).first)
        let bytes = try codec.bytes(of: article)
        #expect(throws: BenchmarkError.self) { try codec.article(in: Array(bytes.dropLast(9))) }
        #expect(throws: BenchmarkError.self) { try codec.article(in: []) }
    }
}

struct RecencyTableTests {
    /// Against keys in an array, the newest last.
    @Test(arguments: 0..<50)
    func agreesWithAnArray(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...5, using: &generator)
        var table = RecencyTable<Int>(capacity: capacity)
        var model: [(key: String, value: Int)] = []
        for step in 0..<200 {
            let key = "\(Int.random(in: 0..<8, using: &generator))"
            let known = model.firstIndex { $0.key == key }.map { model.remove(at: $0) }
            if Bool.random(using: &generator) {
                table.insert(step, forKey: key)
                model = ((model.count == capacity ? Array(model.dropFirst()) : model) + [(key, step)])
            } else {
                #expect(table.value(forKey: key) == known?.value)
                if let known { model.append(known) }
            }
        }
    }
}

struct MeasuredStoreTests {
    @Test(arguments: [MeasuredStore.Layout.packed, .files])
    func keepsStreamsAsACacheDoes(layout: MeasuredStore.Layout) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "measured-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try MeasuredStore(directory: folder, layout: layout)
        try store.save(stream: [1, 2, 3], archiveByteCount: 9, forKey: "a")
        try store.save(stream: [4], archiveByteCount: 9, forKey: "b")
        #expect(try store.fetch(forKey: "a") == [1, 2, 3])
        #expect(try store.statistics()?.entryCount == (layout == .packed ? 2 : nil))
        try store.remove(forKey: "a")
        #expect(try store.fetch(forKey: "a") == nil)
        #expect(try store.fetch(forKey: "b") == [4])
    }
}

struct DiskContestantTests {
    /// Counts transactions, and keeps nothing.
    private final class TransactionCounter: ByteStore {
        private(set) var transactions = 0
        private(set) var savesWithin = 0
        private var isWithin = false

        func save(_ bytes: [UInt8], forKey key: String) { if isWithin { savesWithin += 1 } }
        func fetch(forKey key: String) -> [UInt8]? { nil }
        func remove(forKey key: String) {}

        func together(_ body: () throws -> Void) throws {
            transactions += 1
            isWithin = true
            defer { isWithin = false }
            try body()
        }
    }

    private static let wrappers: [@Sendable (any ByteStore) -> any DiskContestant] = [
        { BytesContestant($0) },
        { WholeJobContestant($0, reusesStreams: false) },
        { LockedContestant(BytesContestant($0)) },
    ]

    @Test(arguments: 0..<wrappers.count)
    func fillingIsOneTransactionOfTheStore(index: Int) throws {
        let store = TransactionCounter()
        try Self.wrappers[index](store).fill(3, with: DiskItem.make(textByteCount: 100))
        #expect(store.transactions == 1)
        #expect(store.savesWithin == 3)
    }
}
