import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache

/// When a request is sent, and with which headers.
@Suite struct FreshnessTests {
    @Test func maxAgeLessAgeIsFreshAndNoStoreLeavesNothing() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a", headers: ["Cache-Control": "max-age=60", "Age": "20"])
        stage.server.answerUser(2, "secret", headers: ["Cache-Control": "no-store"])
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(39))
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        stage.clock.advance(by: .seconds(2))
        let stale = try await models.stored(User.self, id: 1)
        #expect(stale?.freshness == .stale(since: Date(timeIntervalSinceReferenceDate: 40), because: .expired))

        #expect(try await models.fetch(User.self, id: 2).name == "secret")
        #expect(try await models.stored(User.self, id: 2) == nil)
        try await models.close()
        let later = try await stage.open()
        #expect(try await later.stored(User.self, id: 2) == nil)
        #expect(try await later.stored(User.self, id: 1) != nil)
    }

    /// RFC 9111, section 4.2.3: the answer may have been made when the request was sent.
    @Test func theTimeThatAnAnswerTakesCountsAsAge() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a", headers: ["Cache-Control": "max-age=60", "Age": "20"])
        stage.server.hold("/users/1")
        let models = try await stage.open()
        async let fetched = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        stage.clock.advance(by: .seconds(10))
        stage.server.release("/users/1")
        #expect(try await fetched.name == "a")
        stage.clock.advance(by: .seconds(29))
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        stage.clock.advance(by: .seconds(2))
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == false)
    }

    @Test func aStaleModelIsConfirmedByItsTagAndA304WithoutAModelIsRepeated() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a", headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(61))
        #expect(try await models.fetch(User.self, id: 1).name == "a")
        #expect(stage.server.requests.map { $0.headers["if-none-match"] } == [nil, "\"a\""])
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)

        // Removed during the request that revalidates it.
        stage.clock.advance(by: .seconds(61))
        stage.server.forgetRequests()
        stage.server.hold("/users/1")
        async let fetched = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        try await models.remove(User.self, id: 1)
        stage.server.release("/users/1")
        #expect(try await fetched.name == "a")
        #expect(stage.server.requests.map { $0.headers["if-none-match"] } == ["\"a\"", nil])
    }

    @Test func aListThatChangesAModelDropsItsTagAndAnEqualOneKeepsIt() async throws {
        let stage = try Stage()
        stage.server.answer(
            "/articles/1",
            .json(#"{"id": 1, "title": "t", "author": 7}"#),
            headers: ["ETag": "\"a\"", "Cache-Control": "max-age=10"]
        )
        let models = try await stage.open()
        _ = try await models.fetch(Article.self, id: 1)
        // Equal.
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        _ = try await models.fetch(Feed(topic: "swift"), .reload)
        _ = try await models.fetch(Article.self, id: 1, .reload)
        #expect(stage.server.requests.last?.headers["if-none-match"] == "\"a\"")
        // Changed.
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "u", "author": 7}]}"#))
        _ = try await models.fetch(Feed(topic: "swift"), .reload)
        _ = try await models.fetch(Article.self, id: 1, .reload)
        #expect(stage.server.requests.last?.path == "/articles/1")
        #expect(stage.server.requests.last?.headers["if-none-match"] == nil)
    }

    @Test func aListConfirmedByTheServerRenewsNoMemberAndAMemberRenewsNoList() async throws {
        let stage = try Stage()
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#),
            headers: ["ETag": "\"l\"", "Cache-Control": "max-age=60"]
        )
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "t", "author": 7}"#))
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        _ = try await models.fetch(feed)
        stage.clock.advance(by: .seconds(61))
        #expect(try await models.fetch(feed).freshness.isFresh)
        #expect(stage.server.requests.last?.headers["if-none-match"] == "\"l\"")
        #expect(try await models.stored(Article.self, id: 1)?.freshness.isFresh == false)
        stage.clock.advance(by: .seconds(61))
        _ = try await models.fetch(Article.self, id: 1)
        #expect(try await models.stored(Article.self, id: 1)?.freshness.isFresh == true)
        #expect(try await models.stored(feed)?.freshness.isFresh == false)
    }

    /// A cache with user 1 and a feed of one article, which were fresh an hour ago. No request has come since.
    private func openWithStaleEntries(_ stage: borrowing Stage) async throws -> Models {
        stage.server.answerUser(1, "a")
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.clock.advance(by: .seconds(3_600))
        stage.server.forgetRequests()
        return models
    }

    @Test func offlineShowsStaleValuesAndSendsNothing() async throws {
        let stage = try Stage()
        let models = try await openWithStaleEntries(stage)
        models.mode = .offline
        let user = try await models.fetchSnapshot(User.self, id: 1)
        #expect(user.value.name == "a")
        #expect(user.freshness == .stale(since: Date(timeIntervalSinceReferenceDate: 60), because: .expired))
        #expect(try await models.fetch(Feed(topic: "swift")).freshness.isFresh == false)
        await expect(.offline) { _ = try await models.fetch(User.self, id: 2) }
        await expect(.offline) { _ = try await models.fetch(Feed(topic: "go")) }
        #expect(stage.server.requests.isEmpty)
        models.mode = .online
        _ = try await models.fetch(User.self, id: 1)
        #expect(stage.server.requests.count == 1)
    }

    @Test func aFailingServerIsBridgedByTheStaleModelUnlessItForbidsThat() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a", headers: ["Cache-Control": "max-age=10"])
        stage.server.answerUser(2, "b", headers: ["Cache-Control": "max-age=10, must-revalidate"])
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        _ = try await models.fetch(User.self, id: 2)
        stage.clock.advance(by: .seconds(11))
        stage.server.fail("/users/1")
        stage.server.fail("/users/2")
        #expect(try await models.fetch(User.self, id: 1).name == "a")
        await expect(.transport) { _ = try await models.fetch(User.self, id: 2) }
        await expect(.transport) { _ = try await models.fetch(User.self, id: 1, .reload) }
        stage.server.answer("/users/1", .empty, status: 503)
        #expect(try await models.fetch(User.self, id: 1).name == "a")
        stage.server.answer("/users/3", .empty, status: 500)
        await expect(.status) { _ = try await models.fetch(User.self, id: 3) }
    }

    /// A 304 without `Cache-Control` leaves the `no-cache` of the former answer in force.
    @Test(arguments: [["Cache-Control": "no-cache"], ["Pragma": "no-cache"]] as [ModelHeaders])
    func aConfirmedModelIsStillNotUsedUnconfirmed(headers: ModelHeaders) async throws {
        let stage = try Stage()
        var headers = headers
        headers["ETag"] = "\"a\""
        stage.server.answerUser(1, "a", headers: headers)
        stage.server.answer("/articles?topic=swift", .json(#"{"items": []}"#), headers: headers)
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        _ = try await models.fetch(Feed(topic: "swift"))
        for path in ["/users/1", "/articles?topic=swift"] {
            stage.server.answer(path, .empty, status: 304, headers: ["ETag": "\"a\""])
        }
        #expect(try await models.fetch(User.self, id: 1).name == "a")
        #expect(try await models.fetch(Feed(topic: "swift")).elements.isEmpty)
        for path in ["/users/1", "/articles?topic=swift"] { stage.server.answer(path, .empty, status: 503) }
        await expect(.status) { _ = try await models.fetch(User.self, id: 1) }
        await expect(.status) { _ = try await models.fetch(Feed(topic: "swift")) }
    }

    /// A program that shows stale values learns why they are.
    @Test func aFailureThatAStaleValueCoversIsTold() async throws {
        let stage = try Stage()
        let models = try await openWithStaleEntries(stage)
        stage.server.answerUser(2, "b")
        _ = try await models.fetch(User.self, id: 2)
        stage.clock.advance(by: .seconds(3_600))
        stage.server.answer("/users/1", .json(#"{"id": 1, "title": "renamed"}"#))
        #expect(try await models.fetch(User.self, id: 1).name == "a")
        #expect(stage.failures.all.map(\.code) == [.decodingFailed])
        stage.server.fail("/users")
        #expect(try await models.fetch(User.self, ids: [1, 2]).count == 2)
        #expect(stage.failures.all.map(\.code) == [.decodingFailed, .transport])
        stage.server.answer("/articles?topic=swift", .empty, status: 503)
        #expect(try await models.fetch(Feed(topic: "swift")).elements.map(\.id) == [1])
        #expect(stage.failures.all.map(\.code) == [.decodingFailed, .transport, .status])
        // One that is thrown is not told as well.
        await expect(.transport) { _ = try await models.fetch(User.self, ids: [1, 2], .reload) }
        #expect(stage.failures.all.count == 3)
    }

    /// As many failures as loads, however many tasks wait for one, and whether it was begun in the background.
    @Test(arguments: [false, true]) func aFailureIsToldOnceForAllTasksThatWaitedForTheLoad(isBackground: Bool)
        async throws
    {
        let stage = try Stage()
        let models = try await openWithStaleEntries(stage)
        stage.server.forgetRequests()
        stage.server.fail("/users/1")
        stage.server.hold("/users/1")
        if isBackground { _ = try await models.fetch(User.self, id: 1, .staleWhileRevalidate) }
        let tasks = (0..<8).map { _ in Task { try await models.fetch(User.self, id: 1).name } }
        await stage.server.requested(1)
        try await Task.sleep(for: .milliseconds(20))
        stage.server.release("/users/1")
        for task in tasks { #expect(try await task.value == "a") }
        await models.settle()
        #expect(stage.failures.all.count == stage.server.requests.count)
    }

    /// The device's clock was ahead when the answer came, and was set back.
    @Test func aValueFromTheFutureIsStale() async throws {
        let stage = try Stage()
        stage.clock.advance(by: .seconds(86_400))
        stage.server.answerUser(1, "a", headers: ["Cache-Control": "max-age=60"])
        stage.server.answerUser(2, "c", headers: ["Cache-Control": "max-age=60", "ETag": "\"c\""])
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        let models = try await stage.open()
        for id in 1...2 { _ = try await models.fetch(User.self, id: id) }
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.clock.advance(by: .seconds(-80_000))
        #expect(try await models.stored(User.self, id: 1)?.freshness == .stale(since: nil, because: .expired))
        #expect(try await models.stored(Feed(topic: "swift"))?.freshness.isFresh == false)
        stage.server.answerUser(1, "b")
        #expect(try await models.fetch(User.self, id: 1).name == "b")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        #expect(try await models.fetch(Feed(topic: "swift")).freshness.isFresh)
        #expect(try await models.fetchSnapshot(User.self, id: 2).freshness.isFresh)
        #expect(stage.server.responses.last?.status == 304)
    }

    @Test func aModelThatTheServerHasNoMoreIsRemoved() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a")
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        stage.server.answer("/users/1", .empty, status: 404)
        await expect(.notFound) { _ = try await models.fetch(User.self, id: 1, .reload) }
        #expect(try await models.stored(User.self, id: 1) == nil)
    }

    @Test func staleWhileRevalidateGivesTheOldValueAndLoadsBehind() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a")
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        stage.clock.advance(by: .seconds(61))
        stage.server.answerUser(1, "b")
        #expect(try await models.fetch(User.self, id: 1, .staleWhileRevalidate).name == "a")
        await models.settle()
        #expect(try await models.stored(User.self, id: 1)?.value.name == "b")
        #expect(stage.server.requests.count == 2)
    }

    @Test func aFetchDuringARefreshInTheBackgroundGetsTheResultOfThat() async throws {
        let stage = try Stage()
        let models = try await openWithStaleEntries(stage)
        stage.server.answerUser(1, "b")
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 2, "title": "u", "author": 7}]}"#))
        stage.server.hold("/users/1")
        stage.server.hold("/articles?topic=swift")
        #expect(try await models.fetch(User.self, id: 1, .staleWhileRevalidate).name == "a")
        #expect(try await models.fetch(Feed(topic: "swift"), .staleWhileRevalidate).elements.map(\.id) == [1])
        await stage.server.requested(2)
        async let user = models.fetch(User.self, id: 1, .reload)
        async let list = models.fetch(Feed(topic: "swift"), .reload)
        // Both join the load. If one comes later, it sends its own request, and its result is the same.
        try await Task.sleep(for: .milliseconds(50))
        stage.server.release("/users/1")
        stage.server.release("/articles?topic=swift")
        #expect(try await user.name == "b")
        #expect(try await list.elements.map(\.id) == [2])
    }

    /// A server that hangs holds up the first fetch with a time limit, and no later one.
    @Test(.timeLimit(.minutes(1 * slowness))) func aHungRefreshEndsWithTheLastTaskThatWaitsForIt() async throws {
        let stage = try Stage()
        let models = try await openWithStaleEntries(stage)
        stage.server.forgetRequests()
        stage.server.answerUser(1, "b")
        stage.server.hold("/users/1")
        #expect(try await models.fetch(User.self, id: 1, .staleWhileRevalidate).name == "a")
        await stage.server.requested(1)
        // A fetch that is cancelled before it waits ends no load. After one that waited, the next fetch asks the server
        // itself.
        while stage.server.requests.count < 2 {
            let waiting = Task { try await models.fetch(User.self, id: 1, .reload) }
            try await Task.sleep(for: .milliseconds(20))
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        stage.server.release("/users/1")
        #expect(try await models.fetch(User.self, id: 1, .reload).name == "b")
        await models.settle()
        #expect(stage.failures.all.isEmpty)
    }

    @Test func listsOfSeveralTypesWithOneKeyAreLoadedEach() async throws {
        struct SameFeed: ModelList {
            typealias Element = Article
            var listKey: String { "feed/swift" }
            func request(after cursor: PageCursor?) -> ModelRequest { .get("/articles", query: ["topic": "swift"]) }
            func page(in body: ModelBody) throws -> ModelPage<Article> {
                try body.page(items: "items", next: .optional("next"))
            }
        }
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        stage.server.hold("/articles?topic=swift")
        let models = try await stage.open()
        async let one = models.fetch(Feed(topic: "swift"))
        await stage.server.requested(1)
        async let other = models.fetch(SameFeed())
        try await Task.sleep(for: .milliseconds(50))
        stage.server.release("/articles?topic=swift")
        #expect(try await one.elements.map(\.id) == [1])
        #expect(try await other.elements.map(\.id) == [1])
    }
}
