import Foundation
import ModelCache
import ModelCacheTesting
import Testing

private struct Reader: CachedModel {
    static let modelName = "reader"
    let id: Int
    var firstName: String
    static func request(for id: Int) -> ModelRequest { .get("/readers", id) }

    private enum CodingKeys: String, CodingKey { case id, firstName }
}

/// Names as a server writes them, under every strategy of the program's decoder.
private enum Names: String, CaseIterable, CustomTestStringConvertible {
    case asWritten, snakeCase, custom

    var testDescription: String { rawValue }
    var firstName: String { self == .asWritten ? "firstName" : "first_name" }

    @Sendable func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        switch self {
        case .asWritten: break
        case .snakeCase: decoder.keyDecodingStrategy = .convertFromSnakeCase
        case .custom:
            decoder.keyDecodingStrategy = .custom { keys in
                let words = keys[keys.count - 1].stringValue.split(separator: "_")
                return Key(stringValue: words[0] + words.dropFirst().map(\.capitalized).joined())
            }
        }
        return decoder
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

private struct Readers: ModelList {
    typealias Element = Reader
    var items: MemberPath
    var next: MemberPath
    var listKey: String { "readers" }

    func request(after cursor: PageCursor?) -> ModelRequest { .get("/readers", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Reader> { try body.page(items: items, next: next) }
}

/// Where values are in an answer.
@Suite struct MemberPathTests {
    private func readers(_ names: Names, first: String, second: String) async throws -> Models {
        let server = StubTransport()
        let reader = { (id: Int) in "{\"id\": \(id), \"\(names.firstName)\": \"n\"}" }
        server.answer("/readers", .json(first.replacing("READER", with: reader(1))))
        server.answer("/readers?after=x", .json(second.replacing("READER", with: reader(2))))
        return try await Models.inMemory(types: [Reader.self], transport: server, decoder: names.decoder)
    }

    @Test(arguments: Names.allCases) private func namesAreAsTheServerWritesThem(names: Names) async throws {
        let list = Readers(items: "the_items", next: "next_cursor")
        let models = try await readers(
            names,
            first: #"{"the_items": [READER], "next_cursor": "x"}"#,
            second: #"{"the_items": [READER], "next_cursor": null}"#
        )
        #expect(try await models.fetch(list).hasMore)
        let all = try await models.fetchMore(of: list)
        #expect(all.elements == [1, 2].map { Reader(id: $0, firstName: "n") })
        #expect(!all.hasMore)
    }

    @Test(arguments: Names.allCases) private func namesLeadIntoMembers(names: Names) async throws {
        let list = Readers(items: ["the_data", "all_items"], next: .optional("page_info", "next_cursor"))
        let models = try await readers(
            names,
            first: #"{"the_data": {"all_items": [READER]}, "page_info": {"next_cursor": "x"}}"#,
            second: #"{"the_data": {"all_items": [READER]}}"#
        )
        #expect(try await models.fetch(list).hasMore)
        let all = try await models.fetchMore(of: list)
        #expect(all.elements.map(\.id) == [1, 2])
        #expect(!all.hasMore)
    }

    @Test(arguments: Names.allCases, ["next_curser", "meta"])
    private func aNameThatIsNowhereIsAnError(names: Names, name: String) async throws {
        let list = Readers(items: "items", next: MemberPath(name))
        let models = try await readers(
            names,
            first: #"{"items": [READER], "next_cursor": "x"}"#,
            second: "{}"
        )
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(list) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.hasSuffix("no member \(name)") == true, "\(error?.message ?? "")")
        #expect(try await models.stored(list) == nil)
    }

    @Test(arguments: Names.allCases) private func aValueIsDecodedAtItsPath(names: Names) throws {
        let text = #"{"the_meta": {"total_count": 3, "last_page": null}, "two_words": {"one_two": 5}}"#
        let body = ModelBody(Data(text.utf8), decoder: names.decoder)
        #expect(try body.decode(Int.self, at: "the_meta", "total_count") == 3)
        #expect(try body.decodeIfPresent(Int.self, at: "the_meta", "total_count") == 3)
        #expect(try body.decodeIfPresent(Int.self, at: "the_meta", "last_page") == nil)
        #expect(try body.decodeIfPresent(Int.self, at: "the_meta", "nowhere") == nil)
        #expect(try body.decodeIfPresent(Int.self, at: "nowhere", "total_count") == nil)
        #expect(throws: DecodingError.self) { try body.decode(Int.self, at: "the_meta", "nowhere") }
        #expect(throws: DecodingError.self) { try body.decode(Int?.self, at: "the_meta", "nowhere") }
        #expect(throws: DecodingError.self) { try body.decodeIfPresent(Int.self, at: "two_words") }
    }

    @Test func elementsMayBeAbsentWhereThatIsSaid() throws {
        for text in [#"{"next": null}"#, #"{"items": null, "next": null}"#] {
            let body = ModelBody(Data(text.utf8))
            let page: ModelPage<Reader> = try body.page(items: .optional("items"), next: "next")
            #expect(page.elements.isEmpty)
            #expect(throws: DecodingError.self) { let _: ModelPage<Reader> = try body.page(items: "items") }
        }
    }

    @Test func aDecoderThatIsHandedOutAgainKeepsItsStrategy() throws {
        let decoder = Names.custom.decoder()
        let body = ModelBody(Data(#"{"a_b": {"c_d": 1}}"#.utf8)) { decoder }
        for _ in 1...2 {
            #expect(try body.decode([String: Int].self, at: "a_b") == ["c_d": 1])
            #expect(try body.decode(Outer.self).aB.cD == 1)
        }
    }

    private struct Outer: Decodable {
        struct Inner: Decodable { let cD: Int }
        let aB: Inner
    }
}
