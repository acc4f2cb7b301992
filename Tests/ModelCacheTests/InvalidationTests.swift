import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing

/// Invalidations during a request.
@Suite struct InvalidationTests {
    /// Suspends until so many requests have come.
    private func requested(_ count: Int, of server: StubTransport) async throws {
        try await wait(until: server.requests.count >= count)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func anInvalidationDuringTheRepeatedLoadRepeatsItToo() async throws {
        let stage = try Stage()
        let feed = Feed(topic: "swift")
        func answer(_ name: String) {
            stage.server.answerUser(1, name)
            stage.server.answer(
                "/articles?topic=swift",
                .json("{\"items\": [{\"id\": 1, \"title\": \"\(name)\", \"author\": 7}]}")
            )
        }
        func hold() { for path in ["/users/1", "/articles?topic=swift"] { stage.server.hold(path) } }
        func release() { for path in ["/users/1", "/articles?topic=swift"] { stage.server.release(path) } }
        answer("first")
        hold()
        let models = try await stage.open()
        async let user = models.fetch(User.self, id: 1)
        async let list = models.fetch(feed)
        try await requested(2, of: stage.server)
        try await models.invalidate(.type(User.self), .list(feed))
        answer("second")
        for path in ["/users/1", "/articles?topic=swift"] { stage.server.releaseWaiting(path) }
        #expect(try await user.name == "first")
        #expect(try await list.elements.map(\.title) == ["first"])
        try await requested(4, of: stage.server)
        try await models.invalidate(.type(User.self), .list(feed))
        answer("third")
        release()
        await models.settle()
        #expect(stage.server.requests.count == 6)
        #expect(try await models.stored(User.self, id: 1)?.value.name == "third")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        #expect(try await models.stored(feed)?.elements.map(\.title) == ["third"])
        #expect(try await models.stored(feed)?.freshness.isFresh == true)
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["type", "model", "tag", "everything"])
    func aFetchThatBeginsAfterAnInvalidationJoinsNoEarlierLoad(scope: String) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        try await models.save(Article(id: 1, title: "stored", author: ModelLink(7), topic: "tag"))
        func answer(_ title: String) {
            let article = "{\"id\": 1, \"title\": \"\(title)\", \"author\": 7, \"topic\": \"tag\"}"
            stage.server.answer("/articles/1", .json(article))
            stage.server.answer("/articles?topic=swift", .json("{\"items\": [\(article)]}"))
        }
        func hold() { for path in ["/articles/1", "/articles?topic=swift"] { stage.server.hold(path) } }
        answer("old")
        hold()
        async let earlier = models.fetch(Article.self, id: 1, .reload)
        async let earlierList = models.fetch(feed, .reload)
        try await requested(2, of: stage.server)
        switch scope {
        case "type": try await models.invalidate(.type(Article.self), .list(feed))
        case "model": try await models.invalidate(.model(Article.self, id: 1), .list(feed))
        case "tag": try await models.invalidate(.tag("tag"), .tag("feed"))
        default: try await models.invalidate(.everything)
        }
        answer("new")
        async let later = models.fetch(Article.self, id: 1)
        async let laterList = models.fetch(feed)
        try await requested(4, of: stage.server)
        for path in ["/articles/1", "/articles?topic=swift"] { stage.server.release(path) }
        #expect(try await later.title == "new")
        #expect(try await laterList.elements.map(\.title) == ["new"])
        _ = try await (earlier, earlierList)
        await models.settle()
        #expect(try await models.stored(Article.self, id: 1)?.value.title == "new")
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func severalModelsJoinNoLoadFromBeforeAnInvalidation() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        func answer(_ name: String) {
            let users = (1...2).map { #"{"id": \#($0), "name": "\#(name)", "bio": "x"}"# }.joined(separator: ", ")
            stage.server.answer("/users", .json("[\(users)]"))
        }
        answer("old")
        stage.server.hold("/users")
        async let earlier = models.fetch(User.self, ids: [1, 2])
        try await requested(1, of: stage.server)
        try await models.invalidate(.model(User.self, id: 2))
        answer("new")
        async let later = models.fetch(User.self, ids: [1, 2])
        try await requested(2, of: stage.server)
        stage.server.release("/users")
        #expect(try await later.mapValues(\.name) == [1: "new", 2: "new"])
        _ = try await earlier
    }

    @Test(.timeLimit(.minutes(1 * slowness)))
    func severalModelsThatWereInvalidatedDuringTheirLoadAreLoadedOnceMore()
        async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer("/users", .json(#"[{"id": 1, "name": "old", "bio": "x"}]"#))
        stage.server.hold("/users")
        async let fetched = models.fetch(User.self, ids: [1, 2])
        try await requested(1, of: stage.server)
        try await models.invalidate(.model(User.self, id: 1))
        stage.server.answer("/users", .json(#"[{"id": 1, "name": "new", "bio": "x"}]"#))
        stage.server.release("/users")
        #expect(try await fetched.mapValues(\.name) == [1: "old"])
        await models.settle()
        #expect(stage.server.requests.count == 2)
        #expect(try await models.stored(User.self, id: 1)?.value.name == "new")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
    }

    /// A part that is requested after the invalidation makes the entry later than it, but not fresh.
    @Test(.timeLimit(.minutes(1 * slowness))) func aNotModifiedFromBeforeAnInvalidationMakesNothingFresh()
        async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerUser(1, "a", headers: ["ETag": "\"a\"", "Cache-Control": "max-age=3600"])
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(4_000))
        stage.server.hold("/users/1")
        async let fetched = models.fetch(User.self, id: 1)
        try await requested(2, of: stage.server)
        try await models.invalidate(.model(User.self, id: 1))
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "t", "author": {"id": 1, "name": "a"}}]}"#)
        )
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.server.answerUser(1, "new", headers: ["ETag": "\"b\"", "Cache-Control": "max-age=3600"])
        stage.server.release("/users/1")
        #expect(try await fetched.name == "a")
        await models.settle()
        #expect(stage.server.responses.filter { $0.headers["etag"] != nil }.map(\.status) == [200, 304, 200])
        #expect(try await models.stored(User.self, id: 1)?.value.name == "new")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
    }

    /// Whichever of the two comes first: the change has none of the fields that the server has since.
    @Test(.timeLimit(.minutes(5 * slowness))) func anInvalidationBesideAChangeIsNotLost() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        var fresh: [Int] = []
        for id in 0..<60 {
            try await models.save(User(id: id, name: "old", bio: "b"))
            async let others: Void = models.invalidate(.tag("other"))
            async let invalidated: Void = models.invalidate(.model(User.self, id: id))
            async let changed: Void = models.change { $0.update(User.self, id: id) { $0.name = "new" } }
            _ = try await (others, invalidated, changed)
            if try await models.stored(User.self, id: id)?.freshness.isFresh != false { fresh.append(id) }
        }
        #expect(fresh.isEmpty)
        try await models.close()
        let next = try await stage.open()
        let stored = try await next.stored(User.self, ids: 0..<60)
        #expect(stored.count == 60 && stored.values.allSatisfy { !$0.freshness.isFresh })
    }

    /// They are stale in this process, and their observers are notified.
    @Test(.timeLimit(.minutes(1 * slowness))) func observersAreToldOfAnInvalidationThatTheDiskRefuses() async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "b"))
        let updates = models.updates(of: User.self, id: 1).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)??.freshness.isFresh == true)
        // The disk of the bookkeeping no longer takes a file.
        let bookkeeping = stage.directory.url.appending(path: "42/$bookkeeping")
        try FileManager.default.removeItem(at: bookkeeping)
        try Data().write(to: bookkeeping)
        await expect(.storage) { try await models.invalidate(.type(User.self)) }
        #expect(
            await updates.next(isolation: #isolation)??.freshness == .stale(since: nil, because: .invalidated)
        )
    }

    /// Invalidations that come faster than pages do not have the server asked without end.
    @Test(.timeLimit(.minutes(1 * slowness))) func aPageIsAskedForThreeTimesAtMostBecauseOfInvalidations()
        async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        let next = "/articles?topic=swift&after=2"
        let first = #"{"items": [{"id": 1, "title": "first", "author": 7}], "next": "2"}"#
        stage.server.answer("/articles?topic=swift", .json(first))
        stage.server.answer(next, .json(#"{"items": [{"id": 2, "title": "second", "author": 7}]}"#))
        _ = try await models.fetch(feed)
        stage.server.hold(next)
        async let more = models.fetchMore(of: feed)
        for round in 1...3 {
            try await requested(1 + round, of: stage.server)
            try await models.invalidate(.list(feed))
            stage.server.releaseWaiting(next)
        }
        #expect(try await more.elements.map(\.title) == ["first", "second"])
        #expect(stage.server.requests.count == 4)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func aPageFromBeforeAnInvalidationIsAskedForAgain() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        let next = "/articles?topic=swift&after=2"
        func answer(_ title: String) {
            stage.server.answer(next, .json("{\"items\": [{\"id\": 2, \"title\": \"\(title)\", \"author\": 7}]}"))
        }
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "first", "author": 7}], "next": "2"}"#)
        )
        _ = try await models.fetch(feed)
        answer("old")
        stage.server.hold(next)
        async let earlier = models.fetchMore(of: feed)
        try await requested(2, of: stage.server)
        try await models.invalidate(.list(feed))
        answer("new")
        async let later = models.fetchMore(of: feed)
        try await requested(3, of: stage.server)
        stage.server.release(next)
        #expect(try await later.elements.map(\.title) == ["first", "new"])
        #expect(try await earlier.elements.map(\.title) == ["first", "new"])
        // The earlier call joins the later one's request, unless that has just ended.
        #expect(stage.server.requests.count <= 4)
    }
}
