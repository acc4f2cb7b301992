import RedisWire

/// The client of a tier, which can be closed.
protocol TierClient: AnyObject, RedisClient {
    /// The bytes that were sent and received, if they are counted.
    var byteCounts: (sent: Int, received: Int) { get }

    /// Whether changes of a key are heard of, while heartbeats come.
    func isHeard(_ key: String) -> Bool

    /// The masters of a cluster; `nil` for a client of one server.
    func nodes(at now: ContinuousClock.Instant) -> [ClusterMaster]?

    /// How often a cluster's nodes have sent commands elsewhere.
    var redirects: ClusterStatistics { get }

    /// Ends all connections; does not block.
    func close()
}

extension TierClient {
    func isHeard(_ key: String) -> Bool { true }
    func nodes(at now: ContinuousClock.Instant) -> [ClusterMaster]? { nil }
    var redirects: ClusterStatistics { ClusterStatistics() }
}

extension TrackedConnection: TierClient {}
extension TrackedCluster: TierClient {
    func nodes(at now: ContinuousClock.Instant) -> [ClusterMaster]? { masters(at: now) }

    var redirects: ClusterStatistics { statistics }
}
