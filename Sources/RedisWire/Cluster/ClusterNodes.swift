import Synchronization

/// The connections to a cluster's nodes, and their failures.
final class ClusterNodes: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Node {
        let connection: any ClusterNode
        var usedAt: Instant
        /// When the first of the calls failed that have failed since the last answer.
        var downSince: Instant?
        /// Calls in a row that had no answer in time.
        var timeouts = 0
        /// Calls fail at once until then.
        var silentUntil: Instant?
    }

    private struct State {
        var nodes: [RedisEndpoint: Node] = [:]
        var isClosed = false
    }

    /// After so many timeouts in a row, calls fail at once for a while.
    private static let mostTimeouts = 5
    private static let silence: Duration = .seconds(1)
    /// How long a node without slots keeps its connection after its last call.
    private static let rest: Duration = .seconds(10)

    private let connect: @Sendable (RedisEndpoint) throws(RedisError) -> any ClusterNode
    private let state = Mutex(State())
    /// Held while a connection is begun, before the lock of the state.
    private let connecting = Mutex(())

    init(connect: @escaping @Sendable (RedisEndpoint) throws(RedisError) -> any ClusterNode) {
        self.connect = connect
    }

    /// The connection to a node, which is made if there is none.
    ///
    /// - Throws: `.notConnected` at once if the node has not answered for some time.
    func node(at endpoint: RedisEndpoint, _ now: Instant) throws(RedisError) -> any ClusterNode {
        let node = if let known = try known(endpoint, now) { known } else { try connected(endpoint, now) }
        if let end = node.silentUntil, now < end {
            throw RedisError(.notConnected, "\(endpoint) gave no answer \(Self.mostTimeouts) times in a row.")
        }
        return node.connection
    }

    /// - Returns: `nil` if there is no connection.
    /// - Throws: `.closed`.
    private func known(_ endpoint: RedisEndpoint, _ now: Instant) throws(RedisError) -> Node? {
        try state.withLock { state throws(RedisError) in
            if state.isClosed { throw RedisError(.closed, "The client is closed.") }
            guard var node = state.nodes[endpoint] else { return nil }
            node.usedAt = now
            state.nodes[endpoint] = node
            return node
        }
    }

    /// Begins to connect, which may read files of certificates: calls to other nodes go on in the meantime.
    private func connected(_ endpoint: RedisEndpoint, _ now: Instant) throws(RedisError) -> Node {
        // Two at once would disagree on the connection that is the node's.
        try connecting.withLock { _ throws(RedisError) in
            if let node = try known(endpoint, now) { return node }
            let node = Node(connection: try connect(endpoint), usedAt: now)
            let isClosed = state.withLock { state in
                if !state.isClosed { state.nodes[endpoint] = node }
                return state.isClosed
            }
            if isClosed {
                node.connection.close()
                throw RedisError(.closed, "The client is closed.")
            }
            return node
        }
    }

    /// Takes the outcome of a call.
    func note(_ outcome: RedisPending.Outcome, of endpoint: RedisEndpoint, at now: Instant) {
        switch outcome {
        case .success: isAlive(endpoint)
        case .failure(let error):
            if error.code == .cancelled { return }
            state.withLock { state in
                guard var node = state.nodes[endpoint] else { return }
                if node.downSince == nil { node.downSince = now }
                if error.code == .timeout {
                    node.timeouts += 1
                    if node.timeouts >= Self.mostTimeouts { node.silentUntil = now + Self.silence }
                }
                state.nodes[endpoint] = node
            }
        }
    }

    /// A node has answered.
    func isAlive(_ endpoint: RedisEndpoint) {
        state.withLock { state in
            guard var node = state.nodes[endpoint], node.downSince != nil else { return }
            node.downSince = nil
            node.timeouts = 0
            node.silentUntil = nil
            state.nodes[endpoint] = node
        }
    }

    /// When the first of the calls failed that have failed since the node's last answer; `nil` for a node that answers.
    func downSince(_ endpoint: RedisEndpoint) -> Instant? { state.withLock { $0.nodes[endpoint]?.downSince } }

    /// Until when calls to a node fail at once; `nil` if they do not.
    func silentUntil(_ endpoint: RedisEndpoint, at now: Instant) -> Instant? {
        state.withLock { $0.nodes[endpoint]?.silentUntil.flatMap { now < $0 ? $0 : nil } }
    }

    var isAnyDown: Bool { state.withLock { $0.nodes.values.contains { $0.downSince != nil } } }

    /// The bytes of all connections there are.
    var byteCounts: (sent: Int, received: Int) {
        let connections = state.withLock { $0.nodes.values.map(\.connection) }
        return connections.map(\.byteCounts).reduce((0, 0)) { ($0.0 + $1.sent, $0.1 + $1.received) }
    }

    /// Lets all other nodes go, unless they were used a moment ago. Their connections end with the last call on them.
    func keep(_ masters: [RedisEndpoint], at now: Instant) {
        let kept = Set(masters)
        // Released outside the lock.
        let gone = state.withLock { state in
            let gone = state.nodes.filter { !kept.contains($0.key) && $0.value.usedAt + Self.rest < now }
            for endpoint in gone.keys { state.nodes[endpoint] = nil }
            return gone
        }
        _ = consume gone
    }

    func close() {
        let all = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.nodes
        }
        for node in all.values { node.connection.close() }
    }
}
