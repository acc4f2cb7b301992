import ArchiveStore
import Foundation
import RedisWire
import Synchronization

/// By how much the engine's clock is ahead of this machine's, in seconds. Entries in the engine have its time, so that
/// machines see an entry expire at one instant, though their clocks disagree.
struct EngineClock {
    var secondsAhead = 0.0

    /// Attributes of an entry here, in the engine's time.
    func there(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: secondsAhead) }

    /// Attributes of an entry in the engine, in this machine's time.
    func here(_ attributes: EntryAttributes) -> EntryAttributes { moved(attributes, by: -secondsAhead) }

    private func moved(_ attributes: EntryAttributes, by seconds: Double) -> EntryAttributes {
        if seconds == 0 { return attributes }
        var attributes = attributes
        attributes.storedAt += seconds
        attributes.expiresAt? += seconds
        return attributes
    }
}

/// The engine's clock as far as a tier knows it.
///
/// A step of this machine's clock shows against its monotonic clock, and is taken into account at once.
package final class ClockOffset: Sendable {
    /// This machine's clocks at one moment, in seconds.
    struct Moment {
        var wall: Double
        var steady: Double

        static func now() -> Moment {
            Moment(wall: Date.now.timeIntervalSince1970, steady: Double(HitClock.now) / 1e9)
        }
    }

    private struct State {
        var secondsAhead = 0.0
        /// By how much this machine's clock was ahead of its monotonic one when the engine's was read.
        var wallAhead = 0.0
        var readAt: Double?
        /// Whether the clock has stepped since ``noticeStep()`` was last called.
        var hasStepped = false
    }

    /// A slower change is an adjustment, which the next reading takes into account.
    private static let smallestStep = 0.25
    private static let readingInterval = 60.0

    /// The name of a key: the clock is that of the server that has it, the same one for all machines.
    let name: String
    private let now: @Sendable () -> Moment
    private let state = Mutex(State())
    private let hasRead = Atomic<Bool>(false)

    /// - Parameter now: this machine's clocks.
    init(name: String, now: @escaping @Sendable () -> Moment) {
        self.name = name
        self.now = now
    }

    package convenience init(name: String = "clock") { self.init(name: name) { .now() } }

    /// Whether the engine's clock was read, or the engine has refused to tell.
    var isKnown: Bool { hasRead.load(ordering: .acquiring) }

    var clock: EngineClock {
        let now = now()
        return state.withLock { state in
            follow(now, &state)
            return EngineClock(secondsAhead: state.secondsAhead)
        }
    }

    private func follow(_ now: Moment, _ state: inout State) {
        guard state.readAt != nil else { return }
        let step = now.wall - now.steady - state.wallAhead
        if abs(step) < Self.smallestStep { return }
        state.secondsAhead -= step
        state.wallAhead += step
        state.hasStepped = true
    }

    /// Whether this machine's clock has stepped since this was last called: deadlines in memory are of the former time.
    func noticeStep() -> Bool {
        let now = now()
        return state.withLock { state in
            follow(now, &state)
            defer { state.hasStepped = false }
            return state.hasStepped
        }
    }

    package func set(_ secondsAhead: Double) {
        let now = now()
        state.withLock { state in
            state.secondsAhead = secondsAhead
            state.wallAhead = now.wall - now.steady
            state.readAt = now.steady
        }
        hasRead.store(true, ordering: .releasing)
    }

    // MARK: Reading

    static let reading = "reading the server's clock"

    /// Whether the engine's clock was not read for a minute.
    var isDue: Bool {
        let now = now().steady
        return state.withLock { $0.readAt.map { $0 + Self.readingInterval < now } ?? true }
    }

    /// A question for the engine's clock that is under way.
    struct Question {
        let command: RedisCommand
        fileprivate let sentAt: Moment
    }

    /// By a script, for a command without a key may go to any server of a cluster.
    func ask() -> Question {
        Question(command: ["EVAL", "return redis.call('TIME')", 1, .text(name)], sentAt: now())
    }

    /// Takes the answer; the middle between question and answer is its time.
    ///
    /// - Throws: the engine's refusal; the clocks are taken to agree then, if nothing else is known.
    func take(_ answer: RedisValue, to question: Question) throws(StoreError) {
        defer { hasRead.store(true, ordering: .releasing) }
        try Engine.check(answer, doing: Self.reading)
        guard let parts = answer.elements, parts.count == 2, let seconds = parts[0].integer,
            let microseconds = parts[1].integer
        else {
            throw StoreError(.unreachable, action: Self.reading, reason: "TIME was answered by something else")
        }
        let halfWay = (now().steady - question.sentAt.steady) / 2
        let ahead = Double(seconds) + Double(microseconds) / 1e6 - (question.sentAt.wall + halfWay)
        // Less than half of the way is no difference that could be known.
        set(abs(ahead) <= halfWay + 0.001 ? 0 : ahead)
    }
}
