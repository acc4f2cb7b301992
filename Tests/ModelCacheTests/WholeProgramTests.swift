import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// A shop as its programmer would write it from the documentation alone: three models, two lists, a change.
@Suite struct WholeProgramTests {
    struct Maker: CachedModel {
        static let modelName = "maker"
        let id: Int
        var name: String
        static func request(for id: Int) -> ModelRequest { .get("/makers/\(id)") }
    }

    struct Product: CachedModel {
        static let modelName = "product"
        static let policy = ModelPolicy(freshness: .seconds(300))
        let id: String
        var title: String
        var isFavorite: Bool
        var maker: ModelLink<Maker>
        static func request(for id: String) -> ModelRequest { .get("/products/\(id)") }
    }

    struct Review: CachedModel {
        static let modelName = "review"
        let id: UUID
        var text: String
        static func request(for id: UUID) -> ModelRequest { .get("/reviews/\(id)") }
    }

    struct Search: ModelList {
        typealias Element = Product
        var text: String
        var listKey: String { "search/\(text)" }
        func request(after cursor: PageCursor?) -> ModelRequest {
            .get("/products", query: ["q": text, "from": cursor?.text])
        }
        func page(in body: ModelBody) throws -> ModelPage<Product> {
            try body.page(items: "hits", next: .optional("from"))
        }
    }

    struct Reviews: ModelList {
        typealias Element = Review
        var product: String
        var listKey: String { "reviews/\(product)" }
        func request(after cursor: PageCursor?) -> ModelRequest { .get("/products/\(product)/reviews") }
    }

    struct Refused: Error {}

    @Test func aShop() async throws {
        let server = StubTransport()
        let maker = #"{"id": 1, "name": "Lego"}"#
        let product = #"{"id": "a", "title": "Bricks", "isFavorite": false, "maker": \#(maker)}"#
        server.answer("/products?q=toys", .json(#"{"hits": [\#(product)], "from": null}"#))
        server.answer("/products/a/reviews", .json(#"[{"id": "\#(UUID())", "text": "Good."}]"#))
        let models = try await Models.inMemory(
            types: [Maker.self, Product.self, Review.self],
            transport: server
        )

        let found = try await models.fetch(Search(text: "toys"))
        let makers = try await models.fetch(found.elements.map(\.maker))
        #expect(found.elements.map { makers[$0.maker.id]?.name } == ["Lego"])
        #expect(try await models.fetch(Reviews(product: "a")).elements.map(\.text) == ["Good."])
        #expect(server.requests.count == 2, "the maker came inside of the product")

        await #expect(throws: Refused.self) {
            try await models.change {
                $0.update(Product.self, id: "a") { $0.isFavorite = true }
            } sending: {
                #expect(try await models.stored(Search(text: "toys"))?.elements.first?.isFavorite == true)
                throw Refused()
            }
        }
        #expect(try await models.fetch(Product.self, id: "a").isFavorite == false)
    }

    /// A model that is shown before the server has given it an identity.
    @Test func aPostTakesTheIdentityThatTheServerGives() async throws {
        let server = StubTransport()
        server.answer("/products/a/reviews", .json("[]"))
        let models = try await Models.inMemory(types: [Review.self], transport: server)
        let reviews = Reviews(product: "a")
        _ = try await models.fetch(reviews)
        let shown = Review(id: UUID(), text: "Good.")
        let updates = models.updates(of: reviews).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)??.elements == [])
        let posted = try await models.change {
            $0.insert(shown, into: reviews, at: .start)
        } sending: {
            #expect(await updates.next(isolation: #isolation)??.elements == [shown])
            return Review(id: UUID(), text: "Good, says the server.")
        } then: { draft, posted in
            draft.insert(posted, into: reviews, at: .before(shown.id))
            draft.remove(id: shown.id, from: reviews)
            draft.remove(Review.self, id: shown.id)
        }
        #expect(await updates.next(isolation: #isolation)??.elements == [posted], "in one step")
        let stored = try #require(try await models.stored(reviews))
        #expect(stored.elements == [posted] && stored.holes.isEmpty && !stored.isChanging)
        #expect(try await models.stored(Review.self, id: shown.id) == nil)
    }
}
