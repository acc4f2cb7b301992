import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache

@Suite struct ObservationTests {
    @Test func anObserverCausesNoRequestAndOverlappingListsEndInSilence() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=a", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        stage.server.answer("/articles?topic=b", .json(#"{"items": [{"id": 1, "title": "u", "author": 7}]}"#))
        let models = try await stage.open()
        let one = models.updates(of: Feed(topic: "a")).makeAsyncIterator()
        let other = models.updates(of: Feed(topic: "b")).makeAsyncIterator()
        #expect(try #require(await one.next(isolation: #isolation)) == nil)
        #expect(try #require(await other.next(isolation: #isolation)) == nil)
        #expect(stage.server.requests.isEmpty)
        _ = try await models.fetch(Feed(topic: "a"))
        #expect(await one.next(isolation: #isolation)??.elements.map(\.title) == ["t"])
        _ = try await models.fetch(Feed(topic: "b"))
        #expect(await one.next(isolation: #isolation)??.elements.map(\.title) == ["u"])
        #expect(await other.next(isolation: #isolation)??.elements.map(\.title) == ["u"])
        #expect(stage.server.requests.count == 2)
        // Stale values are shown, and still the server is not asked.
        stage.clock.advance(by: .seconds(100))
        try await models.invalidate(.everything)
        #expect(await one.next(isolation: #isolation)??.freshness.isFresh == false)
        await models.settle()
        #expect(stage.server.requests.count == 2)
        // Nothing more comes: the next snapshot is that of the next change.
        try await models.save(Article(id: 1, title: "last", author: ModelLink(7)))
        #expect(await one.next(isolation: #isolation)??.elements.map(\.title) == ["last"])
        #expect(await other.next(isolation: #isolation)??.elements.map(\.title) == ["last"])
    }

    @Test func manyChangesAreOneSnapshotAndAnEqualValueIsNone() async throws {
        let models = try await Models.inMemory(types: [User.self], transport: nil)
        try await models.save(User(id: 1, name: "0", bio: "b"))
        let updates = models.updates(of: User.self, id: 1).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)??.value.name == "0")
        let count = isLongRun ? 10_000 : 2_000
        for number in 1...count { try await models.save(User(id: 1, name: "\(number)", bio: "b")) }
        #expect(await updates.next(isolation: #isolation)??.value.name == "\(count)")
        try await models.save(User(id: 1, name: "\(count)", bio: "b"))
        try await models.save(User(id: 1, name: "end", bio: "b"))
        #expect(await updates.next(isolation: #isolation)??.value.name == "end")
    }

    @Test func severalModelsAreObservedTogether() async throws {
        let models = try await Models.inMemory(types: [User.self], transport: nil)
        let updates = models.updates(of: User.self, ids: [1, 2]).makeAsyncIterator()
        #expect(await updates.next(isolation: #isolation)?.isEmpty == true)
        try await models.save([
            User(id: 1, name: "a", bio: "b"), User(id: 2, name: "c", bio: "b"), User(id: 3, name: "d", bio: "b"),
        ])
        #expect(await updates.next(isolation: #isolation)?.mapValues(\.value.name) == [1: "a", 2: "c"])
        try await models.remove(User.self, id: 2)
        #expect(await updates.next(isolation: #isolation)?.mapValues(\.value.name) == [1: "a"])
    }

    @Test func anObserverThatIsCancelledOrDroppedLeavesNothingBehind() async throws {
        let models = try await Models.inMemory(types: [User.self], transport: nil)
        try await models.save(User(id: 1, name: "a", bio: "b"))
        let task = Task {
            var count = 0
            for await _ in models.updates(of: User.self, id: 1) { count += 1 }
            return count
        }
        try await wait(until: models.observedCount != 0)
        task.cancel()
        _ = await task.value
        #expect(models.observedCount == 0)
        do {
            let updates = models.updates(of: User.self, id: 1).makeAsyncIterator()
            _ = await updates.next(isolation: #isolation)
            #expect(models.observedCount == 1)
            withExtendedLifetime(updates) {}
        }
        #expect(models.observedCount == 0)
    }
}
