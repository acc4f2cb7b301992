import Foundation
import ModelCache
import TypedCache

/// An author of an article of the torture: both say which answer brought them.
struct TorturedAuthor: CachedModel {
    static let modelName = "author"
    let id: Int
    var version: Int

    static func request(for id: Int) -> ModelRequest { .get("/authors/\(id)") }
}

struct TorturedArticle: CachedModel {
    static let modelName = "article"
    let id: Int
    var version: Int
    var author: ModelLink<TorturedAuthor>

    static func request(for id: Int) -> ModelRequest { .get("/articles/\(id)") }
}

/// A list with numbered answers: number *n* has the articles *n* to *n* + 39, and their authors.
struct TorturedList: ModelList {
    typealias Element = TorturedArticle
    static let length = 40
    static let authors = 10

    var listKey: String { "articles" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/articles") }
}

/// Answers with one number after another.
private struct NumberedTransport: ModelTransport {
    let number: Int

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let items = (number..<number + TorturedList.length).map { id in
            let author = "{\"id\": \(id % TorturedList.authors), \"version\": \(number)}"
            return "{\"id\": \(id), \"version\": \(number), \"author\": \(author)}"
        }
        return ModelResponse(body: Data("[\(items.joined(separator: ","))]".utf8))
    }
}

/// Works on the models of an account until it is killed, and says on standard output how far it is.
struct ModelWorker {
    enum Work: String { case merging, erasing }

    var work: Work
    var directory: URL
    /// The number of the first answer.
    var first: Int

    static let account = "tortured"

    static func open(_ directory: URL, account: String = account, number: Int = 0) async throws -> Models {
        try await Models(
            account: account,
            types: [TorturedArticle.self, TorturedAuthor.self],
            directory: directory,
            transport: NumberedTransport(number: number)
        )
    }

    func run() async throws {
        switch work {
        case .merging: try await merge()
        case .erasing: try await erase()
        }
    }

    /// Merges one answer after another; each third one is waited for.
    private func merge() async throws {
        let transport = CountingTransport(first: first)
        let models = try await Models(
            account: Self.account,
            types: [TorturedArticle.self, TorturedAuthor.self],
            directory: directory,
            transport: transport
        )
        Terminal.say("opened")
        var number = first
        while true {
            Terminal.say("begun \(number)")
            _ = try await models.fetch(TorturedList(), .reload)
            if number.isMultiple(of: 3) {
                await models.flush()
                Terminal.say("flushed \(number)")
            }
            number += 1
        }
    }

    /// Fills an account and erases it, again and again.
    private func erase() async throws {
        Terminal.say("opened")
        var number = first
        while true {
            Terminal.say("begun \(number)")
            let models = try await Self.open(directory, number: number)
            _ = try await models.fetch(TorturedList())
            try await models.save(TorturedAuthor(id: 1, version: number))
            try await models.erase()
            Terminal.say("erased \(number)")
            number += 1
        }
    }
}

/// Answers with one number after another.
private actor CountingTransport: ModelTransport {
    private var next: Int

    init(first: Int) { next = first }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        defer { next += 1 }
        return try await NumberedTransport(number: next).send(request)
    }
}
