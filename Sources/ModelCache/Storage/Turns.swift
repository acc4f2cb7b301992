import Synchronization

/// Lets one task after another do something, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        private var waiting: [UnsafeContinuation<Void, Never>] = []
        /// How many at the front have had their turn.
        private var passed = 0

        var count: Int { waiting.count - passed }

        mutating func append(_ continuation: UnsafeContinuation<Void, Never>) { waiting.append(continuation) }

        mutating func takeFirst() -> UnsafeContinuation<Void, Never>? {
            guard passed < waiting.count else { return nil }
            let first = waiting[passed]
            passed += 1
            // The front is dropped by halves, since tasks may wait at all times.
            if 2 * passed >= waiting.count {
                waiting.removeFirst(passed)
                passed = 0
            }
            return first
        }
    }

    private let state = Mutex(State())

    /// How many wait for their turn, for tests of the order.
    var waitingCount: Int { state.withLock { $0.count } }

    /// Runs `body` when all that came before have ended. Not for use inside of `body` itself.
    nonisolated(nonsending) func run<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        await withUnsafeContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { continuation.resume() }
        }
        defer { end() }
        return try await body()
    }

    private func end() {
        let next = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            let first = state.takeFirst()
            state.isTaken = first != nil
            return first
        }
        next?.resume()
    }
}
