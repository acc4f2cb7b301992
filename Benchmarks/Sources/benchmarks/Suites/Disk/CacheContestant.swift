import BenchmarkKit
import Foundation
import TypedCache

/// The cache, with nothing in memory.
final class CacheContestant: DiskContestant {
    private let cache: Cache<Article>

    init(_ folder: URL, disk: DiskSettings = DiskSettings()) throws {
        cache = try Cache(name: "articles", directory: folder, memory: .none, disk: disk)
    }

    func save(_ item: DiskItem, forKey key: String) throws { try cache.save(item.article, forKey: key) }

    func fetch(forKey key: String) throws -> Bool {
        let article = try cache.fetch(forKey: key)
        blackHole(article)
        return article != nil
    }

    func remove(forKey key: String) throws { try cache.remove(forKey: key) }
}
