import Foundation
import ModelCache

/// A case of the public suite of HTTP caching, by its name there, as `http-cases.json` has it: answers that a server
/// gives, one step after another, and how a private cache uses them. `Scripts/http-cases` takes other caches through
/// the same file.
struct HTTPCase: Decodable, Sendable, CustomStringConvertible {
    struct Answer: Decodable, Sendable {
        var status: Int?
        /// Names and values. A value of `@` and a number is a date so many seconds from now.
        var headers: [[String]]?
        /// Whether it has no body.
        var empty: Bool?
    }

    struct Step: Decodable, Sendable {
        /// Seconds that pass before the fetch.
        var wait: Int?
        /// Headers of the request.
        var request: [[String]]?
        /// The requested query; always the same where it is not said.
        var query: String?
        /// Given to one request after another.
        var answers: [Answer]?
        /// Whether the server cannot be reached.
        var fails: Bool?
        var expect: HTTPOutcome
        /// Headers of the request that reaches the server; an empty value: not there.
        var sends: [[String]]?
    }

    let id: String
    let group: String
    let kind: String
    let checks: String
    /// Outcomes of the last step that the rules forbid to any private cache.
    let wrong: [HTTPOutcome]
    let steps: [Step]

    var description: String { id }

    static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "http-cases.json")

    static let all: [HTTPCase] = {
        do {
            return try JSONDecoder().decode([HTTPCase].self, from: Data(contentsOf: file))
        } catch {
            // The suite fails for want of cases.
            return []
        }
    }()
}

/// How a fetch has ended.
enum HTTPOutcome: String, Decodable, Sendable {
    /// The stored answer was used, and the server was not asked.
    case used
    /// The server has called the stored answer unchanged.
    case validated
    /// The server's whole answer was used.
    case loaded
    /// The stored answer was used, and the server got a request in the background.
    case behind
    /// The stored answer was used because the server failed.
    case stale
    /// The caller got an error.
    case failed
}

/// A model that assumes no lifetime of its own, and is asked for with the headers of the task.
struct Leaf: CachedModel {
    static let modelName = "leaf"
    static let policy = ModelPolicy(freshness: .zero)
    @TaskLocal static var headers: ModelHeaders = [:]

    let id: String
    var text: String

    static func request(for id: String) -> ModelRequest { .get("/leaf", query: ["id": id], headers: headers) }

    static func model(in body: ModelBody) throws -> Leaf {
        body.data.isEmpty ? Leaf(id: "1", text: "") : try body.model(Leaf.self)
    }
}
