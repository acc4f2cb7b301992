import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import Testing
import TypedCache

/// One copy of each model, wherever it came from.
@Suite struct IdentityTests {
    @Test func aModelIsLoadedOnceAndFoundByALaterLaunch() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada", headers: ["Cache-Control": "max-age=60"])
        var models = try await stage.open()
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(stage.server.requests.count == 1)
        try await models.close()
        models = try await stage.open()
        let stored = try await models.stored(User.self, id: 1)
        #expect(stored?.value == User(id: 1, name: "Ada", bio: "b"))
        #expect(stored?.freshness == .fresh(until: stage.clock.now.addingTimeInterval(60)))
        #expect(stage.failures.all.isEmpty)
    }

    @Test func aUserInAnArticleACommentAndAListIsOneEntryAndAChangeShowsInAllOfThem() async throws {
        let stage = try Stage()
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "t", "author": {"id": 7, "name": "a"}}"#))
        stage.server.answer("/comments/c", .json(#"{"id": "c", "text": "x", "author": {"id": 7, "name": "a"}}"#))
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "a"}}]}"#)
        )
        let models = try await stage.open()
        let article = try await models.fetch(Article.self, id: 1)
        let comment = try await models.fetch(Comment.self, id: "c")
        let feed = try await models.fetch(Feed(topic: "swift"))
        let links = [article.author, comment.author] + feed.elements.map(\.author)
        #expect(Set(links) == [ModelLink(7)])

        let updates = models.updates(of: User.self, id: 7).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)??.value.name == "a")
        // Through the list.
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "b"}}]}"#)
        )
        _ = try await models.fetch(Feed(topic: "swift"), .reload)
        #expect(await updates.next(isolation: #isolation)??.value.name == "b")
        // Through the comment.
        stage.server.answer("/comments/c", .json(#"{"id": "c", "text": "x", "author": {"id": 7, "name": "c"}}"#))
        _ = try await models.fetch(Comment.self, id: "c", .reload)
        #expect(await updates.next(isolation: #isolation)??.value.name == "c")
        // Through the article.
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "t", "author": {"id": 7, "name": "x"}}"#))
        _ = try await models.fetch(Article.self, id: 1, .reload)
        #expect(await updates.next(isolation: #isolation)??.value.name == "x")
        for link in links { #expect(try await models.stored(User.self, id: link.id)?.value.name == "x") }
        // And by itself.
        try await models.save(User(id: 7, name: "d", bio: nil))
        #expect(await updates.next(isolation: #isolation)??.value.name == "d")
    }

    @Test func anAuthorThatIsAnObjectAndOneThatIsAnIdentityAreEqualLinks() async throws {
        let stage = try Stage()
        let body = #"""
            {"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "a"}}, {"id": 2, "title": "u", "author": 7},
                {"id": 3, "title": "v", "author": {"id": 8, "name": "b"}}], "next": "3"}
            """#
        stage.server.answer("/articles?topic=swift", .json(body))
        let models = try await stage.open()
        let feed = try await models.fetch(Feed(topic: "swift"))
        #expect(feed.elements.map(\.author) == [ModelLink(7), ModelLink(7), ModelLink(8)])
        #expect(feed.hasMore)
        #expect(try await models.stored(User.self, ids: [7, 8]).mapValues(\.value.name) == [7: "a", 8: "b"])
    }

    @Test func aModelKnownFromListsKeepsTheFieldsThatListsLackAndIsLoadedByItsOwnFetch() async throws {
        let stage = try Stage()
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "new"}}]}"#)
        )
        stage.server.answerUser(8, "from list", bio: nil)
        let models = try await stage.open()
        try await models.save(User(id: 7, name: "old", bio: "complete"))
        _ = try await models.fetch(Feed(topic: "swift"))
        // Complete: it keeps its field.
        #expect(try await models.stored(User.self, id: 7)?.value == User(id: 7, name: "new", bio: "complete"))
        // Incomplete: shown as it is, loaded by a fetch.
        try await models.save(User(id: 8, name: "from list", bio: nil))
        #expect(try await models.stored(User.self, id: 8)?.freshness == .stale(since: nil, because: .incomplete))
        stage.server.answerUser(8, "whole", bio: "all of it")
        #expect(try await models.fetch(User.self, id: 8).bio == "all of it")
    }

    @Test func followingLinksIsOneLoadOfThoseThatAreMissing() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "x"))
        stage.server.answer(
            "/users",
            .json(#"[{"id": 2, "name": "b", "bio": "x"}, {"id": 3, "name": "c", "bio": "x"}]"#)
        )
        let links = [3, 1, 2, 3, 9].map { ModelLink<User>($0) }
        let found = try await models.fetch(links)
        #expect(found.mapValues(\.name) == [1: "a", 2: "b", 3: "c"])
        #expect(stage.server.requests.map(\.query.first?.value) == ["3,2,9"])
        #expect(try await models.fetch(links.prefix(4)).count == 3)
        #expect(stage.server.requests.count == 1)
    }

    @Test func typesAreToldApart() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        struct Other: CachedModel {
            static let modelName = "other"
            let id: Int
            static func request(for id: Int) -> ModelRequest { .get("/") }
        }
        await expect(.unknownModel) { _ = try await models.stored(Other.self, id: 1) }
        struct Twin: CachedModel {
            static let modelName = "user"
            let id: Int
            static func request(for id: Int) -> ModelRequest { .get("/") }
        }
        struct Bad: CachedModel {
            static let modelName = "../x"
            let id: Int
            static func request(for id: Int) -> ModelRequest { .get("/") }
        }
        await expect(.invalidModel) {
            _ = try await Models.inMemory(types: [User.self, Twin.self], transport: nil)
        }
        await expect(.invalidModel) { _ = try await Models.inMemory(types: [Bad.self], transport: nil) }
        await expect(.invalidAccount) { _ = try await stage.open(account: "") }
    }

    /// "é" in one scalar and in two, and a syllable of Hangul in one, two and three.
    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("\u{AC01}", "\u{AC00}\u{11A8}"), ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
    ])
    func identitiesThatSwiftTakesForEqualAreOne(one: String, other: String) async throws {
        let stage = try Stage()
        #expect(one == other && !one.utf8.elementsEqual(other.utf8))
        for (saved, read) in [(one, other), (other, one)] {
            let models = try await stage.open()
            try await models.save(Comment(id: saved, text: saved, author: ModelLink(1)))
            // From memory, from disk, and by a later launch.
            #expect(try await models.stored(Comment.self, id: read)?.value.id == saved)
            models.trimMemory(toCount: 0)
            #expect(try await models.stored(Comment.self, id: read)?.value.id == saved)
            try await models.close()
            let later = try await stage.open()
            #expect(try await later.stored(Comment.self, ids: [read]).count == 1)
            try await later.remove(Comment.self, id: read)
            #expect(try await later.stored(Comment.self, id: saved) == nil)
            try await later.close()
        }
    }

    /// A server that tells two texts apart which are equal to Swift is asked with its own ones.
    @Test func aListHasOneElementForEqualIdentitiesAndKeepsTheTextOfIts() async throws {
        struct Thread: ModelList {
            typealias Element = Comment
            var listKey: String { "thread" }
            func request(after cursor: PageCursor?) -> ModelRequest { .get("/thread") }
        }
        let stage = try Stage()
        let models = try await stage.open()
        let comments = ["e\u{301}", "x", "\u{E9}"].map { Comment(id: $0, text: $0, author: ModelLink(1)) }
        stage.server.answer("/thread", try .json(comments))
        let list = try await models.fetch(Thread())
        #expect(list.elements.map(\.id) == ["\u{E9}", "x"])
        await models.flush()
        models.trimMemory(toCount: 0)
        #expect(try await models.stored(Thread())?.elements == list.elements)
        try await models.remove(Comment.self, id: "\u{E9}")
        let hole = try #require(try await models.stored(Thread())?.holes.first)
        #expect(hole.unicodeScalars.elementsEqual("e\u{301}".unicodeScalars))
    }

    private struct Handle: RawRepresentable, Codable, ModelID { let rawValue: String }

    @Test func anIdentityIsOneSegmentOfAPath() {
        #expect(ModelRequest.get("/users", 7).path == "/users/7")
        #expect(ModelRequest.get("/users/", Handle(rawValue: "ada")).path == "/users/ada")
        #expect(ModelRequest.get("/users", "../users/1").path == "/users/..%2Fusers%2F1")
        #expect(ModelRequest.get("/users", "..").path == "/users/%2E%2E")
        #expect(ModelRequest.get("/users", "a.b~c-d_e").path == "/users/a.b~c-d_e")
        #expect(ModelRequest.get("/users", "what?#%25 ü\n").path == "/users/what%3F%23%2525%20%C3%BC%0A")
        let posts = ModelRequest.get("/users", "a/b", then: "posts", 3, query: ["after": "x", "of": nil])
        #expect(posts == .get("/users/a%2Fb/posts/3", query: ["after": "x"]))
        #expect(ModelRequest.get("https://example.com/users", "a:b").path == "https://example.com/users/a%3Ab")
    }
}
