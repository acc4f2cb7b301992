import RedisWire

/// The client of a tier, which can be closed.
protocol TierClient: AnyObject, RedisClient {
    /// The bytes that were sent and received, if they are counted.
    var byteCounts: (sent: Int, received: Int) { get }

    /// Whether changes of a key are heard of, while heartbeats come.
    func isHeard(_ key: String) -> Bool

    /// Ends all connections; does not block.
    func close()
}

extension TierClient {
    func isHeard(_ key: String) -> Bool { true }
}

extension TrackedConnection: TierClient {}
extension TrackedCluster: TierClient {}
