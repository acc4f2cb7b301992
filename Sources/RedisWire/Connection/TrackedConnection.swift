import Synchronization

/// A connection to one server that is told of all changes of keys by other clients.
///
/// It is two: one for all calls, and a channel on which the server names the keys that other clients, or the server
/// itself, have changed. Changes by this connection's own plain commands are not told; those by its scripts are. Both
/// connect by themselves, and again when they broke.
///
/// A heartbeat on the channel tells until when nothing can have been missed: a message for a change comes before the
/// answer of a command that was sent after the change was acknowledged. With it goes a `PING` on the other connection, for
/// the server tells of changes as long as it has both.
package final class TrackedConnection: RedisClient {
    private let calls: RedisConnection
    private let channel: RedisConnection
    private let tracker: Tracker
    private let heart: Task<Void, Never>
    private let role: Role

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - prefixes: of the keys to hear of; none may be a prefix of another one. Without any, no change is told.
    ///   - heartbeat: gives a command that only the server that has the keys can answer, such as a `GET` of one of them.
    ///   - interval: between two heartbeats.
    ///   - observer: is told in the order in which things happen, on any thread, under a lock: it must neither block
    ///     nor use the connection.
    /// - Throws: as ``RedisConnection``'s initializer.
    package init(
        to endpoint: RedisEndpoint,
        settings: RedisSettings,
        prefixes: [String],
        heartbeat: @escaping @Sendable () -> RedisCommand,
        interval: Duration,
        observer: @escaping @Sendable (TrackingEvent) -> Void
    ) throws(RedisError) {
        // Sentinels name the master.
        let role = Role(needsMaster: settings.sentinels != nil)
        let tracker = Tracker(prefixes: prefixes, role: role, observer: observer)
        let calls = try RedisConnection(to: endpoint, settings: settings) { tracker.callsDid($0) }
        let channel = try RedisConnection(to: endpoint, settings: settings, hearsMessages: true) {
            tracker.channelDid($0)
        }
        self.tracker = tracker
        self.role = role
        self.calls = calls
        self.channel = channel
        heart = Task.detached {
            var pauses = HeartPauses(interval: interval)
            while !Task.isCancelled {
                let outcome = await tracker.beat(heartbeat, calls: calls, channel: channel)
                try? await Task.sleep(for: pauses.next(after: outcome))
            }
        }
    }

    deinit { close() }

    package func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        role.noting(try await calls.send(commands))
    }

    package func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue] {
        role.noting(try await calls.send(commands, within: time))
    }

    package func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        role.noting(try calls.sendAndWait(commands))
    }

    package func servers() throws(RedisError) -> RedisServers {
        RedisServers(clients: [self], arrangement: "\(calls.connectionCount)")
    }

    /// As ``RedisConnection/begin(_:until:)``.
    package func begin(_ commands: [RedisCommand], until deadline: ContinuousClock.Instant?) -> RedisPending {
        calls.begin(commands, until: deadline)
    }

    /// The bytes of both connections together.
    package var byteCounts: (sent: Int, received: Int) {
        let (calls, channel) = (calls.byteCounts, channel.byteCounts)
        return (calls.sent + channel.sent, calls.received + channel.received)
    }

    package var connectionCount: Int { calls.connectionCount }

    /// Ends both connections, as ``RedisConnection/close()`` does.
    package func close() {
        heart.cancel()
        calls.close()
        channel.close()
    }
}

/// News of keys.
package enum TrackingEvent: Sendable {
    /// The keys were changed, by other clients or by the server, which removes them when they expire or room is short.
    case changed([[UInt8]])
    /// All keys may have been changed: the server was emptied.
    case changedAll
    /// A server that does not tell of changes has answered commands for these keys, and later answers may differ.
    case unheard([[UInt8]])
    /// Changes may be missed from now on, so that any entry may be out of date.
    case lost(RedisError)
    /// No change that was acknowledged before this instant was missed, and all of them have been told.
    case verified(since: ContinuousClock.Instant)
}

/// Whether the server of a connection is a replica that the connection must not stay with.
///
/// A replica tells of changes as its master sends them, and may have lost the master: its answers may be out of date for any
/// time. A process that only reads may be given one. A server that was the master when the process found it, or that
/// refuses a change, was meant to be a master: its name leads to another one, now or before long.
private final class Role: Sendable {
    private let needsMaster: Atomic<Bool>

