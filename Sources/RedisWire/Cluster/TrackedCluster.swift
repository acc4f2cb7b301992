import Dispatch

/// A client of a cluster that is told of all changes of keys by other clients: a ``TrackedConnection`` to each master.
///
/// A heartbeat is a `GET` of a key in one of the slots that its master has: a master that was cut off from the cluster
/// answers it no longer. Their news come as one stream, see ``ClusterTracking``.
package final class TrackedCluster: RedisClient {
    private let client: ClusterClient
    private let core: ClusterCore
    private let trackers: ClusterTrackers

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - settings: their endpoints are the seeds.
    ///   - prefixes: of the keys to hear of; none may be a prefix of another one.
    ///   - heartbeat: the beginning of the names of the keys that heartbeats ask for.
    ///   - interval: between two heartbeats of a master.
    ///   - window: how long after a heartbeat was sent the observer takes it for a proof.
    ///   - observer: is told in the order in which things happen, on any thread, under a lock: it must neither block
    ///     nor use the client.
    /// - Throws: as ``RedisConnection/check(_:)``.
    package init(
        settings: RedisSettings,
        prefixes: [String],
        heartbeat: String,
        interval: Duration,
        window: Duration,
        observer: @escaping @Sendable (TrackingEvent) -> Void
    ) throws(RedisError) {
        try RedisConnection.check(settings)
        let trackers = ClusterTrackers(window: window, observer: observer)
        let core = ClusterCore(settings, observer: trackers.take) { endpoint throws(RedisError) in
            try TrackedNode(
                at: endpoint,
                settings: settings,
                prefixes: prefixes,
                heartbeat: heartbeat,
                interval: interval,
                trackers: trackers
            )
        }
        client = ClusterClient(core)
        self.core = core
        self.trackers = trackers
    }

    package func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try await client.send(commands)
    }

    package func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue] {
        try await client.send(commands, within: time)
    }

    package func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        try client.sendAndWait(commands)
    }

    package func servers() throws(RedisError) -> RedisServers { try client.servers() }

    /// Whether all masters tell of changes.
    package var isWhole: Bool { trackers.isWhole }

    /// Whether the master of a key tells of its changes. The observer may ask for it.
    package func isHeard(_ key: String) -> Bool { trackers.isHeard(key.utf8) }

    /// The masters, in the order of their slots; the seeds as long as no node has described the cluster.
    package func masters(at now: ContinuousClock.Instant) -> [ClusterMaster] {
        (core.watch.topology?.masters ?? core.settings.endpoints).map { endpoint in
            ClusterMaster(
                endpoint: endpoint,
                hearing: trackers.hearing(of: endpoint, at: now),
                silentUntil: core.nodes.silentUntil(endpoint, at: now)
            )
        }
    }

    /// Reads from the replicas of this cluster's masters, as far as it is known.
    ///
    /// - Parameter pause: how often a replica is asked whether it hears of its master.
    package func replicas(askedEach pause: Duration) -> ReplicaReader {
        var settings = core.settings
        settings.preparation = [["READONLY"]]
        let watch = core.watch
        @Sendable func replicas(_ command: RedisCommand) -> [RedisEndpoint] {
            guard case .slot(let slot) = command.place else { return [] }
            return watch.topology?.replicas(of: slot) ?? []
        }
        return ReplicaReader(
            settings,
            askedEach: pause,
            all: { watch.topology?.allReplicas ?? [] },
            replicas: replicas
        )
    }

    package var byteCounts: (sent: Int, received: Int) { client.byteCounts }
    package var statistics: ClusterStatistics { client.statistics }

    /// As ``ClusterClient/close()``.
    package func close() { client.close() }
}

/// A master of a cluster, as a client finds it.
package struct ClusterMaster: Sendable {
    package let endpoint: RedisEndpoint
    package let hearing: ClusterHearing
    /// Calls for its keys fail at once until then, because several in a row had no answer; `nil` if they do not.
    package let silentUntil: ContinuousClock.Instant?
}

/// A node's connections, whose answers are marked while it does not tell of changes.
private final class TrackedNode: ClusterNode {
    private let endpoint: RedisEndpoint
    private let connection: TrackedConnection
    private let number: Int
    private let trackers: ClusterTrackers

    init(
        at endpoint: RedisEndpoint,
        settings: RedisSettings,
        prefixes: [String],
        heartbeat: String,
        interval: Duration,
        trackers: ClusterTrackers
    ) throws(RedisError) {
        let number = trackers.nextNumber()
        connection = try TrackedConnection(
            to: endpoint,
            settings: settings,
            prefixes: prefixes,
            heartbeat: { ["GET", .text("\(heartbeat){\(trackers.tag(of: endpoint))}")] },
            interval: interval,
            observer: { event in trackers.tell { $0.take(event, of: endpoint, number, at: .now) } }
        )
        self.endpoint = endpoint
        self.number = number
        self.trackers = trackers
        trackers.tell { $0.connect(endpoint, number) }
    }

    deinit {
        // The last reference to the client may be that of an observer, which is told of news under the trackers' lock.
        DispatchQueue.global().async { [trackers, endpoint, number] in
            trackers.tell { $0.disconnect(endpoint, number) }
        }
    }

    var byteCounts: (sent: Int, received: Int) { connection.byteCounts }

    var connectionCount: Int { connection.connectionCount }

    func close() { connection.close() }

    func begin(_ commands: [RedisCommand], until deadline: ContinuousClock.Instant?) -> RedisPending {
        let mark = trackers.mark(of: endpoint, number)
        var pending = connection.begin(commands, until: deadline)
        pending.afterwards = { [trackers, endpoint, number] in
            // Otherwise a change after the answer may go unheard.
            if let mark, trackers.mark(of: endpoint, number) == mark { return }
            let keys = commands.flatMap(\.keys)
            if !keys.isEmpty { trackers.tell { _ in [.unheard(keys)] } }
        }
        return pending
    }
}
