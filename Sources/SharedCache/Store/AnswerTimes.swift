import Synchronization
import TypedCache

/// How long the server's last answers took. A value without clock or locks.
struct AnswerTimes: Sendable {
    private static let most = 31
    /// A fetch that could go on without the server waits for so many usual answers.
    private static let patience = 4

    private var times: [Duration] = []
    private var next = 0
    /// The median; `nil` before the first answer.
    private(set) var usual: Duration?

    /// - Parameter time: also how long an answer was waited for that has not come.
    mutating func note(_ time: Duration) {
        if times.count < Self.most {
            times.append(time)
        } else {
            times[next] = time
            next = (next + 1) % Self.most
        }
        usual = times.sorted()[times.count / 2]
    }

    /// How long a fetch waits if it has an alternative to the answer: it follows the usual answer, within the limits
    /// that the settings allow. Before the first answer, as long as any other call.
    func softTimeout(_ timeouts: SharedSettings.Timeouts) -> Duration {
        guard let usual else { return timeouts.hard }
        return min(max(usual * Self.patience, timeouts.soft), timeouts.hard)
    }

    /// Whether fetches wait longer than the settings say for a server that answers as usual.
    func isSlow(_ timeouts: SharedSettings.Timeouts) -> Bool {
        usual.map { $0 * Self.patience > timeouts.soft } ?? false
    }
}

/// How long the answers of a tier's server take, for all threads.
final class ServerPace: Sendable {
    /// In nanoseconds. More often, calls would cost more than they tell.
    private static let pause: Int64 = 2_000_000

    private let isSpread: Bool
    private let times = Mutex(AnswerTimes())
    /// How long all answers took.
    let latency = LatencyHistogram()
    private let lastNoted = Atomic<Int64>(.min / 2)

    /// - Parameter isSpread: whether several servers answer, of which one says nothing about another.
    init(isSpread: Bool = false) { self.isSpread = isSpread }

    /// Whether the server has answered another call since a time of ``HitClock``.
    func hasAnswered(since start: Int64) -> Bool { !isSpread && lastNoted.load(ordering: .relaxed) > start }

    var current: AnswerTimes { times.withLock { $0 } }

    /// An answer came to a call that began at a time of ``HitClock``.
    func answered(since start: Int64) {
        let now = HitClock.now
        latency.record(nanoseconds: now - start)
        let last = lastNoted.load(ordering: .relaxed)
        guard now - last >= Self.pause,
            lastNoted.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        times.withLock { $0.note(.nanoseconds(now - start)) }
    }

    /// A heartbeat was answered.
    func answered(in time: Duration) { times.withLock { $0.note(time) } }

    /// No answer came in time.
    func gaveUp(since start: Int64) { times.withLock { $0.note(.nanoseconds(HitClock.now - start)) } }
}
