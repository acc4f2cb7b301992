import Synchronization

/// Lets one task after another do something, in the order in which they came.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [UnsafeContinuation<Void, Never>] = []
        var first = 0
    }

    private let state = Mutex(State())

    /// Runs `body` when all that came before have ended. Not for use inside of `body` itself.
    nonisolated(nonsending) func run<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        await withUnsafeContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
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
            guard state.first < state.waiting.count else {
                state.isTaken = false
                state.waiting.removeAll(keepingCapacity: true)
                state.first = 0
                return nil
            }
            defer { state.first += 1 }
            return state.waiting[state.first]
        }
        next?.resume()
    }
}
