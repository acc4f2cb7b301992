import BenchmarkKit
import Foundation
import StoreMeasuring
import TypedCache

/// A store that keeps articles on disk, or their bytes.
protocol DiskContestant: AnyObject {
    func save(_ item: DiskItem, forKey key: String) throws
    /// Reads a whole entry.
    ///
    /// - Returns: whether there is an entry for `key`.
    func fetch(forKey key: String) throws -> Bool
    func remove(forKey key: String) throws
    /// Runs `body` as one transaction, if the store has them, since that is faster.
    func together(_ body: () throws -> Void) throws
}

extension DiskContestant {
    func together(_ body: () throws -> Void) throws { try body() }

    /// Saves under the first keys.
    func fill(_ entryCount: Int, with items: [DiskItem]) throws {
        try together {
            for index in 0..<entryCount { try save(items[index % items.count], forKey: DiskItem.keys[index]) }
        }
    }

    /// Fetches one of the first `entryCount` keys; throws if it is missing, since a miss would measure something else.
    func fetchExisting(_ index: Int, of entryCount: Int) throws {
        let key = DiskItem.scatteredKey(index, of: entryCount)
        guard try fetch(forKey: key) else { throw BenchmarkError("\(key) is not there") }
    }

    /// Saves over one of the first `entryCount` keys, each time another item than before.
    func saveOver(_ index: Int, of entryCount: Int, with items: [DiskItem]) throws {
        let item = items[(index + index / entryCount) % items.count]
        try save(item, forKey: DiskItem.scatteredKey(index, of: entryCount))
    }
}

/// The cache, with nothing in memory.
final class CacheContestant: DiskContestant {
    private let cache: Cache<Article>

    init(_ folder: URL, disk: DiskSettings = DiskSettings()) throws {
        cache = try Cache(name: "articles", directory: folder, settings: CacheSettings(memory: .none, disk: disk))
    }

    func save(_ item: DiskItem, forKey key: String) throws { try cache.save(item.article, forKey: key) }

    func fetch(forKey key: String) throws -> Bool {
        let article = try cache.fetch(forKey: key)
        blackHole(article)
        return article != nil
    }

    func remove(forKey key: String) throws { try cache.remove(forKey: key) }
}

/// The cache's own store, with bytes that were compressed before; it returns them compressed.
final class StreamContestant: DiskContestant {
    private let store: MeasuredStore

    init(_ folder: URL, layout: MeasuredStore.Layout, waitsForDisk: Bool, isEncrypted: Bool) throws {
        store = try MeasuredStore(
            directory: folder.appending(path: "store", directoryHint: .isDirectory),
            layout: layout,
            waitsForDevice: waitsForDisk,
            isEncrypted: isEncrypted
        )
    }

    func save(_ item: DiskItem, forKey key: String) throws {
        try store.save(stream: item.stream, archiveByteCount: item.archiveByteCount, forKey: key)
    }

    func fetch(forKey key: String) throws -> Bool {
        let stream = try store.fetch(forKey: key)
        blackHole(stream)
        return stream != nil
    }

    func remove(forKey key: String) throws { try store.remove(forKey: key) }
}

/// A store of bytes: it is given compressed bytes, and returns them without decoding them.
final class BytesContestant: DiskContestant {
    private let store: any ByteStore

    init(_ store: any ByteStore) { self.store = store }

    func save(_ item: DiskItem, forKey key: String) throws { try store.save(item.bytes, forKey: key) }

    func fetch(forKey key: String) throws -> Bool {
        let bytes = try store.fetch(forKey: key)
        blackHole(bytes)
        return bytes != nil
    }

    func remove(forKey key: String) throws { try store.remove(forKey: key) }

    func together(_ body: () throws -> Void) throws { try store.together(body) }
}

/// A store of bytes and a codec for articles: all the work of the cache, written by hand.
final class WholeJobContestant: DiskContestant {
    private let store: any ByteStore
    private let codec: ArticleCodec

    init(_ store: any ByteStore, reusesStreams: Bool) {
        self.store = store
        codec = ArticleCodec(reusesStreams: reusesStreams)
    }

    func save(_ item: DiskItem, forKey key: String) throws {
        try store.save(codec.bytes(of: item.article), forKey: key)
    }

    func fetch(forKey key: String) throws -> Bool {
        guard let bytes = try store.fetch(forKey: key) else { return false }
        blackHole(try codec.article(in: bytes))
        return true
    }

    func remove(forKey key: String) throws { try store.remove(forKey: key) }

    func together(_ body: () throws -> Void) throws { try store.together(body) }
}

/// One JSON file per article, by Foundation alone, as applications do it.
final class JSONContestant: DiskContestant {
    private let folder: URL
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init(_ folder: URL) { self.folder = folder }

    func save(_ item: DiskItem, forKey key: String) throws {
        try encoder.encode(item.article).write(to: folder.appending(path: key), options: .atomic)
    }

    func fetch(forKey key: String) throws -> Bool {
        let data = try Data(contentsOf: folder.appending(path: key))
        blackHole(try decoder.decode(Article.self, from: data))
        return true
    }

    func remove(forKey key: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: key))
    }
}
