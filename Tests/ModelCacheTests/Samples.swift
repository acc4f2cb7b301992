import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import Testing
import TypedCache
import TypedCacheTesting

struct User: CachedModel {
    static let modelName = "user"
    let id: Int
    var name: String
    var bio: String?

    static func request(for id: Int) -> ModelRequest { .get("/users/\(id)") }
    static func request(for ids: [Int]) -> ModelRequest? {
        .get("/users", query: ["ids": ids.map(String.init).joined(separator: ",")])
    }
    static func merge(_ incoming: User, over old: User, from source: ModelSource) -> User {
        var merged = incoming
        if source == .list || source == .nested { merged.bio = incoming.bio ?? old.bio }
        return merged
    }
    static func isComplete(_ model: User) -> Bool { model.bio != nil }
}

struct Comment: CachedModel {
    static let modelName = "comment"
    let id: String
    var text: String
    var author: ModelLink<User>

    static func request(for id: String) -> ModelRequest { .get("/comments/\(id)") }
}

struct Article: CachedModel {
    static let modelName = "article"
    let id: Int
    var title: String
    var author: ModelLink<User>
    var topic: String?

    static func request(for id: Int) -> ModelRequest { .get("/articles/\(id)") }
    var tags: Set<String> { topic.map { [$0] } ?? [] }
}

struct Feed: ModelList {
    typealias Element = Article
    var topic: String

    var listKey: String { "feed/\(topic)" }
    var tags: Set<String> { ["feed"] }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/articles", query: ["topic": topic, "after": cursor?.text])
    }
    func page(in body: ModelBody) throws -> ModelPage<Article> {
        try body.page(items: "items", next: .optional("next"))
    }
}

/// A server, a clock and a cache of its own in a temporary directory.
struct Stage: ~Copyable {
    let server = StubTransport()
    let clock = ManualClock()
    let directory: TemporaryDirectory
    let failures = Failures()

    init() throws { directory = try TemporaryDirectory() }

    func open(account: String = "42") async throws -> Models {
        let failures = failures
        return try await Models(
            account: account,
            types: [User.self, Comment.self, Article.self],
            directory: directory.url,
            transport: server,
            clock: clock,
            onFailure: { failures.add($0) }
        )
    }

    /// Opens a cache with a held answer of the feed on Swift.
    func openHoldingFeed(_ ids: [Int]) async throws -> Models {
        server.answerFeed("swift", ids)
        server.hold("/articles?topic=swift")
        return try await open()
    }
}

final class Failures: Sendable {
    private let found = Mutex<[ModelCacheError]>([])
    func add(_ error: ModelCacheError) { found.withLock { $0.append(error) } }
    var all: [ModelCacheError] { found.withLock { $0 } }
}

extension StubTransport {
    func answerUser(_ id: Int, _ name: String, bio: String? = "b", headers: ModelHeaders = [:]) {
        let bio = bio.map { ", \"bio\": \"\($0)\"" } ?? ""
        answer("/users/\(id)", .json("{\"id\": \(id), \"name\": \"\(name)\"\(bio)}"), headers: headers)
    }

    func answerFeed(_ topic: String, _ ids: [Int]) {
        let items = ids.map { "{\"id\": \($0), \"title\": \"t\", \"author\": 7}" }
        answer("/articles?topic=\(topic)", .json("{\"items\": [\(items.joined(separator: ", "))]}"))
    }
}

/// Expects a failure of a certain kind.
func expect(
    _ code: ModelCacheError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        #expect((error as? ModelCacheError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
}
