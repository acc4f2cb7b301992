import TestSupport
import Testing

@testable import RedisWire

/// The way of commands through clusters that are made up.
@Suite("Commands on their way through a cluster")
struct ClusterBatchTests {
    private typealias Answers = ClusterAnswers

    /// Nodes that execute, refuse, send elsewhere and fail as a seed has it.
    private struct Nodes {
        var random: SeededGenerator
        /// How often each of 100 is chosen.
        let refusals: Int
        let losses: Int
        var executions: [Int: Int] = [:]
        var requests = 0
        var isAskingRight = true

        mutating func answer(_ request: ClusterBatch.Request) -> RedisPending.Outcome {
            requests += 1
            if Int.random(in: 0..<100, using: &random) < losses { return loss(request) }
            var wasAsking = false
            return .success(
                request.commands.map { command in
                    if command.name == "ASKING" {
                        // Nothing is between it and its command.
                        if wasAsking { isAskingRight = false }
                        wasAsking = true
                        return .simple("OK")
                    }
                    defer { wasAsking = false }
                    return answer(command)
                }
            )
        }

        private mutating func loss(_ request: ClusterBatch.Request) -> RedisPending.Outcome {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .failure(RedisError(.notConnected, "not connected"))
            case 1: return .failure(RedisError(.connectionLost, "lost, not sent"))
            case 2:
                for command in request.commands where Bool.random(using: &random) { execute(command) }
                return .failure(RedisError(.connectionLost, mayHaveRun: true, "lost"))
            default:
                for command in request.commands where Bool.random(using: &random) { execute(command) }
                return .failure(RedisError(.timeout, mayHaveRun: true, "too late"))
            }
        }

