import Foundation
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

private protocol Kept: CachedModel where ID == Int {
    init(id: Int, text: String)
    var text: String { get }
}

extension Kept {
    static func request(for id: Int) -> ModelRequest { .get("/items", id) }
}

/// Little room: a few others evict a model.
private struct Crowded: Kept {
    static let modelName = "crowded"
    static let policy = ModelPolicy(
        freshness: .seconds(3_600),
        memory: MemorySettings(byteLimit: .kibibytes(4)),
        disk: .kibibytes(16)
    )
    let id: Int
    var text: String
}

/// Is kept for a minute.
private struct Brief: Kept {
    static let modelName = "brief"
    static let policy = ModelPolicy(freshness: .seconds(3_600), expiration: .after(.seconds(60)))
    let id: Int
    var text: String
}

/// Is kept until it was not used for a minute; its entry stays on disk for an eighth of that longer.
private struct Idle: Kept {
    static let modelName = "idle"
    static let policy = ModelPolicy(freshness: .seconds(3_600), expiration: .afterIdle(.seconds(60)))
    let id: Int
    var text: String
}

private struct Shelf: CachedModel {
    static let modelName = "shelf"
    let id: Int
    var item: ModelLink<Idle>
    static func request(for id: Int) -> ModelRequest { .get("/shelves", id) }
}

