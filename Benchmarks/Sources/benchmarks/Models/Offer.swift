import Foundation
import ModelCache
import TypedCache

/// A model as apps have them: two dates, a URL, a UUID, a decimal, an optional, an enumeration, a nested structure, an
/// array of strings and a link, besides identity and title.
struct Offer: CachedModel, Encoded {
    enum Condition: String, Codable, Sendable, CaseIterable { case new, used, refurbished }

    struct Size: Codable, Equatable, Sendable {
        var width: Double
        var height: Double
        var unit: String
    }

    static let modelName = "offer"
    /// As much memory as all works need for their entries.
    static let policy = ModelPolicy(
        freshness: .seconds(86_400),
        memory: MemorySettings(byteLimit: .mebibytes(512)),
        disk: nil
    )

    let id: Int
    var title: String
    var createdAt: Date
    var changedAt: Date
    var page: URL
    var code: UUID
    var price: Decimal
    var note: String?
    var condition: Condition
    var size: Size
    var labels: [String]
    var seller: ModelLink<Seller>

    static func request(for id: Int) -> ModelRequest { .get("/offers/\(id)") }

    static let sellerCount = 50

    /// The same offer for the same number and version.
    static func make(_ id: Int, version: Int = 0) -> Offer {
        // Any bytes that differ from the next offer's.
        let bits = UInt64(truncatingIfNeeded: id + 1) &* 0x9E37_79B9_7F4A_7C15
        let code = withUnsafeBytes(of: (bits, ~bits)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return Offer(
            id: id,
            title: "Number \(id) of its kind, which comes in \(id % 9 + 1) colours",
            createdAt: Date(timeIntervalSince1970: 1_700_000_000 + Double(id * 7_919 % 9_000_000)),
            changedAt: Date(timeIntervalSince1970: 1_750_000_000 + Double(id % 1_000) + Double(version)),
            page: URL(string: "https://shop.example.com/offers/\(id)") ?? URL(filePath: "/"),
            code: code,
            price: Decimal(id % 1_000) + Decimal(string: "0.95").unsafelyUnwrapped,
            note: id.isMultiple(of: 3) ? nil : "Ships in \(id % 7 + 1) days",
            condition: Condition.allCases[id % 3],
            size: Size(width: Double(id % 80) / 2, height: Double(id % 50), unit: "cm"),
            labels: ["label \(id % 5)", "set \(id % 11)"],
            seller: ModelLink(id % sellerCount)
        )
    }
}

struct Seller: CachedModel {
    static let modelName = "seller"
    let id: Int
    var name: String

    static func request(for id: Int) -> ModelRequest { .get("/sellers/\(id)") }
    static func make(_ id: Int) -> Seller { Seller(id: id, name: "Seller \(id)") }
}

/// A list of offers; its pages are one whole answer, or have a cursor where they are made by ``OfferServer/pages``.
struct OfferList: ModelList {
    typealias Element = Offer
    var name: String

    var listKey: String { "offers/\(name)" }
    var freshness: Duration { .seconds(86_400) }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/offers/\(name)/\(cursor?.text ?? "0")")
    }
    func page(in body: ModelBody) throws -> ModelPage<Offer> {
        ModelPage(try body.models(Offer.self), next: body.headers["next"].map { PageCursor($0) })
    }
}

/// Answers that are made before, by path.
final class OfferServer: ModelTransport {
    private let answers: [String: ModelResponse]

    init(_ answers: [String: ModelResponse]) { self.answers = answers }

    convenience init(lists: [String: Range<Int>], version: Int = 0) throws {
        var answers: [String: ModelResponse] = [:]
        for (name, ids) in lists {
            answers["/offers/\(name)/0"] = ModelResponse(headers: [:], body: try Self.json(ids, version: version))
        }
        self.init(answers)
    }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        guard let answer = answers[request.path] else {
            throw BenchmarkError("there is no answer to \(request.path)")
        }
        return answer
    }

    static func json(_ ids: Range<Int>, version: Int = 0) throws -> Data {
        try JSONEncoder().encode(ids.map { Offer.make($0, version: version) })
    }
}

extension Models {
    /// The account of offers in a folder.
    static func offers(
        in folder: URL,
        _ server: (any ModelTransport)? = nil
    ) async throws -> Models {
        try await Models(
            account: "benchmark",
            types: [Offer.self, Seller.self],
            directory: folder,
            transport: server
        )
    }
}
