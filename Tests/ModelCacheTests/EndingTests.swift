import Dispatch
import ModelCacheTesting
import Testing

@testable import ModelCache

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

    /// A load that ends while the account is closed may have its write after the closing. The program has closed the account,
    /// so nothing failed that it does not know of.
    @Test func aWriteAfterTheClosingIsNotReported() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "Ada")
        let models = try await stage.open()
        let tables = models.engine.tables
        try await models.save([User(id: 2, name: "Grace", bio: "b")])
        let isApplied = DispatchSemaphore(value: 0)
        tables.account.writer.add(0) {
            isApplied.wait()
            _ = tables.account.close()
        }
        _ = try await models.fetch(User.self, id: 1, .reload)
        isApplied.signal()
        await models.flush()
        #expect(stage.failures.all.map(\.code) == [])
        try await models.close()
    }
}
