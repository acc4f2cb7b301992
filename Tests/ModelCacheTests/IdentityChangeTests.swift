import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// Models that are shown under an identity of the program until the server has given one.
@Suite struct IdentityChangeTests {
    private struct Refused: Error {}
    private let feed = Feed(topic: "swift")
    private static let posted = Data(#"{"id": 9, "title": "new", "author": 7}"#.utf8)

    private func open(_ stage: borrowing Stage) async throws -> Models {
        stage.server.answerFeed("swift", [3])
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        return models
    }

    /// Posts an article; while that is under way, `body` runs.
    private func post(_ models: Models, during body: () async throws -> Void) async throws {
        try await models.change {
            $0.insert(Article(id: -1, title: "new", author: ModelLink(7)), into: feed, at: .start)
        } sending: {
            try await body()
            return Self.posted
        } then: { draft, data in
            let article = try draft.save(Article.self, decoding: data)
            draft.replace(Article.self, id: -1, by: article.id)
        }
    }

    @Test func theServersModelTakesThePlaceOfTheShownOne() async throws {
        let stage = try Stage()
        let models = try await open(stage)
        try await post(models) { () async throws in
            #expect(try await models.stored(feed)?.elements.map(\.id) == [-1, 3])
        }
        let list = try #require(try await models.stored(feed))
        #expect(list.elements.map(\.id) == [9, 3])
        #expect(!list.isChanging && list.holes.isEmpty)
        #expect(try await models.stored(Article.self, id: -1) == nil)
        #expect(try await models.stored(Article.self, id: 9)?.isChanging == false)
        try await models.close()
        let second = try await stage.open()
        #expect(try await second.stored(feed)?.elements.map(\.id) == [9, 3])
    }

    @Test func aChangeThatIsConfirmedFirstIsOneOfTheServersModel() async throws {
        let stage = try Stage()
        let models = try await open(stage)
        try await post(models) {
            try await models.change {
                $0.update(Article.self, id: -1) { $0.title = "edited" }
            } sending: {
            }
            #expect(try await models.stored(Article.self, id: -1)?.value.title == "edited")
        }
        let stored = try #require(try await models.stored(Article.self, id: 9))
        #expect(stored.value.title == "edited" && !stored.isChanging)
        try await models.close()
        let second = try await stage.open()
        #expect(try await second.stored(Article.self, id: 9)?.value.title == "edited")
    }

    @Test(arguments: [false, true]) func aChangeThatIsUnderWayIsOneOfTheServersModel(fails: Bool) async throws {
        let stage = try Stage()
        let models = try await open(stage)
        let gate = Gate()
        async let edit: Void = models.change {
            $0.update(Article.self, id: -1) { $0.title = "edited" }
        } sending: {
            await gate.pass()
            if fails { throw Refused() }
        }
        await gate.reached()
        // Begun before the model is there, its layer comes first, and shows over it when it is again made.
        try await post(models) {
            try await models.change {
                $0.update(Article.self, id: -1) { $0.topic = "swift" }
            } sending: {
            }
        }
        #expect(try await models.stored(Article.self, id: 9)?.value.title == "edited")
        #expect(try await models.stored(Article.self, id: 9)?.isChanging == true)
        gate.open()
        do { try await edit } catch is Refused {}
        let stored = try #require(try await models.stored(Article.self, id: 9))
        #expect(
            stored.value == Article(id: 9, title: fails ? "new" : "edited", author: ModelLink(7), topic: "swift")
        )
        #expect(!stored.isChanging)
    }

    @Test func aLaterChangeByTheFormerIdentityIsOneOfTheServersModel() async throws {
        let stage = try Stage()
        let models = try await open(stage)
        try await post(models) {}
        try await models.change {
            $0.update(Article.self, id: -1) { $0.title = "late" }
        } sending: {
            let shown = try #require(try await models.stored(Article.self, id: 9))
            #expect(shown.value.title == "late" && shown.isChanging)
        }
        #expect(try await models.stored(Article.self, id: 9)?.value.title == "late")
        #expect(try await models.stored(Article.self, id: -1) == nil)
    }

    /// With an identity that the program gives for good, as a UUID.
    @Test func aConfirmedChangeOfAModelThatIsNotConfirmedWaitsForIt() async throws {
        let stage = try Stage()
        let models = try await open(stage)
        for fails in [true, false] {
            do {
                try await models.change {
                    $0.save(Article(id: 5, title: "new", author: ModelLink(7)))
                } sending: {
                    try await models.change {
                        $0.update(Article.self, id: 5) { $0.title = "edited" }
                    } sending: {
                    }
                    #expect(try await models.stored(Article.self, id: 5)?.value.title == "edited")
                    if fails { throw Refused() }
                }
            } catch is Refused {}
            #expect(try await models.stored(Article.self, id: 5)?.value.title == (fails ? nil : "edited"))
            #expect(try await models.stored(Article.self, id: 5)?.isChanging != true)
        }
    }
}
