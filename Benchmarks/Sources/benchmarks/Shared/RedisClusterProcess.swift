import BenchmarkKit
import Foundation

/// Three masters on free ports of this machine, with a replica each if there are six servers.
final class RedisClusterProcess {
    static let masterCount = 3
    static let slotCount = 16_384
    /// A master that was silent for so long is replaced.
    static let nodeTimeout = Duration.seconds(1)

    private static let options = [
        "--cluster-enabled", "yes", "--cluster-node-timeout", "\(Int(nodeTimeout / .milliseconds(1)))",
        "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
    ]

    private let client: String
    private let log: URL
    private let servers: [RedisServerProcess]

    /// - Parameters:
    ///   - program: the path of `redis-server`.
    ///   - client: the path of `redis-cli`.
    ///   - folder: a folder of the cluster's own.
    /// - Throws: if it cannot be formed within a minute.
    init(_ program: String, client: String, hasReplicas: Bool, folder: URL) throws {
        self.client = client
        log = folder.appending(path: "log")
        servers = try (0..<Self.masterCount * (hasReplicas ? 2 : 1)).map { number in
            let own = folder.appending(path: "\(number)")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            // The port for the other nodes is 10,000 higher.
            return try RedisServerProcess(program, folder: own, ports: 20_000..<22_700, Self.options)
        }
        _ = try ask(
            ["--cluster", "create"] + servers.map { "127.0.0.1:\($0.port)" }
                + ["--cluster-replicas", hasReplicas ? "1" : "0", "--cluster-yes"]
        )
        let end = ContinuousClock.now + .seconds(60)
        for server in servers {
            while try !isReady(server) {
                guard ContinuousClock.now < end else { throw BenchmarkError("the cluster is not ready") }
                usleep(20_000)
            }
        }
    }

    private func isReady(_ server: RedisServerProcess) throws -> Bool {
        let nodes = try ask(["-p", "\(server.port)", "cluster", "nodes"]).split(separator: "\n")
        let replicas = nodes.count(where: { $0.contains("slave") })
        let role = try ask(["-p", "\(server.port)", "info", "replication"])
        return try ask(["-p", "\(server.port)", "cluster", "info"]).contains("cluster_state:ok")
            && nodes.count == servers.count && replicas == servers.count - Self.masterCount
            && (role.contains("role:master") || role.contains("master_link_status:up"))
    }

    private func ask(_ arguments: [String]) throws -> String {
        let process = try ChildProcess(client, arguments, log: log)
        guard process.status == 0 else {
            throw BenchmarkError("redis-cli ended with \(process.status): \(process.output)")
        }
        return process.output
    }

    func url(_ parameters: String = "") -> String {
        "redis+cluster://\(servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))/\(parameters)"
    }

    /// The number of the master that had a cache's key at first.
    func firstMaster(of key: String) throws -> Int {
        let answer = try ask(["-p", "\(servers[0].port)", "cluster", "keyslot", key])
        guard let slot = Int(answer.filter(\.isNumber)) else {
            throw BenchmarkError("redis-cli answered \(answer)")
        }
        return slot * Self.masterCount / Self.slotCount
    }

    /// Ends a master without notice.
    func kill(_ master: Int) { servers[master].kill() }

    func end() { for server in servers { server.end() } }
}
