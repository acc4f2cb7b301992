import ArchiveStore
import Foundation
import Synchronization

/// The outcome of loading a key.
enum LoadOutcome: Sendable {
    /// The entry as memory would keep it, whether or not it was saved.
    case loaded(MemoryEntry)
    /// The producer gave nothing for this key.
    case absent
    case failed(any Error)
    /// The task that waited was cancelled.
    case cancelled
}

/// A key that is being loaded, and the tasks that wait for it.
///
/// Unchecked: the mutable properties are touched under the lock of ``InFlightLoads`` only.
final class KeyLoad: @unchecked Sendable {
    let key: EntryKey
    /// The key's state when the load began: it tells whether the key has changed since.
    let start: MemoryTier.Start
    /// The tags that its entry is to have; `nil` if the producer may choose others.
    let tags: [String]?
    fileprivate let run: ProducerRun
    /// Tells its run from every other one, see ``LoadGraph``.
    var runNumber: Int { run.number }
    fileprivate var outcome: LoadOutcome?
    fileprivate var continuations: [Int: UnsafeContinuation<LoadOutcome, Never>] = [:]
    /// How many tasks wait for this key, or are about to.
    fileprivate var waiterCount = 0

    fileprivate init(_ key: EntryKey, since start: MemoryTier.Start, tags: [String]?, by run: ProducerRun) {
        self.key = key
        self.start = start
        self.tags = tags
        self.run = run
    }
}

/// One run of a producer, for one key or for many.
///
/// Unchecked: as ``KeyLoad``.
private final class ProducerRun: @unchecked Sendable {
    /// Whether the run goes on by itself, without a task that waits for it. Not once a waiting task was cancelled: its time
    /// limit may be over because the producer hangs, and the next task must not have to wait for that producer, too.
    var isBackground: Bool
    /// The highest priority of the tasks that began and joined it.
    var priority: TaskPriority
    let number = LoadGraph.makeNumber()
    var loads: [KeyLoad] = []
    var task: Task<Void, Never>?
    /// How many tasks wait for its unfinished loads; one counts once for each key that it waits for.
    var waiterCount = 0
    /// How many of its loads are not finished.
    var unfinishedCount = 0
    var isGivenUp = false

    init(isBackground: Bool, priority: TaskPriority) {
        self.isBackground = isBackground
        self.priority = priority
    }
}

/// The keys that are being loaded: one producer for each, however many tasks ask.
final class InFlightLoads: Sendable {
    /// The right to wait for one load, to be used once.
    struct Waiter: Sendable {
        let load: KeyLoad
        /// Whether the load was begun for this waiter.
        let isFirst: Bool
        fileprivate let number: Int
    }

    private struct Failure {
        let error: any Error
        let since: TimeInterval
        let until: TimeInterval

        /// Not before its time either: the clock was set back then, and may be for long.
        func holds(at now: TimeInterval) -> Bool { since <= now && now < until }
    }

    private struct State {
        var loads: [EntryKey: KeyLoad] = [:]
        var failures: [EntryKey: Failure] = [:]
        /// The number of the last waiter.
        var lastWaiter = 0
        var cancelled: Set<Int> = []
    }

