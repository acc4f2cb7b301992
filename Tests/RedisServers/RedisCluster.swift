import Foundation
import RedisWire
import TestSupport

/// A cluster of its own for a test: masters that share the slots evenly, and replicas of the first of them.
package final class RedisCluster: Sendable {
    /// Masters, then replicas.
    package let servers: [RedisServer]
    package let masterCount: Int
    private let isEncrypted: Bool
    private let connections: [RedisConnection]

    /// Below the ports that the system gives to clients, with the bus of the cluster 10,000 above.
    private static let ports: Range<UInt16> = 20_000..<22_700

    /// Starts the servers and waits until all of them find the cluster to be up.
    ///
    /// - Parameters:
    ///   - nodeTimeout: after so long without an answer a master counts as failed. Busy machines need a long one.
    ///   - needsAllSlots: whether all masters refuse all commands while a slot has no master.
    ///   - certificates: of the servers, in their order, and that of their authority: then they speak TLS only, also with
    ///     each other.
    ///   - more: further arguments of each server.
    package convenience init(
        masters: Int = 3,
        replicas: Int = 0,
        nodeTimeout: Duration = .seconds(60),
        needsAllSlots: Bool = true,
        certificates: (servers: [TestCertificates.Certificate], authority: TestCertificates.Certificate)? = nil,
        arguments more: [String] = []
    ) async throws {
        let common = Self.arguments(nodeTimeout: nodeTimeout, needsAllSlots: needsAllSlots) + more
        let arguments = (0..<masters + replicas).map { index in
            guard let certificates else { return common }
            let own = RedisServer.encryption(certificates.servers[index], authority: certificates.authority)
            return common + own + ["--tls-cluster", "yes", "--tls-replication", "yes"]
        }
        // This blocks, and Swift's threads are few.
        let made = await withCheckedContinuation { continuation in
            Thread {
                continuation.resume(returning: Result { try Self.form(masters: masters, arguments) })
            }.start()
        }
        try self.init(made.get(), masters: masters, isEncrypted: certificates != nil)
    }

    private init(_ servers: [RedisServer], masters: Int, isEncrypted: Bool) throws {
        self.servers = servers
        self.isEncrypted = isEncrypted
        masterCount = masters
        connections = try servers.map { try Self.connection(to: $0) }
    }

    private static func arguments(nodeTimeout: Duration, needsAllSlots: Bool) -> [String] {
        [
            "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
            "--cluster-node-timeout", "\(Int(nodeTimeout / .milliseconds(1)))",
            "--cluster-require-full-coverage", needsAllSlots ? "yes" : "no",
            "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
        ]
    }

    /// Three masters for tests that are not asynchronous, each of which has names of its own; `nil` if no server is
    /// installed. It ends with the process.
    package static let common: RedisCluster? = {
        // Static values are not released.
        atexit {
            for server in RedisCluster.common?.servers ?? [] { server.kill() }
        }
        let own = arguments(nodeTimeout: .seconds(60), needsAllSlots: true)
        guard RedisServer.isInstalled, let servers = try? form(masters: 3, Array(repeating: own, count: 3)) else {
            return nil
        }
        return try? RedisCluster(servers, masters: 3, isEncrypted: false)
    }()

    package var endpoints: [RedisEndpoint] { servers.map(\.endpoint) }

    /// `redis+cluster://…/`, or `rediss+cluster://…/`
    package var url: String {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return "\(isEncrypted ? "rediss" : "redis")+cluster://\(hosts)/"
    }

    /// Asks one server, and waits until it answers; refusals are errors.
    @discardableResult
    package func ask(_ server: Int, _ command: RedisCommand) async throws -> RedisValue {
        try await connections[server].send(command)
    }

    /// The master that had a slot at first.
    package func firstMaster(of slot: HashSlot) -> Int {
        (0..<masterCount).first { slot.number < ($0 + 1) * HashSlot.count / masterCount } ?? 0
    }

    // MARK: Moving a slot

    /// Begins to move a slot: its keys stay, until they are moved.
    package func beginMoving(_ slot: HashSlot, from source: Int, to target: Int) async throws {
        let number = RedisCommand.Argument.integer(slot.number)
        try await ask(target, ["CLUSTER", "SETSLOT", number, "IMPORTING", .text(try await identifier(of: source))])
        try await ask(source, ["CLUSTER", "SETSLOT", number, "MIGRATING", .text(try await identifier(of: target))])
    }

    /// Moves the keys of a slot that is on its way, and says how many these were.
    @discardableResult
    package func moveKeys(of slot: HashSlot, from source: Int, to target: Int, atMost count: Int = 1_000)
        async throws
        -> Int
    {
        let number = RedisCommand.Argument.integer(slot.number)
        let found = try await ask(source, ["CLUSTER", "GETKEYSINSLOT", number, .integer(count)])
        let keys = (found.elements ?? []).compactMap { $0.bytes.map { RedisCommand.Argument.bytes($0) } }
        if keys.isEmpty { return 0 }
        let to: [RedisCommand.Argument] = ["127.0.0.1", .integer(Int(servers[target].port)), "", 0, 20_000]
        try await ask(source, RedisCommand(["MIGRATE"] + to + ["KEYS"] + keys))
        return keys.count
    }

    /// Makes another master the slot's.
    package func endMoving(_ slot: HashSlot, to target: Int) async throws {
        let number = RedisCommand.Argument.integer(slot.number)
        let command: RedisCommand = ["CLUSTER", "SETSLOT", number, "NODE", .text(try await identifier(of: target))]
        try await ask(target, command)
        for index in 0..<masterCount where index != target { try await ask(index, command) }
    }

    package func identifier(of server: Int) async throws -> String {
        try await ask(server, ["CLUSTER", "MYID"]).text ?? ""
    }

    // MARK: Forming

    private static func connection(to server: RedisServer) throws -> RedisConnection {
        // No TLS is spoken there.
        var settings = RedisSettings(endpoints: [server.socket])
        settings.timeouts = .patient
        settings.backoff.longest = .milliseconds(100)
        return try RedisConnection(to: server.socket, settings: settings)
    }

    private static func form(masters: Int, _ arguments: [[String]]) throws -> [RedisServer] {
        while true {
            let servers = try arguments.map { try RedisServer(blocking: $0, ports: ports) }
            let connections = try servers.map { try connection(to: $0) }
            do {
                try join(servers, connections, masters: masters)
                return servers
            } catch is Ended, is WaitError {
                // Another process has the port of one's bus, or has answered there: other ports may do.
            }
        }
    }

    private struct Ended: Error {}

    private static func join(_ servers: [RedisServer], _ connections: [RedisConnection], masters: Int) throws {
        func ask(_ index: Int, _ command: RedisCommand) throws -> RedisValue {
            guard let value = try? connections[index].sendAndWait([command]).first else {
                throw Ended()
            }
            if case .error(let error) = value { throw error }
            return value
        }
        for index in 0..<masters {
            let first = index * HashSlot.count / masters
            let last = (index + 1) * HashSlot.count / masters - 1
            _ = try ask(index, ["CLUSTER", "ADDSLOTSRANGE", .integer(first), .integer(last)])
        }
        for index in servers.indices {
            _ = try ask(index, ["CLUSTER", "SET-CONFIG-EPOCH", .integer(index + 1)])
            if index > 0 { _ = try ask(0, ["CLUSTER", "MEET", "127.0.0.1", .integer(Int(servers[index].port))]) }
        }
        let identifier = try ask(0, ["CLUSTER", "MYID"]).text ?? ""
        for index in masters..<servers.count {
            try wait(until: ask(index, ["CLUSTER", "NODES"]).text?.contains(identifier) == true)
            // Refused until the master's part is known.
            try wait(until: (try? ask(index, ["CLUSTER", "REPLICATE", .text(identifier)])) != nil)
            try wait(until: ask(index, ["INFO", "replication"]).text?.contains("master_link_status:up") == true)
        }
        for index in servers.indices {
            func isUp() throws -> Bool {
                let text = try ask(index, ["CLUSTER", "INFO"]).text ?? ""
                return text.contains("cluster_state:ok") && text.contains("cluster_slots_ok:\(HashSlot.count)\r")
                    && text.contains("cluster_known_nodes:\(servers.count)\r")
            }
            // A master knows its replicas by their own word.
            func knowsReplicas() throws -> Bool {
                let count = try ask(index, ["CLUSTER", "NODES"]).text?.components(separatedBy: "slave").count ?? 1
                return count - 1 == servers.count - masters
            }
            try wait(until: isUp() && knowsReplicas())
        }
    }
}
