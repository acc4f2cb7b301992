import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing

/// Answers that the server forbids to keep (`no-store`).
@MainActor @Suite(.timeLimit(.minutes(2 * slowness))) struct UnkeptTests {
    private static let unkept: ModelHeaders = ["Cache-Control": "no-store"]
    private let feed = Feed(topic: "swift")

    private func answer(_ server: StubTransport, _ page: String, ids: [Int], next: String?, headers: ModelHeaders) {
        let items = ids.map { #"{"id": \#($0), "title": "t", "author": 7}"# }.joined(separator: ", ")
        let next = next.map { ", \"next\": \"\($0)\"" } ?? ""
        server.answer("/articles?topic=swift\(page)", .json("{\"items\": [\(items)]\(next)}"), headers: headers)
    }

    @Test(arguments: [false, true]) func aLiveModelShowsItUntilTheStoredOneChanges(isStored: Bool) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        if isStored { try await models.save(User(id: 1, name: "stored", bio: "b")) }
        let live = models.live(User.self, id: 1)
        stage.server.answerUser(1, "first", headers: Self.unkept)
        await live.reload()
        #expect(live.value?.name == "first" && live.error == nil && !live.isLoading)
        // The object's first look at the stored model takes nothing away.
        for _ in 0..<100 { await Task.yield() }
        #expect(live.value?.name == "first")
        stage.server.answerUser(1, "second", headers: Self.unkept)
        await live.reload()
        #expect(live.value?.name == "second")
        try await models.save(User(id: 1, name: "saved", bio: "b"))
        try await wait(until: live.value?.name == "saved")
        await live.reload()
        #expect(live.value?.name == "second")
        stage.server.answerUser(1, "kept")
        await live.reload()
        #expect(live.value?.name == "kept")
        #expect(try await models.stored(User.self, id: 1)?.value.name == "kept")
    }

    /// The change is later than the request.
    @Test(arguments: [false, true]) func itCoversNoChangeThatWasMadeMeanwhile(isRemoved: Bool) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "stored", bio: "b"))
        let live = models.live(User.self, id: 1)
        stage.server.answerUser(1, "old", headers: Self.unkept)
        stage.server.hold("/users/1")
        async let load: Void = live.reload()
        await stage.server.requested(1)
        if isRemoved {
            try await models.remove(User.self, id: 1)
        } else {
            try await models.save(User(id: 1, name: "saved", bio: "b"))
        }
        stage.server.release("/users/1")
        await load
        #expect(live.value?.name == (isRemoved ? nil : "saved"))
    }

    @Test(arguments: [false, true]) func itCoversNoUnconfirmedChange(isOneOfSeveral: Bool) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "stored", bio: "b"))
        stage.server.answerUser(1, "server", headers: Self.unkept)
        let (live, several) = (models.live(User.self, id: 1), models.live(User.self, ids: [1]))
        var shown: String? { isOneOfSeveral ? several[1]?.name : live.value?.name }
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "edited" }
        } sending: {
            try await wait(until: shown == "edited")
            if isOneOfSeveral { await several.reload() } else { await live.reload() }
            #expect(shown == "edited")
        }
        try await wait(until: shown == "edited")
    }

    @Test func itGoesWhereTheServerHasTheModelNoMore() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let live = models.live(User.self, id: 1)
        stage.server.answerUser(1, "unkept", headers: Self.unkept)
        await live.load()
        #expect(live.value?.name == "unkept")
        stage.server.answer("/users/1", .empty, status: 404)
        await live.reload()
        #expect(live.value == nil && live.error?.code == .notFound)
    }

    @Test func aStoredModelTakesThePlaceOfOneThatIsNotKeptWhenALoadGivesIt() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "stored", bio: "b"))
        stage.server.answerUser(1, "unkept", headers: Self.unkept)
        let live = models.live(User.self, id: 1)
        await live.reload()
        #expect(live.value?.name == "unkept")
        await live.load()
        #expect(live.value?.name == "stored")
    }

    @Test func liveModelsShowThem() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let users = #"[{"id": 1, "name": "a", "bio": "x"}, {"id": 2, "name": "b", "bio": "x"}]"#
        stage.server.answer("/users", .json(users), headers: Self.unkept)
        let live = models.live(User.self, ids: [1, 2])
        await live.load()
        #expect(live.values.map(\.name) == ["a", "b"])
        try await models.save(User(id: 1, name: "saved", bio: "b"))
        try await wait(until: live.values.map(\.name) == ["saved"])
    }

    @Test func aLiveListShowsThem() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "", ids: [1], next: nil, headers: Self.unkept)
        let live = models.live(feed)
        await live.load()
        #expect(live.elements.map(\.id) == [1] && live.error == nil)
        answer(stage.server, "", ids: [2], next: "2", headers: [:])
        answer(stage.server, "&after=2", ids: [3], next: nil, headers: Self.unkept)
        await live.load()
        #expect(live.elements.map(\.id) == [2])
        await live.loadMore()
        #expect(live.elements.map(\.id) == [2, 3])
        try await models.change { $0.update(Article.self, id: 2) { $0.title = "new" } }
        try await wait(until: live.elements.map(\.title) == ["new"])
    }

    @Test func aLiveListShowsUnconfirmedChangesOverThem() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "", ids: [1, 2], next: "2", headers: [:])
        answer(stage.server, "&after=2", ids: [3], next: nil, headers: Self.unkept)
        let live = models.live(feed)
        await live.load()
        answer(stage.server, "", ids: [1, 2], next: "2", headers: Self.unkept)
        try await models.change {
            $0.remove(id: 1, from: feed)
        } sending: {
            try await wait(until: live.elements.map(\.id) == [2])
            await live.reload()
            #expect(live.elements.map(\.id) == [2])
            await live.loadMore()
            #expect(live.elements.map(\.id) == [2, 3])
        }
    }

    /// There is no place to go on from, which is reported to the program.
    @Test func pagesThatAreNotKeptHaveAnEnd() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "", ids: [1], next: "1", headers: Self.unkept)
        answer(stage.server, "&after=1", ids: [2], next: "2", headers: Self.unkept)
        var shown = try await models.fetch(feed)
        for _ in 0..<10 where shown.hasMore { shown = try await models.fetchMore(of: feed) }
        #expect(!shown.hasMore && shown.elements.map(\.id) == [1])
        #expect(stage.failures.all.map(\.code) == [.notKept])
        // The first page is kept, and the next one is not.
        answer(stage.server, "", ids: [1], next: "1", headers: [:])
        shown = try await models.fetch(feed)
        #expect(shown.hasMore)
        for _ in 0..<10 where shown.hasMore { shown = try await models.fetchMore(of: feed) }
        #expect(!shown.hasMore && shown.elements.map(\.id) == [1, 2])
        #expect(stage.failures.all.map(\.code) == [.notKept, .notKept])
        // No page follows the last one.
        answer(stage.server, "&after=1", ids: [2], next: nil, headers: Self.unkept)
        shown = try await models.fetchMore(of: feed)
        #expect(!shown.hasMore && shown.elements.map(\.id) == [1, 2])
        #expect(stage.failures.all.count == 2)
    }
}
