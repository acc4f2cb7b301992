/// How a shared tier behaves. Addresses, credentials and timeouts are in its URL.
public struct SharedSettings: Sendable, Equatable {
    /// How often the server is asked for a sign of life, while it is connected; 1 s by default, at least 10 ms.
    public var heartbeatInterval: Duration
    /// How long after the time for a heartbeat memory may go on answering without one; 1 s by default.
    ///
    /// Interval and deadline together are the bound of staleness: no fetch gives a value from memory that another
    /// machine has replaced or removed longer ago than that, even if connections fail.
    public var heartbeatDeadline: Duration

    /// How long a load has the lease of its key after its process has died; 10 s by default, at least 10 ms.
    ///
    /// Loads of all machines are joined: one has the key's lease and runs its producer, and extends the lease meanwhile;
    /// the others wait for the value that it saves. A load that has waited for so long runs its own producer, and so
    /// does each while the server does not answer; their values are returned, but not saved.
    public var leaseDuration: Duration

    public init(
        heartbeatInterval: Duration = .seconds(1),
        heartbeatDeadline: Duration = .seconds(1),
        leaseDuration: Duration = .seconds(10)
    ) {
        self.heartbeatInterval = max(heartbeatInterval, .milliseconds(10))
        self.heartbeatDeadline = max(heartbeatDeadline, .zero)
        self.leaseDuration = max(leaseDuration, .milliseconds(10))
    }

    /// How long after a heartbeat was sent memory may answer.
    var window: Duration { heartbeatInterval + heartbeatDeadline }
}
