import Synchronization

/// Reads from replicas, which may have older values than their masters. Each command goes to one replica, and once: without
/// an answer that counts, the caller asks the master.
///
/// A replica counts while it is connected with its master. It is asked for that together with a read, at intervals.
package final class ReplicaReader: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Link {
        var askedAt: Instant?
        /// Whether it was connected with its master then.
        var isUp = false
    }

    /// Commands under way to a replica.
    private struct Call {
        let replica: RedisEndpoint
        /// Of the commands, among all.
        let places: [Int]
        /// Whether the question follows them.
        let asks: Bool
        /// Must live until the answers are there.
        let node: any ClusterNode
        let pending: RedisPending
    }

    private static let question: RedisCommand = ["INFO", "replication"]

    private let nodes: ClusterNodes
    private let all: @Sendable () -> [RedisEndpoint]
    private let replicas: @Sendable (RedisCommand) -> [RedisEndpoint]
    private let pause: Duration
    private let links = Mutex<[RedisEndpoint: Link]>([:])
    private let turn = Atomic<Int>(0)

    /// - Parameters:
    ///   - pause: how often a replica is asked whether it hears of its master.
    ///   - all: gives all replicas there are.
    ///   - replicas: gives the replicas that have the keys of a command.
    init(
        _ settings: RedisSettings,
        askedEach pause: Duration,
        all: @escaping @Sendable () -> [RedisEndpoint],
        replicas: @escaping @Sendable (RedisCommand) -> [RedisEndpoint]
    ) {
        self.pause = pause
        self.all = all
        self.replicas = replicas
        nodes = ClusterNodes { endpoint throws(RedisError) in try RedisConnection(to: endpoint, settings: settings)
        }
    }

    /// Reads from the replicas of one server.
    package convenience init(
        at endpoints: [RedisEndpoint],
        settings: RedisSettings,
        askedEach pause: Duration
    ) {
        var settings = settings
        // They would name the master.
        settings.sentinels = nil
        self.init(settings, askedEach: pause, all: { endpoints }, replicas: { _ in endpoints })
    }

    deinit { close() }

    /// Sends commands that change nothing.
    ///
    /// - Returns: for each command the answer, refusals among them; `nil` without one that counts.
    package func read(_ commands: [RedisCommand], within time: Duration) async -> [RedisValue?] {
        let now = Instant.now
        var places: [RedisEndpoint: [Int]] = [:]
        for (place, command) in commands.enumerated() {
            if let replica = replica(for: command, at: now) { places[replica, default: []].append(place) }
        }
        var calls: [Call] = []
        for (replica, places) in places {
            guard let node = try? nodes.node(at: replica, now) else { continue }
            let asks = beginAsking(replica, at: now)
            if asks { nodes.keep(all(), at: now) }
            let sent = places.map { commands[$0] } + (asks ? [Self.question] : [])
            let pending = node.begin(sent, until: now + time)
            calls.append(Call(replica: replica, places: places, asks: asks, node: node, pending: pending))
        }
        var values = [RedisValue?](repeating: nil, count: commands.count)
        for call in calls {
            let outcome = await call.pending.outcome()
            nodes.note(outcome, of: call.replica, at: .now)
            withExtendedLifetime(call.node) {}
            guard case .success(let answers) = outcome else {
                if call.asks { note(call.replica, isUp: false) }
                continue
            }
            if call.asks { note(call.replica, isUp: Self.isConnected(answers.last)) }
            guard links.withLock({ $0[call.replica]?.isUp == true }) else { continue }
            for (place, answer) in zip(call.places, answers) { values[place] = answer }
        }
        return values
    }

    /// The next replica in turn, of the replicas that count or are to be asked.
    private func replica(for command: RedisCommand, at now: Instant) -> RedisEndpoint? {
        let known = replicas(command)
        if known.isEmpty { return nil }
        let usable = links.withLock { links in
            known.filter { links[$0].map { $0.isUp || isDue($0, at: now) } ?? true }
        }
        if usable.isEmpty { return nil }
        return usable[turn.add(1, ordering: .relaxed).oldValue % usable.count]
    }

    private func isDue(_ link: Link, at now: Instant) -> Bool { link.askedAt.map { now >= $0 + pause } ?? true }

    /// Whether the question is to be sent, which one caller does.
    private func beginAsking(_ replica: RedisEndpoint, at now: Instant) -> Bool {
        links.withLock { links in
            let link = links[replica] ?? Link()
            guard isDue(link, at: now) else { return false }
            links[replica] = Link(askedAt: now, isUp: link.isUp)
            return true
        }
    }

    private func note(_ replica: RedisEndpoint, isUp: Bool) { links.withLock { $0[replica]?.isUp = isUp } }

    /// Whether a server is a replica that is connected with its master.
    private static func isConnected(_ information: RedisValue?) -> Bool {
        information?.text?.split(whereSeparator: \.isNewline).contains("master_link_status:up") ?? false
    }

    /// The bytes of all connections.
    package var byteCounts: (sent: Int, received: Int) { nodes.byteCounts }

    /// Ends all connections. Does not block.
    package func close() { nodes.close() }
}
