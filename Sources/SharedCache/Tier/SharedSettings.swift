/// How a shared tier behaves. Addresses, credentials and timeouts are in its URL.
public struct SharedSettings: Sendable, Equatable {
    /// How often the server is asked for a sign of life, while it is connected; 1 s by default, at least 10 ms.
    public var heartbeatInterval: Duration
    /// How long after the time for a heartbeat memory may go on answering without one; 1 s by default.
    ///
    /// Interval and deadline together are the bound of staleness: no fetch gives a value from memory that another
    /// machine has replaced or removed longer ago than that, whatever connections do.
    public var heartbeatDeadline: Duration

    public init(
        heartbeatInterval: Duration = .seconds(1),
        heartbeatDeadline: Duration = .seconds(1)
    ) {
        self.heartbeatInterval = max(heartbeatInterval, .milliseconds(10))
        self.heartbeatDeadline = max(heartbeatDeadline, .zero)
    }

    /// How long after a heartbeat was sent memory may answer.
    var window: Duration { heartbeatInterval + heartbeatDeadline }
}
