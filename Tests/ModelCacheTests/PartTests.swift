import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// A model that lists give without its biography, and that is asked for with the headers of the task.
private struct Person: CachedModel {
    static let modelName = "person"
    let id: Int
    var name: String
    var bio: String?

    static func request(for id: Int) -> ModelRequest { .get("/people/\(id)", headers: Leaf.headers) }
    static func merge(_ incoming: Person, over old: Person, from source: ModelSource) -> Person {
        var merged = incoming
        if source == .list { merged.bio = incoming.bio ?? old.bio }
        return merged
    }
    static func isComplete(_ model: Person) -> Bool { model.bio != nil }
}

private struct People: ModelList {
    typealias Element = Person
    var listKey: String { "people" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/people") }
}

/// How a part of a model, as a list gives it, changes the age of the whole one.
@Suite struct PartTests {
    let server = StubTransport()
    let clock = ManualClock()

    /// A cache with person 1; a list has brought the name after the whole model.
    private func open(whole headers: ModelHeaders) async throws -> Models {
        let models = try await Models.inMemory(
            types: [Person.self],
            transport: server,
            clock: clock
        )
        server.answer("/people/1", .json(#"{"id": 1, "name": "Ada", "bio": "whole"}"#), headers: headers)
        server.answer("/people", .json(#"[{"id": 1, "name": "Grace"}]"#), headers: ["Cache-Control": "max-age=60"])
        _ = try await Leaf.$headers.withValue(["Accept-Language": "en"]) {
            try await models.fetch(Person.self, id: 1)
        }
        _ = try await models.fetch(People())
        #expect(try await models.stored(Person.self, id: 1)?.value == Person(id: 1, name: "Grace", bio: "whole"))
        return models
    }

    @Test func aStaleModelThatItsServerForbidsIsNotShownAfterAPart() async throws {
        let models = try await open(whole: ["Cache-Control": "no-cache"])
        server.fail("/people/1")
        await expect(.transport) { _ = try await models.fetch(Person.self, id: 1) }
    }

    @Test func theWindowOfTheWholeAnswerStays() async throws {
        let models = try await open(whole: ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        clock.advance(by: .seconds(90))
        server.answer("/people/1", .json(#"{"id": 1, "name": "Eve", "bio": "later"}"#))
        #expect(try await models.fetch(Person.self, id: 1).bio == "whole")
        await models.settle()
        #expect(try await models.stored(Person.self, id: 1)?.value.bio == "later")
    }

    @Test func theWindowOfTheWholeAnswerEndsWithAnInvalidation() async throws {
        let models = try await open(whole: ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        try await models.invalidate(.type(Person.self))
        _ = try await models.fetch(People(), .reload)
        server.answer("/people/1", .json(#"{"id": 1, "name": "Eve", "bio": "later"}"#))
        #expect(try await models.fetch(Person.self, id: 1).bio == "later")
    }

    @Test func aVariantStaysOneAfterAPart() async throws {
        let models = try await open(whole: ["Cache-Control": "max-age=3600", "Vary": "Accept-Language"])
        try await Leaf.$headers.withValue(["Accept-Language": "de"]) {
            let stored = try await models.stored(Person.self, id: 1)
            #expect(stored?.freshness == .stale(since: nil, because: .otherVariant))
        }
        try await Leaf.$headers.withValue(["Accept-Language": "en"]) {
            let stored = try await models.stored(Person.self, id: 1)
            #expect(stored?.freshness.isFresh == true)
        }
    }
}
