import Foundation
import Synchronization

/// A client of a cluster: each command goes to the node that has its keys.
///
/// It connects to the masters that the cluster names, by way of seeds, and to no other address. Slots that move and
/// nodes that fail are followed: a refused command goes where the refusal says, and a command that no node has executed
/// goes out again within the soft timeout. Commands without keys go to any node.
///
/// Commands of one call for one node go out one after another; those for other nodes at the same time. If some of
/// them have no answer, the call does not fail, but they have an error with code `NOANSWER` in the place of one.
package final class ClusterClient: RedisClient {
    private let core: ClusterCore

    /// Begins to connect.
    ///
    /// - Parameter settings: their endpoints are the seeds; all of them give credentials and timeouts to each node.
    package convenience init(settings: RedisSettings) {
        self.init(
            ClusterCore(settings) { endpoint throws(RedisError) in
                try RedisConnection(to: endpoint, settings: settings)
            }
        )
    }

    init(_ core: ClusterCore) {
        self.core = core
        core.watch.begin()
    }

    deinit { close() }

    package func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try await send(commands, within: core.settings.timeouts.soft)
    }

    package func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue] {
        var batch = core.batch(of: commands, within: time)
        while true {
            switch core.next(&batch) {
            case .done(let result): return try result.get()
            case .pause(let pause):
                do {
                    try await Task.sleep(for: pause)
                } catch {
                    throw RedisError(.cancelled, mayHaveRun: true, "The task was cancelled.")
                }
            case .send(let requests):
                let calls = requests.map { core.begin($0, of: batch) }
                for call in calls { core.take(await call.pending.outcome(), of: call, &batch) }
            }
        }
    }

    package func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        var batch = core.batch(of: commands, within: core.settings.timeouts.soft)
        while true {
            switch core.next(&batch) {
            case .done(let result): return try result.get()
            case .pause(let pause): Thread.sleep(forTimeInterval: pause / .seconds(1))
            case .send(let requests):
                let calls = requests.map { core.begin($0, of: batch) }
                for call in calls { core.take(call.pending.wait(), of: call, &batch) }
            }
        }
    }

    /// The masters, and their slots, of which a change shows that keys may have moved in the meantime. Blocks until all of them
    /// have answered.
    package func servers() throws(RedisError) -> RedisServers { try core.servers() }

    /// The topology as far as it is known.
    package var topology: ClusterTopology? { core.watch.topology }

    /// The bytes of all connections there are.
    package var byteCounts: (sent: Int, received: Int) { core.nodes.byteCounts }

    package var statistics: ClusterStatistics { core.statistics }

    /// Ends all connections: calls that wait, and later ones, fail with `.closed`. Does not block.
    package func close() { core.close() }
}

/// How often a cluster's nodes have sent commands elsewhere.
package struct ClusterStatistics: Sendable, Equatable {
    /// Answers `MOVED`: a slot was another node's.
    package var moved = 0
    /// Answers `ASK`: a key was on its way to another node.
    package var asked = 0
    /// Answers `TRYAGAIN`: some of a command's keys were on their way to another node.
    package var delayed = 0
    /// Commands that were sent again because a node was down, or its connection was lost.
    package var repeated = 0

    package init() {}

    static func += (total: inout ClusterStatistics, more: ClusterStatistics) {
        total.moved += more.moved
        total.asked += more.asked
        total.delayed += more.delayed
        total.repeated += more.repeated
    }
}

