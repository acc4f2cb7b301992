import Foundation
import RedisServers
import Synchronization
import TestSupport
import Testing

@testable import RedisWire

/// A client of a real cluster.
@Suite(
    .serialized,
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .timeLimit(.minutes(40 * slowness))
)
struct ClusterClientTests {
    @Test func commandsGoToTheNodesOfTheirKeys() async throws {
        let cluster = try await RedisCluster()
        let client = ClusterClient(cluster)
        let keys = (0..<200).map { "key \($0)" }
        let saved = try await client.send(keys.map { ["SET", .text($0), .text($0)] })
        #expect(saved == keys.map { _ in .simple("OK") })
        // In their order, whichever node has them; commands without keys among them.
        let commands = keys.flatMap { key -> [RedisCommand] in [["GET", .text(key)], ["ECHO", .text(key)]] }
        #expect(try await client.send(commands).map(\.text) == keys.flatMap { [$0, $0] })
        #expect(try client.sendAndWait(commands).map(\.text) == keys.flatMap { [$0, $0] })
        var counts: [Int64] = []
        for index in 0..<3 { counts.append(try await cluster.ask(index, ["DBSIZE"]).integer ?? 0) }
        #expect(counts.reduce(0, +) == 200 && !counts.contains(0))
        #expect(client.statistics == ClusterStatistics())
        // Refusals are values.
        let mixed = try await client.send([["GET", "key 0"], ["DEL", "key 0", "key 1"], ["LPUSH", "key 1", "x"]])
        #expect(mixed[0].text == "key 0")
        for (value, code) in zip(mixed.dropFirst(), ["CROSSSLOT", "WRONGTYPE"]) {
            guard case .error(let error) = value else {
                Issue.record("\(value) is not a refusal")
                continue
            }
            #expect(error.code == code)
        }
        #expect(try await client.send([]).isEmpty)
        client.close()
        let error = await #expect(throws: RedisError.self) { try await client.send(["GET", "key 0"]) }
        #expect(error?.code == .closed)
    }

