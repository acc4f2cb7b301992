import RedisWire

/// The client of a tier, which can be closed.
protocol TierClient: AnyObject, RedisClient {
    /// The bytes that were sent and received, if they are counted.
    var byteCounts: (sent: Int, received: Int) { get }

    /// Ends all connections; does not block.
    func close()
}

extension TrackedConnection: TierClient {}
