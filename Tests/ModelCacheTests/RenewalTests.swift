import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

/// Answers that bring models as they are stored.
@Suite struct RenewalTests {
    private static let feed = Feed(topic: "swift")

    /// The bytes of a type's files.
    private func bytes(of type: String, in stage: borrowing Stage) throws -> Int {
        let files = FileManager.default.enumerator(
            at: stage.directory.url,
            includingPropertiesForKeys: [.fileSizeKey]
        )
        var bytes = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathComponents.contains(type) else { continue }
            bytes += try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
        return bytes
    }

    @Test func equalModelsAreNotWrittenAndAreFreshAgain() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", Array(0..<100))
        let models = try await stage.open()
        _ = try await models.fetch(Self.feed)
        await models.flush()
        let before = try bytes(of: "article", in: stage)
        try #require(before > 0)
        stage.clock.advance(by: .seconds(90))
        #expect(try await models.stored(Article.self, id: 7)?.freshness.isFresh == false)
        _ = try await models.fetch(Self.feed)
        await models.flush()
        #expect(try bytes(of: "article", in: stage) == before)
        for _ in 0..<2 {
            let article = try #require(try await models.stored(Article.self, id: 7))
            #expect(article.freshness.isFresh)
            #expect(article.fetchedAt == stage.clock.now)
            // Also where the entry was read from disk.
            models.trimMemory(toCount: 0)
        }
        try await models.close()
        // The next launch knows the age on disk.
        let again = try await stage.open()
        #expect(try await again.stored(Article.self, id: 7)?.value.title == "t")
    }

    @Test func anOlderAnswerDoesNotReplaceARenewedModelThatMemoryHasLost() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1])
        let models = try await stage.open()
        _ = try await models.fetch(Self.feed)
        await models.flush()
        stage.server.answer("/articles/1", .json(#"{"id": 1, "title": "other", "author": 7}"#))
        stage.server.forgetRequests()
        stage.server.hold("/articles/1")
        let early = Task { try await models.fetch(Article.self, id: 1, .reload) }
        await stage.server.requested(1)
        _ = try await models.fetch(Self.feed, .reload)
        await models.flush()
        models.trimMemory(toCount: 0)
        stage.server.release("/articles/1")
        _ = try await early.value
        #expect(try await models.stored(Article.self, id: 1)?.value.title == "t")
    }

    @Test func aChangedModelIsWrittenBehindARenewal() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1, 2])
        let models = try await stage.open()
        _ = try await models.fetch(Self.feed)
        await models.flush()
        _ = try await models.fetch(Self.feed, .reload)
        stage.server.answer(
            "/articles?topic=swift",
            .json(#"{"items": [{"id": 1, "title": "new", "author": 7}, {"id": 2, "title": "t", "author": 7}]}"#)
        )
        _ = try await models.fetch(Self.feed, .reload)
        await models.flush()
        models.trimMemory(toCount: 0)
        #expect(try await models.stored(Article.self, id: 1)?.value.title == "new")
        try await models.remove(Article.self, id: 2)
        #expect(try await models.stored(Article.self, id: 2) == nil)
        try await models.close()
        let again = try await stage.open()
        #expect(try await again.stored(Article.self, id: 1)?.value.title == "new")
        #expect(try await again.stored(Article.self, id: 2) == nil)
    }

    @Test func anInvalidatedModelIsWrittenWhenItIsEqual() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1])
        do {
            let models = try await stage.open()
            _ = try await models.fetch(Self.feed)
            try await models.invalidate(.type(Article.self))
            _ = try await models.fetch(Self.feed, .reload)
            try await models.close()
        }
        let again = try await stage.open()
        #expect(try await again.stored(Article.self, id: 1)?.freshness.isFresh == true)
    }

    @Test func ageOnDiskIsKnownToAnHour() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1])
        do {
            let models = try await stage.open()
            for _ in 0..<9 {
                _ = try await models.fetch(Self.feed, .reload)
                await models.flush()
                stage.clock.advance(by: .seconds(25 * 60))
            }
            try await models.close()
        }
        let again = try await stage.open()
        let article = try #require(try await again.stored(Article.self, id: 1))
        let age = stage.clock.now.timeIntervalSince(try #require(article.fetchedAt))
        #expect(age <= 25 * 60 + 3_600)
    }

    @Test func moreRenewalsThanMemoryKeepsAreWritten() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", Array(0..<3_000))
        let models = try await stage.open()
        _ = try await models.fetch(Self.feed)
        await models.flush()
        stage.clock.advance(by: .seconds(30))
        _ = try await models.fetch(Self.feed, .reload)
        await models.flush()
        models.trimMemory(toCount: 0)
        for id in [0, 1_500, 2_999] {
            #expect(try await models.stored(Article.self, id: id)?.fetchedAt == stage.clock.now)
        }
        try await models.close()
        let again = try await stage.open()
        #expect(try await again.stored(Article.self, id: 0)?.fetchedAt == stage.clock.now)
    }

    @Test func anObserverIsToldOfARenewal() async throws {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1])
        let models = try await stage.open()
        _ = try await models.fetch(Self.feed)
        await models.flush()
        stage.clock.advance(by: .seconds(90))
        let updates = models.updates(of: Article.self, id: 1).makeAsyncIterator()
        #expect(await updates.next()??.freshness.isFresh == false)
        _ = try await models.fetch(Self.feed)
        #expect(await updates.next()??.freshness.isFresh == true)
    }
}
