import Foundation
import ModelCache

// The code of the page Recipes, as it stands there.

struct Account: CachedModel {
    static let modelName = "account"
    let id: Int
    var name: String
    static func request(for id: Int) -> ModelRequest {
        .get("/accounts", id)
    }
}

struct Me: ModelList {
    typealias Element = Account
    var listKey: String { "me" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/me") }
    func page(in body: ModelBody) throws -> ModelPage<Account> {
        ModelPage([try body.model(Account.self)])
    }
}

func me(_ models: Models) async throws -> Account? {
    try await models.fetch(Me()).elements.first
}

struct Settings: CachedModel {
    static let modelName = "settings"
    var id: String { "settings" }
    var isDark: Bool
    static func request(for id: String) -> ModelRequest {
        .get("/settings")
    }
}

struct Product: CachedModel {
    static let modelName = "product"
    let id: Int
    var name: String
    static func request(for id: Int) -> ModelRequest {
        .get("/products", id)
    }
    static func model(in body: ModelBody) throws -> Product {
        try body.model(Product.self, at: "data")
    }
}

struct Products: ModelList {
    struct Details: Codable, Equatable, Sendable { var total: Int }

    typealias Element = Product
    var listKey: String { "products" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/products", query: ["after": cursor?.text])
    }
    func page(in body: ModelBody) throws -> ModelPage<Product> {
        try body.page(items: "data", next: ["meta", "next_cursor"])
    }
    func details(in body: ModelBody) throws -> Details {
        Details(total: try body.decode(Int.self, at: "meta", "total_count"))
    }
}

struct Numbered: ModelList {
    typealias Element = Product
    var listKey: String { "numbered" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/numbered", query: ["page": cursor?.text ?? "1"])
    }
    func page(in body: ModelBody) throws -> ModelPage<Product> {
        let number = body.cursor.flatMap { Int($0.text) } ?? 1
        let last = try body.decode(Int.self, at: "pages")
        return ModelPage(
            try body.models(Product.self, at: "items"),
            next: number < last ? PageCursor("\(number + 1)") : nil
        )
    }
}

struct Linked: ModelList {
    typealias Element = Product
    var listKey: String { "linked" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get(cursor?.text ?? "/linked")
    }
    func page(in body: ModelBody) throws -> ModelPage<Product> {
        let links = (body.headers["Link"] ?? "").split(separator: ",")
        let next = links.first { $0.contains("rel=\"next\"") }.flatMap {
            $0.firstMatch(of: /<(.*?)>/)
        }
        return ModelPage(
            try body.models(Product.self),
            next: next.map { PageCursor(String($0.1)) }
        )
    }
}

struct Lossy<Value: Decodable>: Decodable {
    let value: Value?
    init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}

struct Imported: ModelList {
    typealias Element = Product
    var listKey: String { "imported" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/imported")
    }
    func page(in body: ModelBody) throws -> ModelPage<Product> {
        ModelPage(
            try body.decode([Lossy<Product>].self).compactMap(\.value)
        )
    }
}

struct Photo: CachedModel {
    static let modelName = "photo"
    let id: Int
    var caption: String
    static func request(for id: Int) -> ModelRequest { .get("/photos", id) }
}

enum Post: CachedModel {
    case photo(ModelLink<Photo>)
    case product(ModelLink<Product>)

    static let modelName = "post"
    var id: String {
        switch self {
        case .photo(let link): "photo-\(link.id)"
        case .product(let link): "product-\(link.id)"
        }
    }
    static func request(for id: String) -> ModelRequest {
        .get("/posts", id)
    }

    private enum CodingKeys: String, CodingKey { case type, item }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // The server has the fields beside the type. The disk has the
        // identity under a name of its own.
        let item =
            container.contains(.item)
            ? try container.superDecoder(forKey: .item) : decoder
        switch try container.decode(String.self, forKey: .type) {
        case "photo": self = .photo(try ModelLink(from: item))
        case "product": self = .product(try ModelLink(from: item))
        case let type:
            throw DecodingError.dataCorruptedError(
                forKey: .type,
                in: container,
                debugDescription: type
            )
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .photo(let link):
            try container.encode("photo", forKey: .type)
            try container.encode(link, forKey: .item)
        case .product(let link):
            try container.encode("product", forKey: .type)
            try container.encode(link, forKey: .item)
        }
    }
}

