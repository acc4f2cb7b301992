import Synchronization

/// The loads that wait until another machine has saved their key.
final class LeaseWaiters: Sendable {
    private struct State {
        var lastNumber = 0
        var waiters: [String: [Int: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Mutex(State())
    private let hasAny = Atomic<Bool>(false)

    /// Waits until a key is woken; at most for a time, and no longer than until the task is cancelled.
    func wait(for key: String, atMost time: Duration) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastNumber += 1
            state.waiters[key, default: [:]][state.lastNumber] = continuation
            hasAny.store(true, ordering: .releasing)
            return state.lastNumber
        }
        let timer = Task {
            // Cancelled when the key is woken.
            try? await Task.sleep(for: time)
            continuation.finish()
        }
        for await _ in stream { break }
        timer.cancel()
        state.withLock { state in
            state.waiters[key]?[number] = nil
            if state.waiters[key]?.isEmpty == true { state.waiters[key] = nil }
            hasAny.store(!state.waiters.isEmpty, ordering: .releasing)
        }
    }

    func wake(_ key: String) {
        guard hasAny.load(ordering: .acquiring) else { return }
        let woken = state.withLock { $0.waiters[key].map { Array($0.values) } ?? [] }
        for continuation in woken { continuation.yield() }
    }
}
