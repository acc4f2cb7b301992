import ArchiveStore
import Foundation
import RedisWire
import Synchronization
import TypedCache

/// Archives on a server that many machines share, one key of the engine each.
///
/// The bytes of an entry are those of its file in a cache's directory. Each save has a random serial: it and the footer,
/// the last 59 bytes, tell one version from every other one, and conditions are scripts that compare them.
///
/// Calls block until the server has answered. Without an answer they throw `.unreachable`; the key of a save or removal
/// that was not acknowledged is owed to the server: see ``DebtList``.
///
/// Commands, and the consequences of answers and messages, are values without I/O: ``EngineCall`` and ``EngineView``.
/// This is their shell: it sends and waits.
///
/// Laws of stores that this one does not keep, on one server or a cluster: it has no limits, the engine has;
/// `information` and listings check an entry's footer, not its checksum; damaged entries are found by fetches
/// alone.
package final class SharedStore: LoadingStore {
    let engine: Engine
    let view: SharedView
    let offset: ClockOffset
    let settings: SharedSettings
    /// `nil` if values are not encrypted.
    let sealing: ValueSealing?
    let waiters = LeaseWaiters()
    /// Extends the leases of loads.
    let keeper: LeaseKeeper
    /// Of the saves by this store.
    let serials = Mutex(EntrySerials())
    private let usage = StoreUsage()
    private let listener = Mutex<(@Sendable (EngineView.Heard) -> Void)?>(nil)
    /// When the last answered heartbeat was sent.
    private let lastHeartbeat = Mutex<ContinuousClock.Instant?>(nil)
    /// Tells the other stores of the process, of any schema: the engine does not tell a client of its own changes.
    let tellOfRenewal: @Sendable (SharedStore) -> Void

    /// - Parameters:
    ///   - offset: by how much the server's clock is ahead of this machine's.
    ///   - debts: those of all stores of the tier for the same entries.
    ///   - keeper: that of all stores of the tier.
    ///   - tellOfRenewal: is called once a store has begun a new generation.
    init(
        _ engine: Engine,
        _ names: EntryNames,
        offset: ClockOffset,
        settings: SharedSettings,
        debts: SharedDebts = SharedDebts(),
        keeper: LeaseKeeper = LeaseKeeper(),
        tellOfRenewal: @escaping @Sendable (SharedStore) -> Void
    ) {
        self.engine = engine
        self.keeper = keeper
        self.offset = offset
        self.settings = settings
        // With the prefix, the cache and the schema, each of which has one reading.
        sealing = settings.encryption.keyProvider.map { ValueSealing($0, place: names.entries) }
        self.tellOfRenewal = tellOfRenewal
        let rule: NearValidity.Rule =
            settings.coherence.age.map { .age($0) } ?? .heard(window: settings.heartbeat.window)
        view = SharedView(EngineView(names, rule, replicas: settings.replicas), engine.counters, debts: debts)
    }

    /// A store that hears of no changes.
    ///
    /// - Parameter prefix: the beginning of all names of the tier.
    package convenience init(_ client: any RedisClient, prefix: String, cache: String, schema: UInt32) {
        self.init(
            Engine(client, Breaker()),
            EntryNames(prefix: prefix, cache: cache, schema: schema),
            offset: ClockOffset(name: prefix + "clock"),
            settings: SharedSettings(),
            tellOfRenewal: { _ in }
        )
    }

    package func close() throws(StoreError) {
        guard try usage.close() else { return }
        // An answer that comes later is of no use to anyone.
        try? payDebts()
    }

    func checkUsable() throws(StoreError) { try usage.check() }

    // MARK: Calls

    /// Makes a call, and blocks until it is done.
    func ask<Call: EngineCall>(_ call: Call) throws(StoreError) -> Call.Outcome {
        try checkUsable()
        return try engine.make(call, view)
    }

    /// Makes a call, and suspends until it is done.
    ///
    /// - Parameter isUrgent: whether the caller has something else than the outcome, and waits for a shorter time.
    func request<Call: EngineCall>(
        _ call: Call,
        isUrgent: Bool = false
    ) async throws(StoreError) -> Call.Outcome {
        var call = call
        return try await request(&call, isUrgent: isUrgent)
    }

    /// As ``request(_:isUrgent:)``; leaves the call as it ended.
    func request<Call: EngineCall>(
        _ call: inout Call,
        isUrgent: Bool = false
    ) async throws(StoreError) -> Call.Outcome {
        try checkUsable()
        return try await engine.request(&call, view, within: isUrgent ? engine.softTimeout(settings.timeouts) : nil)
    }

    // MARK: News

    func take(_ event: TrackingEvent) {
        let listener = listener.withLock { $0 }
        let heard = view.withView { view in
            let heard = view.hear(event) { digest(of: $0) }
            // Before memory can see the change: a fetch that it makes read again must not find the former copy.
            if case .changed = event { listener?(heard) }
            return heard
        }
        switch event {
        case .verified(let start): lastHeartbeat.withLock { $0 = start }
        case .changed:
            engine.counters.count { statistics in
                statistics.invalidations += heard.changed.count
                statistics.ownEchoes += heard.echoed.count
            }
            for key in heard.changed + heard.echoed { waiters.wake(key) }
        case .changedAll, .unheard, .lost: break
        }
    }

    /// Sets the function that is told of changed keys before memory can see that they changed. It must not block, and runs
    /// under the lock of the view.
    func setListener(_ new: @escaping @Sendable (EngineView.Heard) -> Void) { listener.withLock { $0 = new } }

    /// This machine's clock has stepped: deadlines in memory are of the former time.
    func clockStepped() { view.withView { $0.changeAll() } }

    /// Another store of the process began a new generation.
    func heardOfRenewal() { view.withView { $0.forgetAll() } }

    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        try checkUsable()
        return view.withView { $0.near.take(at: .now) }
    }

    package var changeMark: UInt64? { usage.isUsable ? view.nearRevision : nil }

    // MARK: Outages

    package func serveUnverified() -> Bool {
        let serve = settings.whenUnreachable.serve
        guard serve > .zero, let last = lastHeartbeat.withLock({ $0 }), .now < last + serve else { return false }
        engine.counters.count { $0.unverifiedHits += 1 }
        return true
    }

    package func keepingTime(ofKey key: String) -> Duration? {
        engine.breaker.isSuspect || isOwed(key) ? settings.whenUnreachable.keep : nil
    }

    package var joinsLoads: Bool { settings.loads.lease != nil }

    package var leaseDuration: Duration { settings.loads.lease ?? .zero }
}
