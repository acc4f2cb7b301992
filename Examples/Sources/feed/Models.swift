import ModelCache

struct User: CachedModel {
    static let modelName = "user"
    let id: Int
    var name: String

    static func request(for id: Int) -> ModelRequest { .get("/users", id) }
}

struct Article: CachedModel {
    static let modelName = "article"
    let id: Int
    var title: String
    /// In the feed it is missing; of a whole article it may be null.
    var text: String?
    var author: ModelLink<User>

    static func request(for id: Int) -> ModelRequest { .get("/articles", id) }

    static let partialSources: Set<ModelSource> = [.list]

    static func merge(_ incoming: Article, over old: Article, from source: ModelSource) -> Article {
        var merged = incoming
        if partialSources.contains(source) { merged.text = old.text }
        return merged
    }
}

struct Comment: CachedModel {
    static let modelName = "comment"
    let id: String
    var text: String
    var author: ModelLink<User>

    static func request(for id: String) -> ModelRequest { .get("/comments", id) }
}

struct Feed: ModelList {
    typealias Element = Article
    var topic: String

    var listKey: String { "feed/\(topic)" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/articles", query: ["topic": topic, "after": cursor?.text])
    }
    func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }
}

struct Comments: ModelList {
    typealias Element = Comment
    var article: Int

    var listKey: String { "comments/\(article)" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/comments", query: ["article": "\(article)"]) }
}
