import Foundation
import ModelCacheTesting
import TestSupport
import Testing
import TypedCacheTesting

@testable import ModelCache

/// A page of articles, as the server writes it.
private func page(_ ids: some Sequence<Int>, next: String? = nil) -> StubTransport.Body {
    let items = ids.map { "{\"id\": \($0), \"title\": \"t\($0)\", \"author\": 7}" }.joined(separator: ", ")
    let next = next.map { ", \"next\": \"\($0)\"" } ?? ""
    return .json("{\"items\": [\(items)]\(next)}")
}

private struct Note: CachedModel {
    static let modelName = "note"
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// Version 2, which cannot read version 1.
private struct LaterNote: CachedModel {
    static let modelName = "note"
    static let schemaVersion = 2
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

private struct Notes<Element: CachedModel>: ModelList {
    var listKey: String { "notes" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/notes", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Element> {
        try body.page(items: "items", next: .optional("next"))
    }
}

private struct Users: ModelList {
    typealias Element = User
    var listKey: String { "users" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/everybody") }
}

/// How a list with missing elements is fetched.
private enum Fetch: CaseIterable {
    case automatic, whileRevalidating, reload, live

    @MainActor func callAsFunction(_ feed: Feed, in models: Models) async throws {
        switch self {
        case .automatic: _ = try await models.fetch(feed)
        case .whileRevalidating:
            _ = try await models.fetch(feed, .staleWhileRevalidate)
            await models.settle()
        case .reload: _ = try await models.fetch(feed, .reload)
        case .live: await models.live(feed).load()
        }
    }
}

/// Lists with some elements that are not stored.
@Suite struct HoleTests {
    private let feed = Feed(topic: "swift")
    private static let unkept: ModelHeaders = ["ETag": "\"l\"", "Cache-Control": "no-cache"]

    private func answer(_ ids: some Sequence<Int>, in stage: borrowing Stage) {
        for id in ids {
            stage.server.answer("/articles/\(id)", .json("{\"id\": \(id), \"title\": \"again\", \"author\": 7}"))
        }
    }

