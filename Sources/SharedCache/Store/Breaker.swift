import ArchiveStore
import Synchronization

/// When calls to a server fail at once, instead of each waiting for an answer that does not come. A value without clock
/// or chance.
struct BreakerState: Sendable {
    typealias Instant = ContinuousClock.Instant

    let settings: SharedSettings.Breaker
    /// Failures since the last answer.
    private(set) var failures = 0
    /// How often it has opened since the last answer.
    private var openings = 0
    /// When the server may be tried again; `nil` while calls go on.
    private(set) var openUntil: Instant?
    /// Whether neither a call nor a heartbeat was answered since a call failed.
    private(set) var isSilent = false

    init(_ settings: SharedSettings.Breaker) { self.settings = settings }

    /// A call failed.
    ///
    /// - Parameter jitter: by which the pause is multiplied.
    mutating func fail(at now: Instant, jitter: Double) {
        failures += 1
        isSilent = true
        if failures >= settings.failures, openUntil == nil { open(at: now, jitter: jitter) }
    }

    private mutating func open(at now: Instant, jitter: Double) {
        let pause = min(settings.pause * (1 << min(openings, 20)), settings.longestPause)
        openings += 1
        openUntil = now + pause * jitter
    }

    /// A call was answered.
    mutating func answer() {
        failures = 0
        openings = 0
        openUntil = nil
        isSilent = false
    }

    /// A heartbeat was answered. After the pause, calls go on: the next failure opens it again.
    mutating func beat(at now: Instant) {
        if let end = openUntil {
            guard now >= end else { return }
            openUntil = nil
            failures = settings.failures - 1
        }
        isSilent = false
    }

    /// Whether a call may go on: one does after each pause, for heartbeats may prove nothing.
    mutating func admits(at now: Instant, jitter: Double) -> Bool {
        guard let end = openUntil else { return true }
        guard now >= end else { return false }
        open(at: now, jitter: jitter)
        return true
    }
}

/// Spares callers the wait for a server that does not answer: after some failures in a row all calls fail at once, until
/// after a pause a heartbeat is answered, or the one call that is let through.
final class Breaker: Sendable {
    private let state: Mutex<BreakerState>
    // For all calls while all is well, without the lock.
    private let hasFailed = Atomic<Bool>(false)
    private let isSilent = Atomic<Bool>(false)
    private let isOpen = Atomic<Bool>(false)
    private let failureLimit: Int

    init(_ settings: SharedSettings.Breaker = SharedSettings.Breaker()) {
        state = Mutex(BreakerState(settings))
        failureLimit = settings.failures
    }

    /// Whether neither a call nor a heartbeat was answered since a call failed.
    var isSuspect: Bool { isSilent.load(ordering: .relaxed) }

    /// Until when calls fail at once; `nil` if they do not.
    var openUntil: ContinuousClock.Instant? { state.withLock { $0.openUntil } }

    /// - Throws: `.unreachable` while calls fail at once.
    func check(_ action: String) throws(StoreError) {
        guard isOpen.load(ordering: .relaxed) else { return }
        if change({ $0.admits(at: .now, jitter: Self.jitter) }) { return }
        let reason = "the server did not answer \(failureLimit) times in a row, nor a heartbeat since"
        throw StoreError(.unreachable, action: action, reason: reason)
    }

    func failed() { change { $0.fail(at: .now, jitter: Self.jitter) } }

    private static var jitter: Double { .random(in: 0.8...1.2) }

    /// A call was answered.
    func answered() {
        if hasFailed.load(ordering: .relaxed) { change { $0.answer() } }
    }

    /// A heartbeat was answered.
    func beat() {
        if hasFailed.load(ordering: .relaxed) { change { $0.beat(at: .now) } }
    }

    private func change<Result>(_ body: (inout BreakerState) -> Result) -> Result {
        state.withLock { state in
            defer {
                hasFailed.store(state.failures > 0, ordering: .relaxed)
                isSilent.store(state.isSilent, ordering: .relaxed)
                isOpen.store(state.openUntil != nil, ordering: .relaxed)
            }
            return body(&state)
        }
    }
}