    /// How many failures are remembered at most; all are forgotten when there would be more.
    private static let mostFailures = 10_000
    private let state = RankedMutex(State(), rank: CacheLocks.loads)
    /// How many loads and failures there are, for the many calls that find none.
    private let knownCount = Atomic<Int>(0)

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { knownCount.store(state.loads.count + state.failures.count, ordering: .relaxed) }
            return body(&state)
        }
    }

    // MARK: Loading

    /// Whether no key is being loaded.
    var isEmpty: Bool { state.withLock { $0.loads.isEmpty } }

    /// How many tasks wait for a key's load, or are about to.
    func waiterCount(_ key: EntryKey) -> Int { state.withLock { $0.loads[key]?.waiterCount ?? 0 } }

    /// Joins the loads of some keys, and begins one for each key that has none that may be joined.
    ///
    /// - Parameters:
    ///   - tags: the tags that the entries of new loads are to have; `nil` if the producer may choose others.
    ///   - isBackground: whether no task waits: then only new loads are begun, and there are no waiters.
    ///   - mayJoin: whether a load may have the value that its key has now; must not block. A load that may not goes on for
    ///     the tasks that wait for it.
    ///   - begin: called for each new load; must not block.
    ///   - start: called with the new loads, if there are any: starts the producer, which ends with
    ///     ``finish(_:_:)`` for each of them.
    func join(
        _ keys: [EntryKey],
        tags: [String]?,
        isBackground: Bool,
        mayJoin: (KeyLoad) -> Bool,
        begin: (EntryKey) -> MemoryTier.Start,
        start: ([KeyLoad]) -> Task<Void, Never>
    ) -> [Waiter] {
        let priority = Task.currentPriority
        let (waiters, run, raised) = change { state -> ([Waiter], ProducerRun?, [Task<Void, Never>]) in
            let run = ProducerRun(isBackground: isBackground, priority: priority)
            var waiters: [Waiter] = []
            var raised: [Task<Void, Never>] = []
            for key in keys {
                let load: KeyLoad
                let known = state.loads[key].flatMap { mayJoin($0) ? $0 : nil }
                if let known {
                    load = known
                } else {
                    load = KeyLoad(key, since: begin(key), tags: tags, by: run)
                    run.loads.append(load)
                    run.unfinishedCount += 1
                    state.loads[key] = load
                }
                if isBackground { continue }
                if load.run.priority < priority {
                    load.run.priority = priority
                    if let task = load.run.task { raised.append(task) }
                }
                state.lastWaiter += 1
                load.waiterCount += 1
                load.run.waiterCount += 1
                waiters.append(Waiter(load: load, isFirst: known == nil, number: state.lastWaiter))
            }
            return (waiters, run.loads.isEmpty ? nil : run, raised)
        }
        for task in raised { task.raise(to: priority) }
        guard let run else { return waiters }
        let task = start(run.loads)
        let (isGivenUp, wanted) = state.withLock { _ in
            if run.unfinishedCount > 0 { run.task = task }
            return (run.isGivenUp, run.priority)
        }
        if wanted > priority { task.raise(to: wanted) }
        if isGivenUp { task.cancel() }
        return waiters
    }

    /// Suspends until a load is finished, or the current task is cancelled.
    ///
    /// When all tasks that waited for a producer are cancelled, so is the producer, also one that began in the background.
    nonisolated(nonsending) func outcome(of waiter: Waiter) async -> LoadOutcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let known = state.withLock { state -> LoadOutcome? in
                    if state.cancelled.remove(waiter.number) != nil { return .cancelled }
                    if let outcome = waiter.load.outcome { return outcome }
                    waiter.load.continuations[waiter.number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            leave(waiter)
        }
    }

    /// Gives up a load without waiting for it. One in the background goes on: its own producer may be the one that asked.
    func withdraw(_ waiter: Waiter) {
        let left = change { state in
            defer { state.cancelled.remove(waiter.number) }
            return Self.leave(waiter, &state, isCancelled: false)
        }
        left.task?.cancel()
    }

    private func leave(_ waiter: Waiter) {
        let left = change { Self.leave(waiter, &$0, isCancelled: true) }
        left.task?.cancel()
        left.continuation?.resume(returning: LoadOutcome.cancelled)
    }

    private typealias Continuation = UnsafeContinuation<LoadOutcome, Never>

    /// Takes a waiter out, and gives up the producer's run if no task waits for it any longer.
    ///
    /// - Parameter isCancelled: whether the task that waited was cancelled: then the run does not go on by itself any longer.
    /// - Returns: the continuation of the task that waited, and the task of the run that was abandoned; `nil` for none.
    private static func leave(
        _ waiter: Waiter,
        _ state: inout State,
        isCancelled: Bool
    ) -> (continuation: Continuation?, task: Task<Void, Never>?) {
        let load = waiter.load
        guard load.outcome == nil else { return (nil, nil) }
        let continuation = load.continuations.removeValue(forKey: waiter.number)
        // Cancelled before it began to wait.
        if continuation == nil { state.cancelled.insert(waiter.number) }
        load.waiterCount -= 1
        load.run.waiterCount -= 1
        if isCancelled { load.run.isBackground = false }
        return (continuation, giveUpIfUnwanted(load.run, &state))
    }

    /// Gives up a producer's run if no task waits for it any longer, unless it goes on by itself.
    ///
    /// - Returns: the task to be cancelled; `nil` for none.
    private static func giveUpIfUnwanted(_ run: ProducerRun, _ state: inout State) -> Task<Void, Never>? {
        guard run.waiterCount == 0, run.unfinishedCount > 0, !run.isBackground else { return nil }
        // A later caller must not wait for a producer that was told to stop.
        run.isGivenUp = true
        for load in run.loads where state.loads[load.key] === load { state.loads[load.key] = nil }
        return run.task
    }

    /// Ends a load, and gives up the rest of its producer's run if all tasks that waited did so for this load.
    func finish(_ load: KeyLoad, _ outcome: LoadOutcome) {
        let (continuations, unwanted, finished) = change {
            state -> ([Continuation], Task<Void, Never>?, [KeyLoad]) in
            if state.loads[load.key] === load { state.loads[load.key] = nil }
            load.outcome = outcome
            let run = load.run
            run.unfinishedCount -= 1
            run.waiterCount -= load.waiterCount
            let unwanted = Self.giveUpIfUnwanted(run, &state)
            // The run and its loads hold on to each other, and to the loaded entries.
            let finished = run.unfinishedCount == 0 ? run.loads : []
            if run.unfinishedCount == 0 {
                run.loads = []
                run.task = nil
            }
            defer { load.continuations = [:] }
            return (Array(load.continuations.values), unwanted, finished)
        }
        unwanted?.cancel()
        for continuation in continuations { continuation.resume(returning: outcome) }
        _ = consume finished
    }

    // MARK: Changes

    // Values and errors are the user's: they are released outside of the lock.

    /// A key was saved or removed: the error of its former load is not thrown again, and no later fetch joins a load that
    /// began before. That goes on for the tasks that wait for it.
    func forget(_ key: EntryKey) {
        guard knownCount.load(ordering: .relaxed) > 0 else { return }
        _ = change { ($0.loads.removeValue(forKey: key), $0.failures.removeValue(forKey: key)) }
    }

    /// As ``forget(_:)``, for all keys.
    func forgetAll() {
        guard knownCount.load(ordering: .relaxed) > 0 else { return }
        _ = change { state in
            defer { (state.loads, state.failures) = ([:], [:]) }
            return (state.loads, state.failures)
        }
    }

    // MARK: Failures

    /// The error that is thrown again for a key at this time.
    func failure(_ key: EntryKey, at now: TimeInterval) -> (any Error)? {
        guard knownCount.load(ordering: .relaxed) > 0 else { return nil }
        let failure = change { state in
            guard let failure = state.failures[key], !failure.holds(at: now) else { return state.failures[key] }
            state.failures[key] = nil
            return failure
        }
        return failure.flatMap { $0.holds(at: now) ? $0.error : nil }
    }

    /// Has later fetches throw the error of a load, unless the load was forgotten: then the error is from before a change.
    func remember(_ error: any Error, of load: KeyLoad, at now: TimeInterval, for time: TimeInterval) {
        let key = load.key
        let former = change { state -> [Failure] in
            guard state.loads[key] === load else { return [] }
            let isFull = state.failures.count >= Self.mostFailures
            let former = isFull ? Array(state.failures.values) : state.failures[key].map { [$0] } ?? []
            if isFull { state.failures = [:] }
            state.failures[key] = Failure(error: error, since: now, until: now + time)
            return former
        }
        _ = consume former
    }

    /// The load of a key saves its value.
    func forgetFailure(_ key: EntryKey) {
        guard knownCount.load(ordering: .relaxed) > 0 else { return }
        let former = change { $0.failures.removeValue(forKey: key) }
        _ = consume former
    }
}
