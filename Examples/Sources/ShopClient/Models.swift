import Foundation
import ModelCache

/// A price, which the server writes as a string.
package struct Price: Codable, Hashable, Sendable {
    package var amount: Decimal

    package init(_ amount: Decimal) { self.amount = amount }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let amount = Decimal(string: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a price is a number")
        }
        self.amount = amount
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(amount.description)
    }
}

package struct Seller: CachedModel {
    package static let modelName = "seller"
    package let id: Int
    package var name: String
    package var city: String?

    package static func request(for id: Int) -> ModelRequest { .get("/sellers", id) }
}

package struct Product: CachedModel {
    package static let modelName = "product"
    /// Lists and other answers leave the description out. A whole product may have none: its description is null.
    package static let partialSources: Set<ModelSource> = [.list, .nested]
    package let id: Int
    package var name: String
    package var price: Price
    package var releasedAt: Date
    package var description: String?
    package var seller: ModelLink<Seller>
    /// The version of the product's own answer, for `If-Match`; not in the JSON.
    package var tag: String?

    package static func request(for id: Int) -> ModelRequest { .get("/products", id) }
    package static func request(for ids: [Int]) -> ModelRequest? {
        .get("/products", query: ["ids": ids.map(String.init).joined(separator: ",")])
    }

    package static func model(in body: ModelBody) throws -> Product {
        var product = try body.model(Product.self, at: "data")
        product.tag = body.headers["ETag"]
        return product
    }

    package static func merge(_ incoming: Product, over old: Product, from source: ModelSource) -> Product {
        var merged = incoming
        if partialSources.contains(source) { (merged.description, merged.tag) = (old.description, old.tag) }
        return merged
    }
}

package struct Customer: CachedModel {
    package static let modelName = "customer"
    package let id: Int
    package var name: String

    package static func request(for id: Int) -> ModelRequest { .get("/customers", id) }
}

/// The user's cart. The account has one, which has no identity in its JSON.
package struct Cart: CachedModel {
    package struct Item: Codable, Hashable, Sendable {
        package var product: ModelLink<Product>
        package var count: Int
    }

    package static let modelName = "cart"
    package var id: String { "cart" }
    package var items: [Item]
    package var total: Price

    package static func request(for id: String) -> ModelRequest { .get("/cart") }
}

package struct Review: CachedModel {
    package static let modelName = "review"
    package let id: Int
    package var product: Int
    package var text: String
    package var author: ModelLink<Customer>

    package static func request(for id: Int) -> ModelRequest { .get("/reviews", id) }
}

package struct Message: CachedModel {
    package static let modelName = "message"
    package let id: Int
    package var text: String
    package var author: ModelLink<Customer>

    package static func request(for id: Int) -> ModelRequest { .get("/messages", id) }
}

/// In the language of the user.
package struct Greeting: CachedModel {
    @TaskLocal package static var language = "en"

    package static let modelName = "greeting"
    package let id: String
    package var text: String

    package static func request(for id: String) -> ModelRequest {
        .get("/greeting", headers: ["Accept-Language": language])
    }
}

/// The number of an order: a number in lists, a string in the order itself.
package struct OrderID: ModelID, LosslessStringConvertible {
    package let description: String
    package init?(_ description: String) { self.description = description }
    package init?(cacheKey text: String) { self.init(text) }
    package var cacheKey: String { description }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            description = String(number)
        } else {
            description = try container.decode(String.self)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

package struct Order: CachedModel {
    package static let modelName = "order"
    package let id: OrderID
    package var total: Price

    package static func request(for id: OrderID) -> ModelRequest { .get("/orders", id) }
}

/// Products that belong together. Their answer has them beside the collection.
package struct Collection: CachedModel {
    package static let modelName = "collection"
    package let id: Int
    package var title: String
    package var products: [ModelLink<Product>]

    package static func request(for id: Int) -> ModelRequest { .get("/collections", id) }
    package static func model(in body: ModelBody) throws -> Collection {
        _ = try body.decode([ModelLink<Product>].self, at: "included")
        return try body.model(Collection.self, at: "data")
    }
}

/// A product or a seller, in a list of both.
package enum Highlight: CachedModel {
    case product(ModelLink<Product>)
    case seller(ModelLink<Seller>)

    package static let modelName = "highlight"
    package var id: String {
        switch self {
        case .product(let link): "product-\(link.id)"
        case .seller(let link): "seller-\(link.id)"
        }
    }
    package static func request(for id: String) -> ModelRequest { .get("/highlights", id) }

    private enum CodingKeys: String, CodingKey { case type, item }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // The server has the fields beside the type, the disk has the identity under a name of its own.
        let item = container.contains(.item) ? try container.superDecoder(forKey: .item) : decoder
        switch try container.decode(String.self, forKey: .type) {
        case "product": self = .product(try ModelLink(from: item))
        case "seller": self = .seller(try ModelLink(from: item))
        case let type:
            throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: type)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .product(let link):
            try container.encode("product", forKey: .type)
            try container.encode(link, forKey: .item)
        case .seller(let link):
            try container.encode("seller", forKey: .type)
            try container.encode(link, forKey: .item)
        }
    }
}
