import BenchmarkKit
import Foundation
import TypedCache

/// The cache, with nothing in memory.
final class CacheContestant: DiskContestant {
    private let cache: Cache<Document>

    init(_ folder: URL) throws {
        cache = try Cache(name: "documents", directory: folder, memory: .none)
    }

    func save(_ item: DiskItem, forKey key: String) throws { try cache.save(item.document, forKey: key) }

    func fetch(forKey key: String) throws -> Bool {
        let document = try cache.fetch(forKey: key)
        blackHole(document)
        return document != nil
    }

    func remove(forKey key: String) throws { try cache.remove(forKey: key) }
}
