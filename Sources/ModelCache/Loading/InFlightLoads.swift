import Synchronization
import TypedCache

/// One load for all tasks that want the same at once.
///
/// A task that is cancelled stops waiting; the load goes on for the others, and is cancelled with the last of them. So is one
/// that began in the background: the task's time limit may be over because the server hangs, and the next task must not have
/// to wait for the same answer.
final class InFlightLoads: Sendable {
    /// Loads with the same name and different result types are apart.
    fileprivate struct Key: Hashable {
        let name: String
        let output: ObjectIdentifier

        init<Output>(_ name: String, _ output: Output.Type) {
            self.name = name
            self.output = ObjectIdentifier(output)
        }
    }

    fileprivate struct Load {
        let number: UInt64
        let task: Task<Void, Never>?
        /// The highest priority of the tasks that began and joined it.
        var priority: TaskPriority
        var waiters: [UInt64: CheckedContinuation<any Sendable, any Error>] = [:]
    }

    fileprivate struct State {
        var loads: [Key: Load] = [:]
        var last: UInt64 = 0
        var isEnded = false
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Waits for the load of this name, and begins it if it is not under way.
    ///
    /// - Throws: errors of `body`, as a ``LoadFailure`` that all tasks share; `CancellationError` if the caller's task is
    ///   cancelled; `.closed` if the cache ends.
    nonisolated(nonsending) func join<Output: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        let key = Key(name, Output.self)
        let waiter = state.withLock { state in
            state.last += 1
            return state.last
        }
        let output = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(for: key, as: waiter, continuation, body)
            }
        } onCancel: {
            leave(key, waiter)
        }
        guard let output = output as? Output else { preconditionFailure("a load gives what its key says") }
        return output
    }

    /// Begins a load that needs no task to wait for it, unless one of this name is under way. Tasks may join it.
    ///
    /// - Parameter onFailure: is given the failure of `body`, also where tasks have joined, which get it, too.
    func start<Output: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Output,
        onFailure: @escaping @Sendable (LoadFailure) -> Void
    ) {
        let key = Key(name, Output.self)
        state.withLock { state in
            guard !state.isEnded, state.loads[key] == nil else { return }
            begin(key, in: &state) {
                do {
                    return try await body()
                } catch {
                    let failure = LoadFailure(error)
                    // A load that was abandoned fails by its cancellation alone.
                    if !Task.isCancelled { onFailure(failure) }
                    throw failure
                }
            }
        }
    }

    private func wait<Output: Sendable>(
        for key: Key,
        as waiter: UInt64,
        _ continuation: CheckedContinuation<any Sendable, any Error>,
        _ body: @escaping @Sendable () async throws -> Output
    ) {
        let priority = Task.currentPriority
        let (refusal, raised) = state.withLock { state -> ((any Error)?, Task<Void, Never>?) in
            if Task.isCancelled { return (CancellationError(), nil) }
            if state.isEnded { return (ModelCacheError.ended, nil) }
            if state.loads[key] == nil { begin(key, in: &state, body) }
            state.loads[key]?.waiters[waiter] = continuation
            guard let load = state.loads[key], load.priority < priority else { return (nil, nil) }
            state.loads[key]?.priority = priority
            return (nil, load.task)
        }
        raised?.raise(to: priority)
        if let refusal { continuation.resume(throwing: refusal) }
    }

    private func begin<Output: Sendable>(
        _ key: Key,
        in state: inout State,
        _ body: @escaping @Sendable () async throws -> Output
    ) {
        state.last += 1
        let number = state.last
        let task = Task {
            let result: Result<any Sendable, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error as? LoadFailure ?? LoadFailure(error))
            }
            end(key, number: number, with: result)
        }
        state.loads[key] = Load(number: number, task: task, priority: Task.currentPriority)
    }

    private func end(_ key: Key, number: UInt64, with result: Result<any Sendable, any Error>) {
        let (waiters, idle) = state.withLock {
            state -> ([CheckedContinuation<any Sendable, any Error>], [CheckedContinuation<Void, Never>]) in
            guard let load = state.loads[key], load.number == number else { return ([], []) }
            state.loads[key] = nil
            return (Array(load.waiters.values), state.takeIdle())
        }
        for waiter in waiters { waiter.resume(with: result) }
        for waiter in idle { waiter.resume() }
    }

    private func leave(_ key: Key, _ waiter: UInt64) {
        let (continuation, task, idle) = state.withLock {
            state -> (
                CheckedContinuation<any Sendable, any Error>?, Task<Void, Never>?,
                [CheckedContinuation<Void, Never>]
            ) in
            guard let continuation = state.loads[key]?.waiters.removeValue(forKey: waiter) else {
                return (nil, nil, [])
            }
            guard let load = state.loads[key], load.waiters.isEmpty else {
                return (continuation, nil, [])
            }
            // Another task that comes now begins a load of its own.
            state.loads[key] = nil
            return (continuation, load.task, state.takeIdle())
        }
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
        for waiter in idle { waiter.resume() }
    }

    /// Cancels the loads that no task waits for.
    func endUnawaited() {
        let (loads, idle) = state.withLock { state in
            let unawaited = state.loads.filter { $0.value.waiters.isEmpty }
            for key in unawaited.keys { state.loads[key] = nil }
            return (unawaited.values.map(\.task), state.takeIdle())
        }
        for load in loads { load?.cancel() }
        for waiter in idle { waiter.resume() }
    }

    /// Cancels all loads, and lets no other begin.
    func end() {
        let loads = state.withLock { state in
            state.isEnded = true
            defer { state.loads = [:] }
            return Array(state.loads.values)
        }
        for load in loads {
            load.task?.cancel()
            for waiter in load.waiters.values { waiter.resume(throwing: ModelCacheError.ended) }
        }
        for waiter in state.withLock({ $0.takeIdle() }) { waiter.resume() }
    }

    /// Suspends until no load is under way.
    nonisolated(nonsending) func settled() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.loads.isEmpty { return true }
                state.idle.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    var isIdle: Bool { state.withLock { $0.loads.isEmpty } }
}

extension InFlightLoads.State {
    /// Takes the continuations that wait for the last load, if no load is under way.
    fileprivate mutating func takeIdle() -> [CheckedContinuation<Void, Never>] {
        guard loads.isEmpty else { return [] }
        defer { idle = [] }
        return idle
    }
}
