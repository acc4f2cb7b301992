import Synchronization

/// Lets one task after another do something, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        private var waiting: [UnsafeContinuation<Void, Never>] = []
        /// How many at the front have had their turn.
        private var passed = 0

        var count: Int { waiting.count - passed }

        /// Takes the turn, or has the continuation wait for it.
        ///
        /// - Returns: whether the turn was free.
        mutating func join(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
            if isTaken {
                waiting.append(continuation)
                return false
            }
            isTaken = true
            return true
        }

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
    nonisolated(nonsending) func run<Result, Failure>(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        _ = await wait { true }
        defer { end() }
        return try await body()
    }

    /// Runs `body` in a turn. All else is as for ``run(_:)``.
    ///
    /// - Parameter draw: gives the turn a number, in the moment at which it gets its place: later turns get later numbers.
    ///   Runs under the lock of the turns.
    /// - Returns: `nil`, without a turn, if `draw` gives none.
    nonisolated(nonsending) func run<Number: Sendable, Result, Failure>(
        drawing draw: () -> Number?,
        _ body: nonisolated(nonsending) (Number) async throws(Failure) -> Result
    ) async throws(Failure) -> Result? {
        guard let drawn = await wait(draw) else { return nil }
        defer { end() }
        return try await body(drawn)
    }

    private nonisolated(nonsending) func wait<Number: Sendable>(_ draw: () -> Number?) async -> Number? {
        var drawn: Number?
        await withUnsafeContinuation { continuation in
            let isFree = state.withLock { state in
                drawn = draw()
                return drawn == nil || state.join(continuation)
            }
            if isFree { continuation.resume() }
        }
        return drawn
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
