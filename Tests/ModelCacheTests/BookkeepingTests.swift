import Foundation
import ModelCacheTesting
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// Revisions, which must not be given twice.
@Suite struct BookkeepingTests {
    /// A disk that fails as planned, with one record of bookkeeping.
    private struct Disk {
        let directory: TemporaryDirectory
        let faults = DiskFaults()

        init() throws { directory = try TemporaryDirectory() }

        func open() throws -> Bookkeeping {
            try Bookkeeping(
                Cache(
                    name: "b",
                    directory: directory.url,
                    settings: CacheSettings(disk: DiskSettings(layout: .files)).failing(by: faults)
                ),
                unreadable: UnreadableEntries("the record", { Issue.record($0) })
            )
        }
    }

    @Test func noRevisionIsGivenBeforeTheDiskKnowsOfIt() throws {
        let disk = try Disk()
        let first = try disk.open()
        #expect(first.next {} == nil)
        disk.faults.fail(.write)
        #expect(throws: ModelCacheError.self) { try first.reserve() }
        #expect(first.next {} == nil)
        disk.faults.heal()
        try first.reserve()
        var given: Set<Revision> = []
        var asked = 0
        while let next = first.next({ asked += 1 }) { #expect(given.insert(next).inserted) }
        #expect(given.count > 1_000)
        #expect(asked == 1)
        // As after a crash: reserved revisions are gone, given or not.
        let second = try disk.open()
        try second.reserve()
        let next = try #require(second.next {})
        #expect(given.allSatisfy { $0 < next })
    }

    /// A change then has a revision after the invalidation, which would hide that from later reads.
    @Test func aChangeBehindAnInvalidationSeesItAlsoBeforeTheDiskDoes() throws {
        let disk = try Disk()
        let bookkeeping = try disk.open()
        try bookkeeping.reserve()
        let saved = try #require(bookkeeping.next {})
        let now = Date(timeIntervalSinceReferenceDate: 1_000)
        let entry = EntryState(
            ResponseLifetime(at: now),
            generation: bookkeeping.generation(of: saved),
            revision: saved,
            receivedAt: now,
            fresh: .seconds(60)
        )
        disk.faults.fail(.write)
        #expect(bookkeeping.next(invalidating: [.type(User.self)]) {} != nil)
        let later = try #require(bookkeeping.next {})
        #expect(bookkeeping.changed(entry, to: later, at: now, in: [.type(User.self)]).freshUntil == now)
        disk.faults.heal()
        try bookkeeping.save()
        let next = try disk.open()
        #expect(next.isInvalidated(entry, in: [.type(User.self)]))
    }

    @Test func textsOfInvalidationsComeBack() throws {
        var invalidations = Invalidations()
        #expect(invalidations.texts.isEmpty)
        invalidations.add(.everything, at: Revision(3))
        invalidations.add(.type(User.self), at: Revision(7))
        invalidations.add(.list(key: "a list\nwith lines"), at: Revision(5))
        #expect(Invalidations(invalidations.texts) == invalidations)
        for number in 0..<2_000 { invalidations.add(.tag("\(number)"), at: Revision(UInt64(number + 10))) }
        #expect(Invalidations(invalidations.texts) == invalidations)
    }

    @Test func damagedTextsOfInvalidationsAreRefused() {
        for text in ["", "7", "t:user", " t:user", "-1 t:user", "99999999999999999999 t:user"] {
            #expect(Invalidations([text]) == nil, "\(text)")
        }
        #expect(Invalidations((0..<2_000).map { "\($0) g:\($0)" }) == nil)
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

    @Test func aReservationBehindOnesThatTheDiskRefusedIncludesTheirRevisions() throws {
        let disk = try Disk()
        let first = try disk.open()
        disk.faults.fail(.write, with: .noSpace)
        #expect(throws: ModelCacheError.self) { try first.reserve() }
        let given = (0..<5_000).map { _ in first.nextUnreserved() }
        #expect(Set(given).count == given.count)
        let last = try #require(given.last)
        let unreserved = first.generation(of: last)
        disk.faults.heal()
        try first.save()
        #expect(first.generation(of: last) != unreserved)
        try first.reserve()
        let next = try #require(first.next {})
        #expect(next > last)
        #expect(first.generation(of: next) != unreserved)
        #expect(first.generation(of: last) == first.generation(of: next))
        let second = try disk.open()
        try second.reserve()
        #expect(try #require(second.next {}) > next)
        #expect(second.generation(of: next) == first.generation(of: next))
    }

    @Test func whereNoRevisionCanBeReservedLoadsAndChangesGoOnInMemory() async throws {
        let stage = try Stage()
        let former = try await stage.open()
        try await former.save(User(id: 2, name: "before", bio: "b"))
        try await former.close()
        let models = try await stage.open()
        // Its disk no longer takes a file.
        let bookkeeping = stage.directory.url.appending(path: "42/$bookkeeping")
        let kept = stage.directory.url.appending(path: "kept")
        try FileManager.default.moveItem(at: bookkeeping, to: kept)
        try Data().write(to: bookkeeping)

        stage.server.answerUser(1, "loaded")
        #expect(try await models.fetch(User.self, id: 1).name == "loaded")
        #expect(stage.failures.all.contains { $0.code == .storage })
        #expect(try await models.stored(User.self, id: 2)?.freshness.isFresh == true)
        stage.server.answerUser(2, "early")
        stage.server.hold("/users/2")
        stage.server.forgetRequests()
        async let earlier = models.fetch(User.self, id: 2, .reload)
        await stage.server.requested(1)
        try await models.change {
            $0.update(User.self, id: 2) { $0.name = "changed" }
        } sending: {
        }
        stage.server.release("/users/2")
        #expect(try await earlier.name == "changed", "the later one of two stays")
        try await models.save(User(id: 3, name: "saved", bio: "b"))
        try await models.remove(User.self, id: 3)
        try await models.save(User(id: 4, name: "saved", bio: "b"))
        await expect(.storage) { try await models.invalidate(.model(User.self, id: 4)) }
        let stored = try await models.stored(User.self, ids: 1...4)
        #expect(stored.mapValues(\.value.name) == [1: "loaded", 2: "changed", 4: "saved"])
        #expect(stored.mapValues(\.freshness.isFresh) == [1: true, 2: true, 4: false])
        await models.flush()
        try? await models.close()

        // The next launch does not know of these revisions, and gives them again.
        try FileManager.default.removeItem(at: bookkeeping)
        try FileManager.default.moveItem(at: kept, to: bookkeeping)
        let next = try await stage.open()
        for id in [1, 2, 4] {
            #expect(
                try await next.stored(User.self, id: id)?.freshness == .stale(since: nil, because: .invalidated)
            )
        }
        stage.server.answerUser(1, "new")
        #expect(try await next.fetch(User.self, id: 1).name == "new")
        #expect(try await next.stored(User.self, id: 1)?.freshness.isFresh == true)
    }
}
