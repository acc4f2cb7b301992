import ArchiveStore
import Dispatch
import Foundation
import RedisWire
import Synchronization

/// Work of a tier in the background, after heartbeats: it pays debts to the engine, and reads the engine's clock.
final class TierUpkeep: Sendable {
    private struct State {
        weak var client: (any TierClient)?
        var isRunning = false
        /// When the engine's clock was read at last.
        var readAt: ContinuousClock.Instant?
    }

    private static let clockInterval: Duration = .seconds(60)

    private let members: TierMembers
    private let offset: ClockOffset
    private let name: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "typed-cache.shared-upkeep", qos: .utility)

    /// - Parameter name: of a key: the clock is that of the server that has it, the same one for all machines.
    init(members: TierMembers, offset: ClockOffset, name: String) {
        self.name = name
        self.members = members
        self.offset = offset
    }

    /// Whether the engine's clock was read; for tests.
    var hasReadClock: Bool { state.withLock { $0.readAt != nil } }

    func setClient(_ client: any TierClient) { state.withLock { $0.client = client } }

    /// Begins the work that is due, unless it is under way; does not block.
    func start() {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return }
        queue.async { [self] in
            readClock()
            if let client = state.withLock({ $0.client }) { payDebts(with: Engine(client, Breaker())) }
            state.withLock { $0.isRunning = false }
        }
    }

    /// Pays all debts, as far as the server answers; blocks.
    ///
    /// - Parameter engine: for debts of caches that are gone.
    func payDebts(with engine: Engine) {
        members.payDebts { [members, offset] names, debts in
            SharedStore(engine, names, offset: offset, settings: SharedSettings(), debts: debts) {
                members.tellOfRenewal(by: $0)
            }
        }
    }

    /// Reads the engine's clock once a minute; the middle between question and answer is its time.
    private func readClock() {
        let (client, readAt) = state.withLock { ($0.client, $0.readAt) }
        let isDue = readAt.map { $0 + Self.clockInterval < .now } ?? true
        guard isDue, let client else { return }
        // It is due again after the next heartbeat.
        try? readClock(with: Engine(client, Breaker()))
    }

    /// Reads the engine's clock; blocks.
    ///
    /// - Throws: `.unreachable`, `.closed`, `.forked`.
    func readClock(with engine: Engine) throws(StoreError) {
        let action = "reading the server's clock"
        let before = Date.now
        // By a script, for a command without a key may go to any server of a cluster.
        let command: RedisCommand = ["EVAL", "return redis.call('TIME')", 1, .text(name)]
        let answer = try engine.ask([command], action: action)[0]
        try Engine.check(answer, doing: action)
        guard let parts = answer.elements, parts.count == 2, let seconds = parts[0].integer,
            let microseconds = parts[1].integer
        else { throw StoreError(.unreachable, action: action, reason: "TIME was answered by something else") }
        let halfWay = Date.now.timeIntervalSince(before) / 2
        let here = before.timeIntervalSince1970 + halfWay
        let there = Double(seconds) + Double(microseconds) / 1e6
        // Less than half of the way is no difference that could be known.
        offset.set(abs(there - here) <= halfWay + 0.001 ? 0 : there - here)
        state.withLock { $0.readAt = .now }
    }
}
