import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

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
}
