import Foundation
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// Revisions, which must not be given twice.
@Suite struct BookkeepingTests {
    @Test func noRevisionIsGivenBeforeTheDiskKnowsOfIt() throws {
        let directory = try TemporaryDirectory()
        let faults = DiskFaults()
        func open() throws -> Bookkeeping {
            try Bookkeeping(
                Cache(name: "b", directory: directory.url, faults: faults, disk: DiskSettings(layout: .files))
            )
        }
        let first = try open()
        #expect(first.next { _ in } == nil)
        faults.fail(.write)
        #expect(throws: ModelCacheError.self) { try first.reserve() }
        #expect(first.next { _ in } == nil)
        faults.heal()
        try first.reserve()
        var given: Set<Revision> = []
        var asked = 0
        while let next = first.next({ _ in asked += 1 }) { #expect(given.insert(next).inserted) }
        #expect(given.count > 1_000)
        #expect(asked == 1)
        // As after a crash: reserved revisions are gone, given or not.
        let second = try open()
        try second.reserve()
        let next = try #require(second.next { _ in })
        #expect(given.allSatisfy { $0 < next })
    }

    @Test func ofTwoInvalidationsOfAScopeTheLaterOneStays() {
        var invalidations = Invalidations()
        invalidations.add(.type(User.self), at: Revision(13))
        invalidations.add(.type(User.self), at: Revision(11))
        #expect(invalidations.covers(Revision(12), in: [.type(User.self)]))
    }

    @Test func entriesThatAreLaterThanTheBookkeepingAreStaleAndAnyAnswerReplacesThem() async throws {
        let stage = try Stage()
        var models = try await stage.open()
        try await models.save(User(id: 2, name: "other", bio: "b"))
        try await models.close()
        let bookkeeping = stage.directory.url.appending(path: "42/$bookkeeping")
        let former = stage.directory.url.appending(path: "former")
        try FileManager.default.copyItem(at: bookkeeping, to: former)
        models = try await stage.open()
        for _ in 0..<20 { try await models.save(User(id: 1, name: "old", bio: "b")) }
        try await models.close()
        // As after a power failure.
        try FileManager.default.removeItem(at: bookkeeping)
        try FileManager.default.moveItem(at: former, to: bookkeeping)
        models = try await stage.open()
        #expect(try await models.stored(User.self, id: 1)?.freshness == .stale(since: nil, because: .invalidated))
        #expect(try await models.stored(User.self, id: 2)?.freshness.isFresh == true)
        stage.server.answerUser(1, "new")
        #expect(try await models.fetch(User.self, id: 1).name == "new")
        #expect(try await models.stored(User.self, id: 1)?.freshness.isFresh == true)
    }
}
