import Foundation
import Testing

@testable import benchmarks

/// What every store of bytes does, or else its figures are of something else.
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