    @Test(arguments: Fetch.allCases)
    private func aListThatIsLoadedBringsItsMissingElements(fetch: Fetch) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2, 1]), headers: Self.unkept)
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.remove(Article.self, id: 2)
        try await fetch(feed, in: models)
        #expect(try await models.stored(feed)?.elements.map(\.id) == [3, 2, 1])
        // As a whole: the server could only confirm the page.
        #expect(stage.server.requests.map(\.path) == ["/articles", "/articles"])
        #expect(stage.server.requests.last?.headers["if-none-match"] == nil)
        // A whole list is confirmed again.
        try await fetch(feed, in: models)
        #expect(stage.server.responses.last?.status == 304)
        #expect(stage.failures.all.isEmpty)
    }

    @Test(arguments: Fetch.allCases)
    private func elementsBehindTheFirstPageAreLoadedWithTheList(fetch: Fetch) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([4, 3], next: "3"), headers: Self.unkept)
        stage.server.answer("/articles?topic=swift&after=3", page([2, 1]))
        answer([1], in: stage)
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        _ = try await models.fetchMore(of: feed)
        try await models.remove(Article.self, id: 1)
        try await fetch(feed, in: models)
        let stored = try await models.stored(feed)
        #expect(stored?.elements.map(\.id) == [4, 3, 2, 1])
        #expect(stored?.elements.last?.title == "again")
        #expect(stage.server.requests.map(\.path) == ["/articles", "/articles", "/articles", "/articles/1"])
        #expect(stage.failures.all.isEmpty)
    }

    /// Where most elements are missing, one request brings more than one for each.
    @Test(arguments: ["no-cache", "max-age=0", "max-age=3600"])
    func aListWhoseElementsHaveAnotherSchemaBeginsAnew(control: String) async throws {
        let directory = try TemporaryDirectory()
        let server = StubTransport()
        func page(_ ids: [Int], next: String?) throws -> StubTransport.Body {
            let items = ids.map { "{\"id\": \($0), \"text\": \"t\"}" }.joined(separator: ", ")
            return .json("{\"items\": [\(items)]" + (next.map { ", \"next\": \"\($0)\"}" } ?? "}"))
        }
        server.answer(
            "/notes",
            try page([1, 2, 3], next: "3"),
            headers: ["ETag": "\"l\"", "Cache-Control": control]
        )
        server.answer("/notes?after=3", try page([4, 5, 6], next: nil))
        func open(_ type: any CachedModel.Type) async throws -> Models {
            try await Models(account: "a", types: [type], directory: directory.url, transport: server)
        }
        let old = try await open(Note.self)
        _ = try await old.fetch(Notes<Note>())
        #expect(try await old.fetchMore(of: Notes<Note>()).elements.count == 6)
        try await old.close()

        let models = try await open(LaterNote.self)
        let list = Notes<LaterNote>()
        #expect(try await models.stored(list)?.holes.count == 6)
        server.forgetRequests()
        let fetched = try await models.fetch(list)
        #expect(fetched.elements.map(\.id) == [1, 2, 3])
        #expect(fetched.holes.isEmpty && fetched.hasMore)
        #expect(try await models.fetchMore(of: list).elements.map(\.id) == Array(1...6))
        #expect(server.requests.map(\.path) == ["/notes", "/notes"])
        try await models.close()
    }

    @Test(arguments: [FetchMode.automatic, .staleWhileRevalidate])
    func aModelThatTheServerHasNoMoreLeavesTheList(mode: FetchMode) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([5, 4, 3, 2, 1]))
        for id in 2...3 { stage.server.answer("/articles/\(id)", .empty, status: 404) }
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        await expect(.notFound) { _ = try await models.fetch(Article.self, id: 2, .reload) }
        try await models.change { $0.remove(Article.self, id: 3) }
        #expect(try await models.stored(feed)?.holes == [3, 2])
        _ = try await models.fetch(feed, mode)
        await models.settle()
        let stored = try #require(try await models.stored(feed))
        #expect(stored.elements.map(\.id) == [5, 4, 1])
        #expect(stored.holes.isEmpty && stored.freshness.isFresh)
        stage.server.forgetRequests()
        #expect(try await models.fetch(feed) == stored)
        #expect(stage.server.requests.isEmpty)
        #expect(stage.failures.all.isEmpty)
    }

    @Test func aModelThatAnAnswerOfSeveralLeavesOutLeavesTheList() async throws {
        let stage = try Stage()
        func users(_ ids: [Int]) -> StubTransport.Body {
            .json(
                "[" + ids.map { "{\"id\": \($0), \"name\": \"n\", \"bio\": \"b\"}" }.joined(separator: ", ") + "]"
            )
        }
        stage.server.answer("/everybody", users([1, 2, 3, 4, 5]))
        stage.server.answer("/users", users([3]))
        let models = try await stage.open()
        _ = try await models.fetch(Users())
        for id in 2...3 { try await models.remove(User.self, id: id) }
        let fetched = try await models.fetch(Users())
        #expect(fetched.elements.map(\.id) == [1, 3, 4, 5] && fetched.holes.isEmpty)
        #expect(stage.server.requests.map(\.path) == ["/everybody", "/users"])
    }

    /// An element that shows again before its list hears of its end stays in it.
    @Test func aModelThatIsSavedMeanwhileStaysInTheList() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2, 1]))
        stage.server.answer("/articles/2", .empty, status: 404)
        stage.server.hold("/articles/2")
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.remove(Article.self, id: 2)
        async let fetched = models.fetch(feed)
        await stage.server.requested(2)
        try await models.save(Article(id: 2, title: "mine", author: ModelLink(7)))
        stage.server.release("/articles/2")
        #expect(try await fetched.elements.map(\.id) == [3, 2, 1])
    }

    /// Its merge is before the one that would take it out of the list.
    @Test(.timeLimit(.minutes(1 * slowness))) func aModelThatIsMergedWhileItsListWaitsForItsTurnStaysInTheList()
        async throws
    {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2, 1]))
        stage.server.answer("/articles/2", .empty, status: 404)
        stage.server.hold("/articles/2")
        let models = try await stage.open()
        let turns = models.engine.tables.turns
        _ = try await models.fetch(feed)
        try await models.remove(Article.self, id: 2)
        async let fetched = models.fetch(feed)
        await stage.server.requested(2)
        let (first, second) = (Gate(), Gate())
        async let firstTurn: Void = turns.run { await first.pass() }
        await first.reached()
        // The removal of the model waits, then the second gate, then the save.
        stage.server.release("/articles/2")
        try await wait(until: turns.waitingCount == 1)
        async let secondTurn: Void = turns.run { await second.pass() }
        try await wait(until: turns.waitingCount == 2)
        async let saved: Void = models.save(Article(id: 2, title: "mine", author: ModelLink(7)))
        try await wait(until: turns.waitingCount == 3)
        first.open()
        await second.reached()
        // The list has come after the save.
        try await wait(until: turns.waitingCount == 2)
        second.open()
        _ = try await (firstTurn, secondTurn, saved)
        #expect(try await fetched.elements.map(\.id) == [3, 2, 1])
    }

    @Test func anElementThatCannotBeLoadedKeepsNoOtherOnesBack() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page(1...30))
        answer(2...12, in: stage)
        stage.server.answer("/articles/1", .empty, status: 500)
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        for id in 1...12 { try await models.remove(Article.self, id: id) }
        #expect(try await models.fetch(feed).holes == [1])
        #expect(stage.failures.all.map(\.status) == [500])
    }
}
