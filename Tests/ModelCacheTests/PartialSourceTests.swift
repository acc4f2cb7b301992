import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCacheTesting

/// A model that lists give without its biography, which may be null.
private struct Member: CachedModel {
    static let modelName = "member"
    static let partialSources: Set<ModelSource> = [.list, .nested]
    let id: Int
    var name: String
    var bio: String?

    static func request(for id: Int) -> ModelRequest { .get("/members", id) }
    static func merge(_ incoming: Member, over old: Member, from source: ModelSource) -> Member {
        var merged = incoming
        if partialSources.contains(source) { merged.bio = old.bio }
        return merged
    }
}

private struct Team: CachedModel {
    static let modelName = "team"
    let id: Int
    var lead: ModelLink<Member>
    static func request(for id: Int) -> ModelRequest { .get("/teams", id) }
}

private struct Members: ModelList {
    typealias Element = Member
    var listKey: String { "members" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/members") }
}

/// Sources that give fewer fields than a model's own request.
@Suite struct PartialSourceTests {
    private let server = StubTransport()
    private let clock = ManualClock()
    private let day: ModelHeaders = ["Cache-Control": "max-age=86400", "ETag": "\"a\""]

    private func open(_ directory: TemporaryDirectory? = nil) async throws -> Models {
        guard let directory else {
            return try await Models.inMemory(types: [Member.self, Team.self], transport: server, clock: clock)
        }
        return try await Models(
            account: "1",
            types: [Member.self, Team.self],
            directory: directory.url,
            transport: server,
            clock: clock
        )
    }

    @Test func aModelWhoseFieldIsNullIsCached() async throws {
        let models = try await open()
        server.answer("/members/1", .json(#"{"id": 1, "name": "Ada", "bio": null}"#), headers: day)
        for _ in 1...5 { #expect(try await models.fetch(Member.self, id: 1).bio == nil) }
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(90_000))
        _ = try await models.fetch(Member.self, id: 1)
        #expect(server.responses.map(\.status) == [200, 304])
    }

    @Test(arguments: ["/members", "/teams/1"], [false, true])
    func aModelOfOthersAnswersIsIncompleteUntilItsOwnOne(path: String, reopens: Bool) async throws {
        let directory = try TemporaryDirectory()
        var models = try await open(directory)
        server.answer("/members", .json(#"[{"id": 1, "name": "Ada"}]"#), headers: day)
        server.answer("/teams/1", .json(#"{"id": 1, "lead": {"id": 1, "name": "Ada"}}"#), headers: day)
        if path == "/members" {
            _ = try await models.fetch(Members())
        } else {
            _ = try await models.fetch(Team.self, id: 1)
        }
        if reopens {
            try await models.close()
            models = try await open(directory)
        }
        let part = try #require(try await models.stored(Member.self, id: 1))
        #expect(part.freshness == .stale(since: nil, because: .incomplete))
        server.answer("/members/1", .json(#"{"id": 1, "name": "Ada", "bio": null}"#), headers: day)
        for _ in 1...2 { _ = try await models.fetch(Member.self, id: 1) }
        #expect(server.requests.count == 2)
        #expect(try await models.stored(Member.self, id: 1)?.freshness.isFresh == true)
        // A later part leaves it whole.
        if path == "/members" {
            _ = try await models.fetch(Members(), .reload)
        } else {
            _ = try await models.fetch(Team.self, id: 1, .reload)
        }
        #expect(try await models.stored(Member.self, id: 1)?.freshness.isFresh == true)
        try await models.close()
    }

    @Test func aPartDoesNotRenewAWholeModel() async throws {
        let models = try await open()
        server.answer(
            "/members/1",
            .json(#"{"id": 1, "name": "Ada", "bio": "b"}"#),
            headers: ["Cache-Control": "max-age=60"]
        )
        server.answer("/members", .json(#"[{"id": 1, "name": "Grace"}]"#), headers: day)
        _ = try await models.fetch(Member.self, id: 1)
        clock.advance(by: .seconds(59))
        _ = try await models.fetch(Members())
        #expect(try await models.stored(Member.self, id: 1)?.value == Member(id: 1, name: "Grace", bio: "b"))
        clock.advance(by: .seconds(1))
        #expect(try await models.stored(Member.self, id: 1)?.freshness.isFresh == false)
    }

    /// The part is the later one, and the whole model is asked for again.
    @Test func aWholeModelThatAPartOvertookIsAskedForAgain() async throws {
        let models = try await open()
        server.answer("/members/1", .json(#"{"id": 1, "name": "Ada", "bio": "b"}"#), headers: day)
        server.answer("/members", .json(#"[{"id": 1, "name": "Grace"}]"#), headers: day)
        server.hold("/members/1")
        async let whole = models.fetch(Member.self, id: 1)
        await server.requested(1)
        _ = try await models.fetch(Members())
        server.release("/members/1")
        #expect(try await whole.bio == "b")
        #expect(server.requests.count == 3)
        #expect(try await models.stored(Member.self, id: 1)?.freshness.isFresh == true)
    }
}
