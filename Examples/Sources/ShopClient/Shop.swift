import Foundation
import ModelCache
import ModelCacheHTTP
import TypedCache

/// The shop as its app knows it: models, and the changes that its users make.
package struct Shop: Sendable {
    package let models: Models
    private let api: any ModelTransport

    private struct Login: Decodable { var token: String }

    /// Signs in, and opens the user's models.
    ///
    /// - Parameter timeout: how long the server may be silent.
    package init(
        server: URL,
        account: String = "ada@example.com",
        directory: URL,
        timeout: Duration,
        clock: some CacheClock,
        onFailure: @escaping @Sendable (ModelCacheError) -> Void
    ) async throws {
        let http = try URLSessionTransport(base: server, timeout: timeout)
        let api = AuthorizedTransport(
            base: http,
            session: Session(token: "of another day") {
                let answer = try await http.send(ModelRequest(method: "POST", path: "/login"))
                return try JSONDecoder().decode(Login.self, from: answer.body).token
            }
        )
        self.api = api
        models = try await Models(
            account: account,
            types: [
                Seller.self, Product.self, Customer.self, Cart.self, Review.self, Message.self, Greeting.self,
                Order.self, Collection.self, Highlight.self,
            ],
            directory: directory,
            transport: api,
            clock: clock,
            onFailure: onFailure,
            decoder: {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
        )
    }

    // MARK: Changes

    /// Sends a request that changes something.
    ///
    /// - Throws: `ModelResponseError` where the server refuses it.
    @discardableResult
    private func send(
        _ method: String,
        to path: String,
        _ body: [String: String] = [:],
        headers: ModelHeaders = [:]
    ) async throws -> ModelResponse {
        let data = body.isEmpty ? Data() : try JSONEncoder().encode(body)
        let request = ModelRequest(method: method, path: path, headers: headers, body: data)
        let response = try await api.send(request)
        guard (200..<300).contains(response.status) else { throw ModelResponseError(response) }
        return response
    }

    /// Shows a review at once, until the server has given it an identity.
    ///
    /// - Parameter id: the identity that it is shown with.
    /// - Returns: the server's.
    package func write(review text: String, of product: Int, by author: Customer, as id: Int) async throws -> Int {
        let reviews = Reviews(product: product)
        let review = Review(id: id, product: product, text: text, author: ModelLink(to: author))
        let answer = try await models.change {
            $0.insert(review, into: reviews, at: .end)
        } sending: {
            try await send("POST", to: "/products/\(product)/reviews", ["text": text]).body
        } then: { draft, data in
            let posted = try draft.save(Review.self, decoding: data)
            draft.replace(Review.self, id: id, by: posted.id)
        }
        return try await models.decode(Review.self, from: answer).id
    }

    /// Edits a review, also one that has no identity yet.
    ///
    /// - Parameter posted: the server's identity, when it has given one.
    package func edit(review id: Int, _ text: String, posted: @Sendable () async throws -> Int) async throws {
        try await models.change {
            $0.update(Review.self, id: id) { $0.text = text }
        } sending: {
            try await send("PATCH", to: "/reviews/\(try await posted())", ["text": text])
        }
    }

    /// Changes the price, unless another device has changed the product since it was loaded.
    package func change(priceOf product: Product, to price: Decimal) async throws {
        try await models.change {
            $0.update(Product.self, id: product.id) { $0.price = Price(price) }
        } sending: {
            let headers: ModelHeaders = product.tag.map { ["If-Match": $0] } ?? [:]
            let change = ["price": price.description]
            return try await send("PATCH", to: "/products/\(product.id)", change, headers: headers)
        } then: { draft, response in
            try draft.save(Product.self, decoding: response.body, at: "data")
            let tag = response.headers["ETag"]
            draft.update(Product.self, id: product.id) { $0.tag = tag }
        }
    }

    package func delete(product id: Int) async throws {
        try await models.change {
            $0.removeEverywhere(Product.self, id: id)
        } sending: {
            try await send("DELETE", to: "/products/\(id)")
        }
    }

    private struct Delta: Decodable {
        var changed: [Product]
        var deleted: [Int]
        var until: String
    }

    /// Takes over the changes on the server since a version, in one step.
    ///
    /// - Returns: the version to ask with the next time.
    package func synchronize(since version: String) async throws -> String {
        let delta = try await models.decode(Delta.self) {
            try await api.send(.get("/delta", query: ["since": version])).body
        }
        try await models.change { draft in
            for product in delta.changed { draft.save(product) }
            for id in delta.deleted { draft.removeEverywhere(Product.self, id: id) }
        }
        return delta.until
    }
}
