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
/// Unchecked: the mutable properties are touched under the lock of ``Flights`` only.
final class Flight: @unchecked Sendable {
    let key: EntryKey
    /// The ticket from when the load began: it tells whether the key has changed since.
    let ticket: MemoryTier.Ticket
    fileprivate let load: Load
    /// Tells its load from every other one, see ``LoadGraph``.
    var loadNumber: Int { load.number }
    fileprivate var outcome: LoadOutcome?
    fileprivate var waiters: [Int: UnsafeContinuation<LoadOutcome, Never>] = [:]

    fileprivate init(_ key: EntryKey, _ ticket: MemoryTier.Ticket, _ load: Load) {
        self.key = key
        self.ticket = ticket
        self.load = load
    }
}

/// One run of a producer, for one key or for many.
///
/// Unchecked: as ``Flight``.
private final class Load: @unchecked Sendable {
    /// Whether the load goes on by itself, without a task that waits for it.
    let isBackground: Bool
    let number = LoadGraph.makeNumber()
    var flights: [Flight] = []
    var task: Task<Void, Never>?
    /// How many tasks still wait.
    var interest = 0
    /// How many flights have not landed.
    var inTheAir = 0
    var isGivenUp = false

    init(isBackground: Bool) { self.isBackground = isBackground }
}

/// The keys that are being loaded: one producer for each, however many tasks ask.
final class Flights: Sendable {
    /// The right to wait for one flight, to be used once.
    struct Seat: Sendable {
        let flight: Flight
        /// Whether the flight was made for this seat.
        let isFirst: Bool
        fileprivate let number: Int
    }

    private struct Failure {
        let error: any Error
        let until: TimeInterval
    }

    private struct State {
        var flights: [EntryKey: Flight] = [:]
        var failures: [EntryKey: Failure] = [:]
        var seats = 0
        var cancelled: Set<Int> = []
    }

    /// How many failures are remembered at most; all are forgotten when there would be more.
    private static let mostFailures = 10_000
    private let state = Mutex(State())
    private let failureCount = Atomic<Int>(0)

    // MARK: Loading

    /// Whether no key is being loaded.
    var isEmpty: Bool { state.withLock { $0.flights.isEmpty } }

    /// How many tasks wait for a key's load, or are about to.
    func waiterCount(_ key: EntryKey) -> Int { state.withLock { $0.flights[key]?.load.interest ?? 0 } }

    /// Joins the flights of some keys, and makes a flight for each key that has none.
    ///
    /// - Parameters:
    ///   - isBackground: whether no task waits: then only new flights are made, and no seats.
    ///   - begin: called for each new flight; must not block.
    ///   - start: called with the new flights, if there are any: starts the producer, which ends with
    ///     ``land(_:_:)`` for each of them.
    func board(
        _ keys: [EntryKey],
        isBackground: Bool,
        begin: (EntryKey) -> MemoryTier.Ticket,
        start: ([Flight]) -> Task<Void, Never>
    ) -> [Seat] {
        let (seats, load) = state.withLock { state -> ([Seat], Load?) in
            let load = Load(isBackground: isBackground)
            var seats: [Seat] = []
            for key in keys {
                let flight: Flight
                let known = state.flights[key]
                if let known {
                    flight = known
                } else {
                    flight = Flight(key, begin(key), load)
                    load.flights.append(flight)
                    load.inTheAir += 1
                    state.flights[key] = flight
                }
                if isBackground { continue }
                state.seats += 1
                flight.load.interest += 1
                seats.append(Seat(flight: flight, isFirst: known == nil, number: state.seats))
            }
            return (seats, load.flights.isEmpty ? nil : load)
        }
        guard let load else { return seats }
        let task = start(load.flights)
        let isGivenUp = state.withLock { _ in
            if load.inTheAir > 0 { load.task = task }
            return load.isGivenUp
        }
        if isGivenUp { task.cancel() }
        return seats
    }

