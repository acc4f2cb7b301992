/// Numbers a connection's attempts to connect, and says how long to wait after failed ones.
struct ConnectionAttempts {
    private let backoff: RedisBackoff
    private var number = 0
    /// Failed attempts since the last success.
    private var failures = 0
    private var random = SystemRandomNumberGenerator()

    init(_ backoff: RedisBackoff) { self.backoff = backoff }

    /// Begins the next attempt; returns its number.
    mutating func begin() -> Int {
        number += 1
        return number
    }

    mutating func succeed() { failures = 0 }

    /// Counts a failed attempt, or a connection that broke; returns the pause before the next attempt.
    mutating func fail() -> Duration {
        failures += 1
        return backoff.pause(afterFailures: failures, using: &random)
    }
}
