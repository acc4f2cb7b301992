import ModelCache
import ModelCacheTesting
import Testing

@Suite struct EndingTests {
    @Test(arguments: [false, true]) func whoWaitsForALoadIsToldThatTheCacheHasEnded(erases: Bool) async throws {
        let server = StubTransport()
        server.answerUser(1, "Ada")
        server.hold("/users/1")
        let models = try await Models.inMemory(types: [User.self], transport: server)
        let load = Task { try await models.fetch(User.self, id: 1) }
        await server.requested(1)
        if erases { try await models.erase() } else { try await models.close() }
        server.release("/users/1")
        let failure = await #expect(throws: ModelCacheError.self) { try await load.value }
        #expect(failure?.code == .closed)
        let later = await #expect(throws: ModelCacheError.self) { try await models.fetch(User.self, id: 1) }
        #expect(later?.code == .closed)
    }
}
