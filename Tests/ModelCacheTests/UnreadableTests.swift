import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

/// Stored entries that cannot be read count as missing, and are reported once.
@Suite struct UnreadableTests {
    private let feed = Feed(topic: "swift")

    /// A feed of two articles and their author, stored by a cache that was closed.
    private func storedFeed() async throws -> Stage {
        let stage = try Stage()
        stage.server.answerFeed("swift", [1, 2])
        stage.server.answerUser(7, "Ada")
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        _ = try await models.fetch(User.self, id: 7)
        try await models.close()
        return stage
    }

    /// Changes a byte near the end of each file of a cache in which entries lie: one of the entry saved last.
    private func damage(_ cache: String, of stage: borrowing Stage) throws {
        let folder = stage.directory.url.appending(path: "42").appending(path: cache)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        // Segments, or the files of entries, which have long names.
        let files = names.map { folder.appending(path: $0) }.filter { file in
            file.pathExtension == "segment" || !file.hasDirectoryPath && file.lastPathComponent.count > 20
        }
        for file in files {
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count - 12] ^= 0xFF
            try bytes.write(to: file)
        }
        try #require(!files.isEmpty, "\(names)")
    }

    @Test func aDamagedModelIsTold() async throws {
        let stage = try await storedFeed()
        try damage("user", of: stage)
        let models = try await stage.open()
        for _ in 0..<3 {
            #expect(try await models.stored(User.self, id: 7) == nil)
            #expect(try await models.stored(User.self, ids: [7]).isEmpty)
        }
        let failure = try #require(stage.failures.all.first)
        #expect(stage.failures.all.count == 1)
        #expect(failure.code == .storage && (failure.cause as? CacheError)?.code == .corrupted)
        #expect(failure.subject?.modelName == "user" && failure.subject?.key == "7")
        #expect(failure.message == "the stored user 7 is damaged, and counts as missing")
        #expect(try await models.fetch(User.self, id: 7).name == "Ada")
    }

    @Test func aDamagedListIsTold() async throws {
        let stage = try await storedFeed()
        try damage("$lists", of: stage)
        let models = try await stage.open()
        for _ in 0..<3 { #expect(try await models.stored(feed) == nil) }
        #expect(stage.failures.all.map(\.code) == [.storage])
        #expect(stage.failures.all.map(\.subject?.listKey) == ["feed/swift"])
        #expect(
            stage.failures.all.map(\.message) == ["the stored list feed/swift is damaged, and counts as missing"]
        )
        #expect(try await models.fetch(feed).elements.map(\.id) == [1, 2])
    }

    @Test func aListThatCannotBeDecodedIsTold() async throws {
        let stage = try await storedFeed()
        let lists = try Cache<[String: Int]>(name: "$lists", directory: stage.directory.url.appending(path: "42"))
        try await lists.save(["not": 1, "a": 2, "list": 3], forKey: "feed/swift")
        try await lists.close()
        let models = try await stage.open()
        for _ in 0..<3 { #expect(try await models.stored(feed) == nil) }
        #expect(stage.failures.all.map(\.code) == [.decodingFailed])
        #expect(stage.failures.all.map(\.subject?.listKey) == ["feed/swift"])
        #expect(stage.failures.all.allSatisfy { $0.message.hasPrefix("the stored list feed/swift cannot be read") })
        #expect(try await models.fetch(feed).elements.map(\.id) == [1, 2])
    }

    /// All that is stored counts as stale then.
    @Test func damagedBookkeepingIsTold() async throws {
        let stage = try await storedFeed()
        try damage("$bookkeeping", of: stage)
        let models = try await stage.open()
        #expect(try await models.stored(User.self, id: 7)?.freshness.isFresh == false)
        #expect(stage.failures.all.map(\.code) == [.storage])
        #expect(
            stage.failures.all.map(\.message) == [
                "the account's counter of revisions is damaged, and counts as missing"
            ]
        )
    }
}
