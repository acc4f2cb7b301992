/// A value, and its bytes for contestants that store bytes only.
struct DiskItem {
    let article: Article
    /// Its archive, compressed, after the archive's length.
    let bytes: [UInt8]
    /// The same without the length, for stores that keep the length apart.
    let stream: [UInt8]
    let archiveByteCount: Int

    init(_ article: Article, codec: ArticleCodec) throws {
        self.article = article
        bytes = try codec.bytes(of: article)
        let parts = ArticleCodec.parts(of: bytes)
        stream = Array(parts.stream)
        archiveByteCount = parts.archiveByteCount
    }

    /// Few enough to stay in memory, enough not to be all the same.
    static func make(textByteCount: Int) throws -> [DiskItem] {
        let codec = ArticleCodec(reusesStreams: false)
        return try Article.make(count: 16, textByteCount: textByteCount).map { try DiskItem($0, codec: codec) }
    }

    /// Keys for items, made before anything is measured; more than any work uses.
    static let keys = (0..<1_000_000).map { "article-\(1_000_000 + $0)" }

    /// One of the first keys: by a prime step, so that neighbours on disk are not asked for one after the other.
    static func scatteredKey(_ index: Int, of entryCount: Int) -> String { keys[index * 7_919 % entryCount] }
}
