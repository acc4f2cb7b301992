import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing

/// A word in the language that the task asks for.
private struct Word: CachedModel {
    static let modelName = "word"
    @TaskLocal static var language = "en"
    static var headers: ModelHeaders { ["Accept-Language": language] }
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/words/\(id)", headers: headers) }
    static func request(for ids: [Int]) -> ModelRequest? { .get("/words", headers: headers) }
}

private struct Words: ModelList {
    typealias Element = Word
    var listKey: String { "words" }
    func request(after cursor: PageCursor?) -> ModelRequest {
        .get("/list", query: ["after": cursor?.text], headers: Word.headers)
    }
    func page(in body: ModelBody) throws -> ModelPage<Word> {
        try body.page(items: "items", next: .optional("next"))
    }
}

/// Answers in the requested language; in English only once `english` is open.
private final class LanguageServer: ModelTransport {
    let english = Gate()

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let language = request.headers["accept-language"] ?? ""
        if language == "en" { await english.pass() }
        let word = #"{"id": 1, "text": "\#(language)"}"#
        let bodies = ["/words/1": word, "/words": "[\(word)]", "/list": "{\"items\": [\(word)]}"]
        return ModelResponse(
            headers: ["Vary": "Accept-Language", "Cache-Control": "max-age=600"],
            body: Data((bodies[request.path] ?? "").utf8)
        )
    }
}

/// Answers that depend on the headers of their request (`Vary`).
@Suite(.timeLimit(.minutes(2 * slowness))) struct VariantTests {
    private let server = StubTransport()
    private static let varying: ModelHeaders = ["Vary": "Accept-Language", "Cache-Control": "max-age=600"]

    private func open() async throws -> Models {
        try await Models.inMemory(types: [Word.self], transport: server)
    }

    private func fetch(_ kind: String, _ language: String, from models: Models) async throws -> String? {
        try await Word.$language.withValue(language) {
            switch kind {
            case "one": try await models.fetch(Word.self, id: 1).text
            case "several": try await models.fetch(Word.self, ids: [1, 2])[1]?.text
            default: try await models.fetch(Words()).elements.first?.text
            }
        }
    }

    private func answer(_ text: String, headers: ModelHeaders = varying) {
        let words = (1...2).map { #"{"id": \#($0), "text": "\#(text)"}"# }
        server.answer("/words/1", .json(words[0]), headers: headers)
        server.answer("/words", .json("[\(words.joined(separator: ", "))]"), headers: headers)
        server.answer("/list", .json("{\"items\": [\(words[0])], \"next\": \"1\"}"), headers: headers)
        server.answer("/list?after=1", .json("{\"items\": [\(words[1])], \"next\": \"2\"}"), headers: headers)
        server.answer("/list?after=2", .json(#"{"items": [{"id": 3, "text": "\#(text)"}]}"#), headers: headers)
    }

    private func requested(_ count: Int) async throws {
        try await wait(until: server.requests.count >= count)
    }

    @Test(arguments: ["one", "several", "list"])
    func aFetchJoinsNoLoadOfAnotherVariant(kind: String) async throws {
        let models = try await open()
        let path = ["one": "/words/1", "several": "/words", "list": "/list"][kind] ?? ""
        answer("english")
        server.hold(path)
        async let english = fetch(kind, "en", from: models)
        try await requested(1)
        answer("deutsch")
        async let german = fetch(kind, "de", from: models)
        try await requested(2)
        server.release(path)
        #expect(try await german == "deutsch")
        #expect(try await english == "english")
    }

    /// The later one stays stored.
    @Test(arguments: ["one", "several", "list"])
    func anEarlierAnswerIsReturnedThoughALaterOneOfAnotherVariantIsThere(kind: String) async throws {
        let server = LanguageServer()
        let models = try await Models.inMemory(types: [Word.self], transport: server)
        async let english = fetch(kind, "en", from: models)
        await server.english.reached()
        #expect(try await fetch(kind, "de", from: models) == "de")
        server.english.open()
        #expect(try await english == "en")
        #expect(try await models.stored(Word.self, id: 1)?.value.text == "de")
    }

    @Test func tasksThatAskForTheSameVariantCauseOneRequest() async throws {
        let models = try await open()
        answer("english")
        server.hold("/words/1")
        let tasks = (0..<10).map { _ in Task { try await models.fetch(Word.self, id: 1).text } }
        try await requested(1)
        server.release("/words/1")
        for task in tasks { #expect(try await task.value == "english") }
        #expect(server.requests.count == 1)
    }

    @Test func aPageOfAnotherVariantIsNotPutBehindTheList() async throws {
        let models = try await open()
        answer("english")
        #expect(try await models.fetch(Words()).elements.map(\.text) == ["english"])
        answer("deutsch")
        for count in 1...2 {
            let more = try await Word.$language.withValue("de") { try await models.fetchMore(of: Words()) }
            #expect(more.elements.map(\.text) == Array(repeating: "deutsch", count: count))
        }
    }

    @Test func aPageIsNotPutBehindAListThatBecameAnotherVariantMeanwhile() async throws {
        let models = try await open()
        answer("english")
        _ = try await models.fetch(Words())
        server.hold("/list?after=1")
        async let more = models.fetchMore(of: Words())
        try await requested(2)
        answer("deutsch")
        let german = try await Word.$language.withValue("de") { try await models.fetch(Words()) }
        #expect(german.elements.map(\.text) == ["deutsch"])
        answer("english")
        server.release("/list?after=1")
        #expect(try await more.elements.map(\.text) == ["english"])
    }

    /// Such a list is another one each time it is asked for, and has more pages all the same.
    @Test func aListThatDependsOnMoreThanHeadersIsReadToItsEnd() async throws {
        let models = try await open()
        answer("any", headers: ["Vary": "*"])
        var shown = try await models.fetch(Words())
        for _ in 0..<10 where shown.hasMore { shown = try await models.fetchMore(of: Words()) }
        #expect(shown.elements.map(\.id) == [1, 2, 3] && !shown.hasMore)
    }
}
