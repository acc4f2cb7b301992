/// Says how long to wait after failed attempts to connect.
struct ConnectionAttempts {
    private let backoff: RedisBackoff
    /// Failed attempts since the last success.
    private var failures = 0
    private var random = SystemRandomNumberGenerator()

    init(_ backoff: RedisBackoff) { self.backoff = backoff }

    /// The server has answered a call. A greeting does not count, so that the pauses grow also for a server that greets and
    /// then ends each connection.
    mutating func succeed() { failures = 0 }

    /// Counts a failed attempt, or a connection that broke; returns the pause before the next attempt.
    mutating func fail() -> Duration {
        failures += 1
        return backoff.pause(afterFailures: failures, using: &random)
    }
}
