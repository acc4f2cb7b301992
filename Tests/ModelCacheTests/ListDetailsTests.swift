import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// A list whose answers have a total and facets.
private struct Search: ModelList {
    struct Details: Codable, Equatable, Sendable {
        var total: Int
        var facets: [String: Int]
    }

    typealias Element = Article
    var listKey: String { "search" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/search", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }
    func details(in body: ModelBody) throws -> Details {
        Details(
            total: try body.decode(Int.self, at: "meta", "total"),
            facets: try body.decode([String: Int].self, at: "meta", "facets")
        )
    }
}

/// The same list in a version of the app that knows no details, or others.
private struct PlainSearch: ModelList {
    typealias Element = Article
    var listKey: String { "search" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/search") }
    func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }
}

/// The details that answers have of whole lists.
@Suite struct ListDetailsTests {
    private func answer(_ server: StubTransport, _ path: String, id: Int, next: String?, total: Int) {
        let item = "{\"id\": \(id), \"title\": \"t\", \"author\": 7}"
        let next = next.map { "\"\($0)\"" } ?? "null"
        let meta = "{\"total\": \(total), \"facets\": {\"b\": 1, \"a\": \(total)}}"
        server.answer(
            path,
            .json("{\"items\": [\(item)], \"next\": \(next), \"meta\": \(meta)}"),
            headers: ["ETag": "\"\(id)\""]
        )
    }

    @Test func theLatestPagesDetailsAreKeptWithTheList() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "/search", id: 1, next: "x", total: 2)
        answer(stage.server, "/search?after=x", id: 2, next: nil, total: 3)
        let first = try await models.fetch(Search())
        #expect(first.details == Search.Details(total: 2, facets: ["a": 2, "b": 1]))
        #expect(try await models.fetchMore(of: Search()).details?.total == 3)
        try await models.close()
        let second = try await stage.open()
        #expect(try await second.stored(Search())?.details == Search.Details(total: 3, facets: ["a": 3, "b": 1]))
        // Unchanged: the details stay.
        #expect(try await second.fetch(Search(), .reload).details?.total == 3)
        #expect(stage.server.responses.last?.status == 304)
    }

    @Test func aChangeOfTheDetailsAloneIsObserved() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "/search", id: 1, next: nil, total: 1)
        _ = try await models.fetch(Search())
        var totals: [Int?] = []
        for await snapshot in models.updates(of: Search()) {
            totals.append(snapshot?.details?.total)
            if totals.count == 2 { break }
            answer(stage.server, "/search", id: 1, next: nil, total: 5)
            try await models.invalidate(.everything)
            stage.server.answer(
                "/search",
                .json(
                    #"{"items": [{"id": 1, "title": "t", "author": 7}], "next": null, "meta": {"total": 5, "facets": {}}}"#
                )
            )
            _ = try await models.fetch(Search(), .reload)
        }
        #expect(totals.last == 5)
    }

    @Test func aListThatWasStoredWithoutDetailsIsLoadedWithoutValidators() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        answer(stage.server, "/search", id: 1, next: nil, total: 1)
        #expect(try await models.fetch(PlainSearch()).details == nil)
        #expect(try await models.stored(Search())?.details == nil)
        #expect(try await models.fetch(Search(), .reload).details?.total == 1)
        #expect(stage.server.responses.map(\.status) == [200, 200])
        _ = try await models.fetch(Search(), .reload)
        #expect(stage.server.responses.last?.status == 304)
    }

    @Test func anAnswerThatMustNotBeKeptHasItsDetails() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer(
            "/search",
            .json(#"{"items": [], "next": null, "meta": {"total": 9, "facets": {}}}"#),
            headers: ["Cache-Control": "no-store"]
        )
        #expect(try await models.fetch(Search()).details?.total == 9)
        stage.server.answer("/search", .json(#"{"items": [], "next": null}"#))
        await expect(.decodingFailed) { _ = try await models.fetch(Search(), .reload) }
    }
}
