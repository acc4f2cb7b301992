import Dispatch
import Synchronization

/// Writes changes to disk one after another, in the order in which they were made.
///
/// An answer's models are written before the list that names them, so a process that is killed in between leaves a list
/// whose models are there: the older one.
final class DiskWriter: Sendable {
    /// The most entries that wait; a merge that brings more waits until there is room.
    private static let limit = 16_384

    private struct State {
        var waiting = 0
        var callers: [UnsafeContinuation<Void, Never>] = []
    }

    /// The account that the entries belong to: of no other object as long as one waits to be written.
    let claim = Mutex<AccountClaim?>(nil)
    private let queue = DispatchQueue(label: "model-cache.writer", qos: .utility, autoreleaseFrequency: .workItem)
    private let state = Mutex(State())

    /// Has `body` run after all that was added before, and does not wait for it.
    ///
    /// - Parameter count: how many entries it writes.
    func add(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting += count }
        queue.async { [self] in
            body()
            let callers = state.withLock { state in
                state.waiting -= count
                guard state.waiting < Self.limit / 2 else { return [UnsafeContinuation<Void, Never>]() }
                defer { state.callers = [] }
                return state.callers
            }
            for caller in callers { caller.resume() }
        }
    }

    /// Has `body` run after all that was added before. All else is as for ``add(_:_:)``.
    ///
    /// - Returns: the failure of `body`, for a caller that waits for it later.
    func begin(_ count: Int, _ body: @escaping @Sendable () -> ModelCacheError?) -> PendingWrite {
        let pending = PendingWrite()
        add(count) { pending.end(body()) }
        return pending
    }

    /// Suspends while too much waits.
    nonisolated(nonsending) func room() async {
        await withUnsafeContinuation { continuation in
            let isFull = state.withLock { state in
                guard state.waiting >= Self.limit else { return false }
                state.callers.append(continuation)
                return true
            }
            if !isFull { continuation.resume() }
        }
    }

    /// Suspends until `body` has run, after all that was added before.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await queue.run(body)
    }
}

/// A write that has its place in the order of writes, and is waited for later.
final class PendingWrite: Sendable {
    private struct State {
        var isEnded = false
        var failure: ModelCacheError?
        var caller: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    fileprivate func end(_ failure: ModelCacheError?) {
        let caller = state.withLock { state in
            (state.isEnded, state.failure) = (true, failure)
            return state.caller.take()
        }
        caller?.resume()
    }

    /// Suspends until the write has ended. To be called once.
    nonisolated(nonsending) func wait() async throws(ModelCacheError) {
        await withUnsafeContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.caller = continuation }
                return state.isEnded
            }
            if isEnded { continuation.resume() }
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}