struct Timeline: ModelList {
    typealias Element = Post
    var listKey: String { "timeline" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/timeline")
    }
}

struct Gallery: CachedModel {
    static let modelName = "gallery"
    let id: Int
    var cover: ModelLink<Photo>
    static func request(for id: Int) -> ModelRequest {
        .get("/galleries", id)
    }
    static func model(in body: ModelBody) throws -> Gallery {
        _ = try body.decode([ModelLink<Photo>].self, at: "included")
        return try body.model(Gallery.self, at: "data")
    }
}

struct Found: ModelList {
    struct Refused: Error, Decodable { var message: String }

    typealias Element = Product
    var text: String
    var listKey: String { "found/\(text)" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        let variables = ["text": text, "after": cursor?.text]
        let body = try? JSONEncoder().encode(variables)
        return ModelRequest(
            method: "POST",
            path: "/graphql",
            headers: ["Content-Type": "application/json"],
            body: body ?? Data()
        )
    }
    func page(in body: ModelBody) throws -> ModelPage<Product> {
        if let refused = try body.decodeIfPresent(
            [Refused].self,
            at: "errors"
        )?.first {
            throw refused
        }
        return try body.page(
            items: ["data", "search", "nodes"],
            next: ["data", "search", "pageInfo", "endCursor"]
        )
    }
}

struct OrderID: ModelID, LosslessStringConvertible {
    let description: String
    init?(_ description: String) { self.description = description }
    init?(cacheKey text: String) { self.init(text) }
    var cacheKey: String { description }
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            description = String(number)
        } else {
            description = try container.decode(String.self)
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

struct Order: CachedModel {
    static let modelName = "order"
    let id: OrderID
    var total: Int
    static func request(for id: OrderID) -> ModelRequest {
        .get("/orders", id)
    }
}

actor Session {
    private var token: String
    private var refreshing: Task<String, any Error>?
    private let refresh: @Sendable (_ old: String) async throws -> String

    init(
        token: String,
        refresh: @escaping @Sendable (String) async throws -> String
    ) {
        self.token = token
        self.refresh = refresh
    }

    func current() async throws -> String {
        try await refreshing?.value ?? token
    }

    func replacement(of expired: String) async throws -> String {
        if let refreshing { return try await refreshing.value }
        if token != expired { return token }
        let task = Task { [refresh] in try await refresh(expired) }
        refreshing = task
        defer { refreshing = nil }
        token = try await task.value
        return token
    }
}

struct AuthorizedTransport<Base: ModelTransport>: ModelTransport {
    let base: Base
    let session: Session

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let token = try await session.current()
        let response = try await send(request, token)
        guard response.status == 401 else { return response }
        return try await send(
            request,
            try await session.replacement(of: token)
        )
    }

    private func send(
        _ request: ModelRequest,
        _ token: String
    ) async throws -> ModelResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        return try await base.send(request)
    }
}

struct Document: CachedModel {
    static let modelName = "document"
    let id: Int
    var text: String
    var tag: String?

    static func request(for id: Int) -> ModelRequest {
        .get("/documents", id)
    }
    static func model(in body: ModelBody) throws -> Document {
        var document = try body.model(Document.self)
        document.tag = body.headers["ETag"]
        return document
    }
}

func write(
    _ text: String,
    to document: Document,
    in models: Models,
    by api: some ModelTransport
) async throws {
    var request = ModelRequest(
        method: "PUT",
        path: "/documents/\(document.id)"
    )
    request.headers["If-Match"] = document.tag
    request.body = try JSONEncoder().encode(["text": text])
    try await models.change {
        $0.update(Document.self, id: document.id) { $0.text = text }
    } sending: {
        let response = try await api.send(request)
        guard response.status == 200 else {
            throw ModelResponseError(response)
        }
        return response
    } then: { draft, response in
        let tag = response.headers["ETag"]
        draft.update(Document.self, id: document.id) { $0.tag = tag }
    }
}

struct Delta: Decodable {
    var changed: [Product]
    var deleted: [Int]
    var until: String
}

func synchronize(
    since: String,
    _ models: Models,
    _ api: some ModelTransport
) async throws -> String {
    let delta = try await models.decode(Delta.self) {
        try await api.send(.get("/delta", query: ["since": since])).body
    }
    try await models.change { draft in
        for product in delta.changed { draft.save(product) }
        for id in delta.deleted {
            draft.removeEverywhere(Product.self, id: id)
        }
    }
    return delta.until
}
