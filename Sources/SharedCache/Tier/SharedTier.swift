import ArchiveStore
import Foundation
import RedisWire
import Synchronization
import TypedCache

/// A Redis or Valkey server, or a cluster of them, as the tier that many machines share.
///
/// ```swift
/// let tier = try SharedTier("redis://app:secret@10.0.0.1/?prefix=shop")
/// let cities = try Cache<City>(name: "cities", shared: tier, schema: 2)
/// ```
///
/// Caches keep the entries that they use in memory. The server tells of each change by another machine, and a
/// heartbeat of each second tells that no such message was missed; without one, each entry in memory is compared
/// with the server's before it is used, which takes 59 bytes. So no fetch gives a value that another machine has
/// replaced or removed more than two seconds ago, see ``SharedSettings/Heartbeat``; usually it is one network
/// delay.
///
/// Calls for all keys share one connection. A call that gets no answer in time throws `CacheError` with code
/// `.unreachable`; a fetch with a producer goes on without the server, see ``SharedSettings/Timeouts``. After an
/// unacknowledged save or removal this process has no value for the key, and the tier removes the entry on the server
/// as soon as that answers again.
///
/// For a cluster, name some hosts; the tier finds all masters:
/// `redis+cluster://app:secret@10.0.0.1,10.0.0.2/?prefix=shop`. The keys are spread over the masters; each has its
/// own connections and heartbeats. The bound of staleness is longer by the cluster's node timeout, because a master
/// that was cut off from the other nodes may answer for that long.
///
/// The server needs Redis 6.2 or Valkey 7.2, or later. The tier connects by itself, and again whenever it lost the
/// server.
public final class SharedTier: Sendable {
    let client: any TierClient
    /// `nil` if reads go to the client, too.
    let replicas: ReplicaReader?
    let prefix: String
    let settings: SharedSettings
    let offset: ClockOffset
    /// Tells this tier from other tiers of the process.
    let identity = UUID().uuidString
    private let members: TierMembers
    let upkeep: TierUpkeep
    private let keeper = LeaseKeeper()
    let engine: Engine
    let node: String
    private let clocks = SharedClocks()
    private let feed: StateFeed

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - url: `redis://[[user]:password@]host[:port][/database]`, `redis+cluster://…host[:port][,host[:port]…]` or
    ///     `unix:/path/of.sock`, `rediss` for TLS, `valkey` in place of `redis`; with the parameters `prefix` (the
    ///     beginning of the names of all entries, 1 to 64 letters, digits, `.`, `_` and `-`; `default` if there is
    ///     none), `client_name`, `timeout`, `soft_timeout` and `connect_timeout` (such as `500ms`, `2s`). With
    ///     sentinels, `redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/master[/database]`: the tier
    ///     asks them for the master before each new connection, with `sentinel_user` and `sentinel_password` if
    ///     given.
    ///   - settings: of which the URL's timeouts take precedence.
    ///   - credentials: gives the user and password, or token, of each new connection, for credentials that expire;
    ///     `nil` if the URL has them. Called once for each connection, on a separate thread; its time counts as time
    ///     to connect, so keep credentials that take long to get. If it throws, the server is unreachable, and it is
    ///     called again for the next attempt to connect. Of a cluster and of sentinels' servers, all have the same.
    /// - Throws: `CacheError` with code `.invalidServer` for a URL that cannot be used, which the message explains
    ///   without the password, or that has one besides `credentials`; `.unreachable` if the process has no descriptors left; `.forked` in a process that was
    ///   forked, without running another program, from one that had a tier. A server that is down is not an error here.
    public convenience init(
        _ url: String,
        _ settings: SharedSettings = SharedSettings(),
        credentials: (@Sendable () async throws -> SharedCredentials)? = nil
    ) throws(CacheError) {
        var (wire, settings) = try Self.wire(url, settings)
        if let credentials {
            if wire.credentials != nil {
                throw CacheError.invalidServer("The URL has a password, and other credentials are given.")
            }
            wire.credentialsProvider = RedisCredentialsProvider {
                let given = try await credentials()
                return RedisCredentials(user: given.user, password: given.password)
            }
        }
        let prefix = EntryNames.prefix(wire.extras["prefix"] ?? "default")
        let prefixes = settings.coherence == .invalidated ? [prefix] : []
        // A cluster's client gives up each node by itself.
        if wire.isCluster { settings.breaker.failures = .max }
        try self.init(prefix: prefix, node: wire.name, isSpread: wire.isCluster, settings) {
            [settings, wire] heartbeat, observer throws(RedisError) in
            let client: any TierClient
            if wire.isCluster {
                client = try TrackedCluster(
                    settings: wire,
                    prefixes: prefixes,
                    heartbeat: prefix + "heartbeat:",
                    interval: settings.heartbeat.interval,
                    window: settings.heartbeat.window,
                    observer: observer
                )
            } else {
                client = try TrackedConnection(
                    to: wire.endpoints[0],
                    settings: wire,
                    prefixes: prefixes,
                    heartbeat: { heartbeat },
                    interval: settings.heartbeat.interval,
                    observer: observer
                )
            }
            return (client, try settings.reads.reader(of: client, wire, settings))
        }
    }

