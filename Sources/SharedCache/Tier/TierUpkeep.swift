import ArchiveStore
import Dispatch
import RedisWire
import Synchronization

/// Work of a tier in the background, after heartbeats: it pays debts to the engine, and reads the engine's clock.
final class TierUpkeep: Sendable {
    private struct State {
        weak var client: (any TierClient)?
        var isRunning = false
    }

    private let members: TierMembers
    private let offset: ClockOffset
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "typed-cache.shared-upkeep", qos: .utility)

    init(members: TierMembers, offset: ClockOffset) {
        self.members = members
        self.offset = offset
    }

    /// Whether the engine's clock was read; for tests.
    var hasReadClock: Bool { offset.isKnown }

    func setClient(_ client: any TierClient) { state.withLock { $0.client = client } }

    /// Begins the work that is due, unless it is under way; does not block.
    func start() {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard begins else { return }
        queue.async { [self] in
            followClock()
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

    /// Reads the engine's clock once a minute, and when this machine's has stepped: then memory's deadlines are wrong.
    private func followClock() {
        let hasStepped = offset.noticeStep()
        if hasStepped { for store in members.all { store.clockStepped() } }
        guard hasStepped || offset.isDue, let client = state.withLock({ $0.client }) else { return }
        // It is due again after the next heartbeat.
        try? Engine(client, Breaker()).read(offset)
    }
}
