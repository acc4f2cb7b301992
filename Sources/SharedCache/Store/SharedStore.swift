import ArchiveStore
import Foundation
import RedisWire
import Synchronization

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
/// Laws of stores that this one does not keep: it has no limits, the engine has; `information` and listings check an
/// entry's footer, not its checksum; damaged entries are found by fetches alone.
package final class SharedStore: RemoteStore {
    let engine: Engine
    let view: SharedView
    let offset: ClockOffset
    package let leaseDuration: Duration
    let waiters = LeaseWaiters()
    /// Held while debts are paid, and while an owed key is changed: otherwise a removal could come after the save that
    /// made it needless.
    let payment = Mutex<Void>(())
    private let usage = StoreUsage()
    /// Tells the other stores of the process, of any schema: the engine does not tell a client of its own changes.
    let tellOfRenewal: @Sendable (SharedStore) -> Void

    /// - Parameters:
    ///   - offset: by how much the server's clock is ahead of this machine's.
    ///   - window: how long after a heartbeat was sent near entries may be used without another one.
    ///   - leaseDuration: how long a lease lasts unless it is extended.
    ///   - tellOfRenewal: is called once a store has begun a new generation.
    init(
        _ engine: Engine,
        _ names: EntryNames,
        offset: ClockOffset,
        window: Duration,
        leaseDuration: Duration,
        tellOfRenewal: @escaping @Sendable (SharedStore) -> Void
    ) {
        self.engine = engine
        self.offset = offset
        self.leaseDuration = leaseDuration
        self.tellOfRenewal = tellOfRenewal
        view = SharedView(EngineView(names, window: window))
    }

    /// A store that hears of no changes.
    ///
    /// - Parameter prefix: the beginning of all names of the tier.
    package convenience init(_ client: any RedisClient, prefix: String, cache: String, schema: UInt32) {
        self.init(
            Engine(client, Breaker()),
            EntryNames(prefix: prefix, cache: cache, schema: schema),
            offset: ClockOffset(),
            window: .seconds(2),
            leaseDuration: .seconds(10),
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
    func request<Call: EngineCall>(_ call: Call) async throws(StoreError) -> Call.Outcome {
        var call = call
        return try await request(&call)
    }

    /// As ``request(_:)``; leaves the call as it ended.
    func request<Call: EngineCall>(_ call: inout Call) async throws(StoreError) -> Call.Outcome {
        try checkUsable()
        return try await engine.request(&call, view)
    }

    // MARK: News

    func take(_ event: TrackingEvent) {
        let changed = view.withView { $0.take(event) { digest(of: $0) } }
        for key in changed { waiters.wake(key) }
    }

    /// Another store of the process began a new generation.
    func heardOfRenewal() { view.withView { $0.forgetAll() } }

    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        try checkUsable()
        return view.withView { $0.near.take(at: .now) }
    }
}
