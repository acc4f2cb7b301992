import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

/// A server of models that are asked for one by one, each of which answers when it is told to.
private final class CountingServer: ModelTransport {
    private struct State {
        var current = 0
        var most = 0
        var all = 0
    }

    private let state = Mutex(State())
    /// The most requests that were under way at once.
    var most: Int { state.withLock { $0.most } }
    var all: Int { state.withLock { $0.all } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        state.withLock { state in
            state.current += 1
            state.most = max(state.most, state.current)
            state.all += 1
        }
        try await Task.sleep(for: .milliseconds(1))
        state.withLock { $0.current -= 1 }
        let id = request.path.split(separator: "/").last ?? ""
        if id == "7" { return ModelResponse(status: 500) }
        return ModelResponse(body: Data(#"{"id": \#(id), "title": "new", "author": 7}"#.utf8))
    }
}

/// Several models by one call.
@Suite struct BatchTests {
    private func answer(_ server: StubTransport, _ names: [Int: String], headers: ModelHeaders = [:]) {
        let users = names.sorted { $0.key < $1.key }
            .map { #"{"id": \#($0.key), "name": "\#($0.value)", "bio": "x"}"# }
        server.answer("/users", .json("[\(users.joined(separator: ", "))]"), headers: headers)
    }

    // MARK: Models that the server leaves out

    @Test func aModelThatTheServerLeavesOutIsNoResultAndIsRemoved() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, [1: "a", 2: "b"])
        _ = try await models.fetch(User.self, ids: [1, 2])
        stage.clock.advance(by: .seconds(61))
        answer(stage.server, [1: "A"])
        #expect(try await models.fetch(User.self, ids: [1, 2]).mapValues(\.name) == [1: "A"])
        #expect(try await models.stored(User.self, id: 2) == nil)
    }

    @Test func aModelThatWasSavedMeanwhileStaysThoughTheServerLeavesItOut() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, [1: "a"])
        stage.server.hold("/users")
        async let fetched = models.fetch(User.self, ids: [1, 2])
        await stage.server.requested(1)
        try await models.save(User(id: 2, name: "mine", bio: "b"))
        stage.server.release("/users")
        #expect(try await fetched.mapValues(\.name) == [1: "a"])
        #expect(try await models.stored(User.self, id: 2)?.value.name == "mine")
    }

    /// As a single model that is not kept: the stored one stays as it is.
    @Test(arguments: [200, 206]) func anAnswerThatIsNotKeptRemovesNothing(status: Int) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 2, name: "stored", bio: "b"))
        let body = #"[{"id": 1, "name": "a", "bio": "x"}]"#
        stage.server.answer("/users", .json(body), status: status, headers: ["Cache-Control": "no-store"])
        #expect(try await models.fetch(User.self, ids: [1, 2], .reload).mapValues(\.name) == [1: "a"])
        #expect(try await models.stored(User.self, id: 2)?.value.name == "stored")
    }

    @Test(arguments: [[:], ["Cache-Control": "no-store"]] as [ModelHeaders])
    func aModelThatWasNotAskedForIsNoResult(headers: ModelHeaders) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, [1: "a", 2: "b", 9: "other"], headers: headers)
        #expect(try await models.fetch(User.self, ids: [1, 2]).mapValues(\.name) == [1: "a", 2: "b"])
    }

    // MARK: In the background

    @Test func staleModelsAreLoadedTogetherInTheBackground() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, [1: "a", 2: "b", 3: "c"])
        _ = try await models.fetch(User.self, ids: 1...3)
        stage.clock.advance(by: .seconds(61))
        answer(stage.server, [1: "A", 2: "B", 3: "C"])
        let shown = try await models.fetch(User.self, ids: 1...3, .staleWhileRevalidate)
        #expect(shown.mapValues(\.name) == [1: "a", 2: "b", 3: "c"])
        await models.settle()
        #expect(stage.server.requests.map(\.path) == ["/users", "/users"])
        #expect(try await models.stored(User.self, id: 3)?.value.name == "C")
    }

    /// A failure of one leaves the others, and is reported.
    @Test func staleModelsOfATypeWithoutSuchARequestAreLoadedAFewAtATime() async throws {
        let server = CountingServer()
        let failures = Failures()
        let clock = ManualClock()
        let models = try await Models.inMemory(
            types: [Article.self],
            transport: server,
            clock: clock,
            onFailure: { failures.add($0) }
        )
        try await models.save((1...40).map { Article(id: $0, title: "old", author: ModelLink(7)) })
        clock.advance(by: .seconds(61))
        let shown = try await models.fetch(Article.self, ids: 1...40, .staleWhileRevalidate)
        #expect(shown.values.allSatisfy { $0.title == "old" })
        await models.settle()
        #expect(server.all == 40)
        #expect(server.most <= 6)
        let stored = try await models.stored(Article.self, ids: 1...40).mapValues(\.value.title)
        #expect(stored.filter { $0.value == "old" }.keys.sorted() == [7])
        #expect(failures.all.map(\.status) == [500])
    }

    // MARK: In parts

    private struct Point: CachedModel {
        static let modelName = "point"
        static let batchLimit = 3
        let id: Int
        static func request(for id: Int) -> ModelRequest { .get("/points", id) }
        static func request(for ids: [Int]) -> ModelRequest? {
            .get("/points", query: ["ids": ids.map(String.init).joined(separator: ",")])
        }
    }

    /// One request for all of them would have a URL that servers refuse.
    @Test(arguments: [FetchMode.automatic, .staleWhileRevalidate])
    func manyModelsAreAskedForInParts(mode: FetchMode) async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let models = try await Models.inMemory(types: [Point.self], transport: server, clock: clock)
        if mode == .staleWhileRevalidate {
            try await models.save((1...7).map { Point(id: $0) })
            clock.advance(by: .seconds(61))
        }
        // Number 6 is gone.
        server.answer("/points", try .json([1, 2, 3, 4, 5, 7].map { Point(id: $0) }))
        let found = try await models.fetch(Point.self, ids: 1...7, mode)
        await models.settle()
        #expect(found.count == (mode == .automatic ? 6 : 7))
        #expect(try await models.stored(Point.self, ids: 1...7).count == 6)
        let parts = server.requests.compactMap { $0.query.first?.value }
        #expect(parts.sorted() == ["1,2,3", "4,5,6", "7"])
        #expect(Article.batchLimit == 100)
    }

    @Test func aPartThatFailsShowsItsStaleModelsOnly() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let failures = Failures()
        let models = try await Models.inMemory(
            types: [Point.self],
            transport: server,
            clock: clock,
            onFailure: { failures.add($0) }
        )
        try await models.save((1...5).map { Point(id: $0) })
        clock.advance(by: .seconds(61))
        server.answer("/points?ids=1,2,3", try .json((1...3).map { Point(id: $0) }))
        server.answer("/points?ids=4,5", .empty, status: 500)
        let found = try await models.fetch(Point.self, ids: 1...5)
        #expect(found.count == 5)
        let stored = try await models.stored(Point.self, ids: 1...5)
        #expect(stored.filter { $0.value.freshness.isFresh }.keys.sorted() == [1, 2, 3])
        #expect(failures.all.map(\.status) == [500])
        let error = await #expect(throws: ModelCacheError.self) {
            _ = try await models.fetch(Point.self, ids: 1...5, .reload)
        }
        #expect(error?.status == 500)
    }
}