    /// A tier on a client that the app has already.
    ///
    /// All that a cache does on a server works, and values are the same as those of tiers with a URL. But the server tells
    /// this client of no changes: an entry in memory is compared with the server's, by one call, when it is used `age`
    /// after it was read, and until then other machines' changes are not seen. Loads that wait for another machine's ask
    /// the server again and again instead of being woken. The client's connections, encryption, timeouts and attempts to
    /// connect are its own; ``SharedTier/close()`` leaves it open.
    ///
    /// - Parameters:
    ///   - client: see `RedisClient` for the duties of a client.
    ///   - prefix: the beginning of the names of all entries, 1 to 64 letters, digits, `.`, `_` and `-`.
    ///   - age: the bound of staleness; 1 s by default, at least 1 ms. It takes the place of ``SharedSettings/coherence``.
    ///   - settings: of the timeouts, only the soft one counts.
    /// - Throws: `CacheError` with code `.invalidServer` for a prefix that cannot be used.
    public convenience init(
        client: some RedisClient,
        prefix: String = "default",
        age: Duration = .seconds(1),
        _ settings: SharedSettings = SharedSettings()
    ) throws(CacheError) {
        do throws(RedisURLError) {
            try Self.checkPrefix(prefix)
        } catch {
            throw CacheError.invalidServer(error.message + ".")
        }
        var settings = settings.withinBounds
        settings.coherence = .age(age)
        let interval = settings.heartbeat.interval
        try self.init(prefix: EntryNames.prefix(prefix), node: "client", isSpread: true, settings) {
            heartbeat,
            observer in
            (BroughtClient(client, heartbeat: heartbeat, interval: interval, observer: observer), nil)
        }
    }

    /// - Parameters:
    ///   - isSpread: whether keys may be on several servers.
    ///   - connect: makes the client, and that of replicas, from the command of heartbeats and the observer of its news.
    private init(
        prefix: String,
        node: String,
        isSpread: Bool,
        _ settings: SharedSettings,
        connect: (RedisCommand, @escaping @Sendable (TrackingEvent) -> Void) throws(RedisError) -> (
            client: any TierClient, replicas: ReplicaReader?
        )
    ) throws(CacheError) {
        self.prefix = prefix
        self.settings = settings
        self.node = node
        let counters = TierCounters()
        let members = TierMembers(prefix: prefix, counters)
        let offset = ClockOffset(name: prefix + "clock", isSpread: isSpread)
        self.offset = offset
        let upkeep = TierUpkeep(members: members, offset: offset)
        let breaker = Breaker(settings.breaker)
        let pace = ServerPace(isSpread: isSpread)
        do throws(RedisError) {
            (client, replicas) = try connect(["GET", .text(prefix + "heartbeat")]) { event in
                members.tell(event)
                if case .verified(let start) = event {
                    pace.answered(in: start.duration(to: .now))
                    breaker.beat()
                    upkeep.start()
                }
            }
        } catch {
            switch error.code {
            case .forked, .notConnected:
                throw CacheError.noConnection(isForked: error.code == .forked, error.message)
            default: throw CacheError.invalidServer(error.message)
            }
        }
        members.setClient(client)
        self.members = members
        self.upkeep = upkeep
        engine = Engine(client, breaker, counters: counters, pace: pace, replicas: replicas)
        feed = StateFeed(pause: min(settings.heartbeat.window / 8, .milliseconds(250)))
        upkeep.setClient(client)
    }

    deinit {
        feed.end()
        keeper.wakeUp()
    }

    /// The settings of connections, and this tier's with the timeouts of the URL.
    private static func wire(
        _ url: String,
        _ settings: SharedSettings
    ) throws(CacheError) -> (RedisSettings, SharedSettings) {
        var settings = settings.withinBounds
        var timeouts = RedisTimeouts()
        timeouts.connect = settings.timeouts.connect
        timeouts.soft = settings.timeouts.soft
        timeouts.hard = settings.timeouts.hard
        var wire = try wire(url, timeouts)
        timeouts = wire.timeouts
        settings.timeouts = .init(connect: timeouts.connect, soft: timeouts.soft, hard: timeouts.hard)
        // A connection that owes an answer for much longer is of no use; replicas are waited for besides.
        wire.timeouts.soft = timeouts.hard + settings.replicas.timeout
        wire.timeouts.hard = wire.timeouts.soft * 4
        wire.decoding.stringLength = 2 * EngineEntry.largestByteCount
        wire.decoding.totalLength = 16 * EngineEntry.largestByteCount
        return (wire, settings)
    }

    private static func wire(_ url: String, _ timeouts: RedisTimeouts) throws(CacheError) -> RedisSettings {
        do throws(RedisURLError) {
            let wire = try RedisURL(parameters: ["prefix"], timeouts: timeouts).settings(of: url)
            if let prefix = wire.extras["prefix"] { try checkPrefix(prefix) }
            guard wire.isCluster || wire.sentinels != nil || wire.endpoints.count == 1 else {
                throw RedisURLError("more than one host is for clusters and sentinels")
            }
            return wire
        } catch {
            throw CacheError.invalidServer(error.description)
        }
    }

