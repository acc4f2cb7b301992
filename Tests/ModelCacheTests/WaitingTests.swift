import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache

/// Fetches that wait for the server up to a limit.
@Suite struct WaitingTests {
    private static let user = "/users/1"
    private static let feed = "/articles?topic=swift"

    /// With a user and a list that are stale.
    private static func open(_ stage: borrowing Stage, headers: ModelHeaders = [:]) async throws -> Models {
        stage.server.answerUser(1, "old", headers: headers)
        stage.server.answerUser(2, "old", headers: headers)
        stage.server.answer(
            "/users?ids=1,2",
            .json(#"[{"id": 1, "name": "old", "bio": "b"}, {"id": 2, "name": "old", "bio": "b"}]"#)
        )
        stage.server.answerFeed("swift", [1])
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1)
        _ = try await models.fetch(User.self, id: 2)
        _ = try await models.fetch(Feed(topic: "swift"))
        stage.clock.advance(by: .seconds(120))
        stage.server.answerUser(1, "new", headers: headers)
        stage.server.answer(
            "/users?ids=1,2",
            .json(#"[{"id": 1, "name": "new", "bio": "b"}, {"id": 2, "name": "new", "bio": "b"}]"#)
        )
        stage.server.answerFeed("swift", [1, 2])
        stage.server.forgetRequests()
        return models
    }

    @Test func aServerThatAnswersInTimeIsWaitedFor() async throws {
        let stage = try Stage()
        let models = try await Self.open(stage)
        let mode = FetchMode.automatic(waitingAtMost: .seconds(600))
        #expect(try await models.fetch(User.self, id: 1, mode).name == "new")
        #expect(try await models.fetch(Feed(topic: "swift"), mode).elements.count == 2)
        stage.clock.advance(by: .seconds(120))
        #expect(try await models.fetch(User.self, ids: [1, 2], mode).values.allSatisfy { $0.name == "new" })
        #expect(stage.failures.all.isEmpty)
    }

    @Test func aSlowServerIsWaitedForNoLongerAndItsAnswerIsStored() async throws {
        let stage = try Stage()
        let models = try await Self.open(stage)
        let mode = FetchMode.automatic(waitingAtMost: .milliseconds(1))
        for path in [Self.user, Self.feed, "/users?ids=1,2"] { stage.server.hold(path) }
        #expect(try await models.fetch(User.self, id: 1, mode).name == "old")
        #expect(try await models.fetch(Feed(topic: "swift"), mode).elements.count == 1)
        #expect(try await models.fetch(User.self, ids: [1, 2], mode).values.allSatisfy { $0.name == "old" })
        await stage.server.requested(3)
        for path in [Self.user, Self.feed, "/users?ids=1,2"] { stage.server.release(path) }
        await models.settled()
        #expect(try await models.stored(User.self, id: 2)?.value.name == "new")
        #expect(try await models.stored(Feed(topic: "swift"))?.elements.count == 2)
        #expect(stage.failures.all.isEmpty)
    }

    /// No stored value may be shown in the place of the answer.
    @Test(arguments: ["missing", "must-revalidate", "one of several"])
    func aSlowServerIsWaitedForAllTheSame(reason: String) async throws {
        let stage = try Stage()
        let models = try await Self.open(
            stage,
            headers: reason == "must-revalidate" ? ["Cache-Control": "max-age=1, must-revalidate"] : [:]
        )
        let mode = FetchMode.automatic(waitingAtMost: .zero)
        let id = reason == "missing" ? 3 : 1
        stage.server.answerUser(3, "new")
        let path = reason == "one of several" ? "/users?ids=1,3" : "/users/\(id)"
        stage.server.answer(
            "/users?ids=1,3",
            .json(#"[{"id": 1, "name": "new", "bio": "b"}, {"id": 3, "name": "new", "bio": "b"}]"#)
        )
        stage.server.hold(path)
        async let name =
            reason == "one of several"
            ? models.fetch(User.self, ids: [1, 3], mode)[1]?.name : models.fetch(User.self, id: id, mode).name
        await stage.server.requested(1)
        stage.server.release(path)
        #expect(try await name == "new")
    }

    @Test func theFailureOfALoadThatNoTaskWaitsForIsToldOnce() async throws {
        let stage = try Stage()
        let models = try await Self.open(stage)
        stage.server.answer(Self.user, .json("{}"), status: 403)
        stage.server.hold(Self.user)
        let mode = FetchMode.automatic(waitingAtMost: .milliseconds(1))
        for _ in 0..<3 { #expect(try await models.fetch(User.self, id: 1, mode).name == "old") }
        await stage.server.requested(1)
        stage.server.release(Self.user)
        await models.settled()
        try await wait(until: !stage.failures.all.isEmpty)
        #expect(stage.failures.all.map(\.status) == [403])
        // In time, the fetch throws it.
        await expect(.status) {
            _ = try await models.fetch(User.self, id: 1, .automatic(waitingAtMost: .seconds(600)))
        }
    }

    @Test func theCancelledTaskGetsNoStaleValue() async throws {
        let stage = try Stage()
        let models = try await Self.open(stage)
        stage.server.hold(Self.user)
        let task = Task { try await models.fetch(User.self, id: 1, .automatic(waitingAtMost: .seconds(600))) }
        await stage.server.requested(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await models.settled()
        #expect(stage.failures.all.isEmpty)
        #expect(try await models.stored(User.self, id: 1)?.value.name == "old")
    }

    @Test func missingElementsAreWaitedForNoLonger() async throws {
        let stage = try Stage()
        let models = try await Self.open(stage)
        stage.server.answerFeed("more", [4, 5, 6])
        _ = try await models.fetch(Feed(topic: "more"))
        try await models.change { $0.remove(Article.self, id: 5) }
        stage.server.answer("/articles/5", .json(#"{"id": 5, "title": "five", "author": 7}"#))
        stage.server.hold("/articles/5")
        let mode = FetchMode.automatic(waitingAtMost: .milliseconds(1))
        let shown = try await models.fetch(Feed(topic: "more"), mode)
        #expect(shown.elements.map(\.id) == [4, 6])
        #expect(shown.holes == [5])
        stage.server.release("/articles/5")
        await models.settled()
        #expect(try await models.fetch(Feed(topic: "more")).elements.map(\.id) == [4, 5, 6])
    }
}
