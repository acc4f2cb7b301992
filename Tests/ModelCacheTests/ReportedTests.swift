import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

private struct Refused: Error {}

/// A user as a page of its profile, under the same identity.
private struct Profile: CachedModel {
    static let modelName = "profile"
    let id: Int
    var name: String
    var tags: Set<String> { ["user/\(id)"] }
    static func request(for id: Int) -> ModelRequest { .get("/users", id, then: "profile") }
}

/// The same user, as it is in lists.
private struct Badge: CachedModel {
    static let modelName = "badge"
    let id: Int
    var name: String
    var tags: Set<String> { ["user/\(id)"] }
    static func request(for id: Int) -> ModelRequest { .get("/users", id) }
}

/// Situations that users of comparable libraries have reported.
@Suite struct ReportedTests {
    /// The situations that have a test in another suite, with the name of the test.
    private static let elsewhere: KeyValuePairs = [
        "facebook/relay #2155: a deletion leaves empty places in lists": "aDeletedModelLeavesEveryList",
        "facebook/relay #2155: and so does one that another device has made":
            "aModelThatTheServerHasNoMoreLeavesTheList",
        "facebook/relay #1567: a change of an insertion that is not confirmed":
            "aChangeThatIsUnderWayIsOneOfTheServersModel",
        "facebook/relay #2007: a removal that is taken back": "aDeletionShowsUntilItFails",
        "TanStack/query #471, #2154: a reload joins a request from before a change":
            "aFetchThatBeginsAfterAnInvalidationJoinsNoEarlierLoad",
        "vercel/swr #751, #2264: a list that nobody shows is invalidated": "whatIsInvalidatedIsStaleAndNothingElse",
        "reduxjs/redux-toolkit #1672: a reload of a deleted model": "aReloadOfARemovedModelShowsNone",
        "reduxjs/redux-toolkit #1782: many requests with an expired token": "anExpiredTokenIsRefreshedOnce",
        "reduxjs/redux-toolkit #1436, #4939: the total count of a list": "theLatestPagesDetailsAreKeptWithTheList",
        "TanStack/query #5331: a page and a reload cross":
            "pagesFollowEachOtherAndNothingIsDoubledOrLostWhileTheFirstIsRefreshed",
        "realm/realm-swift #4882, realm/realm-java #2179: null of a part overwrites a field":
            "aModelKnownFromListsKeepsTheFieldsThatListsLackAndIsLoadedByItsOwnFetch",
        "urql-graphql/urql #1867: a model that came in part is not loaded": "aPartDoesNotRenewAWholeModel",
        "Alamofire #2109, #615, Moya #770, duckduckgo/iOS #165: entity tags and 304":
            "aModelIsConfirmedOverTheWire",
        "marksands/BetterCodable #8, RevenueCat/purchases-ios #1543: one bad element of an array": "oneBadElement",
        "donnywals.com: changed and deleted models since a date": "changesSinceADate",
    ]

