import ArchiveStore
import Foundation
import TestSupport
import Testing

@Suite struct FreshnessTests {
    private let savedAt = Date(timeIntervalSinceReferenceDate: 1_000)

    private func attributes(
        expiresAfter seconds: Double?,
        revalidating: Double = 0,
        onError: Double = 0,
        idle: Double? = nil
    ) -> EntryAttributes {
        var attributes = EntryAttributes(storedAt: savedAt, expiresAt: seconds.map(savedAt.addingTimeInterval))
        attributes.staleWhileRevalidate = revalidating
        attributes.staleIfError = onError
        attributes.idleTime = idle
        return attributes
    }

    @Test func anEntryWithoutADeadlineIsAlwaysFresh() {
        let forever = attributes(expiresAfter: nil, revalidating: 10, onError: 10, idle: 80)
        #expect(forever.freshness(at: savedAt) == .fresh)
        #expect(forever.freshness(at: .distantFuture) == .fresh)
    }

    @Test(
        arguments: [
            (9.999, Freshness.fresh), (10, .staleWhileRevalidate), (14.999, .staleWhileRevalidate),
            (15, .staleIfError), (29.999, .staleIfError), (30, .useless), (1e9, .useless),
        ]
    )
    func windowsBeginAtTheDeadline(seconds: Double, freshness: Freshness) {
        let entry = attributes(expiresAfter: 10, revalidating: 5, onError: 20)
        #expect(entry.freshness(at: savedAt.addingTimeInterval(seconds)) == freshness)
    }

    /// The disk may lag behind a read by an eighth of the idle time: until then the entry may not be removed.
    @Test func anIdleEntryIsKeptForAnEighthLonger() {
        let entry = attributes(expiresAfter: 80, idle: 80)
        #expect(entry.freshness(at: savedAt.addingTimeInterval(79)) == .fresh)
        #expect(entry.freshness(at: savedAt.addingTimeInterval(80)) == .expired)
        #expect(entry.freshness(at: savedAt.addingTimeInterval(89)) == .expired)
        #expect(entry.freshness(at: savedAt.addingTimeInterval(90)) == .useless)
    }

    /// An entry may be removed from the moment on at which it has no use, and not before.
    @Test(arguments: 1...50)
    func uselessFromTheEndOfItsUse(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        func some() -> Double { Bool.random(using: &random) ? .random(in: 0...100, using: &random) : 0 }
        let entry = attributes(
            expiresAfter: some(),
            revalidating: some(),
            onError: some(),
            idle: Bool.random(using: &random) ? some() : nil
        )
        let end = try #require(entry.usableUntil)
        #expect(entry.freshness(at: end) == .useless)
        #expect(entry.freshness(at: end.addingTimeInterval(-1e-3)) != .useless)
        for _ in 0..<100 {
            let now = savedAt.addingTimeInterval(.random(in: 0...300, using: &random))
            let freshness = entry.freshness(at: now)
            #expect((freshness == .useless) == (now >= end))
            let expiresAt = try #require(entry.expiresAt)
            #expect((freshness == .fresh) == (now < expiresAt))
        }
    }
}
