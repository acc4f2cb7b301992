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
    /// From when on a heartbeat closes it; `nil` while calls go on.
    private(set) var openUntil: Instant?
    /// When the next call is let through, if no heartbeat is answered until then, and how many were.
    private var nextCall: Instant?
    private var admissions = 0
    /// Whether neither a call nor a heartbeat was answered since a call began that failed.
    private(set) var isSilent = false

    init(_ settings: SharedSettings.Breaker) { self.settings = settings }

    /// A call failed.
    ///
    /// - Parameters:
    ///   - jitter: by which the pause is multiplied.
    ///   - isSilent: whether no other call was answered while this one waited.
    mutating func fail(at now: Instant, jitter: Double, isSilent: Bool = true) {
        failures += 1
        if isSilent { self.isSilent = true }
        guard failures >= settings.failures, openUntil == nil else { return }
        openUntil = now + pause(after: openings) * jitter
        openings += 1
        nextCall = openUntil
        admissions = 0
    }

    private func pause(after count: Int) -> Duration {
        min(settings.pause * (1 << min(count, 20)), settings.longestPause)
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

    /// Whether a call may go on: one does after each pause, for heartbeats may prove nothing. The pauses grow, and keep no
    /// heartbeat from closing it.
    mutating func admits(at now: Instant, jitter: Double) -> Bool {
        guard openUntil != nil, let next = nextCall else { return true }
        guard now >= next else { return false }
        admissions += 1
        nextCall = now + pause(after: admissions) * jitter
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

    /// Whether neither a call nor a heartbeat was answered since a call began that failed.
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

    /// - Parameter isSilent: whether no other call was answered while this one waited.
    func failed(isSilent: Bool) { change { $0.fail(at: .now, jitter: Self.jitter, isSilent: isSilent) } }

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
