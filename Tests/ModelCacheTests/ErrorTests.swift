import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// What errors say, and that nothing comes of an answer that is another model's.
@Suite struct ErrorTests {
    @Test(arguments: [true, false]) func anotherModelsAnswerIsRefusedAndNothingOfItIsKept(isStored: Bool)
        async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer(
            "/articles/6",
            .json(#"{"id": 7, "title": "t", "author": {"id": 1, "name": "n"}}"#),
            headers: isStored ? [:] : ["Cache-Control": "no-store"]
        )
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(Article.self, id: 6) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message == "the server was asked for article 6, and answered with 7")
        #expect(try await models.stored(Article.self, ids: [6, 7]).isEmpty)
        #expect(try await models.stored(User.self, id: 1) == nil)
        // A stored one is shown in its place, as for other errors.
        try await models.save(Article(id: 6, title: "mine", author: Link(1)))
        stage.clock.advance(by: .seconds(120))
        #expect(try await models.fetch(Article.self, id: 6).title == "mine")
        await expect(.decodingFailed) { _ = try await models.fetch(Article.self, id: 6, .reload) }
    }
}
