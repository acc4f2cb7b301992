import Foundation
import ModelCache

/// All products, the newest first.
package struct Catalogue: ModelList {
    package struct Details: Codable, Equatable, Sendable {
        package var total: Int
        package var kinds: [String: Int]
    }

    package typealias Element = Product
    package init() {}
    package var listKey: String { "catalogue" }

    package func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/products", query: ["after": cursor?.text])
    }
    package func page(in body: ModelBody) throws -> ModelPage<Product> {
        try body.page(items: "data", next: .optional("meta", "next_cursor"))
    }
    package func details(in body: ModelBody) throws -> Details {
        Details(
            total: try body.decode(Int.self, at: "meta", "total_count"),
            kinds: try body.decode([String: Int].self, at: "meta", "facets")
        )
    }
}

/// Pages by number.
package struct Bestsellers: ModelList {
    package typealias Element = Product
    package var listKey: String { "bestsellers" }

    package func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/bestsellers", query: ["page": cursor?.text ?? "1"])
    }
    package func page(in body: ModelBody) throws -> ModelPage<Product> {
        let number = body.cursor.flatMap { Int($0.text) } ?? 1
        let last = try body.decode(Int.self, at: "pages")
        return ModelPage(
            try body.models(Product.self, at: "items"),
            next: number < last ? PageCursor("\(number + 1)") : nil
        )
    }
}

/// A value, or nothing where it cannot be decoded.
private struct Lossy<Value: Decodable>: Decodable {
    let value: Value?
    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
}

/// Pages by a `Link` header, with elements that are no products.
package struct Imports: ModelList {
    package typealias Element = Product
    package var listKey: String { "imports" }

    package func request(after cursor: PageCursor?) -> ModelRequest { .get(cursor?.text ?? "/imports") }
    package func page(in body: ModelBody) throws -> ModelPage<Product> {
        let links = (body.headers["Link"] ?? "").split(separator: ",")
        let next = links.first { $0.contains("rel=\"next\"") }.flatMap { $0.firstMatch(of: /<(.*?)>/) }
        let products = try body.decode([Lossy<Product>].self).compactMap(\.value)
        return ModelPage(products, next: next.map { PageCursor(String($0.1)) })
    }
}

/// The signed-in user: a list of one, for the request has no identity.
package struct Me: ModelList {
    package typealias Element = Customer
    package var listKey: String { "me" }
    package func request(after cursor: PageCursor?) -> ModelRequest { .get("/me") }
    package func page(in body: ModelBody) throws -> ModelPage<Customer> {
        ModelPage([try body.model(Customer.self)])
    }
}

package struct Reviews: ModelList {
    package typealias Element = Review
    package var product: Int
    package var listKey: String { "reviews/\(product)" }
    package func request(after cursor: PageCursor?) -> ModelRequest { .get("/products", product, then: "reviews") }
}

package struct Highlights: ModelList {
    package typealias Element = Highlight
    package var listKey: String { "highlights" }
    package func request(after cursor: PageCursor?) -> ModelRequest { .get("/highlights") }
}

package struct Orders: ModelList {
    package typealias Element = Order
    package var listKey: String { "orders" }
    package func request(after cursor: PageCursor?) -> ModelRequest { .get("/orders") }
}

/// A search by POST. Its server reports errors with the status 200.
package struct Search: ModelList {
    package struct Refused: Error, Decodable, Equatable { package var message: String }

    package typealias Element = Product
    package var text: String
    package var listKey: String { "search/\(text)" }

    package func request(after cursor: PageCursor?) -> ModelRequest {
        let body = try? JSONEncoder().encode(["text": text, "after": cursor?.text])
        return ModelRequest(
            method: "POST",
            path: "/search",
            headers: ["Content-Type": "application/json"],
            body: body ?? Data()
        )
    }
    package func page(in body: ModelBody) throws -> ModelPage<Product> {
        if let refused = try body.decodeIfPresent([Refused].self, at: "errors")?.first { throw refused }
        return try body.page(items: ["data", "hits"], next: ["data", "next"])
    }
}

/// The latest messages, with earlier ones in front.
package struct Chat: ModelList {
    package typealias Element = Message
    package var listKey: String { "chat" }

    package func request(after cursor: PageCursor?) -> ModelRequest { .get("/chat") }
    package func request(before cursor: PageCursor) -> ModelRequest {
        .get("/chat", query: ["before": cursor.text])
    }
    package func page(in body: ModelBody) throws -> ModelPage<Message> {
        try body.page(items: "messages", previous: "older")
    }
}
