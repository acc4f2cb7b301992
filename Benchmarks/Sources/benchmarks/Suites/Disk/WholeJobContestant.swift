import BenchmarkKit

/// A store of bytes, and a codec for articles: all the work of the cache, as one would write it by hand.
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
}