    init(needsMaster: Bool) { self.needsMaster = Atomic(needsMaster) }

    func noting(_ answers: [RedisValue]) -> [RedisValue] {
        for case .error(let error) in answers where error.code == "READONLY" {
            needsMaster.store(true, ordering: .relaxed)
        }
        return answers
    }

    static let question: RedisCommand = ["INFO", "replication"]

    enum Finding {
        /// Also one that does not tell.
        case master
        case replica(mustBeLeft: Bool)
    }

    func finding(_ answer: RedisValue) -> Finding {
        switch answer.text?.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("role:") }) {
        case "role:slave", "role:replica": return .replica(mustBeLeft: needsMaster.load(ordering: .relaxed))
        case "role:master": needsMaster.store(true, ordering: .relaxed)
        default: break
        }
        return .master
    }
}

/// The state of tracking, for the thread of the connections and the task that sends heartbeats.
private final class Tracker: Sendable {
    private let prefixes: [String]
    private let role: Role
    /// Called under the lock, so that news come in order.
    private let observer: @Sendable (TrackingEvent) -> Void
    private let state = Mutex(Tracking())

    init(prefixes: [String], role: Role, observer: @escaping @Sendable (TrackingEvent) -> Void) {
        self.prefixes = prefixes
        self.role = role
        self.observer = observer
    }

    func callsDid(_ event: RedisEvent) { tell { $0.callsDid(event) } }
    func channelDid(_ event: RedisEvent) { tell { $0.channelDid(event) } }

    private func tell(_ body: (inout Tracking) -> TrackingEvent?) {
        state.withLock { state in
            if let news = body(&state) { observer(news) }
        }
    }

    /// Asks the server to tell of changes, unless it does, and then for a sign of life.
    func beat(
        _ heartbeat: () -> RedisCommand,
        calls: RedisConnection,
        channel: RedisConnection
    ) async -> HeartPauses.Outcome {
        guard let beat = state.withLock({ $0.beginBeat(prefixes: prefixes) }) else { return .notConnected }
        if !beat.preparation.isEmpty {
            guard await isOneServer(calls, channel), let answers = try? await calls.send(beat.preparation),
                state.withLock({ $0.prepared(beat, answers) })
            else { return .notTracking }
        }
        let start = ContinuousClock.now
        // Once the server has lost the connection for calls, which switched tracking on, it tells of no change, and goes on
        // answering the channel. The loss may not come out here: its message is lost on the way, and no call is made.
        async let hasCalls = Self.isAnswered(calls)
        if let answers = try? await channel.send([heartbeat(), Role.question]) {
            // A node of a cluster refuses the heartbeat itself when it is not a master any longer.
            if !answers[0].isError, case .replica(let mustBeLeft) = role.finding(answers[1]) {
                if mustBeLeft {
                    for connection in [calls, channel] { connection.reconnect(because: "it led to a replica") }
                }
                return .notTracking
            }
            if await hasCalls { tell { $0.answered(beat, answers[0], sentAt: start) } }
        }
        // A connection may have been lost in the meantime.
        return state.withLock { $0.isOn } ? .tracking : .notConnected
    }

    /// Whether the server answers on a connection; a refusal is an answer.
    private static func isAnswered(_ connection: RedisConnection) async -> Bool {
        (try? await connection.send([["PING"]])) != nil
    }

    /// Whether both connections lead to one server, as far as it tells. A name may stand for several: the channel would
    /// hear of changes on another one than answers calls. Then the channel connects again, until it finds the same one.
    ///
    /// - Returns: `false` also without an answer; the next heartbeat asks again.
    private func isOneServer(_ calls: RedisConnection, _ channel: RedisConnection) async -> Bool {
        let question: RedisCommand = ["INFO", "server"]
        guard let own = try? await calls.send([question]).first,
            let other = try? await channel.send([question]).first
        else { return false }
        guard let own = Self.identity(own), let other = Self.identity(other), own != other else { return true }
        channel.reconnect(because: "it led to another server than that of the calls")
        return false
    }

    /// The number of a server's process that its information tells; `nil` without the right to ask.
    private static func identity(_ information: RedisValue) -> Substring? {
        information.text?.split(whereSeparator: \.isNewline).first { $0.hasPrefix("run_id:") }
    }
}
