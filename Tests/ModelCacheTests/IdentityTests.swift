import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache

@Suite struct IdentityTests {
    @Test func aModelIsLoadedOnceAndFoundByALaterLaunch() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada", headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        var models = try await stage.open()
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(stage.server.requests.count == 1)
        try await models.close()
        models = try await stage.open()
        let stored = try await models.stored(User.self, id: 1)
        #expect(stored?.value == User(id: 1, name: "Ada", bio: "b"))
        #expect(stored?.freshness == .fresh(until: stage.clock.now.addingTimeInterval(60)))
        stage.clock.advance(by: .seconds(61))
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == false)
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        #expect(stage.server.requests.last?.headers["if-none-match"] == "\"a\"")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
        #expect(stage.failures.all.isEmpty)
    }

    @Test func nestedModelsAreEntriesOfTheirOwn() async throws {
        let stage = try Stage()
        let body =
            #"{"items": [{"id": 1, "title": "t", "author": {"id": 7, "name": "Ada"}}, {"id": 2, "title": "u", "author": 7}], "next": "2"}"#
        stage.server.answer("/articles?topic=swift", .json(body))
        let models = try await stage.open()
        let feed = try await models.fetch(Feed(topic: "swift"))
        #expect(feed.elements.map(\.author) == [Link(7), Link(7)])
        #expect(feed.hasMore)
        #expect(try await models.stored(User.self, id: 7)?.value.name == "Ada")
        try await models.save(User(id: 7, name: "Grace", bio: "x"))
        #expect(try await models.fetch(feed.elements[0].author).name == "Grace")
    }

    @Test func observersSeeChangesAndRollbacks() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "b"))
        let updates = models.updates(of: User.self, id: 1).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)??.value.name == "a")
        struct Refused: Error {}
        var refusal: (any Error)?
        do {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "c" }
            } sending: {
                let shown = await updates.next(isolation: #isolation)
                #expect(shown??.value.name == "c")
                throw Refused()
            }
        } catch {
            refusal = error
        }
        #expect(refusal is Refused)
        #expect(await updates.next(isolation: #isolation)??.value.name == "a")
        try await models.erase()
        #expect(await updates.next(isolation: #isolation) == nil)
        #expect(!FileManager.default.fileExists(atPath: stage.directory.url.appending(path: "42").path))
    }
}