    /// Suspends until a flight has landed, or the current task is cancelled.
    ///
    /// When all tasks that waited for a load are cancelled, so is its producer.
    nonisolated(nonsending) func outcome(of seat: Seat) async -> LoadOutcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let known = state.withLock { state -> LoadOutcome? in
                    if state.cancelled.remove(seat.number) != nil { return .cancelled }
                    if let outcome = seat.flight.outcome { return outcome }
                    seat.flight.waiters[seat.number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            leave(seat)
        }
    }

    /// Gives back a seat that nothing has waited on.
    nonisolated(nonsending) func giveBack(_ seat: Seat) async {
        leave(seat)
        _ = await outcome(of: seat)
    }

    private func leave(_ seat: Seat) {
        let left = state.withLock { Self.leave(seat, &$0) }
        left.task?.cancel()
        left.waiter?.resume(returning: LoadOutcome.cancelled)
    }

    private typealias Waiter = UnsafeContinuation<LoadOutcome, Never>

    /// Gives a seat back, and gives up its load if no task waits for that any more, unless it runs in the background.
    ///
    /// - Returns: the continuation of the task on that seat, and the task of the load that was given up; `nil` for
    ///   none.
    private static func leave(_ seat: Seat, _ state: inout State) -> (waiter: Waiter?, task: Task<Void, Never>?) {
        let flight = seat.flight
        guard flight.outcome == nil else { return (nil, nil) }
        let waiter = flight.waiters.removeValue(forKey: seat.number)
        // Cancelled before it began to wait.
        if waiter == nil { state.cancelled.insert(seat.number) }
        let load = flight.load
        load.interest -= 1
        guard load.interest == 0, !load.isBackground else { return (waiter, nil) }
        // A later caller must not wait for a producer that was told to stop.
        load.isGivenUp = true
        for flight in load.flights where state.flights[flight.key] === flight { state.flights[flight.key] = nil }
        return (waiter, load.task)
    }

    /// Ends a flight.
    func land(_ flight: Flight, _ outcome: LoadOutcome) {
        let (waiters, landed) = state.withLock { state -> ([UnsafeContinuation<LoadOutcome, Never>], [Flight]) in
            if state.flights[flight.key] === flight { state.flights[flight.key] = nil }
            flight.outcome = outcome
            let load = flight.load
            load.inTheAir -= 1
            // The load and its flights hold on to each other, and to the loaded entries.
            let landed = load.inTheAir == 0 ? load.flights : []
            if load.inTheAir == 0 {
                load.flights = []
                load.task = nil
            }
            defer { flight.waiters = [:] }
            return (Array(flight.waiters.values), landed)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
        _ = consume landed
    }

    // MARK: Failures

    // Errors are the user's: they are released outside of the lock.

    /// The error that is thrown again for a key at this time.
    func failure(_ key: EntryKey, at now: TimeInterval) -> (any Error)? {
        guard failureCount.load(ordering: .relaxed) > 0 else { return nil }
        let failure = state.withLock { state in
            guard let failure = state.failures[key], now >= failure.until else { return state.failures[key] }
            state.failures[key] = nil
            failureCount.store(state.failures.count, ordering: .relaxed)
            return failure
        }
        return failure.flatMap { now < $0.until ? $0.error : nil }
    }

    func remember(_ error: any Error, of key: EntryKey, until: TimeInterval) {
        let former = state.withLock { state in
            let isFull = state.failures.count >= Self.mostFailures
            let former = isFull ? Array(state.failures.values) : state.failures[key].map { [$0] } ?? []
            if isFull { state.failures = [:] }
            state.failures[key] = Failure(error: error, until: until)
            failureCount.store(state.failures.count, ordering: .relaxed)
            return former
        }
        _ = consume former
    }

    func forgetFailure(_ key: EntryKey) {
        guard failureCount.load(ordering: .relaxed) > 0 else { return }
        let former = state.withLock { state in
            let former = state.failures.removeValue(forKey: key)
            failureCount.store(state.failures.count, ordering: .relaxed)
            return former
        }
        _ = consume former
    }

    func forgetFailures() {
        let former = state.withLock { state in
            defer { state.failures = [:] }
            failureCount.store(0, ordering: .relaxed)
            return state.failures
        }
        _ = consume former
    }
}
