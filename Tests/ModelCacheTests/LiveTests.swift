import Foundation
import ModelCacheTesting
import Observation
import Synchronization
import TestSupport
import Testing

@testable import ModelCache

@MainActor @Suite(.timeLimit(.minutes(40 * slowness))) struct LiveTests {
    private func memory(_ server: StubTransport) async throws -> Models {
        try await Models.inMemory(types: [User.self, Article.self, Comment.self], transport: server)
    }

    @Test func aLiveModelShowsWhatIsStoredAndAsksNoServer() async throws {
        let server = StubTransport()
        let models = try await memory(server)
        try await models.save(User(id: 1, name: "Ada", bio: "b"))
        let live = models.live(User.self, id: 1)
        #expect(live.value?.name == "Ada" && !live.isLoading, "memory is read at once")
        #expect(live.snapshot?.freshness.isFresh == true)
        try await models.save(User(id: 1, name: "Grace", bio: "b"))
        try await wait(until: live.value?.name == "Grace")
        let absent = models.live(ModelLink<User>(2))
        try await wait(until: !absent.isLoading)
        #expect(absent.value == nil && absent.error == nil)
        #expect(server.requests.isEmpty)
    }

    /// A view's first frame shows it.
    @Test func whatIsInMemoryShowsAtOnceAndWhatIsOnDiskSoon() async throws {
        let stage = try Stage()
        let feed = Feed(topic: "swift")
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "a", "author": 1}]}"#))
        let models = try await stage.open()
        try await models.save((1...2).map { User(id: $0, name: "\($0)", bio: "b") })
        _ = try await models.fetch(feed)
        for isOnDisk in [false, true] {
            if isOnDisk {
                await models.flush()
                models.trimMemory(toCount: 0)
            }
            let one = models.live(User.self, id: 1)
            let several = models.live(User.self, ids: [1, 2])
            let list = models.live(feed)
            #expect([one.isLoading, several.isLoading, list.isLoading].allSatisfy { $0 == isOnDisk })
            #expect((one.value == nil) == isOnDisk)
            #expect(several.values.count == (isOnDisk ? 0 : 2))
            #expect(list.elements.count == (isOnDisk ? 0 : 1))
            try await wait(until: one.value != nil && several.values.count == 2 && list.elements.count == 1)
        }
        // With changes that are not confirmed.
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "changing" }
        } sending: {
            #expect(models.live(User.self, id: 1).value?.name == "changing")
        }
        try await models.close()
        #expect(models.live(User.self, id: 1).value == nil)
    }

    @Test func aLoadShowsItsResultBeforeItReturns() async throws {
        let server = StubTransport()
        server.answerUser(1, "Ada")
        let models = try await memory(server)
        let live = models.live(User.self, id: 1)
        server.hold("/users/1")
        async let load: Void = live.load()
        await server.requested(1)
        #expect(live.isLoading)
        server.release("/users/1")
        await load
        #expect(live.value?.name == "Ada")
        #expect(!live.isLoading && live.error == nil)
    }

    @Test func aReloadThatFailsSaysSoAndKeepsTheValue() async throws {
        let server = StubTransport()
        server.answerUser(1, "Ada")
        let models = try await memory(server)
        let live = models.live(User.self, id: 1)
        await live.load()
        server.fail("/users/1")
        await live.reload()
        #expect(live.error?.code == .transport)
        #expect(live.value?.name == "Ada")
        #expect(!live.isLoading)
        server.answerUser(1, "Grace")
        await live.reload()
        #expect(live.error == nil)
        #expect(live.value?.name == "Grace")
    }

    @Test func anEarlierLoadThatFailsLaterIsNoError() async throws {
        let server = StubTransport()
        // Nothing that is stored stands in for a refusal.
        server.answer("/users", .empty, status: 403)
        server.hold("/users")
        let models = try await memory(server)
        let live = models.live(User.self, ids: [1, 2])
        async let early: Void = live.load()
        await server.requested(1)
        // Otherwise the later one would wait for it.
        try await models.invalidate(.type(User.self))
        server.answer("/users?ids=1,2", .json(#"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]"#))
        await live.load()
        server.release("/users")
        await early
        #expect(live.error == nil)
        #expect(live.values.map(\.name) == ["Ada", "Grace"])
        #expect(live[2]?.name == "Grace")
    }

    @Test func aLiveListShowsPagesAndChangesOfElements() async throws {
        let server = StubTransport()
        let first = #"{"items": [{"id": 1, "title": "a", "author": 1}], "next": "2"}"#
        server.answer("/articles?topic=swift", .json(first))
        server.answer(
            "/articles?topic=swift&after=2",
            .json(#"{"items": [{"id": 2, "title": "b", "author": 1}]}"#)
        )
        let models = try await memory(server)
        let live = models.live(Feed(topic: "swift"))
        try await wait(until: !live.isLoading)
        #expect(live.elements.isEmpty && live.freshness == nil && !live.hasMore)
        await live.load()
        #expect(live.elements.map(\.title) == ["a"] && live.hasMore && live.freshness?.isFresh == true)
        await live.loadMore()
        #expect(live.elements.map(\.title) == ["a", "b"] && !live.hasMore)
        try await models.change { $0.update(Article.self, id: 1) { $0.title = "c" } }
        try await wait(until: live.elements.map(\.title) == ["c", "b"])
        try await models.remove(Article.self, id: 2)
        try await wait(until: live.holes == [2])
        #expect(live.elements.map(\.title) == ["c"])
        server.fail("/articles")
        server.fail("/articles?topic=swift")
        await live.reload()
        #expect(live.error?.code == .transport)
        #expect(live.elements.map(\.title) == ["c"])
    }

    @Test func anObserverOfTheObjectIsToldOfEachChange() async throws {
        let models = try await memory(StubTransport())
        try await models.save(User(id: 1, name: "Grace", bio: "b"))
        let live = models.live(User.self, id: 1)
        try await wait(until: live.value != nil)
        let changes = Mutex(0)
        withObservationTracking {
            _ = live.value
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        await live.load()
        #expect(changes.withLock { $0 } == 0, "it shows what it has shown before")
        try await models.save(User(id: 1, name: "Ada", bio: "b"))
        try await wait(until: changes.withLock { $0 } == 1)
        try await wait(until: live.value?.name == "Ada")
    }

    @Test func aChangeThatIsTakenBackShowsAndGoes() async throws {
        let models = try await memory(StubTransport())
        try await models.save(User(id: 1, name: "a", bio: "b"))
        let live = models.live(User.self, id: 1)
        try await wait(until: live.value != nil)
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "c" }
            } sending: {
                try await wait(until: live.value?.name == "c" && live.snapshot?.isChanging == true)
                throw Refused()
            }
        }
        try await wait(until: live.value?.name == "a" && live.snapshot?.isChanging == false)
    }

    @Test func nothingIsRetainedByFollowing() async throws {
        let models = try await memory(StubTransport())
        try await models.save(User(id: 1, name: "a", bio: "b"))
        weak var gone: LiveModel<User>?
        weak var goneList: LiveList<Feed>?
        do {
            let live = models.live(User.self, id: 1)
            let list = models.live(Feed(topic: "swift"))
            gone = live
            goneList = list
            try await wait(until: live.value != nil && !list.isLoading)
            #expect(models.engine.tables.bus.observedCount == 2)
        }
        #expect(gone == nil)
        #expect(goneList == nil)
        try await wait(until: models.engine.tables.bus.observedCount == 0)
    }

    @Test func aClosedCacheLeavesTheLastSnapshotAnErasedOneNone() async throws {
        for erases in [false, true] {
            let stage = try Stage()
            let models = try await stage.open()
            try await models.save(User(id: 1, name: "a", bio: "b"))
            let live = models.live(User.self, id: 1)
            try await wait(until: live.value != nil)
            if erases { try await models.erase() } else { try await models.close() }
            try await wait(until: live.isEnded)
            #expect((live.value == nil) == erases)
            await live.load()
            #expect(live.error?.code == .closed)
            #expect(!live.isLoading)
        }
    }

    @Test func aCancelledLoadIsNoError() async throws {
        let server = StubTransport()
        server.answerUser(1, "Ada")
        server.hold("/users/1")
        let models = try await memory(server)
        let live = models.live(User.self, id: 1)
        let load = Task { await live.load() }
        await server.requested(1)
        load.cancel()
        await load.value
        #expect(live.error == nil)
        server.release("/users/1")
        try await wait(until: !live.isLoading)
    }

    @Test func aReloadOfARemovedModelShowsNone() async throws {
        let server = StubTransport()
        server.answerUser(1, "Ada")
        let models = try await memory(server)
        let live = models.live(User.self, id: 1)
        await live.load()
        #expect(live.value?.name == "Ada")
        server.answer("/users/1", .empty, status: 404)
        await live.reload()
        #expect(live.value == nil)
        #expect(live.error?.code == .notFound)
    }
}
