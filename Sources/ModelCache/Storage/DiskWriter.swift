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

    private let queue = DispatchQueue(label: "model-cache.writer", qos: .utility, autoreleaseFrequency: .workItem)
    private let state = Mutex(State())

    /// Has `body` run behind all that was added before, and does not wait for it.
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

    /// Suspends until `body` has run, behind all that was added before.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await queue.run(body)
    }
}
