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

    /// The commands that ask for the time: the next ones if the former ones have no answer.
    private let turns: [[RedisCommand]]
    private let now: @Sendable () -> Moment
    private let state = Mutex(State())
    private let hasRead = Atomic<Bool>(false)

    /// - Parameters:
    ///   - name: of a key: the clock is that of the server that has it, the same one for all machines.
    ///   - isSpread: whether other keys may be on other servers, whose clocks count where that one does not answer.
    ///   - now: this machine's clocks.
    init(name: String, isSpread: Bool = false, now: @escaping @Sendable () -> Moment = { .now() }) {
        let others = isSpread ? (1...Self.otherNameCount).map { Self.question("\(name)\($0)") } : []
        turns = [[Self.question(name)], others].filter { !$0.isEmpty }
        self.now = now
    }

    /// So many keys are hardly all on one server of several.
    private static let otherNameCount = 8

    /// By a script, for a command without a key may go to any server of a cluster.
    private static func question(_ name: String) -> RedisCommand {
        ["EVAL", "return redis.call('TIME')", 1, .text(name)]
    }

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

    /// Reads the engine's clock. A refusal has the clocks be taken to agree, if nothing else is known.
    ///
    /// - Parameter ask: sends commands, and gives their answers.
    /// - Throws: `.unreachable` if no server tells the time; all that `ask` throws.
    func read(_ ask: ([RedisCommand]) throws(StoreError) -> [RedisValue]) throws(StoreError) {
        var failure: StoreError?
        for commands in turns {
            let start = now()
            do throws(StoreError) {
                return try take(try ask(commands), since: start)
            } catch {
                if error.code != .unreachable { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// As ``read(_:)``, but suspends.
    func readSuspending(
        _ ask: ([RedisCommand]) async throws(StoreError) -> [RedisValue]
    ) async throws(StoreError) {
        var failure: StoreError?
        for commands in turns {
            let start = now()
            do throws(StoreError) {
                return try take(try await ask(commands), since: start)
            } catch {
                if error.code != .unreachable { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Takes the first time among answers; the server had it half of the way between question and answer.
    private func take(_ answers: [RedisValue], since start: Moment) throws(StoreError) {
        let halfWay = (now().steady - start.steady) / 2
        let times = answers.lazy.compactMap { Self.seconds($0) }
        guard let time = times.first else {
            for answer in answers {
                do throws(StoreError) {
                    try Engine.check(answer, doing: Self.reading)
                } catch {
                    if error.code == .unreachable { throw error }
                }
            }
            return hasRead.store(true, ordering: .releasing)
        }
        let ahead = time - (start.wall + halfWay)
        // Less than half of the way is no difference that could be known.
        set(abs(ahead) <= halfWay + 0.001 ? 0 : ahead)
    }

    /// The answer to `TIME`; `nil` for any other one.
    private static func seconds(_ answer: RedisValue) -> Double? {
        guard let parts = answer.elements, parts.count == 2, let seconds = parts[0].integer,
            let microseconds = parts[1].integer
        else { return nil }
        return Double(seconds) + Double(microseconds) / 1e6
    }
}
