import ModelCacheTesting
import TestSupport
import Testing
import TypedCache

@testable import ModelCache

/// Changes by the program that wait for their turns.
@Suite(.timeLimit(.minutes(1 * slowness))) struct TurnTests {
    /// The one that was called later stays, as it would if no merge were under way.
    @Test(arguments: ["save", "remove", "change"]) func aCallBehindAChangeThatWaitsForItsTurnIsNotLost(
        kind: String
    ) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "old", bio: "old"))
        let (turns, gate) = (models.engine.tables.turns, Gate())
        async let merge: Void = turns.run { await gate.pass() }
        await gate.reached()
        async let changed: Void = models.change { $0.update(User.self, id: 1) { $0.bio = "edited" } }
        try await wait(until: turns.waitingCount == 1)
        async let later: Void = {
            switch kind {
            case "save": try await models.save(User(id: 1, name: "pushed", bio: "pushed"))
            case "remove": try await models.remove(User.self, id: 1)
            default: try await models.change { $0.update(User.self, id: 1) { $0.name = "renamed" } }
            }
        }()
        try await wait(until: turns.waitingCount == 2)
        gate.open()
        _ = try await (merge, changed, later)
        let expected = [
            "save": User(id: 1, name: "pushed", bio: "pushed"),
            "change": User(id: 1, name: "renamed", bio: "edited"),
        ]
        #expect(try await models.stored(User.self, id: 1)?.value == expected[kind])
        try await models.close()
        #expect(try await stage.open().stored(User.self, id: 1)?.value == expected[kind])
    }

    /// The server has answered after the call.
    @Test func anAnswerThatWasAskedForBehindACallReplacesWhatThatSaves() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "server")
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "old", bio: "b"))
        let (turns, gate) = (models.engine.tables.turns, Gate())
        async let merge: Void = turns.run { await gate.pass() }
        await gate.reached()
        async let saved: Void = models.save(User(id: 1, name: "pushed", bio: "b"))
        try await wait(until: turns.waitingCount == 1)
        async let fetched = models.fetch(User.self, id: 1, .reload)
        try await wait(until: turns.waitingCount == 2)
        gate.open()
        _ = try await (merge, saved)
        #expect(try await fetched.name == "server")
        #expect(try await models.stored(User.self, id: 1)?.value.name == "server")
        #expect(stage.server.requests.count == 1)
    }

    @Test func aTurnWithoutANumberIsNotTaken() async throws {
        let turns = Turns()
        let none: Int? = nil
        #expect(await turns.run(drawing: { none }, { $0 }) == nil)
        #expect(await turns.run(drawing: { 7 }, { $0 }) == 7)
        #expect(await turns.run { 8 } == 8)
    }
}
