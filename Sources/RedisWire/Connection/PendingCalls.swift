/// The calls of a connection in the order of their submission: first the calls that were sent and wait for answers, then the
/// unsent ones.
struct PendingCalls {
    private var sent = CallQueue()
    private var unsent = CallQueue()
    private var urgent = UrgentCalls()
    /// Answers that have come for the first of the sent calls.
    private var values: [RedisValue] = []

    /// The calls whose callers have had all answers.
    private(set) var doneCount = 0
    /// Answers that are due.
    private(set) var dueCount = 0
    /// Whether answers are due.
    var hasSent: Bool { !sent.isEmpty }
    var hasUnsent: Bool { !unsent.isEmpty }

    mutating func append(_ call: RedisCall) {
        unsent.append(call)
        urgent.append(call)
    }

    /// The next unsent call that has a caller, which counts as sent from now on; `nil` if there is none.
    ///
    /// - Parameter room: how many answers may be due. One call with more is let through alone.
    mutating func nextToSend(room: Int) -> RedisCall? {
        // Calls without a caller are left out.
        while let call = unsent.first, call.answer.isTold { unsent.removeFirst() }
        guard let call = unsent.first, dueCount == 0 || dueCount + call.answerCount <= room else { return nil }
        unsent.removeFirst()
        sent.append(call)
        dueCount += call.answerCount
        return call
    }

    /// Takes an answer of the server; `false` if none is due.
    mutating func take(_ value: RedisValue) -> Bool {
        guard let call = sent.first else { return false }
        if values.isEmpty { values.reserveCapacity(call.answerCount) }
        values.append(value)
        dueCount -= 1
        if values.count == call.answerCount {
            sent.removeFirst()
            doneCount += 1
            call.answer.tell(.success(values))
            values = []
        }
        return true
    }

    /// The next deadline of a call; `nil` if there is none.
    var deadline: ContinuousClock.Instant? {
        Self.earlier(Self.earlier(sent.deadline, unsent.deadline), urgent.deadline)
    }

    private static func earlier(
        _ one: ContinuousClock.Instant?,
        _ other: ContinuousClock.Instant?
    ) -> ContinuousClock.Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Tells the callers of late calls. Due answers stay due.
    mutating func failLate(at now: ContinuousClock.Instant, _ error: (_ isSent: Bool) -> RedisError) {
        sent.failLate(at: now) { error(true) }
        unsent.failLate(at: now) { error(false) }
        // They may have been sent or not.
        urgent.failLate(at: now) { error(true) }
    }

    /// Tells all callers, and forgets them.
    mutating func failAll(_ error: (_ isSent: Bool) -> RedisError) {
        sent.failLate(at: nil) { error(true) }
        unsent.failLate(at: nil) { error(false) }
        self = PendingCalls()
    }
}

/// Calls in the order of their submission. Their deadlines rise, except for calls submitted at the same time.
private struct CallQueue {
    private var calls: [RedisCall] = []
    /// Calls at the front that have been removed.
    private var start = 0
    /// The first call that is not known to be late.
    private var firstInTime = 0

    var isEmpty: Bool { start == calls.count }
    var first: RedisCall? { isEmpty ? nil : calls[start] }
    var deadline: ContinuousClock.Instant? { firstInTime < calls.count ? calls[firstInTime].deadline : nil }

    mutating func append(_ call: RedisCall) { calls.append(call) }

    mutating func removeFirst() {
        start += 1
        firstInTime = max(firstInTime, start)
        // Not one by one: that would move all later calls each time.
        if start == calls.count || start >= 1024 && start * 2 > calls.count {
            calls.removeFirst(start)
            firstInTime -= start
            start = 0
        }
    }

    /// Tells the callers of late calls; all callers for `nil`. The calls stay.
    mutating func failLate(at now: ContinuousClock.Instant?, _ error: () -> RedisError) {
        while let deadline, now.map({ deadline <= $0 }) ?? true {
            calls[firstInTime].answer.fail(error())
            firstInTime += 1
        }
    }
}

/// The callers that stop waiting before their calls' deadlines, as a binary heap by their own deadlines: a call with a late
/// deadline may be submitted before a call with an early one.
private struct UrgentCalls {
    private typealias Caller = (deadline: ContinuousClock.Instant, answer: RedisAnswer)

    /// None has an earlier deadline than the one at half its place.
    private var callers: [Caller] = []

    mutating func append(_ call: RedisCall) {
        guard let deadline = call.callerDeadline else { return }
        let caller = (deadline, call.answer)
        callers.append(caller)
        var place = callers.count - 1
        while place > 0, deadline < callers[(place - 1) / 2].deadline {
            callers[place] = callers[(place - 1) / 2]
            place = (place - 1) / 2
        }
        callers[place] = caller
    }

    /// The next deadline, or a former one, of a caller that has its answer already.
    var deadline: ContinuousClock.Instant? { callers.first?.deadline }

    /// Tells the callers that are late.
    mutating func failLate(at now: ContinuousClock.Instant, _ error: () -> RedisError) {
        while let (deadline, answer) = callers.first, deadline <= now || answer.isTold {
            answer.fail(error())
            removeFirst()
        }
    }

    private mutating func removeFirst() {
        let last = callers.removeLast()
        if callers.isEmpty { return }
        var place = 0
        while 2 * place + 1 < callers.count {
            var next = 2 * place + 1
            if next + 1 < callers.count, callers[next + 1].deadline < callers[next].deadline { next += 1 }
            guard callers[next].deadline < last.deadline else { break }
            callers[place] = callers[next]
            place = next
        }
        callers[place] = last
    }
}
