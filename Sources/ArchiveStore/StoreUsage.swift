import CFiles
import Dispatch
import Synchronization

/// Whether a store or a cache may be used: it may until it is closed, in the process that opened it.
///
/// A child process that was forked has copies of the parent's memory, but shares the parent's locks, and has none of
/// its threads: if it used a store of the parent's, saves of both would be lost.
package final class StoreUsage: Sendable {
    /// Which process opened it, or ``closed``.
    @usableFromInline let generation = Atomic<UInt64>(StoreUsage.processGeneration)
    private static let closed = UInt64.max

    package init() {}

    /// Differs between a process and its forked children.
    package static var processGeneration: UInt64 { fork_generation() }

    /// Whether queues run by themselves: they do not in a process that was forked after it had some.
    package static var hasQueues: Bool { processGeneration == 0 }

    /// Has `body` run on a queue before long, or in a forked process, which has no threads for queues, before this
    /// returns. The queue must not be the current one, and nothing may be locked that `body` locks.
    package static func start(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        if hasQueues { queue.async(execute: body) } else { queue.sync(execute: body) }
    }

    // Each hit in memory asks: inlinable, so that it costs no call in the modules above.
    @inlinable package var isUsable: Bool { generation.load(ordering: .relaxed) == fork_generation() }

    /// - Throws: `.closed` and `.forked`.
    package func check() throws(StoreError) {
        if !isUsable { throw failure }
    }

    /// Why it may not be used.
    package var failure: StoreError {
        if generation.load(ordering: .relaxed) == Self.closed {
            return StoreError(.closed, action: "using a cache", reason: "it was closed")
        }
        let reason = "this process was forked after the cache was opened; open the cache again in the child process"
        return StoreError(.forked, action: "using a cache", reason: reason)
    }

    /// Has it not be used from now on, and says whether it could be used until now.
    ///
    /// - Throws: `.forked`.
    package func close() throws(StoreError) -> Bool {
        let current = fork_generation()
        let former = generation.compareExchange(
            expected: current,
            desired: Self.closed,
            ordering: .acquiringAndReleasing
        )
        if former.exchanged { return true }
        if former.original != Self.closed { throw failure }
        return false
    }
}
