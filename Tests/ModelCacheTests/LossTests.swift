import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

private protocol Kept: CachedModel where ID == Int {
    init(id: Int, text: String)
    var text: String { get }
}

/// Little room: a few others evict a model.
private struct Crowded: Kept {
    static let modelName = "crowded"
    static let policy = ModelPolicy(
        fresh: .seconds(3_600),
        memory: MemorySettings(byteLimit: .kibibytes(4)),
        disk: .kibibytes(16)
    )
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/items", id) }
}

/// Is kept for a minute.
private struct Brief: Kept {
    static let modelName = "brief"
    static let policy = ModelPolicy(fresh: .seconds(3_600), keep: .after(.seconds(60)))
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/items", id) }
}

private struct Items<Element: Kept>: ModelList {
    var listKey: String { "items" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/items") }
}

/// Answers that were asked for before a model's last write, where the model is not stored any longer.
@Suite struct LossTests {
    /// A list of one old model is asked for; the model is changed and lost; then the answer comes.
    private func lose<Model: Kept>(
        _ type: Model.Type,
        inMemory: Bool = false,
        by loss: (ModelCache, ManualClock) async throws -> Void
    ) async throws {
        let (server, clock, directory) = (StubTransport(), ManualClock(), try TemporaryDirectory())
        let models =
            inMemory
            ? try await ModelCache.inMemory(types: [type], transport: server, clock: clock)
            : try await ModelCache(
                account: "1",
                types: [type],
                directory: directory.url,
                transport: server,
                clock: clock
            )
        server.answer("/items/1", .json(#"{"id": 1, "text": "old"}"#))
        _ = try await models.fetch(type, id: 1)
        server.answer("/items", .json(#"[{"id": 1, "text": "old"}, {"id": 0, "text": "other"}]"#))
        server.hold("/items")
        async let list = models.fetch(Items<Model>())
        await server.requested(2)
        try await models.change {
            $0.update(type, id: 1) { $0 = Model(id: 1, text: "new") }
        } sending: {
        }
        try await loss(models, clock)
        #expect(try await models.stored(type, id: 1) == nil, "the model was not lost")
        server.answer("/items/1", .json(#"{"id": 1, "text": "new"}"#))
        server.release("/items")
        #expect(try await list.elements.map(\.text) == ["new", "other"])
        #expect(try await models.fetch(type, id: 1).text == "new")
        #expect(server.unscripted.isEmpty)
        try await models.close()
    }

    @Test(arguments: [false, true]) func anEvictedModelDoesNotComeBackOlder(inMemory: Bool) async throws {
        var generator = SystemRandomNumberGenerator()
        try await lose(Crowded.self, inMemory: inMemory) { models, _ in
            for id in 2...200 {
                let text = (0..<40).map { _ in String(generator.next()) }.joined()
                try await models.save(Crowded(id: id, text: text))
            }
        }
    }

    @Test func aModelThatWasKeptLongEnoughDoesNotComeBackOlder() async throws {
        try await lose(Brief.self) { models, clock in
            await models.flush()
            clock.advance(by: .seconds(61))
        }
    }

    /// Other models that such an answer brings are stored as always, by its one request.
    @Test func evictionsKeepNoOtherModelBack() async throws {
        let (server, directory) = (StubTransport(), try TemporaryDirectory())
        let models = try await ModelCache(
            account: "1",
            types: [Crowded.self],
            directory: directory.url,
            transport: server
        )
        server.answer("/items", .json(#"[{"id": -1, "text": "a"}, {"id": -2, "text": "b"}]"#))
        server.hold("/items")
        async let list = models.fetch(Items<Crowded>())
        await server.requested(1)
        var generator = SystemRandomNumberGenerator()
        for id in 1...100 {
            let text = (0..<40).map { _ in String(generator.next()) }.joined()
            try await models.save(Crowded(id: id, text: text))
        }
        #expect(try await models.stored(Crowded.self, ids: 1...100).count < 100)
        server.release("/items")
        #expect(try await list.elements.map(\.text) == ["a", "b"])
        #expect(server.requests.count == 1)
        try await models.close()
    }
}
