import RedisWire
import Synchronization

/// The stores of a tier's caches, which are told of changes in the engine.
final class TierMembers: Sendable {
    private struct Member {
        weak var store: SharedStore?
    }

    /// The debts for the entries of one cache and schema.
    private struct Account {
        /// Those that the last store had.
        let names: EntryNames
        let debts: SharedDebts
    }

    private struct State {
        var members: [Member] = []
        /// By the beginning of the entries' names. They stay when the caches that owe them are gone.
        var accounts: [String: Account] = [:]
        /// The last heartbeat; `nil` if changes may have been missed since.
        var verifiedSince: ContinuousClock.Instant?
        /// When a connection was lost last.
        var lostAt: ContinuousClock.Instant?
        weak var client: (any TierClient)?

        /// Tells stores of a heartbeat. Without the news of its generation, nothing of a cache may be used unasked: all
        /// of it may have been removed.
        func verify(_ stores: [SharedStore], since start: ContinuousClock.Instant) {
            for store in stores where client?.isHeard(store.view.names.generation) == true {
                store.take(.verified(since: start))
            }
        }
    }

    private let prefix: String
    private let counters: TierCounters
    private let state = Mutex(State())

    init(prefix: String, _ counters: TierCounters) {
        self.prefix = prefix
        self.counters = counters
    }

    func setClient(_ client: any TierClient) { state.withLock { $0.client = client } }

    var all: [SharedStore] { state.withLock { $0.members.compactMap(\.store) } }

    func isVerified(at now: ContinuousClock.Instant, _ window: Duration) -> Bool {
        state.withLock { $0.verifiedSince.map { now < $0 + window } ?? false }
    }

    /// Since when memory has to ask; `nil` if it does not, or never could answer.
    func unverifiedSince(at now: ContinuousClock.Instant, _ window: Duration) -> ContinuousClock.Instant? {
        state.withLock { state in
            guard let start = state.verifiedSince else { return state.lostAt }
            return now < start + window ? nil : start + window
        }
    }

    // MARK: Debts

    /// The debts that a new store is to have.
    func debts(of names: EntryNames) -> SharedDebts {
        state.withLock { state in
            let debts = state.accounts[names.entries]?.debts ?? SharedDebts()
            state.accounts[names.entries] = Account(names: names, debts: debts)
            return debts
        }
    }

    /// The number of keys that are owed.
    var owedKeyCount: Int {
        state.withLock { state in state.accounts.values.reduce(0) { $0 + $1.debts.withList { $0.count } } }
    }

    /// Pays all debts, as far as the server answers; blocks.
    ///
    /// - Parameter makeStore: makes a store for debts of caches that are gone.
    func payDebts(_ makeStore: (EntryNames, SharedDebts) -> SharedStore) {
        let owing = state.withLock { $0.accounts.values.filter { !$0.debts.isEmpty } }
        if owing.isEmpty { return }
        let stores = all
        for account in owing {
            let store = stores.first { $0.view.debts === account.debts } ?? makeStore(account.names, account.debts)
            // Due again after the next heartbeat.
            try? store.payDebts()
        }
    }

    func add(_ store: SharedStore) {
        state.withLock { state in
            state.members.removeAll { $0.store == nil }
            state.members.append(Member(store: store))
            // Not only from the next heartbeat on.
            if let start = state.verifiedSince { state.verify([store], since: start) }
        }
    }

    /// A store of this process removed all entries of its cache, which other stores have, too.
    func tellOfRenewal(by renewed: SharedStore) {
        for store in all where store !== renewed && store.view.names.cache == renewed.view.names.cache {
            store.heardOfRenewal()
        }
    }

    /// Called in the order in which things happen.
    func tell(_ event: TrackingEvent) {
        // Stores are released after the lock.
        var stores: [SharedStore] = []
        state.withLock { state in
            stores = state.members.compactMap(\.store)
            switch event {
            case .verified(let start):
                if state.verifiedSince == nil { counters.count { $0.epochs += 1 } }
                state.verifiedSince = start
                return state.verify(stores, since: start)
            case .lost:
                if state.verifiedSince != nil { state.lostAt = .now }
                state.verifiedSince = nil
            case .changed, .changedAll, .unheard: break
            }
            for store in stores { store.take(event) }
        }
    }
}
