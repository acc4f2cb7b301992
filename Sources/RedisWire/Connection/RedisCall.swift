import Dispatch
import Synchronization

/// Commands of one caller on their way to the server. An object, since it goes through several queues.
final class RedisCall: Sendable {
    let bytes: [UInt8]
    /// How many answers they have.
    let answerCount: Int
    let deadline: ContinuousClock.Instant
    /// When the caller stops waiting, if that is before the deadline.
    let callerDeadline: ContinuousClock.Instant?
    let answer: RedisAnswer

    init(
        bytes: [UInt8],
        answerCount: Int,
        deadline: ContinuousClock.Instant,
        callerDeadline: ContinuousClock.Instant? = nil,
        answer: RedisAnswer = RedisAnswer()
    ) {
        self.bytes = bytes
        self.answerCount = answerCount
        self.deadline = deadline
        self.callerDeadline = callerDeadline
        self.answer = answer
    }

    /// Asks for a sign of life.
    static func ping(until deadline: ContinuousClock.Instant) -> RedisCall {
        RedisCall(bytes: RedisCommand.bytes(of: [["PING"]]), answerCount: 1, deadline: deadline)
    }
}

/// The place where one caller waits for answers. It is told once; later answers are dropped.
final class RedisAnswer: Sendable {
    typealias Outcome = Result<[RedisValue], RedisError>

    private enum State {
        case begun
        case waiting(UnsafeContinuation<Outcome, Never>)
        case blocking(DispatchSemaphore)
        case told(Outcome)

        var isTold: Bool {
            if case .told = self { true } else { false }
        }
    }

    private let state = Mutex(State.begun)

    /// Suspends until the outcome is told.
    ///
    /// Resumed once: by ``tell(_:)``, which takes the continuation away, or here.
    func outcome() async -> Outcome {
        await withUnsafeContinuation { continuation in
            let outcome = state.withLock { state -> Outcome? in
                if case .told(let outcome) = state { return outcome }
                state = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Blocks the thread until the outcome is told.
    func waitForOutcome() -> Outcome {
        while true {
            if let outcome = waitForOutcome(atMost: .seconds(3_600)) { return outcome }
        }
    }

    /// Blocks the thread until the outcome is told; `nil` if that takes longer.
    func waitForOutcome(atMost time: Duration) -> Outcome? {
        if let outcome = toldOutcome { return outcome }
        let semaphore = DispatchSemaphore(value: 0)
        let end = DispatchTime.now() + (time / .seconds(1))
        while true {
            let outcome = state.withLock { state -> Outcome? in
                if case .told(let outcome) = state { return outcome }
                state = .blocking(semaphore)
                return nil
            }
            if let outcome { return outcome }
            if semaphore.wait(timeout: end) == .timedOut { return toldOutcome }
        }
    }

    private var toldOutcome: Outcome? {
        state.withLock { if case .told(let outcome) = $0 { outcome } else { nil } }
    }

    /// Tells the outcome, if none has been told.
    func tell(_ outcome: Outcome) {
        let former = state.withLock { state in
            defer { if !state.isTold { state = .told(outcome) } }
            return state
        }
        switch former {
        case .begun, .told: break
        case .waiting(let continuation): continuation.resume(returning: outcome)
        case .blocking(let semaphore): semaphore.signal()
        }
    }

    /// Whether the caller has its outcome.
    var isTold: Bool { state.withLock { $0.isTold } }

    func fail(_ error: RedisError) { tell(.failure(error)) }
}
