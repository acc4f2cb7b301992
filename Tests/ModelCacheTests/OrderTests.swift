import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

/// Answers nothing until a request is cancelled.
private final class EndlessServer: ModelTransport {
    let requestCount = Atomic(0)
    let cancelledCount = Atomic(0)

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        requestCount.add(1, ordering: .relaxed)
        try? await Task.sleep(for: .seconds(3_600))
        cancelledCount.add(1, ordering: .relaxed)
        throw CancellationError()
    }
}

/// Saves a part of a user, or removes it, whenever the whole one is asked for.
private final class OvertakingServer: ModelTransport {
    let requestCount = Atomic(0)
    private let isRemoving: Bool
    private let models = Mutex<Models?>(nil)

    init(isRemoving: Bool = false) { self.isRemoving = isRemoving }

    func overtake(in cache: Models?) { models.withLock { $0 = cache } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let count = requestCount.add(1, ordering: .relaxed).newValue
        let models = models.withLock { $0 }
        if isRemoving {
            try await models?.remove(User.self, id: 1)
        } else {
            try await models?.save(User(id: 1, name: "part \(count)"))
        }
        let user = #"{"id": 1, "name": "whole", "bio": "b"}"#
        return ModelResponse(body: Data((request.path == "/users" ? "[\(user)]" : user).utf8))
    }
}

/// Which answer stays.
@Suite struct OrderTests {
    @Test func oneHundredTasksCauseOneRequestAndTheLastCancellationCancelsIt() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a")
        stage.server.hold("/users/1")
        let models = try await stage.open()
        // First the one that stays: it must wait for the request before all others are cancelled.
        let last = Task { try await models.fetch(User.self, id: 1) }
        await stage.server.requested(1)
        let tasks = (0..<99).map { _ in Task { try await models.fetch(User.self, id: 1) } }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        stage.server.release("/users/1")
        #expect(try await last.value.name == "a")
        #expect(stage.server.requests.count == 1)

        // All of them.
        stage.server.forgetRequests()
        stage.server.hold("/users/1")
        let others = (0..<10).map { _ in Task { try await models.fetch(User.self, id: 1, .reload) } }
        await stage.server.requested(1)
        for task in others { task.cancel() }
        for task in others { await #expect(throws: CancellationError.self) { try await task.value } }
        try await models.save(User(id: 1, name: "mine", bio: "b"))
        stage.server.release("/users/1")
        await models.settle()
        #expect(try await models.stored(User.self, id: 1)?.value.name == "mine")
    }

    @Test(.timeLimit(.minutes(10 * slowness))) func theRequestThatNoTaskWaitsForIsCancelled() async throws {
        let server = EndlessServer()
        let models = try await Models.inMemory(types: [User.self], transport: server)
        let tasks = (0..<10).map { _ in Task { try await models.fetch(User.self, id: 1) } }
        try await wait(until: server.requestCount.load(ordering: .relaxed) != 0)
        for task in tasks { task.cancel() }
        try await wait(until: server.cancelledCount.load(ordering: .relaxed) != 0)
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(server.requestCount.load(ordering: .relaxed) == 1)
    }