        private mutating func execute(_ command: RedisCommand) {
            if let key = command.keys.first.flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) {
                executions[key, default: 0] += 1
            }
        }

        private mutating func answer(_ command: RedisCommand) -> RedisValue {
            if Int.random(in: 0..<100, using: &random) >= refusals {
                execute(command)
                return command.arguments.last.flatMap { Answers.text(String(decoding: $0.encoded, as: UTF8.self)) }
                    ?? .null
            }
            // Two of the nodes are in no topology.
            let node = "node\(Int.random(in: 0..<7, using: &random)):7000"
            let message =
                ["MOVED 7 \(node)", "ASK 7 \(node)", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "MOVED 7"]
                .randomElement(using: &random) ?? ""
            return .error(RedisReplyError(message: message))
        }
    }

    @Test("None is executed twice, and each ends", arguments: seeds(0..<4_000))
    func law(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 1...12, using: &random)
        let isRepeatable = (0..<count).map { _ in Int.random(in: 0..<4, using: &random) == 0 }
        let commands = (0..<count).map { number in
            RedisCommand(["INCRBY", .text("\(number)"), .integer(number)], isRepeatable: isRepeatable[number])
        }
        var nodes = Nodes(
            random: random,
            refusals: [0, 30, 95, 100].randomElement(using: &random) ?? 0,
            losses: [0, 20, 90].randomElement(using: &random) ?? 0
        )
        var topology = try Answers.topology(masters: 4, others: [4])
        var now = ContinuousClock.now
        let deadline = now + .seconds(1)
        var batch = ClusterBatch(commands, until: deadline)
        var lookups = (begun: 0, done: 0)
        var result: Result<[RedisValue], RedisError>?
        while result == nil {
            let map = ClusterBatch.Map(
                topology: lookups.done == 0 && seed % 3 == 0 ? nil : topology,
                failure: nil,
                lookups: lookups
            )
            switch batch.next(map, at: now) {
            case .done(let found): result = found
            case .pause(let pause):
                #expect(pause > .zero)
                now += max(pause, .microseconds(1))
            case .send(let requests):
                for request in requests {
                    #expect(topology.knows(request.node), "an unknown address is connected to")
                    now += .milliseconds(1)
                    let isDown = Bool.random(using: &random)
                    batch.take(nodes.answer(request), of: request, map, isKnownToBeDown: isDown, at: now)
                }
            }
            if batch.wantsLookup {
                for (slot, master) in batch.moves { _ = topology.move(slot, to: master) }
                batch.lookupIsBegun()
                lookups.begun += 1
            }
            if lookups.done < lookups.begun, Int.random(in: 0..<3, using: &random) == 0 { lookups.done += 1 }
            try #require(nodes.requests < 20 * count + 1_000)
        }
        #expect(nodes.isAskingRight)
        #expect(now < deadline + .milliseconds(200))
        let executions = nodes.executions
        for number in 0..<count where !isRepeatable[number] { #expect(executions[number, default: 0] <= 1) }
        guard case .success(let values) = try #require(result) else { return }
        try #require(values.count == count)
        for (number, value) in values.enumerated() where value.text != nil {
            #expect(value.integer == Int64(number), "an answer is another command's")
            #expect(executions[number, default: 0] >= 1)
        }
    }

    /// Has nodes answer until the batch ends; no answer means that a node is not there.
    private static func run(
        _ commands: [RedisCommand],
        topology: ClusterTopology?,
        failure: RedisError? = nil,
        _ answer: (RedisEndpoint, [RedisCommand]) -> RedisPending.Outcome
    ) -> (Result<[RedisValue], RedisError>, ClusterBatch.Counts) {
        var now = ContinuousClock.now
        var batch = ClusterBatch(commands, until: now + .seconds(1))
        var lookups = 0
        while true {
            let map = ClusterBatch.Map(topology: topology, failure: failure, lookups: (lookups, lookups))
            switch batch.next(map, at: now) {
            case .done(let result): return (result, batch.counts)
            case .pause(let pause): now += pause
            case .send(let requests):
                for request in requests {
                    now += .milliseconds(1)
                    let outcome = answer(request.node, request.commands)
                    batch.take(outcome, of: request, map, isKnownToBeDown: false, at: now)
                }
            }
            if batch.wantsLookup {
                lookups += 1
                batch.lookupIsBegun()
            }
        }
    }

    private static func refusal(_ message: String) -> RedisPending.Outcome {
        .success([.error(RedisReplyError(message: message))])
    }

    @Test("Each node that has a change is waited for, after it, and the fewest replicas count")
    func waiting() throws {
        let topology = try Answers.topology(masters: 3)
        let names = ["a", "b", "c", "d", "e", "f"]
        let sets = names.map { RedisCommand(["SET", .text($0), "value"]) }
        /// The node that a change is sent on to.
        let moved = Answers.node(1)
        var waits: [RedisEndpoint: Int] = [:]
        var isMoved = false
        let (result, _) = Self.run(sets + [["WAIT", 1, 100], ["ECHO", "x"]], topology: topology) { node, commands in
            #expect(commands.filter { $0.name == "WAIT" }.count == 1 || commands.allSatisfy { $0.name == "ECHO" })
            if let wait = commands.firstIndex(where: { $0.name == "WAIT" }) {
                #expect(commands[..<wait].contains { $0.name == "SET" })
                #expect(!commands[wait...].contains { $0.name == "SET" })
            }
            waits[node, default: 0] += 1
            let values = commands.map { command -> RedisValue in
                if command.name == "WAIT" { return .integer(node == moved && waits[moved] == 2 ? 1 : 2) }
                if command.name == "SET", node == Answers.node(0), !isMoved {
                    isMoved = true
                    return .error(RedisReplyError(message: "MOVED 7 node1:7000"))
                }
                return .simple("OK")
            }
            return .success(values)
        }
        #expect(isMoved && waits[moved] == 2)
        #expect(try result.get().map(\.integer) == names.map { _ in nil } + [1, nil])
        let (alone, _) = Self.run([["WAIT", 1, 100]], topology: topology) { _, _ in .success([.integer(0)]) }
        #expect(alone == .success([.integer(0)]))
    }

    @Test(
        "A node that has refused all changes waits for none",
        arguments: [RedisValue.integer(0), .error(RedisReplyError(message: "ERR WAIT"))]
    )
    func waitingElsewhere(answer: RedisValue) throws {
        let topology = try Answers.topology(masters: 3)
        let first = try #require(topology.master(of: HashSlot(ofKey: "foo".utf8)))
        let other = try #require(topology.masters.first { $0 != first })
        let (result, _) = Self.run([["SET", "foo", "x"], ["WAIT", 1, 100]], topology: topology) { node, _ in
            if node != first { return .success([.simple("OK"), .integer(1)]) }
            let name = "\(other)".replacing("redis://", with: "")
            return .success([.error(RedisReplyError(message: "MOVED 7 \(name)")), answer])
        }
        #expect(result == .success([.simple("OK"), .integer(1)]))
        let (lost, _) = Self.run([["SET", "foo", "x"], ["WAIT", 1, 100]], topology: topology) { _, _ in
            .failure(RedisError(.timeout, mayHaveRun: true, "too late"))
        }
        #expect(throws: RedisError(.timeout, mayHaveRun: true, "too late")) { try lost.get() }
    }

    @Test("Nodes that send a command in a circle are followed a few times")
    func circle() throws {
        var count = 0
        let topology = try Answers.topology(masters: 2)
        let (result, counts) = Self.run([["GET", "foo"]], topology: topology) { node, _ in
            count += 1
            return Self.refusal("MOVED 12182 node\(node == Answers.node(0) ? 1 : 0):7000")
        }
        #expect(count == ClusterBatch.mostRedirects + 1 && counts.moved == count)
        guard case .error(let error) = try result.get()[0] else {
            Issue.record("\(result) is not a refusal")
            return
        }
        #expect(error.code == "MOVED")
    }

    @Test("A slot that has moved is told with its new master, and the topology is looked up")
    func moved() throws {
        let map = ClusterBatch.Map(
            topology: try Answers.topology(masters: 2),
            failure: nil,
            lookups: (begun: 1, done: 1)
        )
        var batch = ClusterBatch([["GET", "foo"]], until: .now + .seconds(60))
        guard case .send(let requests) = batch.next(map, at: .now), let request = requests.first else {
            Issue.record("nothing is sent")
            return
        }
        let outcome = Self.refusal("MOVED 12182 node0:7000")
        batch.take(outcome, of: request, map, isKnownToBeDown: false, at: .now)
        #expect(batch.wantsLookup)
        #expect(batch.moves.map(\.slot.number) == [12_182] && batch.moves.map(\.master) == [Answers.node(0)])
    }

    @Test("A node that no topology names is not connected to")
    func unknown() throws {
        let topology = try Answers.topology(masters: 2)
        var asked: Set<RedisEndpoint> = []
        let (result, _) = Self.run([["GET", "foo"]], topology: topology) { node, _ in
            asked.insert(node)
            return Self.refusal("ASK 12182 evil:7000")
        }
        #expect(asked == [Answers.node(1)])
        guard case .error = try result.get()[0] else {
            Issue.record("\(result) is not a refusal")
            return
        }
    }

    @Test("A command that may have run goes out once, unless it may run twice", arguments: [false, true])
    func once(isRepeatable: Bool) throws {
        let topology = try Answers.topology(masters: 2)
        var count = 0
        let command = RedisCommand(["GET", "foo"], isRepeatable: isRepeatable)
        let (result, _) = Self.run([command], topology: topology) { _, _ in
            count += 1
            if count == 2 { return .success([.null]) }
            return .failure(RedisError(.connectionLost, mayHaveRun: true, "lost"))
        }
        #expect(count == (isRepeatable ? 2 : 1))
        switch result {
        case .success: #expect(isRepeatable)
        case .failure(let error): #expect(!isRepeatable && error.mayHaveRun && error.code == .connectionLost)
        }
    }

    @Test("An answer that is missing leaves the others")
    func missing() throws {
        let topology = try Answers.topology(masters: 2)
        // foo is in the second half of the slots, bar in the first.
        let (result, _) = Self.run([["GET", "foo"], ["GET", "bar"]], topology: topology) { node, _ in
            node == Answers.node(0)
                ? .success([.integer(1)]) : .failure(RedisError(.timeout, mayHaveRun: true, "late"))
        }
        let values = try result.get()
        #expect(values[1] == .integer(1))
        #expect(values[0] == .error(RedisReplyError(message: "NOANSWER late")))
    }

    @Test("Without any description of the cluster, the reason is told")
    func nothing() {
        let failure = RedisError(.refused, "no cluster")
        let (result, _) = Self.run([["GET", "foo"]], topology: nil, failure: failure) { _, _ in .success([.null]) }
        #expect(throws: failure) { try result.get() }
    }

    @Test("A slot that no master has is a refusal after another look")
    func unserved() throws {
        let half = Answers.range(0, 8_191, nodes: Answers.address(Answers.text("node0")))
        let topology = try ClusterTopology([.array([half])], toldBy: Answers.node(0))
        let (result, _) = Self.run([["GET", "foo"], ["GET", "bar"]], topology: topology) { _, _ in
            .success([.integer(1)])
        }
        guard case .error(let error) = try result.get()[0] else {
            Issue.record("\(result) is not a refusal")
            return
        }
        #expect(error.code == "CLUSTERDOWN")
    }
}