private struct Items<Element: Kept>: ModelList {
    var listKey: String { "items" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/items") }
}

/// One list that is asked for in several ways.
private struct Moved: ModelList {
    typealias Element = Brief
    let path: String
    var listKey = "moved"
    func request(after cursor: PageCursor?) -> ModelRequest { .get(path) }
    func page(in body: ModelBody) throws -> ModelPage<Brief> { try body.page(items: "items") }
    func details(in body: ModelBody) throws -> String { try body.decode(String.self, at: "words") }
}

/// Answers that were asked for before a model's last write, where the model is not stored any longer.
@Suite struct LossTests {
    /// A list of one old model is asked for; the model is changed and lost; then the answer comes.
    ///
    /// - Parameter others: whether other models of that answer may be asked for once more.
    private func lose<Model: Kept>(
        _ type: Model.Type,
        inMemory: Bool = false,
        others: Bool = false,
        by loss: (Models, ManualClock) async throws -> Void
    ) async throws {
        let (server, clock, directory) = (StubTransport(), ManualClock(), try TemporaryDirectory())
        let models =
            inMemory
            ? try await Models.inMemory(types: [type], transport: server, clock: clock)
            : try await Models(
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
        if others { server.answer("/items/0", .json(#"{"id": 0, "text": "other"}"#)) }
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

    @Test(arguments: [false, true]) func aModelThatWasNotUsedForLongDoesNotComeBackOlder(inMemory: Bool)
        async throws
    {
        try await lose(Idle.self, inMemory: inMemory, others: true) { models, clock in
            await models.flush()
            clock.advance(by: .seconds(61))
        }
    }

    @Test(arguments: [false, true]) func anAnswerToTheProgramsOwnRequestBringsNoOlderModel(isChange: Bool)
        async throws
    {
        let clock = ManualClock()
        let models = try await Models.inMemory(types: [Idle.self, Shelf.self], transport: nil, clock: clock)
        let send = { @Sendable in
            try await models.save(Idle(id: 1, text: "new"))
            clock.advance(by: .seconds(61))
            return Data(#"{"id": 1, "item": {"id": 1, "text": "old"}}"#.utf8)
        }
        if isChange {
            try await models.change {
                $0.remove(Shelf.self, id: 2)
            } sending: {
                try await send()
            } then: { draft, data in
                try draft.save(Shelf.self, decoding: data)
            }
        } else {
            #expect(try await models.decode(Shelf.self, sending: send).item.id == 1)
        }
        #expect(try await models.stored(Idle.self, id: 1) == nil)
    }

    /// Other models that such an answer brings are stored as always, by its one request.
    @Test func evictionsKeepNoOtherModelBack() async throws {
        let (server, directory) = (StubTransport(), try TemporaryDirectory())
        let models = try await Models(
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

    /// The lists of an account in memory alone have 8 MiB.
    @Test func anEvictedListDoesNotComeBackOlder() async throws {
        let server = StubTransport()
        let models = try await Models.inMemory(types: [Brief.self], transport: server)
        func answer(_ path: String, _ ids: [Int], words: String = "") {
            let items = ids.map { "{\"id\": \($0), \"text\": \"t\"}" }.joined(separator: ",")
            server.answer(path, .json("{\"items\": [\(items)], \"words\": \"\(words)\"}"))
        }
        answer("/old", [1, 2])
        answer("/new", [2])
        server.hold("/old")
        async let early = models.fetch(Moved(path: "/old"))
        await server.requested(1)
        _ = try await models.fetch(Moved(path: "/new"))
        var generator = SystemRandomNumberGenerator()
        let lists = try await models.engine.tables.lists().records.cache
        // A read would be a use, for which it would be kept.
        for number in 0..<300 {
            await models.flush()
            guard try await lists.contains(forKey: "moved") else { break }
            answer("/\(number)", [], words: (0..<60_000).map { _ in String(generator.next()) }.joined())
            _ = try await models.fetch(Moved(path: "/\(number)", listKey: "\(number)"))
        }
        try #require(try await models.stored(Moved(path: "/new")) == nil, "the list was not evicted")
        answer("/old", [2])
        server.release("/old")
        #expect(try await early.elements.map(\.id) == [2])
        #expect(try await models.stored(Moved(path: "/new"))?.elements.map(\.id) == [2])
    }

    /// Lists are kept until they were not used for 30 days.
    @Test func aListThatWasNotUsedForLongDoesNotComeBackOlder() async throws {
        let (server, clock, directory) = (StubTransport(), ManualClock(), try TemporaryDirectory())
        let models = try await Models(
            account: "1",
            types: [Brief.self],
            directory: directory.url,
            transport: server,
            clock: clock
        )
        func answer(_ path: String, _ ids: [Int]) {
            let items = ids.map { "{\"id\": \($0), \"text\": \"t\"}" }.joined(separator: ",")
            server.answer(path, .json("{\"items\": [\(items)], \"words\": \"\"}"))
        }
        answer("/old", [1, 2])
        answer("/new", [2])
        server.hold("/old")
        async let early = models.fetch(Moved(path: "/old"))
        await server.requested(1)
        _ = try await models.fetch(Moved(path: "/new"))
        await models.flush()
        clock.advance(by: .days(31))
        try #require(try await models.stored(Moved(path: "/new")) == nil, "the list has not expired")
        answer("/old", [2])
        server.release("/old")
        #expect(try await early.elements.map(\.id) == [2])
        #expect(try await models.stored(Moved(path: "/new"))?.elements.map(\.id) == [2])
        try await models.close()
    }

    @Test(arguments: [false, true]) func anObserverShowsThatAModelIsEvicted(inMemory: Bool) async throws {
        let directory = try TemporaryDirectory()
        let types: [any CachedModel.Type] = [Crowded.self]
        let models =
            inMemory
            ? try await Models.inMemory(types: types, transport: nil)
            : try await Models(account: "1", types: types, directory: directory.url, transport: nil)
        try await models.save(Crowded(id: 0, text: "first"))
        let shown = Recorder<String?>()
        let observer = Task {
            for await snapshot in models.updates(of: Crowded.self, id: 0) { shown.add(snapshot?.value.text) }
        }
        try await wait(until: shown.all.last == "first")
        var generator = SystemRandomNumberGenerator()
        for id in 1...200 {
            let text = (0..<40).map { _ in String(generator.next()) }.joined()
            try await models.save(Crowded(id: id, text: text))
        }
        try #require(try await models.stored(Crowded.self, id: 0) == nil, "the model was not evicted")
        try await wait(until: shown.all.last == .some(nil))
        try await models.close()
        await observer.value
    }
}