    @Test func everySituationHasATest() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let code = try files.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        for (situation, test) in Self.elsewhere {
            #expect(code.contains { $0.contains("func \(test)(") }, "\(situation): \(test)")
        }
    }

    private let feed = Feed(topic: "swift")

    private func open(_ stage: borrowing Stage, _ ids: [Int]) async throws -> Models {
        stage.server.answerFeed("swift", ids)
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        return models
    }

    private func ids(_ models: Models) async throws -> [Int]? {
        try await models.stored(feed)?.elements.map(\.id)
    }

    private func page(_ ids: [Int], next: Int? = nil) -> StubTransport.Body {
        let items = ids.map { "{\"id\": \($0), \"title\": \"t\", \"author\": 7}" }.joined(separator: ",")
        return .json("{\"items\": [\(items)], \"next\": \(next.map(String.init) ?? "null")}")
    }

    // MARK: Changes

    /// apollographql/apollo-client #13463: a change that is made while an answer is delivered does not show.
    @Test @MainActor func aChangeThatAnObserverMakesShows() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada")
        let models = try await stage.open()
        let live = models.live(User.self, id: 1)
        await live.load()
        let gate = Gate()
        let observer = Task {
            for await snapshot in models.updates(of: User.self, id: 1) where snapshot?.value.name == "Grace" {
                try await models.change {
                    $0.update(User.self, id: 1) { $0.name = "Mine" }
                } sending: {
                    await gate.pass()
                }
                return
            }
        }
        stage.server.answerUser(1, "Grace")
        await live.reload()
        await gate.reached()
        try await wait(until: live.value?.name == "Mine")
        gate.open()
        try await observer.value
        #expect(try await models.stored(User.self, id: 1)?.value.name == "Mine")
    }

    /// apollographql/apollo-kotlin #5129: two removals in a row, the first of which fails.
    @Test(arguments: [false, true]) func aRemovalThatFailsLeavesALaterOne(failsFirst: Bool) async throws {
        let stage = try Stage()
        let models = try await open(stage, [1, 2, 3])
        let gate = Gate()
        let first = Task {
            try await models.change {
                $0.removeEverywhere(Article.self, id: 1)
            } sending: {
                await gate.pass()
                throw Refused()
            }
        }
        await gate.reached()
        #expect(try await ids(models) == [2, 3])
        try await models.change {
            $0.removeEverywhere(Article.self, id: 2)
        } sending: {
            if failsFirst {
                gate.open()
                await #expect(throws: Refused.self) { try await first.value }
                let shown = try await ids(models)
                #expect(shown == [1, 3])
            }
        }
        gate.open()
        await #expect(throws: Refused.self) { try await first.value }
        #expect(try await ids(models) == [1, 3])
        #expect(try await models.stored(feed)?.holes == [])
        #expect(try await models.stored(Article.self, id: 2) == nil)
    }

    /// apollographql/apollo-kotlin #1803: the answer to a change does not reach the lists that show its model.
    @Test @MainActor func theAnswerToAChangeReachesEveryList() async throws {
        let stage = try Stage()
        let models = try await open(stage, [1, 2])
        stage.server.answerFeed("linux", [2, 1])
        let lists = [models.live(feed), models.live(Feed(topic: "linux"))]
        for list in lists { await list.load() }
        let answer = #"{"id": 1, "title": "the server's", "author": {"id": 8, "name": "Grace", "bio": "b"}}"#
        try await models.change {
            $0.update(Article.self, id: 1) { $0.title = "mine" }
        } sending: {
            Data(answer.utf8)
        } then: { draft, data in
            try draft.save(Article.self, decoding: data)
        }
        for list in lists {
            try await wait(until: list.elements.first { $0.id == 1 }?.title == "the server's")
            #expect(list.elements.first { $0.id == 1 }?.author.id == 8)
        }
        #expect(try await models.stored(User.self, id: 8)?.value.name == "Grace")
    }

    /// facebook/relay #1734: an inserted element is in the list twice when pages bring it.
    @Test func anInsertedElementIsInTheListOnce() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([4, 3], next: 3))
        stage.server.answer("/articles?topic=swift&after=3", page([9, 2], next: 2))
        stage.server.answer("/articles?topic=swift&after=2", page([5, 1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.change {
            $0.insert(Article(id: 5, title: "t", author: ModelLink(7)), into: feed, at: .start)
        } sending: {
            // The server has it in an answer before it confirms it.
            stage.server.answer("/articles?topic=swift", page([5, 4, 3], next: 3))
            let shown = try await models.fetch(feed, .reload).elements.map(\.id)
            #expect(shown == [5, 4, 3])
        }
        #expect(try await models.fetchMore(of: feed).elements.map(\.id) == [5, 4, 3, 9, 2])
        #expect(try await models.fetchMore(of: feed).elements.map(\.id) == [5, 4, 3, 9, 2, 1])
    }

    /// reduxjs/redux-toolkit #3733: an element of the first page is deleted while several pages are shown.
    @Test func aDeletionOnTheFirstOfSeveralPagesAsksForNone() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([6, 5], next: 5))
        stage.server.answer("/articles?topic=swift&after=5", page([4, 3], next: 3))
        stage.server.answer("/articles?topic=swift&after=3", page([2, 1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        _ = try await models.fetchMore(of: feed)
        stage.server.forgetRequests()
        try await models.change {
            $0.removeEverywhere(Article.self, id: 6)
        } sending: {
            let shown = try await ids(models)
            #expect(shown == [5, 4, 3])
        }
        let list = try await models.fetch(feed)
        #expect(list.elements.map(\.id) == [5, 4, 3] && list.hasMore && list.holes.isEmpty)
        #expect(stage.server.requests.isEmpty)
        #expect(try await models.fetchMore(of: feed).elements.map(\.id) == [5, 4, 3, 2, 1])
        #expect(stage.server.requests.count == 1)
    }

    // MARK: Failures

    /// MobileNativeFoundation/Store #254: the second refresh that fails is not told.
    @Test func everyRefreshThatFailsIsTold() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada")
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        stage.server.fail("/users/1")
        for count in 1...3 {
            stage.clock.advance(by: .seconds(61))
            #expect(try await models.fetch(User.self, id: 1, .staleWhileRevalidate).name == "Ada")
            await models.settle()
            #expect(stage.failures.all.map(\.code) == Array(repeating: .transport, count: count))
        }
        await expect(.transport) { _ = try await models.fetch(User.self, id: 1, .reload) }
        #expect(stage.failures.all.count == 3)
    }

    /// MobileNativeFoundation/Store #280: a task that waits for a model which the server does not have waits for ever.
    @Test(.timeLimit(.minutes(2 * slowness)), arguments: [404, 410])
    func everyTaskIsToldThatTheServerHasNoSuchModel(status: Int) async throws {
        let stage = try Stage()
        stage.server.answer("/users/1", .empty, status: status)
        stage.server.hold("/users/1")
        let models = try await stage.open()
        let tasks = (0..<20).map { _ in Task { try await models.fetch(User.self, id: 1) } }
        await stage.server.requested(1)
        stage.server.release("/users/1")
        for task in tasks { await expect(.notFound) { _ = try await task.value } }
        // It may be there later.
        stage.server.answerUser(1, "Ada")
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
    }

    // MARK: Identities

    /// urql-graphql/urql #3255: pages of a list with other arguments are mixed.
    @Test func listsWithOtherArgumentsAreApart() async throws {
        let stage = try Stage()
        let topics = ["swift": [1, 2, 3, 4], "linux": [3, 1, 5, 2]]
        for (topic, ids) in topics {
            stage.server.answer("/articles?topic=\(topic)", page(Array(ids[..<2]), next: 9))
            stage.server.answer("/articles?topic=\(topic)&after=9", page(Array(ids[2...])))
        }
        let models = try await stage.open()
        for topic in topics.keys { _ = try await models.fetch(Feed(topic: topic)) }
        for (topic, ids) in topics {
            #expect(try await models.fetchMore(of: Feed(topic: topic)).elements.map(\.id) == ids)
        }
        for (topic, ids) in topics {
            #expect(try await models.stored(Feed(topic: topic))?.elements.map(\.id) == ids)
        }
    }

    /// apollographql/frontpage-ios-app #2: two types have models with the same identity.
    @Test func modelsOfTwoTypesMayHaveOneIdentity() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada")
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "t", "author": 1}"#))
        for _ in 1...2 {
            let models = try await stage.open()
            #expect(try await models.fetch(Article.self, id: 1).title == "t")
            #expect(try await models.fetch(User.self, id: 1).name == "Ada")
            try await models.close()
        }
        let models = try await stage.open()
        try await models.remove(Article.self, id: 1)
        #expect(try await models.stored(User.self, id: 1)?.value.name == "Ada")
        #expect(stage.server.requests.count == 2)
    }

    /// apollographql/apollo-client #10367: one resource as two types. Each is a model of its own, and a tag makes both stale.
    @Test func aResourceAsTwoTypesIsTwoModelsWithOneTag() async throws {
        let server = StubTransport()
        let models = try await Models.inMemory(types: [Profile.self, Badge.self], transport: server)
        server.answer("/users/1/profile", .json(#"{"id": 1, "name": "Ada"}"#))
        server.answer("/users/1", .json(#"{"id": 1, "name": "Ada"}"#))
        _ = try await models.fetch(Profile.self, id: 1)
        _ = try await models.fetch(Badge.self, id: 1)
        try await models.change { $0.update(Profile.self, id: 1) { $0.name = "Grace" } }
        #expect(try await models.stored(Badge.self, id: 1)?.value.name == "Ada")
        try await models.invalidate(.tag("user/1"))
        #expect(try await models.stored(Profile.self, id: 1)?.freshness.isFresh == false)
        #expect(try await models.stored(Badge.self, id: 1)?.freshness.isFresh == false)
    }
}
