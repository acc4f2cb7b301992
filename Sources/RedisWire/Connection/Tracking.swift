/// How long to wait before the next heartbeat. A value without clock.
struct HeartPauses {
    /// The outcome of a heartbeat.
    enum Outcome {
        case notConnected
        /// The server did not begin to tell of changes.
        case notTracking
        case tracking
    }

    let interval: Duration
    /// Heartbeats in a row after which the server did not tell of changes.
    private var failures = 0

    private static let shortest: Duration = .milliseconds(20)

    init(interval: Duration) { self.interval = interval }

    /// A new connection is noticed soon; a server that refuses is asked less and less often.
    mutating func next(after outcome: Outcome) -> Duration {
        failures = outcome == .notTracking ? failures + 1 : 0
        if outcome == .tracking { return interval }
        return min(interval, Self.shortest * (1 << min(max(failures - 1, 0), 10)))
    }
}

/// Whether a server tells of changes, by the events of the two connections to it. A value without I/O, clock or locks.
///
/// Each loss of a connection, and each new one, begins an epoch: tracking has to be switched on again, and heartbeats that
/// were sent before prove nothing.
package struct Tracking: Sendable {
    /// The server's number of the channel; `nil` while there is none.
    private var channel: Int64?
    private var hasCalls = false
    /// Whether the server tells of changes.
    package private(set) var isOn = false
    private var epoch = 0

    package init() {}

    /// Takes an event of the connection for calls.
    ///
    /// - Returns: the news for the observer; `nil` for none.
    package mutating func callsDid(_ event: RedisEvent) -> TrackingEvent? {
        change(after: event) { $0.hasCalls = $1 != nil }
    }

    /// Takes an event of the channel, on which the server tells of changes.
    ///
    /// - Returns: the news for the observer; `nil` for none.
    package mutating func channelDid(_ event: RedisEvent) -> TrackingEvent? {
        guard case .push(let elements) = event else {
            return change(after: event) { $0.channel = $1?.field("id")?.integer }
        }
        guard elements.count == 2, elements[0].text == "invalidate" else { return nil }
        return elements[1].elements.map { .changed($0.compactMap(\.bytes)) } ?? .changedAll
    }

    /// - Parameter body: is given the server's greeting, or `nil` for a loss.
    private mutating func change(
        after event: RedisEvent,
        _ body: (inout Tracking, RedisValue?) -> Void
    ) -> TrackingEvent? {
        var news: TrackingEvent?
        switch event {
        case .push: return nil
        case .connected(let server): body(&self, server)
        case .disconnected(let error):
            body(&self, nil)
            news = .lost(error)
        }
        epoch += 1
        isOn = false
        return news
    }

    // MARK: Heartbeats

    /// A heartbeat that has begun.
    package struct Beat: Sendable {
        fileprivate let epoch: Int
        /// The connection for calls has to send these first, which switch tracking on; none if it is on.
        package let preparation: [RedisCommand]
    }

    /// Begins a heartbeat; `nil` while a connection is missing.
    ///
    /// - Parameter prefixes: of the keys to hear of.
    package func beginBeat(prefixes: [String]) -> Beat? {
        guard hasCalls, let channel else { return nil }
        if isOn { return Beat(epoch: epoch, preparation: []) }
        let off: RedisCommand = ["CLIENT", "TRACKING", "OFF"]
        if prefixes.isEmpty { return Beat(epoch: epoch, preparation: [off]) }
        let on: [RedisCommand.Argument] = ["CLIENT", "TRACKING", "ON", "REDIRECT", .integer(Int(channel))]
        let words = on + ["BCAST", "NOLOOP"] + prefixes.flatMap { ["PREFIX", .text($0)] }
        // A second time the server would refuse its own prefixes.
        return Beat(epoch: epoch, preparation: [off, RedisCommand(words)])
    }

    /// Takes the answers to a heartbeat's preparation, and says whether tracking is on: then the channel has to send
    /// the heartbeat's command.
    package mutating func prepared(_ beat: Beat, _ answers: [RedisValue]) -> Bool {
        if answers.last?.text == "OK", beat.epoch == epoch { isOn = true }
        return isOn
    }

    /// Takes the answer to a heartbeat's command, which was sent at `start`.
    ///
    /// - Returns: the news for the observer; `nil` if the answer proves nothing.
    package func answered(
        _ beat: Beat,
        _ answer: RedisValue,
        sentAt start: ContinuousClock.Instant
    ) -> TrackingEvent? {
        if case .error = answer { return nil }
        return isOn && beat.epoch == epoch ? .verified(since: start) : nil
    }
}