    @Test func aListThatBringsTheModelAndItsOwnLoadBothEndAndTheLaterRequestStays() async throws {
        let stage = try Stage()
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "early", "author": 7}"#))
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "late", "author": 7}]}"#)
        )
        stage.server.hold("/articles/1")
        let models = try await stage.open()
        async let early = models.fetch(Article.self, id: 1)
        await stage.server.requested(1)
        #expect(try await models.fetch(Feed(topic: "swift")).elements.map(\.title) == ["late"])
        stage.server.release("/articles/1")
        _ = try await early
        #expect(try await models.stored(Article.self, id: 1)?.value.title == "late")
    }

    @Test func theAnswerToTheLaterRequestStaysForModelsAndLists() async throws {
        let stage = try Stage()
        // A begins with the model's own request, B with one for several.
        stage.server.answer("/users/1", .json(#"{"id": 1, "name": "A", "bio": "x"}"#))
        stage.server.answer(
            "/users",
            .json(#"[{"id": 1, "name": "B", "bio": "x"}, {"id": 2, "name": "B", "bio": "x"}]"#)
        )
        stage.server.hold("/users/1")
        let models = try await stage.open()
        async let first = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        _ = try await models.fetch(User.self, ids: [1, 2])
        stage.server.release("/users/1")
        _ = try await first
        #expect(try await models.stored(User.self, id: 1)?.value.name == "B")
        // The other way round: the later one answers last.
        stage.server.forgetRequests()
        stage.server.answer(
            "/users",
            .json(#"[{"id": 1, "name": "C", "bio": "x"}, {"id": 2, "name": "C", "bio": "x"}]"#)
        )
        stage.server.answer("/users/1", .json(#"{"id": 1, "name": "D", "bio": "x"}"#))
        stage.server.hold("/users/1")
        async let several = models.fetch(User.self, ids: [1, 2], .reload)
        _ = try await several
        async let last = models.fetch(User.self, id: 1, .reload)
        await stage.server.requested(2)
        stage.server.release("/users/1")
        _ = try await last
        #expect(try await models.stored(User.self, id: 1)?.value.name == "D")

        // A list that is changed by hand while its first page is on the way.
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        let feed = Feed(topic: "swift")
        _ = try await models.fetch(feed)
        stage.server.forgetRequests()
        stage.server.hold("/articles?topic=swift")
        async let reloaded = models.fetch(feed, .reload)
        await stage.server.requested(1)
        try await models.change {
            $0.insert(Article(id: 2, title: "mine", author: ModelLink(7)), into: feed, at: .start)
        }
        stage.server.release("/articles?topic=swift")
        _ = try await reloaded
        #expect(try await models.stored(feed)?.elements.map(\.id) == [2, 1])
    }

    @Test func whatIsInvalidatedDuringALoadIsGivenSavedAsStaleAndLoadedOnceMore() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a")
        stage.server.hold("/users/1")
        let models = try await stage.open()
        async let fetched = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        try await models.invalidate(.type(User.self))
        stage.server.release("/users/1")
        #expect(try await fetched.name == "a")
        await models.settle()
        #expect(stage.server.requests.count == 2)
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        // After a launch a type that was invalidated is still stale.
        try await models.invalidate(.type(User.self))
        try await models.close()
        let later = try await stage.open()
        #expect(try await later.stored(User.self, id: 1)?.freshness == .stale(since: nil, because: .invalidated))
    }

    @Test(arguments: ["model", "tag", "list", "all"])
    func whatIsInvalidatedIsStaleAndNothingElse(scope: String) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        var models = try await stage.open()
        let feed = Feed(topic: "swift")
        _ = try await models.fetch(feed)
        try await models.save([
            Article(id: 2, title: "t", author: ModelLink(7), topic: "go"),
            Article(id: 3, title: "t", author: ModelLink(7)),
        ])
        switch scope {
        case "model": try await models.invalidate(.model(Article.self, id: 3))
        case "tag": try await models.invalidate(.tag("go"), .tag("feed"))
        case "list": try await models.invalidate(.list(feed))
        default: try await models.invalidate(.everything)
        }
        for _ in 0..<2 {
            let found = try await models.stored(Article.self, ids: 1...3)
            let stale = Set(found.filter { !$0.value.freshness.isFresh }.keys)
            #expect(stale == ["all": [1, 2, 3], "tag": [2], "model": [3]][scope] ?? [])
            #expect(try await models.stored(feed)?.freshness.isFresh == (scope == "model"))
            try await models.close()
            models = try await stage.open()
        }
    }

    @Test func lostBookkeepingMakesEverythingStaleAndAnyAnswerReplacesIt() async throws {
        let stage = try Stage()
        var models = try await stage.open()
        for _ in 0..<20 { try await models.save(User(id: 1, name: "old", bio: "b")) }
        try await models.close()
        let bookkeeping = stage.directory.url.appending(path: "42").appending(path: "$bookkeeping")
        try FileManager.default.removeItem(at: bookkeeping)
        models = try await stage.open()
        #expect(try await models.stored(User.self, id: 1)?.freshness == .stale(since: nil, because: .invalidated))
        stage.server.answerUser(1, "new")
        #expect(try await models.fetch(User.self, id: 1).name == "new")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
    }

    // MARK: Parts that overtake whole models

    /// A feed by user 1, with a part of the user.
    private static let part = StubTransport.Body.json(
        #"{"items": [{"id": 1, "title": "t", "author": {"id": 1, "name": "part"}}]}"#
    )

    @Test func aPartThatComesBeforeTheWholeModelIsNoResultOfItsFetch() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "early")
        stage.server.answer("/articles?topic=swift", Self.part)
        stage.server.hold("/users/1")
        let models = try await stage.open()
        async let fetched = models.fetchSnapshot(User.self, id: 1)
        await stage.server.requested(1)
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.server.answerUser(1, "late")
        stage.server.release("/users/1")
        let snapshot = try await fetched
        #expect(snapshot.value == User(id: 1, name: "late", bio: "b"))
        #expect(snapshot.freshness.isFresh)
        #expect(stage.server.requests.map(\.path) == ["/users/1", "/articles", "/users/1"])
        #expect(try await models.stored(User.self, id: 1) == snapshot)
    }

    @Test func aPartThatComesBeforeSeveralWholeModelsIsNoResultOfTheirFetch() async throws {
        let stage = try Stage()
        let users = #"[{"id": 1, "name": "n", "bio": "x"}, {"id": 2, "name": "n", "bio": "x"}]"#
        stage.server.answer("/users", .json(users))
        stage.server.answer("/articles?topic=swift", Self.part)
        stage.server.hold("/users")
        let models = try await stage.open()
        async let fetched = models.fetch(User.self, ids: [1, 2])
        await stage.server.requested(1)
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.server.release("/users")
        #expect(try await fetched.mapValues(\.bio) == [1: "x", 2: "x"])
        #expect(stage.server.requests.map(\.path) == ["/users", "/articles", "/users"])
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
    }

    @Test func aChangeOfAPartDuringTheLoadOfTheWholeModelLosesNeither() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", Self.part)
        let models = try await stage.open()
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.server.answerUser(1, "part")
        stage.server.hold("/users/1")
        stage.server.forgetRequests()
        async let fetched = models.fetch(User.self, id: 1)
        await stage.server.requested(1)
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "mine" }
        } sending: {
            stage.server.answerUser(1, "mine")
        }
        stage.server.release("/users/1")
        #expect(try await fetched == User(id: 1, name: "mine", bio: "b"))
    }

    @Test(arguments: [[1], [1, 2]]) func aFetchThatPartsAlwaysOvertakeEnds(ids: [Int]) async throws {
        let server = OvertakingServer()
        let models = try await Models.inMemory(types: [User.self], transport: server)
        server.overtake(in: models)
        defer { server.overtake(in: nil) }
        // The answer to the last request is given, and the later part stays.
        #expect(try await models.fetch(User.self, ids: ids) == [1: User(id: 1, name: "whole", bio: "b")])
        #expect(server.requestCount.load(ordering: .relaxed) == 3)
        #expect(try await models.stored(User.self, id: 1)?.value == User(id: 1, name: "part 3"))
    }

    // MARK: Removals

    @Test(arguments: [true, false])
    func aModelThatWasRemovedStaysAwayWhenAnEarlierAnswerHasIt(isStored: Bool) async throws {
        let stage = try Stage()
        let items = (1...4).map { #"{"id": \#($0), "title": "t", "author": 7}"# }.joined(separator: ", ")
        stage.server.answer("/articles?topic=swift", .json("{\"items\": [\(items)]}"))
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        if isStored { _ = try await models.fetch(feed) }
        stage.server.forgetRequests()
        stage.server.hold("/articles?topic=swift")
        async let reloaded = models.fetch(feed, .reload)
        await stage.server.requested(1)
        try await models.change {
            $0.remove(id: 1, from: feed)
            $0.remove(Article.self, id: 1)
        } sending: {
        }
        try await models.remove(Article.self, id: 2)
        stage.server.answer("/articles/3", .empty, status: 404)
        await expect(.notFound) { _ = try await models.fetch(Article.self, id: 3, .reload) }
        stage.server.release("/articles?topic=swift")
        _ = try await reloaded
        #expect(try await models.stored(Article.self, ids: 1...4).keys.sorted() == [4])
        // A later answer brings them back.
        _ = try await models.fetch(feed, .reload)
        #expect(try await models.stored(Article.self, ids: 1...4).count == 4)
    }

    /// The server may have taken the change after the answer.
    @Test(arguments: [true, false])
    func aChangeOfAModelThatIsNotStoredIsNotLostToAnEarlierAnswer(isSent: Bool) async throws {
        let stage = try Stage()
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "old", "author": 7}"#))
        stage.server.hold("/articles/1")
        let models = try await stage.open()
        async let fetched = models.fetch(Article.self, id: 1)
        await stage.server.requested(1)
        let edit: (inout ModelDraft) -> Void = { $0.update(Article.self, id: 1) { $0.title = "new" } }
        if isSent { try await models.change(edit) {} } else { try await models.change(edit) }
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "new", "author": 7}"#))
        stage.server.release("/articles/1")
        #expect(try await fetched.title == "new")
        #expect(try await models.stored(Article.self, id: 1)?.freshness.isFresh == true)
        #expect(stage.server.requests.count == 2)
    }

    /// A view would have no model, and no error; a fetch would return the server's old one as fresh.
    @MainActor @Test(arguments: ["model", "several", "list"], [true, false])
    func aModelThatIsChangedOrRemovedDuringItsFirstLoadIsAskedForAgain(kind: String, isRemoved: Bool) async throws {
        let stage = try Stage()
        func user(_ name: String) -> String { "{\"id\": 1, \"name\": \"\(name)\", \"bio\": \"b\"}" }
        func answer(_ name: String?) {
            let users = (name.map { [user($0)] } ?? []) + [#"{"id": 2, "name": "n", "bio": "b"}"#]
            stage.server.answer("/users", .json("[\(users.joined(separator: ", "))]"))
            if let name {
                stage.server.answerUser(1, name)
            } else {
                stage.server.answer("/users/1", .empty, status: 404)
            }
        }
        stage.server.answer("/everybody", .json("[\(user("old")), {\"id\": 2, \"name\": \"n\", \"bio\": \"b\"}]"))
        answer("old")
        let path = ["model": "/users/1", "several": "/users", "list": "/everybody"][kind] ?? ""
        stage.server.hold(path)
        let models = try await stage.open()
        let (one, several, list) = (
            models.live(User.self, id: 1), models.live(User.self, ids: [1, 2]), models.live(Everybody())
        )
        async let load: Void = {
            switch kind {
            case "model": await one.load()
            case "several": await several.load()
            default: await list.load()
            }
        }()
        await stage.server.requested(1)
        try await models.change {
            if isRemoved { $0.remove(User.self, id: 1) } else { $0.update(User.self, id: 1) { $0.name = "new" } }
        } sending: {
            answer(isRemoved ? nil : "new")
        }
        stage.server.release(path)
        await load
        let expected = isRemoved ? nil : "new"
        switch kind {
        case "model":
            #expect(one.value?.name == expected)
            #expect(one.error?.code == (isRemoved ? .notFound : nil))
        case "several":
            #expect(several[1]?.name == expected)
            #expect(several[2]?.name == "n" && several.error == nil)
        default:
            #expect(list.elements.map(\.name) == [expected, "n"].compactMap { $0 })
            #expect(list.holes == [] && list.error == nil)
        }
        #expect(try await models.stored(User.self, id: 1)?.value.name == expected)
        #expect(stage.server.requests.count == 2)
    }

    private struct Everybody: ModelList {
        typealias Element = User
        var listKey: String { "everybody" }
        func request(after cursor: PageCursor?) -> ModelRequest { .get("/everybody") }
    }

    /// It is returned, and not kept.
    @Test(arguments: [[1], [1, 2]]) func aFetchWhoseModelIsRemovedAgainAndAgainEnds(ids: [Int]) async throws {
        let server = OvertakingServer(isRemoving: true)
        let models = try await Models.inMemory(types: [User.self], transport: server)
        server.overtake(in: models)
        defer { server.overtake(in: nil) }
        #expect(try await models.fetch(User.self, ids: ids) == [1: User(id: 1, name: "whole", bio: "b")])
        #expect(server.requestCount.load(ordering: .relaxed) == 3)
        #expect(try await models.stored(User.self, id: 1) == nil)
    }

    /// The server may have answered before it had the change.
    @Test func aChangeOfAListThatIsLoadedForTheFirstTimeIsNotLostToTheAnswer() async throws {
        let stage = try Stage()
        let (models, feed) = (try await stage.openHoldingFeed([1, 2, 3]), Feed(topic: "swift"))
        async let fetched = models.fetch(feed)
        await stage.server.requested(1)
        let added = Article(id: 9, title: "nine", author: ModelLink(7))
        try await models.change {
            $0.insert(added, into: feed, at: .start)
        } sending: {
        } then: { draft, _ in
            draft.remove(id: 2, from: feed)
        }
        stage.server.release("/articles?topic=swift")
        #expect(try await fetched.elements.map(\.id) == [9, 1, 3])
        #expect(try await models.stored(feed)?.elements.map(\.id) == [9, 1, 3])
        // The server has the last word, if the request came after the change.
        stage.server.answerFeed("swift", [1, 2, 3])
        #expect(try await models.fetch(feed, .reload).elements.map(\.id) == [1, 2, 3])
    }

    /// The server may have answered before it had the change.
    @Test func anElementThatItsListHasNotYetIsNotBroughtBackByAnEarlierAnswer() async throws {
        let stage = try Stage()
        let feed = Feed(topic: "swift")
        stage.server.answerFeed("swift", [1, 2])
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        stage.clock.advance(by: .seconds(1))
        stage.server.answerFeed("swift", [3, 1, 2])
        stage.server.hold("/articles?topic=swift")
        async let reloaded = models.fetch(feed, .reload)
        await stage.server.requested(2)
        try await models.change {
            $0.remove(id: 3, from: feed)
        } sending: {
            stage.server.answerFeed("swift", [1, 2])
        }
        stage.server.release("/articles?topic=swift")
        #expect(try await reloaded.elements.map(\.id) == [1, 2])
        #expect(stage.server.requests.count == 3)
    }

    /// The answer that confirmed it is as good as before.
    @Test func aListThatAChangeFindsAsItIsKeepsItsValidator() async throws {
        let stage = try Stage()
        let feed = Feed(topic: "swift")
        let items = #"{"items": [{"id": 1, "title": "t", "author": 7}]}"#
        stage.server.answer("/articles?topic=swift", .json(items), headers: ["ETag": #""a""#])
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.change { $0.remove(id: 3, from: feed) }
        stage.clock.advance(by: .seconds(1_000))
        _ = try await models.fetch(feed)
        #expect(stage.server.responses.map(\.status) == [200, 304])
        try await models.change { $0.insert(id: 3, into: feed, at: .start) }
        _ = try await models.fetch(feed, .reload)
        #expect(stage.server.responses.map(\.status) == [200, 304, 200])
    }

    @Test func changesOfManyListsThatAreNotStoredAreNotKeptForEver() async throws {
        let stage = try Stage()
        let (models, feed) = (try await stage.openHoldingFeed([1, 2, 3]), Feed(topic: "swift"))
        async let fetched = models.fetch(feed)
        await stage.server.requested(1)
        try await models.change { $0.remove(id: 2, from: feed) }
        try await models.change { draft in
            for number in 0..<1_024 { draft.remove(id: 1, from: Feed(topic: "\(number)")) }
        }
        stage.server.release("/articles?topic=swift")
        _ = try await fetched
        // Whether the list was changed is no longer known.
        #expect(try await models.stored(feed) == nil)
        #expect(try await models.fetch(feed).elements.map(\.id) == [1, 2, 3])
        _ = try await models.fetch(feed)
        #expect(stage.server.requests.count == 2)
    }

    /// Without a second request, the answer's news would be lost, and an old value would count as fresh.
    @Test(arguments: ["model", "several", "list"]) func aLoadDuringWhichTheProgramChangesTheEntryAsksAgain(
        kind: String
    )
        async throws
    {
        let stage = try Stage()
        let feed = Feed(topic: "swift")
        let path = ["model": "/users/1", "several": "/users?ids=1,2", "list": "/articles?topic=swift"][kind] ?? ""
        func answer(_ name: String, bio: String, ids: [Int]) {
            stage.server.answerUser(1, name, bio: bio)
            let user = "{\"id\": 1, \"name\": \"\(name)\", \"bio\": \"\(bio)\"}"
            stage.server.answer("/users?ids=1,2", .json("[\(user), {\"id\": 2, \"name\": \"n\", \"bio\": \"b\"}]"))
            stage.server.answerFeed("swift", ids)
        }
        answer("a", bio: "old", ids: [1])
        let models = try await stage.open()
        _ = try await models.fetch(User.self, ids: [1, 2])
        _ = try await models.fetch(feed)
        stage.clock.advance(by: .seconds(1))
        stage.server.forgetRequests()
        stage.server.hold(path)
        // The server has answered before it gets the change.
        answer("a", bio: "new", ids: [5, 4, 1])
        async let found: Void = {
            switch kind {
            case "model": _ = try await models.fetch(User.self, id: 1, .reload)
            case "several": _ = try await models.fetch(User.self, ids: [1, 2], .reload)
            default: _ = try await models.fetch(feed, .reload)
            }
        }()
        await stage.server.requested(1)
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "mine" }
            $0.insert(Article(id: 9, title: "nine", author: ModelLink(7)), into: feed, at: .start)
        } sending: {
            answer("mine", bio: "new", ids: [9, 5, 4, 1])
        }
        stage.server.release(path)
        try await found
        if kind == "list" {
            #expect(try await models.stored(feed)?.elements.map(\.id) == [9, 5, 4, 1])
        } else {
            #expect(try await models.stored(User.self, id: 1)?.value.name == "mine")
            #expect(try await models.stored(User.self, id: 1)?.value.bio == "new")
        }
    }

    private struct Counter: CachedModel {
        static let modelName = "counter"
        let id: Int
        var count: Int
        static func merge(_ incoming: Counter, over old: Counter, from source: ModelSource) -> Counter {
            Counter(id: incoming.id, count: incoming.count + old.count)
        }
        static func request(for id: Int) -> ModelRequest { .get("/counters", id) }
    }

    /// Also where several tasks wait for the disk.
    @Test(.timeLimit(.minutes(5 * slowness)), arguments: [true, false], [true, false])
    func whatSeveralTasksHaveSavedIsOnDisk(isChange: Bool, isInMemory: Bool) async throws {
        let directory = try TemporaryDirectory()
        func open() async throws -> Models {
            isInMemory
                ? try await .inMemory(types: [Counter.self], transport: nil)
                : try await Models(
                    account: "a",
                    types: [Counter.self],
                    directory: directory.url,
                    transport: nil
                )
        }
        let models = try await open()
        let observer = Task { for await _ in models.updates(of: Counter.self, id: 1) {} }
        defer { observer.cancel() }
        try await models.save(Counter(id: 1, count: 0))
        let (tasks, times) = (4, 500)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<times {
                        if isChange {
                            try await models.change { $0.update(Counter.self, id: 1) { $0.count += 1 } }
                        } else {
                            try await models.save(Counter(id: 1, count: 1))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let shown = try await models.stored(Counter.self, id: 1)?.value.count
        // Of two values that are saved at once, one takes the place of the other.
        if isChange { #expect(shown == tasks * times) }
        try await models.close()
        if isInMemory { return }
        #expect(try await open().stored(Counter.self, id: 1)?.value.count == shown)
    }
}
