import Foundation
import KeyedArchive
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// How loads follow the rules of HTTP, beyond one answer's headers.
@Suite struct HTTPFlowTests {
    private static let tagged: ModelHeaders = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

    @Test func notModifiedWithoutItsValueIsAskedAgainOnce() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "Ada", headers: Self.tagged)
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(61))
        stage.server.forgetRequests()
        stage.server.answer("/users/1", .empty, status: 304, headers: Self.tagged)
        stage.server.answerNext("/users/1", .json(#"{"id": 1, "name": "Grace", "bio": "b"}"#), headers: Self.tagged)
        stage.server.hold("/users/1")
        async let fetched = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        // Another value takes the place of the one that was asked about.
        try await models.save(User(id: 1, name: "pushed", bio: "b"))
        stage.server.release("/users/1")
        #expect(try await fetched.name == "Grace")
        #expect(stage.server.requests.map { $0.headers["if-none-match"] } == ["\"a\"", nil])
    }

    @Test func aServerThatAnswersNotModifiedUnaskedIsNotFollowed() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer("/users/1", .empty, status: 304)
        let error = await #expect(throws: ModelCacheError.self) { try await models.fetch(User.self, id: 1) }
        #expect(error?.code == .status)
        #expect(stage.server.requests.count == 2)
    }

    @Test func anotherRepresentationTakesTheValidatorsAway() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let list = #"{"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "NAME"}}]}"#
        stage.server.answerUser(7, "Ada", headers: Self.tagged)
        _ = try await models.fetch(User.self, id: 7)
        // The list has the same fields: the stored model is still the detail's answer.
        stage.server.answer("/articles?topic=a", .json(list.replacing("NAME", with: "Ada")))
        _ = try await models.fetch(Feed(topic: "a"))
        stage.clock.advance(by: .seconds(61))
        _ = try await models.fetch(User.self, id: 7)
        #expect(stage.server.requests.last?.headers["if-none-match"] == "\"a\"")
        stage.server.answer("/articles?topic=b", .json(list.replacing("NAME", with: "Grace")))
        _ = try await models.fetch(Feed(topic: "b"))
        stage.clock.advance(by: .seconds(61))
        _ = try await models.fetch(User.self, id: 7)
        #expect(stage.server.requests.last?.path == "/users/7")
        #expect(stage.server.requests.last?.headers["if-none-match"] == nil)
    }

    @Test func aListThatIsUnchangedRenewsItselfAlone() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let items = (1...100).map { #"{"id": \#($0), "title": "t", "author": \#($0)}"# }.joined(separator: ",")
        let headers: ModelHeaders = ["Cache-Control": "max-age=60", "ETag": "\"l\""]
        stage.server.answer("/articles?topic=a", .json(#"{"items": [\#(items)]}"#), headers: headers)
        _ = try await models.fetch(Feed(topic: "a"))
        await models.flush()
        stage.clock.advance(by: .seconds(61))
        let articles = try await models.engine.tables.table(Article.self).records.cache
        let lists = try await models.engine.tables.lists().records.cache
        let before = (articles.statistics.saves, lists.statistics.saves)
        // Nothing that could be decoded.
        stage.server.answer("/articles?topic=a", .json("no JSON"), status: 304, headers: headers)
        let renewed = try await models.fetch(Feed(topic: "a"))
        await models.flush()
        #expect(renewed.freshness == .fresh(until: stage.clock.now.addingTimeInterval(60)))
        #expect(renewed.elements.count == 100)
        #expect(try await models.stored(Article.self, id: 1)?.freshness.isFresh == false)
        #expect(articles.statistics.saves == before.0)
        #expect(lists.statistics.saves == before.1 + 1)
        #expect(stage.failures.all.isEmpty)
    }

    @Test func aRefusalIsThrownAndAFailureIsNot() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "Ada")
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(61))
        for status in [400, 401, 403, 409, 451] {
            stage.server.answer("/users/1", .empty, status: status)
            let error = await #expect(throws: ModelCacheError.self) { try await models.fetch(User.self, id: 1) }
            #expect(error?.status == status)
        }
        for status in [408, 429, 500, 502, 503, 504, 599] {
            stage.server.answer("/users/1", .empty, status: status)
            #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        }
    }

    @Test func anotherVariantIsNeverShownForWhatWasAsked() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let cache = try await Models.inMemory(types: [Leaf.self], transport: server, clock: clock)
        let headers: ModelHeaders = [
            "Cache-Control": "max-age=60, stale-while-revalidate=600", "Vary": "Accept-Language", "ETag": "\"a\"",
        ]
        server.answer("/leaf", .json(#"{"id": "1", "text": "Hallo"}"#), headers: headers)
        let german: ModelHeaders = ["Accept-Language": "de"]
        _ = try await Leaf.$headers.withValue(german) { try await cache.fetch(Leaf.self, id: "1") }
        try await Leaf.$headers.withValue(["Accept-Language": "en"]) {
            let stored = try await cache.stored(Leaf.self, id: "1")
            #expect(stored?.freshness == .stale(since: nil, because: .otherVariant))
            server.fail("/leaf")
            await #expect(throws: ModelCacheError.self) { try await cache.fetch(Leaf.self, id: "1") }
            #expect(server.requests.last?.headers["if-none-match"] == nil)
        }
        _ = try await Leaf.$headers.withValue(german) { try await cache.fetch(Leaf.self, id: "1") }
        #expect(server.requests.count == 2)
    }

    @Test func theServersWindowIsNotForWhatWasInvalidated() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "Ada", headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        _ = try await models.fetch(User.self, id: 1)
        try await models.invalidate(.model(User.self, id: 1))
        stage.server.answerUser(1, "Grace")
        #expect(try await models.fetch(User.self, id: 1).name == "Grace")
    }

    @Test func theServersWindowIsForSeveralModelsAsForOne() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        for id in 1...2 {
            stage.server.answerUser(id, "Ada", headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
            _ = try await models.fetch(User.self, id: id)
        }
        stage.clock.advance(by: .seconds(90))
        let users = #"[{"id": 1, "name": "Grace", "bio": "b"}, {"id": 2, "name": "Grace", "bio": "b"}]"#
        stage.server.answer("/users?ids=1,2", .json(users))
        stage.server.hold("/users?ids=1,2")
        #expect(try await models.fetch(User.self, ids: [1, 2]).values.map(\.name) == ["Ada", "Ada"])
        stage.server.release("/users?ids=1,2")
        await models.settle()
        #expect(try await models.fetch(User.self, ids: [1, 2]).values.map(\.name) == ["Grace", "Grace"])
        // After the window, it waits.
        stage.clock.advance(by: .seconds(9_000))
        stage.server.answer("/users?ids=1,2", .json(#"[{"id": 1, "name": "Eve", "bio": "b"}]"#))
        #expect(try await models.fetch(User.self, ids: [1, 2])[1]?.name == "Eve")
    }

    @Test func aChangeOfWhatWasInvalidatedMakesItNotFresh() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "Ada", headers: Self.tagged)
        _ = try await models.fetch(User.self, id: 1)
        try await models.invalidate(.type(User.self))
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "c" }
        } sending: {
        }
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == false)
    }

    @Test func notModifiedRenewsAnEntryOfLostBookkeeping() async throws {
        let stage = try Stage()
        var models = try await stage.open()
        stage.server.answerUser(1, "Ada", headers: Self.tagged)
        _ = try await models.fetch(User.self, id: 1)
        try await models.close()
        try FileManager.default.removeItem(at: stage.directory.url.appending(path: "42/$bookkeeping"))
        models = try await stage.open()
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == false)
        _ = try await models.fetch(User.self, id: 1)
        #expect(stage.server.requests.last?.headers["if-none-match"] == "\"a\"")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        await models.settle()
        #expect(stage.server.requests.count == 2)
    }

    @Test func aPageThatMustNotBeKeptIsShownOnce() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer(
            "/articles?topic=a",
            .json(#"{"items": [{"id": 1, "title": "t", "author": 1}], "next": "2"}"#)
        )
        stage.server.answer(
            "/articles?topic=a&after=2",
            .json(#"{"items": [{"id": 2, "title": "u", "author": 1}]}"#),
            headers: ["Cache-Control": "no-store"]
        )
        _ = try await models.fetch(Feed(topic: "a"))
        #expect(try await models.fetchMore(of: Feed(topic: "a")).elements.map(\.id) == [1, 2])
        #expect(try await models.stored(Article.self, id: 2) == nil)
        #expect(try await models.stored(Feed(topic: "a"))?.elements.map(\.id) == [1])
    }

    @Test func nothingOfAnAnswerThatMustNotBeKeptIsKept() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "Ada", headers: ["Cache-Control": "no-store"])
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(try await models.stored(User.self, id: 1) == nil)
        // Nor is the lifetime of a 304.
        stage.server.answerUser(2, "Grace", headers: ["Cache-Control": "max-age=1", "ETag": "\"a\""])
        _ = try await models.fetch(User.self, id: 2)
        stage.clock.advance(by: .seconds(2))
        stage.server.answer(
            "/users/2",
            .empty,
            status: 304,
            headers: ["Cache-Control": "no-store, max-age=60", "ETag": "\"a\""]
        )
        #expect(try await models.fetch(User.self, id: 2).name == "Grace")
        #expect(try await models.stored(User.self, id: 2)?.freshness.isFresh == false)
    }

    @Test func aLifetimeIsRememberedForALaterNotModified() async throws {
        let stage = try Stage()
        var models = try await stage.open()
        let headers: ModelHeaders = ["Cache-Control": "max-age=90, must-revalidate", "Age": "20", "ETag": "\"a\""]
        stage.server.answerUser(1, "Ada", headers: headers)
        _ = try await models.fetch(User.self, id: 1)
        #expect(
            try await models.stored(User.self, id: 1)?.freshness
                == .fresh(until: stage.clock.now.addingTimeInterval(70))
        )
        try await models.close()
        models = try await stage.open()
        stage.clock.advance(by: .seconds(71))
        stage.server.answer("/users/1", .empty, status: 304, headers: ["ETag": "\"a\""])
        _ = try await models.fetch(User.self, id: 1)
        #expect(
            try await models.stored(User.self, id: 1)?.freshness
                == .fresh(until: stage.clock.now.addingTimeInterval(90))
        )
        // Stale values are still forbidden, though the 304 did not repeat that.
        stage.clock.advance(by: .seconds(91))
        stage.server.fail("/users/1")
        await #expect(throws: ModelCacheError.self) { try await models.fetch(User.self, id: 1) }
    }

    @Test func anExpiresIsTheSameMomentForALaterNotModified() async throws {
        let server = StubTransport()
        let clock = ManualClock(now: Date(timeIntervalSince1970: 0))
        let cache = try await Models.inMemory(types: [Leaf.self], transport: server, clock: clock)
        let headers: ModelHeaders = [
            "Expires": "Thu, 01 Jan 1970 00:01:00 GMT", "Date": "Thu, 01 Jan 1970 00:00:00 GMT", "ETag": "\"a\"",
        ]
        server.answer("/leaf", .json(#"{"id": "1", "text": "a"}"#), headers: headers)
        _ = try await cache.fetch(Leaf.self, id: "1")
        server.answer("/leaf", .empty, status: 304, headers: ["ETag": "\"a\""])
        clock.advance(by: .seconds(30))
        _ = try await cache.fetch(Leaf.self, id: "1", .reload)
        #expect(
            try await cache.stored(Leaf.self, id: "1")?.freshness == .fresh(until: Date(timeIntervalSince1970: 60))
        )
    }

    @Test func aMigratedModelIsLoadedWhole() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let directory = try TemporaryDirectory()
        server.answer("/leaf", .json(#"{"id": "1", "text": "a", "more": "m"}"#), headers: ["ETag": "\"a\""])
        let former = try await Models(
            account: "1",
            types: [Leaf.self],
            directory: directory.url,
            transport: server,
            clock: clock
        )
        _ = try await former.fetch(Leaf.self, id: "1")
        try await former.close()
        let models = try await Models(
            account: "1",
            types: [LaterLeaf.self],
            directory: directory.url,
            transport: server,
            clock: clock
        )
        #expect(try await models.stored(LaterLeaf.self, id: "1")?.value == LaterLeaf(id: "1", text: "a", more: nil))
        #expect(try await models.fetch(LaterLeaf.self, id: "1").more == "m")
        #expect(server.requests.last?.headers["if-none-match"] == nil)
        try await models.close()
    }

    @Test func aFailedLoadOfSeveralShowsChangesUnderWay() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save([User(id: 1, name: "a", bio: "b"), User(id: 2, name: "b", bio: "b")])
        stage.clock.advance(by: .seconds(61))
        stage.server.fail("/users")
        let shown = try await models.change {
            $0.update(User.self, id: 1) { $0.name = "changed" }
        } sending: {
            try await models.fetch(User.self, ids: [1, 2])
        }
        #expect(shown[1]?.name == "changed")
        #expect(shown[2]?.name == "b")
    }

    @Test func aRequestWithAConditionOfItsOwnGetsNoOther() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let cache = try await Models.inMemory(types: [Leaf.self], transport: server, clock: clock)
        server.answer("/leaf", .json(#"{"id": "1", "text": "a"}"#), headers: ["ETag": "\"a\""])
        _ = try await cache.fetch(Leaf.self, id: "1")
        server.answer("/leaf", .empty, status: 304)
        server.answerNext("/leaf", .json(#"{"id": "1", "text": "b"}"#))
        let fetched = try await Leaf.$headers.withValue(["If-None-Match": "\"x\""]) {
            try await cache.fetch(Leaf.self, id: "1")
        }
        #expect(fetched.text == "b")
        #expect(server.requests.dropFirst().map { $0.headers["if-none-match"] } == ["\"x\"", nil])
    }

    @Test func aRequestThatForbidsItKeepsNothing() async throws {
        let server = StubTransport()
        let cache = try await Models.inMemory(types: [Leaf.self], transport: server)
        server.answer("/leaf", .json(#"{"id": "1", "text": "a"}"#), headers: ["Cache-Control": "max-age=60"])
        _ = try await Leaf.$headers.withValue(["Cache-Control": "no-store"]) {
            try await cache.fetch(Leaf.self, id: "1")
        }
        #expect(try await cache.stored(Leaf.self, id: "1") == nil)
    }
}

/// A later schema of a leaf.
private struct LaterLeaf: CachedModel {
    static let modelName = "leaf"
    static let schemaVersion = 2
    static let policy = ModelPolicy(freshness: .zero)

    let id: String
    var text: String
    var more: String?

    static func request(for id: String) -> ModelRequest { Leaf.request(for: id) }
    static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree? { old }
}
