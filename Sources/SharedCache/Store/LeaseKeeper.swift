import ArchiveStore
import Dispatch
import Foundation
import RedisWire
import Synchronization
import TypedCache

/// Extends the leases of a tier's loads while their producers run, from a thread of its own: producers may keep all threads
/// of Swift's pool, and of Dispatch's, busy.
///
/// The thread begins with a lease, and ends when there was none to extend for a while. A lease is kept from when it is asked
/// for: until a thread of the pool is free to take the answer, it could end.
final class LeaseKeeper: Sendable {
    private struct Held {
        let term: LeaseTerm
        let engine: Engine
        let pause: Duration
        var isDue: ContinuousClock.Instant
    }

    private struct State {
        var held: [Int: Held] = [:]
        var lastNumber = 0
        var hasThread = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let changed = DispatchSemaphore(value: 0)

    /// Extends a lease from now on.
    ///
    /// - Parameter duration: of the lease.
    /// - Returns: a number for ``end(_:)``; `nil` once the tier is closed.
    func hold(_ term: LeaseTerm, for duration: Duration, _ engine: Engine) -> Int? {
        let pause = duration / 3
        let (number, needsThread) = state.withLock { state -> (Int?, Bool) in
            if state.isClosed { return (nil, false) }
            state.lastNumber += 1
            state.held[state.lastNumber] = Held(term: term, engine: engine, pause: pause, isDue: .now + pause)
            defer { state.hasThread = true }
            return (state.lastNumber, !state.hasThread)
        }
        if needsThread {
            let thread = Thread { [self] in extendAll() }
            thread.name = "typed-cache leases"
            thread.start()
        }
        return number
    }

    /// Extends a lease no more.
    ///
    /// - Returns: whether it was extended until now.
    func end(_ number: Int) -> Bool { state.withLock { $0.held.removeValue(forKey: number) } != nil }

    private func extendAll() {
        while true {
            let due = state.withLock { state -> ContinuousClock.Instant? in
                let first = state.held.values.map(\.isDue).min()
                if first == nil { state.hasThread = false }
                return first
            }
            guard let due else { return }
            let pause = ContinuousClock.now.duration(to: due)
            if pause > .zero { _ = changed.wait(timeout: .now() + pause / .seconds(1)) }
            extend(at: .now)
        }
    }

    /// Extends the leases that are due, all by one write.
    private func extend(at now: ContinuousClock.Instant) {
        let due = state.withLock { $0.held.filter { $0.value.isDue <= now } }
        guard let engine = due.first?.value.engine else { return }
        let numbers = due.keys.sorted()
        let commands = numbers.compactMap { due[$0]?.term.extending }
        do throws(StoreError) {
            let answers = try engine.ask(commands, action: "extending leases")
            state.withLock { state in
                for (number, answer) in zip(numbers, answers) {
                    guard let pause = state.held[number]?.pause else { continue }
                    switch answer.integer {
                    case 0: state.held[number] = nil
                    case nil: state.held[number]?.isDue = .now + pause / 4
                    default: state.held[number]?.isDue = now + pause
                    }
                }
            }
        } catch {
            // Tried again; if that comes too late, the value is not saved.
            state.withLock { state in
                for number in numbers {
                    if let pause = state.held[number]?.pause { state.held[number]?.isDue = .now + pause / 4 }
                }
            }
        }
    }

    /// Ends all leases, and extends none from now on. Blocks until the server has ended them, at most for a timeout.
    func close() {
        let held = state.withLock { state in
            state.isClosed = true
            defer { state.held = [:] }
            return Array(state.held.values)
        }
        changed.signal()
        guard let engine = held.first?.engine else { return }
        bestEffort("they end by themselves before long") { () throws(StoreError) in
            _ = try engine.ask(held.map(\.term.ending), action: "giving leases back")
        }
    }

    /// Ends the thread, if it sleeps.
    func wakeUp() { changed.signal() }
}

/// Takes leases, and has them extended from when they are asked for.
struct KeptLeases: EngineCall {
    private(set) var call: Insisting<TakeLeases>
    private let engine: Engine
    private let keeper: LeaseKeeper
    private let duration: Duration
    /// The keeper's numbers of the leases that were asked for last.
    private var numbers: [Int?] = []

    init(_ call: TakeLeases, duration: Duration, engine: Engine, keeper: LeaseKeeper) {
        self.call = Insisting(call)
        self.duration = duration
        self.engine = engine
        self.keeper = keeper
    }

    var action: String { call.action }
    var requested: [LeaseTerm] { call.call.requested }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<TakeLeases.Taken> {
        let round = call.call.rounds
        let step = try call.next(answers, view)
        if call.call.rounds != round {
            endAll()
            numbers = requested.map { keeper.hold($0, for: duration, engine) }
        }
        return step
    }

    /// The answers for the first keys, whose leases go on to be extended if they were taken; the others do not.
    mutating func answers(_ taken: TakeLeases.Taken, _ store: SharedStore) -> [LeaseAnswer] {
        defer { endAll() }
        return taken.answers.enumerated().map { place, answer in
            guard case .taken(let lease) = answer else { return .fresh }
            defer { numbers[place] = nil }
            return .taken(SharedLease(lease, store, number: numbers[place]))
        }
    }

    /// Has the leases that were asked for be extended no more.
    mutating func endAll() {
        for number in numbers.compactMap(\.self) { _ = keeper.end(number) }
        numbers = []
    }
}
