/// The news of all masters of a cluster as one stream: their changes, and the time until which none can have been missed.
/// A value without I/O, clock or locks.
///
/// Only masters that tell of changes *count*. While one does not, because its connection is lost or its heartbeats are not
/// answered, the other masters go on: answers of a master that does not count are marked by their reader
/// (``TrackingEvent/unheard(_:)``), and nothing of them is kept near. So that time is the earliest of the masters that
/// count. When a master ceases to count, entries of any master may be out of date.
struct ClusterTracking {
    typealias Instant = ContinuousClock.Instant

    /// Proves that a node counted all the time between two looks.
    struct Mark: Equatable { fileprivate let number: Int }

    private struct Node {
        /// The number of its connection.
        let connection: Int
        /// `nil` while the node does not count.
        var mark: Mark?
        /// When the last heartbeat was sent that was answered.
        var verifiedSince: Instant?
        /// When the connection was lost, if no heartbeat was answered since.
        var lostAt: Instant?
    }

    private let window: Duration
    private var masters: Set<RedisEndpoint> = []
    private var nodes: [RedisEndpoint: Node] = [:]
    private var lastMark = 0

    /// - Parameter window: how long after a heartbeat was sent a node counts without another one.
    init(window: Duration) { self.window = window }

    /// Whether all masters count.
    var isWhole: Bool { !masters.isEmpty && masters.allSatisfy { nodes[$0]?.mark != nil } }

    /// The nodes that count.
    var counted: Set<RedisEndpoint> { Set(nodes.filter { $0.value.mark != nil }.keys) }

    /// - Parameter connection: the number of the connection that is used.
    func mark(of node: RedisEndpoint, _ connection: Int) -> Mark? {
        nodes[node].flatMap { $0.connection == connection ? $0.mark : nil }
    }

    /// Whether a node's changes are heard of.
    func hearing(of node: RedisEndpoint, at now: Instant) -> ClusterHearing {
        guard let node = nodes[node] else { return .unheard(since: nil) }
        let isRecent = node.verifiedSince.map { now < $0 + window } ?? false
        return node.mark != nil && isRecent ? .heard : .unheard(since: node.lostAt ?? node.verifiedSince)
    }

    // MARK: Changes

    /// A node has a new connection with this number.
    mutating func connect(_ node: RedisEndpoint, _ connection: Int) -> [TrackingEvent] {
        let former = nodes.updateValue(Node(connection: connection), forKey: node)
        return former?.mark == nil ? [] : lost("The connection to \(node) was replaced.")
    }

    /// The connection to a node was closed.
    mutating func disconnect(_ node: RedisEndpoint, _ connection: Int) -> [TrackingEvent] {
        guard nodes[node]?.connection == connection else { return [] }
        return nodes.removeValue(forKey: node)?.mark == nil ? [] : lost("The connection to \(node) was closed.")
    }

    /// Takes the masters of a new topology.
    ///
    /// - Parameter losers: the masters that have lost slots to other masters.
    mutating func set(_ masters: [RedisEndpoint], losers: Set<RedisEndpoint>) -> [TrackingEvent] {
        let masters = Set(masters)
        self.masters = masters
        return uncount { node, _ in !masters.contains(node) || losers.contains(node) }
            ? lost("Slots of the cluster have moved.") : []
    }

    /// Takes news of a node's connection.
    mutating func take(
        _ event: TrackingEvent,
        of node: RedisEndpoint,
        _ connection: Int,
        at now: Instant
    ) -> [TrackingEvent] {
        let isCurrent = nodes[node]?.connection == connection
        switch event {
        case .changed, .changedAll, .unheard: return [event]
        case .lost(let error):
            guard isCurrent, uncount({ other, _ in other == node }) else { return [] }
            nodes[node]?.lostAt = now
            return lost(error.message)
        case .verified(let start):
            if isCurrent, masters.contains(node) {
                if nodes[node]?.mark == nil {
                    lastMark += 1
                    nodes[node]?.mark = Mark(number: lastMark)
                }
                nodes[node]?.verifiedSince = start
                nodes[node]?.lostAt = nil
            }
            let isAnySilent = uncount { [window] _, node in node.verifiedSince.map { $0 + window <= now } ?? true }
            return isAnySilent ? lost("A node's heartbeats are not answered.") : verified()
        }
    }

    /// Some of the nodes cease to count.
    ///
    /// - Returns: whether any did.
    private mutating func uncount(_ isGone: (RedisEndpoint, Node) -> Bool) -> Bool {
        let gone = nodes.filter { $0.value.mark != nil && isGone($0.key, $0.value) }
        for node in gone.keys { nodes[node]?.mark = nil }
        return !gone.isEmpty
    }

    private func lost(_ message: String) -> [TrackingEvent] {
        [.lost(RedisError(.connectionLost, message))] + verified()
    }

    private func verified() -> [TrackingEvent] {
        let starts = nodes.values.compactMap { $0.mark == nil ? nil : $0.verifiedSince }
        return starts.min().map { [.verified(since: $0)] } ?? []
    }
}

/// Whether the changes of a master's keys are heard of.
package enum ClusterHearing: Sendable, Equatable {
    case heard
    /// Some may have been missed since then; `nil` if none was ever heard of.
    case unheard(since: ContinuousClock.Instant?)
}
