import Synchronization

/// Looks at a tier's state from time to time while there are listeners, and tells them of changes.
final class StateFeed: Sendable {
    private struct Listener {
        let continuation: AsyncStream<SharedNodeState>.Continuation
        /// The states that it was told last.
        var told: [SharedNodeState]
    }

    private struct State {
        var lastNumber = 0
        var listeners: [Int: Listener] = [:]
        var ticker: Task<Void, Never>?
        var isOver = false
    }

    private let pause: Duration
    private let state = Mutex(State())

    init(pause: Duration) { self.pause = max(pause, .milliseconds(5)) }

    /// A stream of its own for one listener.
    ///
    /// - Parameter look: gives the state; `nil` at the end.
    func stream(
        from first: [SharedNodeState],
        _ look: @escaping @Sendable () -> [SharedNodeState]?
    ) -> AsyncStream<SharedNodeState> {
        let (stream, continuation) = AsyncStream<SharedNodeState>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let number = state.withLock { state -> Int? in
            if state.isOver { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = Listener(continuation: continuation, told: first)
            if state.ticker == nil { state.ticker = ticker(look) }
            return state.lastNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    private func ticker(_ look: @escaping @Sendable () -> [SharedNodeState]?) -> Task<Void, Never> {
        Task.detached(priority: .utility) { [weak self, pause] in
            while !Task.isCancelled, let nodes = look(), self?.tell(nodes) == true {
                // Cancelled when there are no listeners.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Returns whether there are listeners.
    private func tell(_ nodes: [SharedNodeState]) -> Bool {
        let changes = state.withLock { state in
            var changes: [(AsyncStream<SharedNodeState>.Continuation, [SharedNodeState])] = []
            for (number, listener) in state.listeners {
                changes.append((listener.continuation, nodes.filter { !listener.told.contains($0) }))
                state.listeners[number]?.told = nodes
            }
            return changes
        }
        for (continuation, nodes) in changes {
            for node in nodes { continuation.yield(node) }
        }
        return !changes.isEmpty
    }

    private func forget(_ number: Int) {
        let ticker = state.withLock { state in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return nil as Task<Void, Never>? }
            defer { state.ticker = nil }
            return state.ticker
        }
        ticker?.cancel()
    }

    /// Ends all streams.
    func end() {
        let listeners = state.withLock { state in
            state.isOver = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