/// The parts of a client of a cluster.
final class ClusterCore: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Commands under way to a node.
    struct Call {
        let request: ClusterBatch.Request
        /// Must live until the answers are there.
        let connection: (any ClusterNode)?
        let pending: RedisPending
    }

    let settings: RedisSettings
    let nodes: ClusterNodes
    let watch: ClusterWatch
    private let counts = Mutex(ClusterStatistics())

    /// - Parameters:
    ///   - observer: is told of each new topology before it is used.
    ///   - connect: begins to connect to a node.
    init(
        _ settings: RedisSettings,
        pauses: ClusterWatch.Pauses = ClusterWatch.Pauses(),
        observer: @escaping @Sendable (ClusterTopology) -> Void = { _ in },
        connect: @escaping @Sendable (RedisEndpoint) throws(RedisError) -> any ClusterNode
    ) {
        self.settings = settings
        let nodes = ClusterNodes(connect: connect)
        self.nodes = nodes
        watch = ClusterWatch(settings, nodes: nodes, pauses: pauses) { new in
            observer(new)
            nodes.keep(new.masters, at: .now)
            // Connected before they are needed.
            for master in new.masters { _ = try? nodes.node(at: master, .now) }
        }
    }

    func close() {
        watch.close()
        nodes.close()
    }

    var statistics: ClusterStatistics { counts.withLock { $0 } }

    // MARK: Calls

    func batch(of commands: [RedisCommand], within time: Duration) -> ClusterBatch {
        ClusterBatch(commands, until: .now + min(time, settings.timeouts.soft))
    }

    func next(_ batch: inout ClusterBatch) -> ClusterBatch.Step {
        if watch.isClosed { return .done(.failure(RedisError(.closed, "The client is closed."))) }
        let step = batch.next(watch.map, at: .now)
        lookUp(for: &batch)
        if case .done = step { count(batch.counts) }
        return step
    }

    private func lookUp(for batch: inout ClusterBatch) {
        guard batch.wantsLookup else { return }
        watch.lookUp(distrusting: batch.distrusted, moves: batch.moves)
        batch.lookupIsBegun()
    }

    private func count(_ counts: ClusterBatch.Counts) {
        if counts == ClusterBatch.Counts() { return }
        self.counts.withLock { $0 += counts }
    }

    func begin(_ request: ClusterBatch.Request, of batch: ClusterBatch) -> Call {
        do throws(RedisError) {
            let connection = try nodes.node(at: request.node, .now)
            let pending = connection.begin(request.commands, until: batch.deadline)
            return Call(request: request, connection: connection, pending: pending)
        } catch {
            return Call(request: request, connection: nil, pending: RedisPending(.failure(error)))
        }
    }

    func take(_ outcome: RedisPending.Outcome, of call: Call, _ batch: inout ClusterBatch) {
        let node = call.request.node
        nodes.note(outcome, of: node, at: .now)
        var isKnownToBeDown = false
        if case .failure = outcome, let since = nodes.downSince(node) {
            isKnownToBeDown = watch.hasLookedUp(since: since)
        }
        batch.take(outcome, of: call.request, watch.map, isKnownToBeDown: isKnownToBeDown, at: .now)
        lookUp(for: &batch)
        withExtendedLifetime(call.connection) {}
    }

    // MARK: Masters

    func servers() throws(RedisError) -> RedisServers {
        let deadline = Instant.now + settings.timeouts.soft
        let number = watch.lookUp()
        while watch.map.lookups.done < number, Instant.now < deadline, !watch.isClosed {
            Thread.sleep(forTimeInterval: 0.001)
        }
        if watch.isClosed { throw RedisError(.closed, "The client is closed.") }
        guard let topology = watch.topology else {
            throw watch.map.failure ?? RedisError(.timeout, "No node has described the cluster in time.")
        }
        var servers: [ClusterServer] = []
        for master in topology.masters {
            servers.append(ClusterServer(endpoint: master, connection: try nodes.node(at: master, .now)))
        }
        let questions = servers.map { $0.connection.begin([["CLUSTER", "NODES"]], until: deadline) }
        var arrangement: String? = ""
        for (server, question) in zip(servers, questions) {
            let value = try question.wait().get()[0]
            let own = ClusterTopology.ownSlots(value)
            // Without the right to ask, only the topology tells.
            if let own, own.contains("[") { arrangement = nil }
            let slots = own ?? "\(topology.slotCount(of: server.endpoint))"
            arrangement?.append("\(server.endpoint) \(server.connection.connectionCount) \(slots)\n")
        }
        return RedisServers(clients: servers, arrangement: arrangement)
    }
}

/// One master, for commands that concern its keys.
private struct ClusterServer: RedisClient {
    let endpoint: RedisEndpoint
    let connection: any ClusterNode

    func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        let outcome = await connection.begin(commands, until: nil).outcome()
        return try withExtendedLifetime(connection) { () throws(RedisError) in try outcome.get() }
    }

    func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        let outcome = connection.begin(commands, until: nil).wait()
        return try withExtendedLifetime(connection) { () throws(RedisError) in try outcome.get() }
    }
}