    /// A slot is on its way for as long as tasks count; each of their numbers is counted once.
    @Test func aSlotMovesUnderLoad() async throws {
        let cluster = try await RedisCluster()
        let client = ClusterClient(cluster)
        let slot = HashSlot(ofKey: "tag".utf8)
        let source = cluster.firstMaster(of: slot)
        let rounds = isLongRun ? 12 : 3
        let isOver = Flag()
        let sums = await withTaskGroup(of: (Int, Int).self) { group in
            for task in 0..<8 {
                group.addTask {
                    var count = 0
                    while !isOver.isSet {
                        await #expect(throws: Never.self) {
                            let (one, other) = ("{tag}\(task)", "{tag}\(task)+")
                            let script: RedisCommand = [
                                "EVAL", "redis.call('INCR',KEYS[1]) return redis.call('INCR',KEYS[2])", 2,
                                .text(one),
                                .text(other),
                            ]
                            let values = try await client.send([
                                script, ["GET", .text("elsewhere \(task)")], ["ECHO", .integer(count)],
                                ["INCR", .text("{tag}alone \(task)")],
                            ])
                            count += 1
                            #expect(
                                values[0].integer == Int64(count) && values[3].integer == Int64(count),
                                "\(values)"
                            )
                            #expect(values[1] == .null && values[2].integer == Int64(count - 1))
                        }
                    }
                    return (task, count)
                }
            }
            await #expect(throws: Never.self) {
                for round in 0..<200 {
                    // On a busy machine, the keys may be faster than the tasks.
                    let counts = client.statistics
                    if round >= rounds, counts.asked > 0, counts.moved > 0 { break }
                    let from = (source + round) % 3
                    let to = (source + round + 1) % 3
                    try await cluster.beginMoving(slot, from: from, to: to)
                    try await Task.sleep(for: .milliseconds(20))
                    // Not all at once: scripts with two keys find one of them gone.
                    try await wait(until: await cluster.moveKeys(of: slot, from: from, to: to, atMost: 1) == 0)
                    try await cluster.endMoving(slot, to: to)
                }
            }
            isOver.set()
            return await group.reduce(into: []) { $0.append($1) }
        }
        for (task, count) in sums {
            #expect(count > 0)
            for key in ["{tag}\(task)", "{tag}\(task)+", "{tag}alone \(task)"] {
                #expect(try await client.send(["GET", .text(key)]).integer == Int64(count))
            }
        }
        let counts = client.statistics
        #expect(counts.asked > 0 && counts.moved > 0, "\(counts)")
    }

    @Test func redirectsAreCounted() async throws {
        let cluster = try await RedisCluster()
        let client = ClusterClient(cluster)
        let slot = HashSlot(ofKey: "tag".utf8)
        let source = cluster.firstMaster(of: slot)
        let target = (source + 1) % 3
        _ = try await client.send([["SET", "{tag}1", "one"], ["SET", "{tag}2", "two"]])
        try await cluster.beginMoving(slot, from: source, to: target)
        try await cluster.moveKeys(of: slot, from: source, to: target, atMost: 1)
        _ = try await client.send([["GET", "{tag}1"], ["GET", "{tag}2"]])
        #expect(client.statistics.asked == 1 && client.statistics.delayed == 0)
        async let both = client.send(["EVAL", "return redis.call('GET',KEYS[1])", 2, "{tag}1", "{tag}2"])
        // Counted when the call ends, and it ends after the move.
        try await Task.sleep(for: .milliseconds(20))
        try await cluster.moveKeys(of: slot, from: source, to: target)
        try await cluster.endMoving(slot, to: target)
        #expect(try await both.text == "one")
        let counts = client.statistics
        #expect(counts.delayed > 0 && counts.repeated == 0, "\(counts)")
        // Looked up by itself, the slot's new master may be known by now.
        let isKnown = client.topology?.master(of: slot) == cluster.endpoints[target]
        #expect(try await client.send(["GET", "{tag}1"]).text == "one")
        #expect(client.statistics.moved > 0 || isKnown)
    }

    /// The node that refuses a command says where the slot is, and other commands do not ask it again.
    @Test func aMovedSlotCostsOneRedirectEach() async throws {
        let cluster = try await RedisCluster()
        let settings = ClusterClient.settings(cluster)
        // Nothing is looked up but for refusals.
        let core = ClusterCore(settings, pauses: .init(longest: .seconds(3_600))) { endpoint throws(RedisError) in
            try RedisConnection(to: endpoint, settings: settings)
        }
        let client = ClusterClient(core)
        let slot = HashSlot(ofKey: "tag".utf8)
        let first = cluster.firstMaster(of: slot)
        _ = try await client.send([["SET", "{tag}1", "one"], ["SET", "{tag}2", "two"]])
        for round in 0..<4 {
            let (source, target) = ((first + round) % 3, (first + round + 1) % 3)
            try await cluster.beginMoving(slot, from: source, to: target)
            try await cluster.moveKeys(of: slot, from: source, to: target)
            try await cluster.endMoving(slot, to: target)
            for _ in 0..<10 { #expect(try await client.send(["GET", "{tag}1"]).text == "one") }
            #expect(try client.sendAndWait([["GET", "{tag}2"]])[0].text == "two")
        }
        // Of 44 commands, four; a lookup of before that comes late takes one of these away, or makes one more.
        #expect(client.statistics.moved <= 8, "\(client.statistics)")
    }

    /// Entries near of a slot that has moved are doubtful, also if a refusal told of it before the topology did.
    @Test func aMovedSlotIsToldAsALoss() async throws {
        let cluster = try await RedisCluster()
        let losses = Mutex<[String]>([])
        let tracked = try TrackedCluster(
            settings: ClusterClient.settings(cluster),
            prefixes: ["key"],
            heartbeat: "heartbeat",
            interval: .milliseconds(20),
            window: .seconds(3_600)
        ) { event in
            if case .lost(let error) = event { losses.withLock { $0.append(error.message) } }
        }
        defer { tracked.close() }
        try await wait(until: tracked.isWhole)
        let slot = HashSlot(ofKey: "tag".utf8)
        let source = cluster.firstMaster(of: slot)
        try await cluster.beginMoving(slot, from: source, to: (source + 1) % 3)
        try await cluster.endMoving(slot, to: (source + 1) % 3)
        while tracked.statistics.moved == 0 { _ = try await tracked.send([["GET", "{tag}"]]) }
        try await wait(until: losses.withLock({ $0.contains("Slots of the cluster have moved.") }))
    }

    /// Nothing is kept of the answers of a master that does not tell of changes.
    @Test(arguments: [true, false]) func answersOfUnheardMastersAreMarked(areHeard: Bool) async throws {
        let cluster = try await RedisCluster()
        let unheard = Mutex<Set<String>>([])
        let tracked = try TrackedCluster(
            settings: ClusterClient.settings(cluster),
            prefixes: ["key"],
            heartbeat: "heartbeat",
            interval: .milliseconds(20),
            // A heartbeat proves nothing for no time.
            window: areHeard ? .seconds(3_600) : .zero
        ) { event in
            if case .unheard(let keys) = event {
                unheard.withLock { $0.formUnion(keys.map { String(decoding: $0, as: UTF8.self) }) }
            }
        }
        defer { tracked.close() }
        if areHeard { try await wait(until: tracked.isWhole) }
        let keys = (0..<20).map { "key\($0)" }
        _ = try await tracked.send(keys.prefix(10).map { ["GET", .text($0)] })
        _ = try tracked.sendAndWait(keys.suffix(10).map { ["GET", .text($0)] })
        #expect(unheard.withLock { $0 } == (areHeard ? [] : Set(keys)))
    }

    @Test func aReplicaTakesItsMastersPlace() async throws {
        let cluster = try await RedisCluster(replicas: 1, nodeTimeout: .seconds(1))
        let client = ClusterClient(cluster) { $0.timeouts.soft = .seconds(2) }
        let keys = (0..<20).map { "key \($0)" }
        /// All of them are answered at some time; a busy machine may be late with some.
        func texts(_ commands: [RedisCommand]) async throws -> [String] {
            var texts: [String] = []
            func areAnswered() async -> Bool {
                texts = ((try? await client.send(commands)) ?? []).compactMap(\.text)
                return texts.count == commands.count
            }
            try await wait(until: await areAnswered())
            return texts
        }
        _ = try await texts(keys.map { ["SET", .text($0), "old"] })
        for index in 0..<3 { _ = try? await cluster.ask(index, ["WAIT", 1, 1_000]) }
        cluster.servers[0].kill()
        // By then all is as it was.
        let answers = try await texts(keys.map { ["SET", .text($0), "new", "XX"] })
        #expect(answers.allSatisfy { $0 == "OK" })
        let values = try await texts(keys.map { ["GET", .text($0)] })
        #expect(values.allSatisfy { $0 == "new" })
        #expect(client.topology?.masters.contains(cluster.endpoints[0]) == false)
    }

    /// Nodes that do not answer cost the soft timeout, and hold up no other node's commands.
    @Test func aStoppedNodeCostsItsOwnKeysOnly() async throws {
        let cluster = try await RedisCluster()
        let client = ClusterClient(cluster) { $0.timeouts.soft = .milliseconds(500) }
        try await wait(until: client.topology != nil)
        let keys = (0..<20).map { "key \($0)" }
        func areSaved() async -> Bool {
            (try? await client.send(keys.map { ["SET", .text($0), .text($0)] }))?.allSatisfy { $0.text == "OK" }
                == true
        }
        try await wait(until: await areSaved())
        try await cluster.servers[1].stopped {
            let isStopped = keys.map { cluster.firstMaster(of: HashSlot(ofKey: $0.utf8)) == 1 }
            let gets = keys.map { RedisCommand(["GET", .text($0)]) }
            for round in 0..<8 {
                let values = try await client.send(gets)
                for (value, isStopped) in zip(values, isStopped) {
                    if isStopped {
                        guard case .error(let error) = value, error.code == "NOANSWER" else {
                            Issue.record("\(value) in round \(round)")
                            continue
                        }
                    }
                }
                // A busy machine may be late with others, too, but not each time.
                if zip(values, isStopped).allSatisfy({ $1 || $0.text != nil }) { break }
                #expect(round < 7)
            }
        }
        try await wait(until: await client.send(keys.map { ["GET", .text($0)] }).map(\.text) == keys)
    }

    @Test func aServerWithoutClusterIsRefused() async throws {
        let server = try await RedisServer()
        var settings = RedisSettings(endpoints: [server.endpoint])
        settings.timeouts.soft = .seconds(20)
        let client = ClusterClient(settings: settings)
        let error = await #expect(throws: RedisError.self) { try await client.send(["GET", "key"]) }
        #expect(error?.code == .refused)
        settings.endpoints = [.tcp(host: "127.0.0.1", port: server.port)]
        server.kill()
        let lonely = ClusterClient(settings: settings)
        let other = #expect(throws: RedisError.self) { try lonely.sendAndWait([["GET", "key"]]) }
        #expect(other?.code == .notConnected)
    }

    @Test func serversAreTheMastersAndTellOfMovedSlots() async throws {
        let cluster = try await RedisCluster()
        let client = ClusterClient(cluster)
        let first = try client.servers()
        #expect(first.clients.count == 3 && first.arrangement != nil)
        #expect(try client.servers().arrangement == first.arrangement)
        let slot = HashSlot(ofKey: "tag".utf8)
        let source = cluster.firstMaster(of: slot)
        try await cluster.beginMoving(slot, from: source, to: (source + 1) % 3)
        #expect(try client.servers().arrangement == nil)
        try await cluster.endMoving(slot, to: (source + 1) % 3)
        let second = try client.servers()
        #expect(second.arrangement != nil && second.arrangement != first.arrangement)
        // There and back is no rest, either.
        try await cluster.beginMoving(slot, from: (source + 1) % 3, to: source)
        try await cluster.endMoving(slot, to: source)
        let third = try client.servers()
        #expect(third.arrangement != nil && third.arrangement != first.arrangement)
    }
}

extension ClusterClient {
    convenience init(_ cluster: RedisCluster, change: (inout RedisSettings) -> Void = { _ in }) {
        var settings = Self.settings(cluster)
        change(&settings)
        self.init(settings: settings)
    }

    /// With timeouts that are long enough for a busy machine.
    static func settings(_ cluster: RedisCluster) -> RedisSettings {
        var settings = RedisSettings(endpoints: cluster.endpoints)
        settings.timeouts = .patient
        settings.backoff.first = .milliseconds(5)
        settings.backoff.longest = .milliseconds(50)
        return settings
    }
}
