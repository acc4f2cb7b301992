import Dispatch
import Synchronization

extension DispatchQueue {
    /// Suspends until `body` has run on this queue. Its threads may wait for the disk; Swift's tasks have too few for that.
    nonisolated(nonsending) func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        let handover = Handover<Result>()
        await withUnsafeContinuation { continuation in
            async {
                let result = body()
                handover.result.withLock { $0 = result }
                continuation.resume()
            }
        }
        guard let result = handover.result.withLock({ $0.take() }) else {
            preconditionFailure("the continuation is resumed after the result is there")
        }
        return result
    }
}

/// Where a result waits for the task that wants it.
///
/// Under a lock, although the continuation comes after it: the thread sanitizer does not see that order where a continuation
/// is resumed before its task has come to wait, and would take each result for a race.
private final class Handover<Result: Sendable>: Sendable {
    let result = Mutex<Result?>(nil)
}
