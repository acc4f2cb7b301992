import Foundation
import ModelCache
import ModelCacheHTTP
import PythonServer
import TypedCacheTesting

/// A reader of articles: loads, shows from disk while the server is down, changes before the server has agreed, signs out.
@MainActor
func run() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "feed-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let clock = ManualClock()
    func open(_ server: Server) async throws -> Models {
        try await Models(
            account: "ada@example.com",
            types: [User.self, Article.self, Comment.self],
            directory: directory,
            transport: URLSessionTransport(base: server.base),
            clock: clock
        )
    }
    func show(_ feed: ListSnapshot<Feed>, of models: Models) async throws {
        let authors = try await models.fetch(feed.elements.map(\.author))
        for article in feed.elements { print("  \(article.title), by \(authors[article.author.id]?.name ?? "?")") }
        if feed.hasMore { print("  …") }
    }

    print("first start")
    var server = try Server()
    var models = try await open(server)
    try await show(models.fetch(Feed(topic: "swift")), of: models)
    print("more")
    try await show(models.fetchMore(of: Feed(topic: "swift")), of: models)
    let article = try await models.fetch(Article.self, id: 1)
    let comments = try await models.fetch(Comments(article: 1))
    let people = try await models.fetch(comments.elements.map(\.author))
    print(
        "\(article.text ?? "no text") \(comments.elements.count) comments by \(people.values.map(\.name).sorted())"
    )
    print("whole answers: \(try await server.log()["whole", default: 0])")
    try await models.close()
    try server.stop()

    print("second start, two minutes later, without the server")
    clock.advance(by: .seconds(120))
    models = try await open(server)
    let stale = try await models.fetch(Feed(topic: "swift"))
    print("from disk: \(stale.elements.count) articles, \(stale.freshness.isFresh ? "fresh" : "stale")")
    if let since = stale.freshness.staleSince, let reason = stale.freshness.staleReason {
        print("stale for \(Int(clock.now.timeIntervalSince(since))) s: \(reason)")
    }
    do {
        _ = try await models.fetch(User.self, id: 9)
    } catch let error as ModelCacheError {
        print("user 9: \(error.code)")
    }
    try await models.close()

    print("third start, with the server")
    server = try Server()
    models = try await open(server)
    let fresh = try await models.fetch(Feed(topic: "swift"))
    print("\(fresh.elements.count) articles, \(fresh.freshness.isFresh ? "fresh" : "stale")")
    print("unchanged: \(try await server.log()["unchanged", default: 0])")

    // A view's object: it follows each change by itself.
    let live = models.live(Article.self, id: 1)
    await live.load()
    for takesChanges in [false, true] {
        try await server.takeChanges(takesChanges)
        do {
            try await models.change {
                $0.update(Article.self, id: 1) { $0.title = "A better title" }
            } sending: { [server] in
                let shown = try await models.stored(Article.self, id: 1)
                print("shown at once: \(shown?.value.title ?? "nothing"), changing: \(shown?.isChanging ?? false)")
                try await server.rename(article: 1, to: "A better title")
            }
        } catch let failure as PythonServer.Failure {
            print(failure)
        }
        print("afterwards: \(try await models.stored(Article.self, id: 1)?.value.title ?? "nothing")")
    }
    print("in the feed: \(try await models.stored(Feed(topic: "swift"))?.elements.first?.title ?? "nothing")")

    print("signing out")
    try await models.erase()
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    while !live.isEnded { await Task.yield() }
    print("left on disk: \(left.count) files; shown: \(live.value?.title ?? "nothing")")
    try server.stop()
}

try await run()
