import RedisWire

extension RedisTimeouts {
    /// For calls that a busy machine may hold up for minutes, and that a test wants answered all the same.
    package static let patient: RedisTimeouts = {
        var timeouts = RedisTimeouts()
        timeouts.connect = .seconds(20)
        timeouts.soft = .seconds(600)
        timeouts.hard = .seconds(600)
        return timeouts
    }()
}
