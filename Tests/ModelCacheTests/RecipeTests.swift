import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCacheTesting

/// The page Recipes: its code runs.
@Suite struct RecipeTests {
    private let server = StubTransport()
    private let failures = Failures()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let types: [any CachedModel.Type] = [
        Account.self, Settings.self, Product.self, Photo.self, Post.self, Gallery.self, Order.self, Document.self,
    ]

    private func open(
        _ transport: (any ModelTransport)? = nil,
        convertsNames: Bool = false
    ) async throws -> Models {
        let failures = failures
        return try await Models.inMemory(
            types: Self.types,
            transport: transport ?? server,
            onFailure: { failures.add($0) },
            decoder: {
                let decoder = JSONDecoder()
                if convertsNames { decoder.keyDecodingStrategy = .convertFromSnakeCase }
                return decoder
            }
        )
    }

    /// Saves by one launch, and gives the cache of the next one.
    private func reopened(_ body: (Models) async throws -> Void) async throws -> Models {
        let failures = failures
        for launch in 1...2 {
            let models = try await Models(
                account: "1",
                types: Self.types,
                directory: directory.url,
                transport: server,
                onFailure: { failures.add($0) }
            )
            if launch == 2 { return models }
            try await body(models)
            try await models.close()
        }
        preconditionFailure("there are two launches")
    }

    @Test func thePageHasTheCodeThatRuns() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let page = tests.appending(path: "../../Sources/ModelCache/ModelCache.docc/Recipes.md")
        let code = try String(contentsOf: tests.appending(path: "Recipes.swift"), encoding: .utf8)
        let blocks = try String(contentsOf: page, encoding: .utf8).split(separator: "```").enumerated()
            .filter { $0.offset % 2 == 1 }.map { $0.element.dropFirst("swift\n".count) }
        #expect(blocks.count >= 13)
        for block in blocks { #expect(code.contains(block), "\(block.prefix(80))") }
    }

