import Synchronization

// Fetches that wait for the server no longer than a limit.

extension Fetcher {
    /// Has `fetch` run, and waits for it up to `limit`; longer only where no stored value may be shown in its place.
    ///
    /// A fetch that takes longer goes on, and its failure is reported. It ends with the caller's task, as long as that
    /// waits.
    ///
    /// - Parameter stale: the stored result that may be shown; `nil` if none may.
    nonisolated(nonsending) func waiting<Output: Sendable>(
        atMost limit: Duration,
        _ fetch: @escaping @Sendable () async throws -> Output,
        orElse stale: nonisolated(nonsending) () async throws(ModelCacheError) -> Output?
    ) async throws -> Output {
        let wait = LimitedWait<Output>()
        let work = Task {
            do {
                wait.end(.success(try await fetch()))
            } catch {
                if !wait.end(.failure(error)) { reportUnthrown(error) }
            }
        }
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            wait.expire()
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            do {
                if let result = await wait.next() { return try result.get() }
                try Task.checkCancellation()
                if let stored = try await stale(), wait.leave() { return stored }
                guard let result = await wait.next() else { throw CancellationError() }
                return try result.get()
            } catch {
                work.cancel()
                throw error
            }
        } onCancel: {
            work.cancel()
        }
    }
}

/// The result of work that is waited for up to a limit.
private final class LimitedWait<Output: Sendable>: Sendable {
    typealias End = Result<Output, any Error>

    private struct State {
        /// Whether no task waits for the result any longer.
        var isLeft = false
        /// Whether the result is there.
        var isEnded = false
    }

    private let state = Mutex(State())
    private let stream: AsyncStream<End?>
    private let continuation: AsyncStream<End?>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// Waits for the result; `nil` when the limit is over, or the caller's task is cancelled.
    nonisolated(nonsending) func next() async -> End? {
        for await end in stream { return end }
        return nil
    }

    /// Hands over the result.
    ///
    /// - Returns: whether it is awaited.
    @discardableResult
    func end(_ result: End) -> Bool {
        let isAwaited = state.withLock { state in
            state.isEnded = true
            return !state.isLeft
        }
        if isAwaited { continuation.yield(result) }
        return isAwaited
    }

    /// The limit is over.
    func expire() { continuation.yield(nil) }

    /// Waits no more.
    ///
    /// - Returns: `false` if the result is there.
    func leave() -> Bool {
        state.withLock { state in
            if state.isEnded { return false }
            state.isLeft = true
            return true
        }
    }
}
