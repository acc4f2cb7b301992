import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

/// Models and lists as a program without a cache would have them: the last value that came, by identity.
private struct Reference {
    var users: [Int: User] = [:]
    /// The order of the feed; `nil`: it was never loaded.
    var feed: [Int]?
    var articles: [Int: Article] = [:]
}

/// Random operations read as from a reference that knows neither disk nor memory nor layers.
@Suite struct ReferenceTests {
    @Test(arguments: seeds(0..<40))
    func randomOperationsReadAsWithoutACache(seed: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        let stage = try Stage()
        var models = try await stage.open()
        var reference = Reference()
        // The models of the server.
        var server = Reference()
        server.feed = [1, 2, 3]
        for id in 1...3 { server.articles[id] = Article(id: id, title: "0", author: ModelLink(id)) }
        let feed = Feed(topic: "swift")
        var shown = Shown(models)
        for step in 0..<60 {
            let id = Int.random(in: 1...6, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0, 1:
                server.users[id] = User(id: id, name: "server \(step)", bio: "b")
                stage.server.answer("/users/\(id)", try .json(server.users[id]))
                let loaded = try await models.fetch(User.self, id: id, .reload)
                reference.users[id] = server.users[id]
                #expect(loaded == reference.users[id], "seed \(seed), step \(step)")
            case 2:
                server.articles[id] = Article(id: id, title: "server \(step)", author: ModelLink(id))
                server.feed?.removeAll { $0 == id }
                server.feed?.insert(id, at: 0)
                let body = try JSONSerialization.data(
                    withJSONObject: [
                        "items": (server.feed ?? []).map { id in
                            ["id": id, "title": server.articles[id]?.title ?? "", "author": id] as [String: Any]
                        }
                    ]
                )
                stage.server.answer("/articles?topic=swift", .json(String(decoding: body, as: UTF8.self)))
                let loaded = try await models.fetch(feed, .reload)
                reference.feed = server.feed
                for id in server.feed ?? [] { reference.articles[id] = server.articles[id] }
                #expect(loaded.elements.map(\.id) == reference.feed, "seed \(seed), step \(step)")
            case 3:
                reference.users[id] = User(id: id, name: "pushed \(step)", bio: "b")
                try await models.save(reference.users[id] ?? User(id: id, name: "", bio: nil))
            case 4:
                reference.users[id] = nil
                try await models.remove(User.self, id: id)
            case 5:
                try await models.change {
                    $0.update(User.self, id: id) { $0.name += "+" }
                } sending: {
                }
                reference.users[id]?.name += "+"
            case 6:
                struct Refused: Error {}
                do {
                    try await models.change { draft in
                        draft.update(User.self, id: id) { $0.name += "-" }
                        draft.insert(
                            Article(id: id, title: "refused", author: ModelLink(id)),
                            into: feed,
                            at: .start
                        )
                    } sending: {
                        throw Refused()
                    }
                } catch is Refused {}
            case 7:
                let article = Article(id: id, title: "mine \(step)", author: ModelLink(id))
                try await models.change { $0.insert(article, into: feed, at: .end) }
                reference.articles[id] = article
                if reference.feed != nil {
                    reference.feed?.removeAll { $0 == id }
                    reference.feed?.append(id)
                }
            case 8:
                try await models.invalidate(.type(User.self))
                let stored = try await models.stored(User.self, id: id)
                #expect(stored?.freshness.isFresh != true, "seed \(seed), step \(step)")
            case 9:
                try await models.close()
                await shown.end()
                models = try await stage.open()
                shown = Shown(models)
            case 10:
                stage.clock.advance(by: .seconds(Int.random(in: 1...100, using: &generator)))
            default:
                stage.server.fail("/users/\(id)")
                do {
                    let value = try await models.fetch(User.self, id: id)
                    #expect(value == reference.users[id], "seed \(seed), step \(step)")
                } catch let error as ModelCacheError {
                    #expect(error.code == .transport && reference.users[id] == nil, "seed \(seed), step \(step)")
                }
            }
            try await compare(models, with: reference, "seed \(seed), step \(step)")
        }
        let last = reference.users
        try await models.save(User(id: 99, name: "end", bio: "b"))
        #expect(await shown.last().filter { $0.key != 99 } == last, "seed \(seed)")
        #expect(stage.failures.all.allSatisfy { $0.code == .transport }, "seed \(seed)")
        try await models.close()
    }

    private func compare(_ models: Models, with reference: Reference, _ place: String) async throws {
        let users = try await models.stored(User.self, ids: 1...6).mapValues(\.value)
        #expect(users == reference.users, "\(place)")
        let articles = try await models.stored(Article.self, ids: 1...6).mapValues(\.value)
        #expect(articles == reference.articles, "\(place)")
        let list = try await models.stored(Feed(topic: "swift"))
        #expect(list?.elements == reference.feed?.compactMap { reference.articles[$0] }, "\(place)")
    }
}

/// The last snapshot that an observer of some users saw.
private struct Shown {
    private let task: Task<[Int: User], Never>

    init(_ models: Models) {
        task = Task {
            var last: [Int: User] = [:]
            for await users in models.updates(of: User.self, ids: Array(1...6) + [99]) {
                last = users.mapValues(\.value)
                if last[99] != nil { break }
            }
            return last
        }
    }

    /// The snapshot that has user 99.
    func last() async -> [Int: User] { await task.value }

    func end() async {
        task.cancel()
        _ = await task.value
    }
}
