import Synchronization

/// A point in a task that waits until a test lets it pass.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var isReached = false
        var passing: [CheckedContinuation<Void, Never>] = []
        var watching: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
        let watching = state.withLock { state in
            state.isReached = true
            defer { state.watching = [] }
            return state.watching
        }
        for continuation in watching { continuation.resume() }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.passing.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Suspends until a task waits to pass.
    func reached() async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if !state.isReached { state.watching.append(continuation) }
                return state.isReached
            }
            if isReached { continuation.resume() }
        }
    }

    func open() {
        let passing = state.withLock { state in
            state.isOpen = true
            defer { state.passing = [] }
            return state.passing
        }
        for continuation in passing { continuation.resume() }
    }
}
