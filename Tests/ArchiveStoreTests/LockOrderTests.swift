import Testing

@testable import ArchiveStore

@Suite("Order of locks")
struct LockOrderTests {
    private static let outer = LockRank("outer", number: 1)
    private static let inner = LockRank("inner", number: 2)

    @Test("locks in their order, one after another, and again")
    func takesLocksInOrder() {
        let outer = RankedMutex(1, rank: Self.outer)
        let inner = RankedMutex(2, rank: Self.inner)
        for _ in 0..<2 {
            #expect(outer.withLock { first in inner.withLock { first + $0 } } == 3)
            #expect(inner.withLock { $0 } == 2)
        }
        LockOrder.expectNone(from: Self.outer)
    }

    @Test("a lock is given back by an error")
    func givesLockBack() {
        struct Failure: Error {}
        let inner = RankedMutex(1, rank: Self.inner)
        #expect(throws: Failure.self) { try inner.withLock { _ in throw Failure() } }
        LockOrder.expectNone(from: Self.outer)
    }

    #if DEBUG && (os(macOS) || os(Linux))
        @Test("the wrong order ends the process")
        func refusesWrongOrder() async {
            await #expect(processExitsWith: .failure) {
                let outer = RankedMutex(1, rank: LockRank("outer", number: 1))
                let inner = RankedMutex(2, rank: LockRank("inner", number: 2))
                inner.withLock { _ in outer.withLock { _ in } }
            }
        }

        @Test("a lock held where there may be none ends the process")
        func refusesHeldLock() async {
            await #expect(processExitsWith: .failure) {
                let inner = RankedMutex(2, rank: LockRank("inner", number: 2))
                inner.withLock { _ in LockOrder.expectNone(from: LockRank("outer", number: 1)) }
            }
        }
    #endif
}