    @Test func theSignedInUserAndResourcesWithoutIdentities() async throws {
        server.answer("/me", .json(#"{"id": 42, "name": "Ada"}"#))
        server.answer("/settings", .json(#"{"isDark": true}"#))
        let models = try await reopened { models async throws in
            #expect(try await me(models)?.id == 42)
            #expect(try await models.fetch(Settings.self, id: "settings").isDark)
        }
        #expect(try await me(models)?.name == "Ada")
        #expect(try await models.stored(Account.self, id: 42)?.value.name == "Ada")
        #expect(try await models.stored(Settings.self, id: "settings")?.value.isDark == true)
        #expect(failures.all.isEmpty)
        try await models.close()
    }

    @Test(arguments: [false, true]) func anEnvelope(convertsNames: Bool) async throws {
        let models = try await open(convertsNames: convertsNames)
        server.answer("/products/1", .json(#"{"data": {"id": 1, "name": "a"}}"#))
        server.answer(
            "/products",
            .json(#"{"data": [{"id": 1, "name": "b"}], "meta": {"next_cursor": "x", "total_count": 2}}"#)
        )
        server.answer(
            "/products?after=x",
            .json(#"{"data": [{"id": 2, "name": "c"}], "meta": {"next_cursor": null, "total_count": 2}}"#)
        )
        #expect(try await models.fetch(Product.self, id: 1).name == "a")
        #expect(try await models.fetch(Products()).details?.total == 2)
        let all = try await models.fetchMore(of: Products())
        #expect(all.elements.map(\.name) == ["b", "c"] && !all.hasMore)
    }

    @Test func pagesByNumberAndByALinkHeader() async throws {
        let models = try await open()
        server.answer("/numbered?page=1", .json(#"{"items": [{"id": 1, "name": "a"}], "pages": 2}"#))
        server.answer("/numbered?page=2", .json(#"{"items": [{"id": 2, "name": "b"}], "pages": 2}"#))
        let link = "<https://example.com/first>; rel=\"first\", <https://example.com/linked?page=2>; rel=\"next\""
        server.answer("/linked", .json(#"[{"id": 3, "name": "c"}]"#), headers: ["Link": link])
        server.answer("https://example.com/linked?page=2", .json(#"[{"id": 4, "name": "d"}]"#))
        #expect(try await models.fetch(Numbered()).hasMore)
        let numbered = try await models.fetchMore(of: Numbered())
        #expect(numbered.elements.map(\.id) == [1, 2] && !numbered.hasMore)
        #expect(try await models.fetch(Linked()).hasMore)
        let linked = try await models.fetchMore(of: Linked())
        #expect(linked.elements.map(\.id) == [3, 4] && !linked.hasMore)
    }

    @Test func oneBadElement() async throws {
        let models = try await open()
        let items = (1...100).map { $0 == 50 ? "{\"id\": \"x\"}" : "{\"id\": \($0), \"name\": \"n\"}" }
        server.answer("/imported", .json("[\(items.joined(separator: ","))]"))
        let list = try await models.fetch(Imported())
        #expect(list.elements.count == 99)
        #expect(try await models.stored(Product.self, id: 50) == nil)
    }

    @Test func severalTypesInOneList() async throws {
        server.answer(
            "/timeline",
            .json(
                #"[{"type": "photo", "id": 1, "caption": "c"}, {"type": "product", "id": 1, "name": "n"}]"#
            )
        )
        let models = try await reopened { _ = try await $0.fetch(Timeline()) }
        let posts = try #require(try await models.stored(Timeline())).elements
        #expect(posts == [.photo(ModelLink(1)), .product(ModelLink(1))])
        #expect(try await models.stored(Photo.self, id: 1)?.value.caption == "c")
        #expect(try await models.stored(Product.self, id: 1)?.value.name == "n")
        #expect(failures.all.isEmpty)
        try await models.close()
    }

    @Test func modelsBesideTheAnswer() async throws {
        let models = try await open()
        server.answer(
            "/galleries/1",
            .json(
                #"{"data": {"id": 1, "cover": 2}, "included": [{"id": 2, "caption": "c"}, {"id": 3, "caption": "d"}]}"#
            )
        )
        #expect(try await models.fetch(Gallery.self, id: 1).cover == ModelLink(2))
        #expect(try await models.stored(Photo.self, ids: [2, 3]).count == 2)
    }

    @Test func graphQLAndSearchByPost() async throws {
        let models = try await open()
        let nodes = #"{"nodes": [{"id": 1, "name": "a"}], "pageInfo": {"endCursor": null}}"#
        server.answer("/graphql", .json("{\"data\": {\"search\": \(nodes)}}"))
        #expect(try await models.fetch(Found(text: "a")).elements.map(\.id) == [1])
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST" && sent.headers["content-type"] == "application/json")
        #expect(try JSONDecoder().decode([String: String?].self, from: sent.body)["text"] == "a")
        server.answer("/graphql", .json(#"{"data": null, "errors": [{"message": "no"}]}"#))
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(Found(text: "b")) }
        #expect((error?.cause as? Found.Refused)?.message == "no")
    }

    @Test func identitiesOfTwoForms() async throws {
        server.answer("/orders/7", .json(#"{"id": 7, "total": 1}"#))
        let id = try #require(OrderID("7"))
        let models = try await reopened { models async throws in
            #expect(try await models.fetch(Order.self, id: id).total == 1)
            try await models.save(models.decode(Order.self, from: Data(#"{"id": "7", "total": 2}"#.utf8)))
        }
        #expect(try await models.stored(Order.self, id: id)?.value.total == 2)
        try await models.close()
    }

    /// Refuses each token but the last one.
    private struct Guarded: ModelTransport {
        let inner: StubTransport
        func send(_ request: ModelRequest) async throws -> ModelResponse {
            let response = try await inner.send(request)
            guard request.headers["authorization"] != "Bearer new" else { return response }
            return ModelResponse(status: 401)
        }
    }

    @Test func anExpiredTokenIsRefreshedOnce() async throws {
        let count = Mutex(0)
        let session = Session(token: "old") { expired in
            #expect(expired == "old")
            count.withLock { $0 += 1 }
            await Task.yield()
            return "new"
        }
        let models = try await open(AuthorizedTransport(base: Guarded(inner: server), session: session))
        for id in 1...20 { server.answer("/photos/\(id)", .json("{\"id\": \(id), \"caption\": \"c\"}")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...20 { group.addTask { _ = try await models.fetch(Photo.self, id: id) } }
            try await group.waitForAll()
        }
        #expect(count.withLock { $0 } == 1)
        #expect(try await models.stored(Photo.self, ids: 1...20).count == 20)
    }

    @Test func aChangeWithIfMatch() async throws {
        let models = try await open()
        server.answer("/documents/1", .json(#"{"id": 1, "text": "a"}"#), headers: ["ETag": "\"1\""])
        let document = try await models.fetch(Document.self, id: 1)
        #expect(document.tag == "\"1\"")
        let api = StubTransport()
        api.answer("/documents/1", .empty, headers: ["ETag": "\"2\""])
        try await write("b", to: document, in: models, by: api)
        #expect(api.requests.first?.headers["if-match"] == "\"1\"")
        let written = try #require(try await models.stored(Document.self, id: 1)?.value)
        #expect(written.text == "b" && written.tag == "\"2\"")
        api.answer("/documents/1", .empty, status: 412)
        await #expect(throws: ModelResponseError.self) { try await write("c", to: written, in: models, by: api) }
        #expect(try await models.stored(Document.self, id: 1)?.value == written)
    }

    @Test func changesSinceADate() async throws {
        let models = try await open()
        server.answer("/imported", .json(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#))
        _ = try await models.fetch(Imported())
        let api = StubTransport()
        api.answer(
            "/delta?since=monday",
            .json(#"{"changed": [{"id": 1, "name": "c"}], "deleted": [2], "until": "tuesday"}"#)
        )
        #expect(try await synchronize(since: "monday", models, api) == "tuesday")
        let list = try #require(try await models.stored(Imported()))
        #expect(list.elements.map(\.name) == ["c"])
        #expect(list.holes.isEmpty)
    }
}