    private static func checkPrefix(_ prefix: String) throws(RedisURLError) {
        let isPlain = prefix.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "._-".utf8.contains($0)
        }
        guard isPlain, (1...64).contains(prefix.utf8.count) else {
            throw RedisURLError("a prefix is 1 to 64 ASCII letters, digits, “.”, “_” and “-”")
        }
    }

    /// The store of one cache.
    ///
    /// - Parameter olderSchemas: the forms whose entries go whenever an entry is changed.
    func store(cache: String, schema: UInt32, olderSchemas: [UInt32] = []) -> SharedStore {
        let names = EntryNames(prefix: prefix, cache: cache, schema: schema, olderSchemas: olderSchemas)
        let store = SharedStore(
            engine,
            names,
            offset: offset,
            settings: settings,
            debts: members.debts(of: names),
            keeper: keeper
        ) { [members] in members.tellOfRenewal(by: $0) }
        members.add(store)
        return store
    }

    /// The store of one cache, with copies on a near disk if that is asked for, which blocks then.
    func store(
        cache: String,
        schema: UInt32,
        olderSchemas: [UInt32],
        _ storage: NearStorage
    ) throws(CacheError) -> any ArchiveStore {
        // A name that no cache may have is refused before a directory is made.
        let shared = store(cache: cache, schema: schema, olderSchemas: olderSchemas)
        do throws(StoreError) {
            try shared.sealing?.askForKeys()
        } catch {
            throw CacheError(error)
        }
        let near = try storage.store(cache: cache, owner: "\(prefix.split(separator: ":").last ?? "").\(schema)")
        guard let near else { return shared }
        return TieredStore(near: near, shared: shared)
    }

    /// Stands for a directory: caches of one place, in one process, agree without the server, which does not tell a
    /// client of its own changes.
    func place(cache: String, schema: UInt32) -> String { "\(identity) \(schema) \(cache)" }

    /// How long the server's answers take, of the last ones the median; `nil` before the first one. Fetches with a producer
    /// wait for a multiple of it: see ``SharedSettings/Timeouts/soft``.
    public var answerTime: Duration? { engine.pace.current.usual }

    /// Whether memory may answer now: the server is connected, and has told of all changes.
    public var isVerified: Bool { members.isVerified(at: .now, settings.heartbeat.window) }

    /// The number of keys that the server is still to remove, because it did not acknowledge a save or removal.
    public var owedKeyCount: Int { members.owedKeyCount }

    // MARK: State

    /// The servers of this tier, and whether they can be relied on: one, or each master of a cluster in the order of
    /// their slots. As long as no node has described the cluster, these are the hosts of the URL.
    public var nodes: [SharedNodeState] {
        let now = ContinuousClock.now
        if let masters = client.nodes(at: now) { return masters.map { SharedNodeState($0, clocks) } }
        let window = settings.heartbeat.window
        if let end = engine.breaker.openUntil {
            return [SharedNodeState(node, .open, openUntil: clocks.date(of: end))]
        }
        if members.isVerified(at: now, window) {
            let isSlow = engine.pace.current.isSlow(settings.timeouts)
            return [SharedNodeState(node, isSlow ? .slow : .connected)]
        }
        let since = members.unverifiedSince(at: now, window).map(clocks.date(of:))
        return [SharedNodeState(node, .unverified, unverifiedSince: since)]
    }

    /// The changes of ``nodes`` from now on, for each server that changes: a new stream each time this is read, which
    /// ends with the tier. A master that leaves a cluster is told of no more.
    ///
    /// Looks a few times in a second; a state that lasts for a shorter time may be missed.
    public var nodeChanges: AsyncStream<SharedNodeState> {
        feed.stream(from: nodes) { [weak self] in self?.nodes }
    }

    /// The number of events of each kind since this tier was opened.
    public var statistics: SharedStatistics {
        var statistics = engine.counters.current
        let (own, copies) = (client.byteCounts, replicas?.byteCounts ?? (sent: 0, received: 0))
        statistics.bytesSent = own.sent + copies.sent
        statistics.bytesReceived = own.received + copies.received
        let redirects = client.redirects
        statistics.redirectsMoved = redirects.moved
        statistics.redirectsAsked = redirects.asked
        statistics.commandsDelayed = redirects.delayed
        statistics.commandsRepeated = redirects.repeated
        return statistics
    }

    // MARK: The end

    /// Ends the connection: later calls of caches on this tier throw `CacheError` with code `.closed`. Blocks while
    /// owed removals are sent, and leases of loads under way are given back, at most for a few timeouts: the values of these
    /// loads are returned, and not saved.
    public func close() {
        keeper.close()
        upkeep.payDebts(with: engine)
        client.close()
        replicas?.close()
        feed.end()
    }

    /// Ends the connection. Suspends while owed removals are sent and leases given back. All else is as for the synchronous twin.
    public nonisolated(nonsending) func close() async {
        await withUnsafeContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [self] in
                let closing: () -> Void = close
                closing()
                continuation.resume()
            }
        }
    }
}
