import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// Answers that come by no fetch: of the program's own requests, and pushes.
@Suite struct AnswerTests {
    private static let article = Data(
        #"{"id": 1, "title": "t", "author": {"id": 7, "name": "Ada", "bio": "b"}}"#.utf8
    )

    @Test func wholeModelsInAPushBecomeModels() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let pushed = try await models.decode(Article.self, from: Self.article)
        #expect(pushed == Article(id: 1, title: "t", author: ModelLink(7)))
        let author = try #require(try await models.stored(User.self, id: 7))
        #expect(author.value == User(id: 7, name: "Ada", bio: "b"))
        #expect(author.freshness.isFresh)
        #expect(author.fetchedAt == stage.clock.now)
        // The value itself is the program's to save.
        #expect(try await models.stored(Article.self, id: 1) == nil)
        try await models.close()
        let second = try await stage.open()
        #expect(try await second.stored(User.self, id: 7)?.value == author.value)
    }

    @Test func aPathLeadsToTheValue() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let data = Data(#"{"data": {"items": [1, 2]}}"#.utf8)
        #expect(try await models.decode([Int].self, from: data, at: "data", "items") == [1, 2])
        #expect(try await models.decode([Int].self, at: "data", "items") { data } == [1, 2])
        await #expect(throws: DecodingError.self) { try await models.decode([Int].self, from: data) }
    }

    @Test func anAnswerGivesWayToWhatWasSavedSinceItsRequest() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 7, name: "before", bio: "b"))
        _ = try await models.decode(Article.self) {
            try await models.save(User(id: 7, name: "since", bio: "b"))
            return Self.article
        }
        #expect(try await models.stored(User.self, id: 7)?.value.name == "since")
        _ = try await models.decode(Article.self) { Self.article }
        #expect(try await models.stored(User.self, id: 7)?.value.name == "Ada")
    }

    @Test func aPushDoesNotGiveWayToAnAnswerFromBefore() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(7, "old")
        stage.server.hold("/users/7")
        async let fetched = models.fetch(User.self, id: 7)
        await stage.server.requested(1)
        _ = try await models.decode(Article.self, from: Self.article)
        stage.server.answerUser(7, "Ada")
        stage.server.release("/users/7")
        #expect(try await fetched.name == "Ada")
        #expect(try await models.stored(User.self, id: 7)?.value.name == "Ada")
    }

    @Test func aChangeDecodesItsAnswer() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        stage.server.answerFeed("swift", [3])
        _ = try await models.fetch(feed)
        let shown = Article(id: -1, title: "t", author: ModelLink(0))
        _ = try await models.change {
            $0.insert(shown, into: feed, at: .start)
        } sending: {
            try await models.save(User(id: 7, name: "since", bio: "b"))
            return Self.article
        } then: { draft, data in
            let posted = try draft.save(Article.self, decoding: data)
            draft.insert(id: posted.id, into: feed, at: .before(shown.id))
            draft.remove(id: shown.id, from: feed)
            draft.remove(Article.self, id: shown.id)
        }
        let list = try #require(try await models.stored(feed))
        #expect(list.elements.map(\.id) == [1, 3])
        #expect(list.elements.first?.author == ModelLink(7))
        // Saved after the request, so the answer does not replace it.
        #expect(try await models.stored(User.self, id: 7)?.value.name == "since")
        #expect(try await models.stored(Article.self, id: -1) == nil)
    }

    @Test func aChangesAnswerBringsModelsOfItsLinks() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.change { _ in
        } sending: {
            Self.article
        } then: {
            try $0.save(Article.self, decoding: $1)
        }
        #expect(try await models.stored(User.self, id: 7)?.value.name == "Ada")
        #expect(try await models.stored(Article.self, id: 1)?.value.title == "t")
        try await models.close()
        let second = try await stage.open()
        #expect(try await second.stored(User.self, id: 7)?.value.name == "Ada")
    }

    @Test func aChangeWhoseAnswerCannotBeDecodedIsTakenBack() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(Article(id: 1, title: "old", author: ModelLink(7)))
        await #expect(throws: DecodingError.self) {
            try await models.change {
                $0.update(Article.self, id: 1) { $0.title = "new" }
            } sending: {
                Data("{}".utf8)
            } then: {
                try $0.save(Article.self, decoding: $1)
            }
        }
        let stored = try #require(try await models.stored(Article.self, id: 1))
        #expect(stored.value.title == "old" && !stored.isChanging)
    }
}
