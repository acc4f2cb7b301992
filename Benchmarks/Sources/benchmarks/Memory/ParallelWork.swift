import Foundation
import Synchronization

/// Work on several threads at once.
enum ParallelWork {
    /// Divides `indices` among the threads, and returns when all are done.
    ///
    /// On threads of its own, not by `concurrentPerform`, which may well leave all of it to one.
    ///
    /// - Throws: the first error of any of them.
    static func perform(
        _ indices: Range<Int>,
        threads: Int,
        _ body: @escaping @Sendable (Range<Int>) throws -> Void
    ) throws {
        let failure = Mutex<(any Error)?>(nil)
        let group = DispatchGroup()
        for number in 0..<threads {
            let lower = indices.lowerBound + indices.count * number / threads
            let upper = indices.lowerBound + indices.count * (number + 1) / threads
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                do {
                    try body(lower..<upper)
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
            }
            thread.start()
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
