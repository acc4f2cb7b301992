import Dispatch
import Foundation
import Synchronization

/// Knows a cluster's topology: asks its nodes for it, or the seeds, when that is wanted and at intervals, in a thread of
/// its own. Calls that wait for it look at ``map`` again and again; they may hold all threads of Swift's pool.
final class ClusterWatch: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct State {
        var topology: ClusterTopology?
        var failure: RedisError?
        var begun = 0
        var done = 0
        /// When the last lookup that is done began.
        var doneBegan: Instant?
        var isWanted = false
        var distrusted: RedisEndpoint?
        var isClosed = false
    }

    /// The pauses between lookups.
    struct Pauses {
        /// While nothing happens.
        var longest: Duration = .seconds(10)
        /// While a node does not answer, or no topology is known.
        var hurried: Duration = .milliseconds(250)
        /// After each lookup, however often it is wanted.
        var shortest: Duration = .milliseconds(20)
    }

    /// How long one node is waited for before another one is asked too.
    private static let patience: Duration = .milliseconds(150)
    private static let mostNodesAsked = 8

    private let settings: RedisSettings
    private let nodes: ClusterNodes
    private let pauses: Pauses
    private let observer: @Sendable (ClusterTopology) -> Void
    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Does not begin yet: see ``begin()``.
    ///
    /// - Parameter observer: is told of each new topology before it is used. Must not block.
    init(
        _ settings: RedisSettings,
        nodes: ClusterNodes,
        pauses: Pauses,
        observer: @escaping @Sendable (ClusterTopology) -> Void
    ) {
        self.settings = settings
        self.nodes = nodes
        self.pauses = pauses
        self.observer = observer
    }

    func begin() {
        let thread = Thread { [self] in run() }
        thread.name = "redis-cluster"
        thread.start()
    }

    /// Ends the thread, soon.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.signal()
    }

    // MARK: From other threads

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var map: ClusterBatch.Map {
        state.withLock {
            ClusterBatch.Map(topology: $0.topology, failure: $0.failure, lookups: ($0.begun, $0.done))
        }
    }

    var topology: ClusterTopology? { state.withLock { $0.topology } }

    /// Has the topology looked up soon.
    ///
    /// - Parameters:
    ///   - distrusted: a node that is asked last.
    ///   - moves: slots with new masters, which are believed until then if they are known nodes.
    /// - Returns: the number of lookups after which one that begins now is done.
    @discardableResult
    func lookUp(
        distrusting distrusted: RedisEndpoint? = nil,
        moves: [(slot: HashSlot, master: RedisEndpoint)] = []
    ) -> Int {
        let (rings, number) = state.withLock { state in
            for (slot, master) in moves { _ = state.topology?.move(slot, to: master) }
            if let distrusted { state.distrusted = distrusted }
            defer { state.isWanted = true }
            return (!state.isWanted, state.begun + 1)
        }
        if rings { bell.signal() }
        return number
    }

    /// Whether the topology was looked up after an instant, from its begin to its end.
    func hasLookedUp(since instant: Instant) -> Bool {
        state.withLock { state in state.doneBegan.map { instant < $0 } ?? false }
    }

    // MARK: The thread

    private func run() {
        while true {
            let topology = lookUpNow()
            if isClosed { return }
            Thread.sleep(forTimeInterval: pauses.shortest / .seconds(1))
            let pause = topology == nil || nodes.isAnyDown ? pauses.hurried : pauses.longest
            _ = bell.wait(timeout: .now() + pause / .seconds(1))
            if isClosed { return }
        }
    }

    /// Asks nodes until one describes a cluster that is up, and not an older one.
    private func lookUpNow() -> ClusterTopology? {
        let began = Instant.now
        let (former, distrusted) = state.withLock { state in
            state.begun += 1
            state.isWanted = false
            defer { state.distrusted = nil }
            return (state.topology, state.distrusted)
        }
        let (found, failure) = ask(former, distrusting: distrusted)
        if let found { observer(found) }
        state.withLock { state in
            if let found { state.topology = found }
            state.failure = state.topology == nil ? failure : nil
            state.done += 1
            state.doneBegan = began
        }
        return found ?? former
    }

    private struct Question {
        let node: RedisEndpoint
        /// Must live until the answer is there.
        let connection: any ClusterNode
        let pending: RedisPending
    }

    private func ask(
        _ former: ClusterTopology?,
        distrusting distrusted: RedisEndpoint?
    ) -> (ClusterTopology?, RedisError?) {
        var masters = (former?.masters ?? []).filter { $0 != distrusted }.shuffled()
        masters = Array(masters.prefix(Self.mostNodesAsked))
        if let distrusted, former?.masters.contains(distrusted) == true { masters.append(distrusted) }
        let seeds = settings.endpoints.filter { former?.knows($0) != true }.shuffled().prefix(Self.mostNodesAsked)
        var failure = RedisError(.notConnected, "No node of the cluster is known.")
        var best: ClusterTopology?
        var open: [Question] = []
        /// Takes an answer, and says whether it will do.
        func take(_ outcome: RedisPending.Outcome, from question: Question) -> Bool {
            do throws(RedisError) {
                if case .success = outcome { nodes.isAlive(question.node) }
                let found = try ClusterTopology(try outcome.get(), toldBy: question.node)
                if best.map({ ($0.isUp ? 1 : 0, $0.epoch) < (found.isUp ? 1 : 0, found.epoch) }) ?? true {
                    best = found
                }
                return found.isUp && found.epoch >= former?.epoch ?? 0
            } catch {
                failure = error
                return false
            }
        }
        for (node, isSeed) in masters.map({ ($0, false) }) + seeds.map({ ($0, true) }) {
            guard let question = begin(node, isSeed: isSeed) else { continue }
            if let outcome = question.pending.wait(atMost: Self.patience) {
                if take(outcome, from: question) { return (best, nil) }
            } else {
                open.append(question)
            }
        }
        let deadline = Instant.now + settings.timeouts.connect + settings.timeouts.soft
        while !open.isEmpty, Instant.now < deadline, !isClosed, best?.isUp != true {
            for (index, question) in open.enumerated().reversed() {
                guard let outcome = question.pending.wait(atMost: .milliseconds(5)) else { continue }
                open.remove(at: index)
                if take(outcome, from: question) { return (best, nil) }
            }
        }
        return (best, failure)
    }

    /// - Returns: `nil` if no connection can be made.
    private func begin(_ endpoint: RedisEndpoint, isSeed: Bool) -> Question? {
        do throws(RedisError) {
            // A seed's name may stand for a node, whose address the cluster tells.
            let connection: any ClusterNode =
                isSeed
                ? try RedisConnection(to: endpoint, settings: settings) : try nodes.node(at: endpoint, .now)
            let deadline = Instant.now + settings.timeouts.connect + settings.timeouts.soft
            let pending = connection.begin(ClusterTopology.questions, until: deadline)
            return Question(node: endpoint, connection: connection, pending: pending)
        } catch {
            return nil
        }
    }
}
