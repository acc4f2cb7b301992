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
}
