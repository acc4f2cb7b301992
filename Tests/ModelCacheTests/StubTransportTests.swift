import ModelCache
import ModelCacheTesting
import Testing

@Suite struct StubTransportTests {
    /// A stale value in the place of an error hides from a test that an answer is missing.
    @Test func requestsWithoutAScriptedAnswerAreKept() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "a")
        let models = try await stage.open()
        _ = try await models.fetch(User.self, id: 1, .reload)
        #expect(stage.server.unscripted.isEmpty)
        try await models.save(Article(id: 1, title: "t", author: ModelLink(1)))
        stage.clock.advance(by: .seconds(120))
        #expect(try await models.fetch(Article.self, id: 1).title == "t")
        await expect(.transport) { _ = try await models.fetch(Feed(topic: "go")) }
        #expect(stage.server.unscripted == ["/articles/1", "/articles?topic=go"])
        stage.server.forgetRequests()
        #expect(stage.server.unscripted.isEmpty)
    }
}
