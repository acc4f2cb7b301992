import Foundation
import ModelCache

/// A model of ten fields.
struct Product: CachedModel {
    static let modelName = "product"
    let id: Int
    var name: String
    var brand: String
    var price: Double
    var stock: Int
    var isOnSale: Bool
    var rating: Double
    var summary: String
    var changedAt: Double
    var maker: ModelLink<Maker>

    static func request(for id: Int) -> ModelRequest { .get("/products/\(id)") }

    static func make(_ id: Int, version: Int = 0) -> Product {
        Product(
            id: id,
            name: "Product \(id)",
            brand: "Brand \(id % 40)",
            price: Double(id % 1_000) + 0.95,
            stock: id % 17 + version,
            isOnSale: id.isMultiple(of: 3),
            rating: Double(id % 50) / 10,
            summary: "Number \(id) of its kind, which comes in \(id % 9 + 1) colours and ships in two days.",
            changedAt: 780_000_000 + Double(id * 7_919),
            maker: ModelLink(id % 40)
        )
    }
}

struct Maker: CachedModel {
    static let modelName = "maker"
    let id: Int
    var name: String

    static func request(for id: Int) -> ModelRequest { .get("/makers/\(id)") }
}

/// A list with answers that ``ProductServer`` makes.
struct ProductList: ModelList {
    typealias Element = Product
    var name: String

    var listKey: String { "products/\(name)" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/products/list/\(name)") }
}

/// A list with models that are decoded already.
struct DecodedList: ModelList {
    let name: String
    let products: [Product]

    var listKey: String { "products/\(name)" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/products/list/\(name)") }
    func page(in body: ModelBody) -> ModelPage<Product> { ModelPage(products) }

    static func == (left: DecodedList, right: DecodedList) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Answers from memory.
final class ProductServer: ModelTransport {
    private let answers: [String: Data]
    private let tag: String?

    /// - Parameters:
    ///   - lists: the identities of each list, by its name.
    ///   - tag: the `ETag` of every answer; a request that has it is answered with 304.
    init(lists: [String: Range<Int>], version: Int = 0, tag: String? = nil) throws {
        var answers: [String: Data] = [:]
        for (name, ids) in lists {
            answers["/products/list/\(name)"] = try JSONEncoder().encode(
                ids.map { Product.make($0, version: version) }
            )
        }
        self.answers = answers
        self.tag = tag
    }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        var headers: ModelHeaders = [:]
        if let tag {
            headers["etag"] = tag
            if request.headers["if-none-match"] == tag { return ModelResponse(status: 304, headers: headers) }
        }
        return ModelResponse(headers: headers, body: answers[request.path] ?? Data("[]".utf8))
    }
}

/// Waits for asynchronous work, on a thread that may wait.
func wait<Result: Sendable>(for body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let ended = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var outcome: Swift.Result<Result, any Error>?
    Task {
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        ended.signal()
    }
    ended.wait()
    guard let outcome else { throw BenchmarkError("the work was not done") }
    return try outcome.get()
}
