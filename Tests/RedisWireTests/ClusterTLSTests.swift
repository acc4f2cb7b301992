import Foundation
import RedisServers
import Synchronization
import TestSupport
import Testing

@testable import RedisWire

/// Encrypted connections to a real cluster of nodes that speak TLS only: a command that went out without it would have
/// no answer.
@Suite(
    .serialized,
    .enabled(if: RedisServer.canEncrypt, "needs --traits TLS, a redis-server with TLS, and openssl"),
    .timeLimit(.minutes(40 * slowness))
)
struct ClusterTLSTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    /// A cluster of nodes with certificates for these names.
    private func cluster(
        _ names: [String] = Array(repeating: TestCertificates.names, count: 3),
        replicas: Int = 0,
        nodeTimeout: Duration = .seconds(60),
        arguments: [String] = []
    ) async throws -> RedisCluster {
        var servers: [TestCertificates.Certificate] = []
        for (index, names) in names.enumerated() {
            servers.append(try certificates.make("server \(index)", names: names))
        }
        return try await RedisCluster(
            replicas: replicas,
            nodeTimeout: nodeTimeout,
            certificates: (servers, certificates.authority),
            arguments: arguments
        )
    }

    /// A client that trusts the tests' authority, and knows the cluster by its nodes on the host `localhost`.
    private func client(
        _ cluster: RedisCluster,
        change: (inout RedisSettings) -> Void = { _ in }
    ) -> ClusterClient {
        ClusterClient(cluster) { settings in
            settings.endpoints = cluster.servers.map { .tcp(host: "localhost", port: $0.port) }
            settings.usesTLS = true
            settings.tls.authorities = certificates.authority.path
            change(&settings)
        }
    }

    private static let keys = (0..<40).map { "key \($0)" }

    private static func sets(_ value: String) -> [RedisCommand] { keys.map { ["SET", .text($0), .text(value)] } }
    private static let namesAreAnnounced = [
        "--cluster-announce-hostname", "localhost", "--cluster-preferred-endpoint-type", "hostname",
    ]
    private static let gets = keys.map { RedisCommand(["GET", .text($0)]) }

    // MARK: Use

    /// Nodes announce addresses, or names: either way a certificate has to have the one that was announced.
    @Test(arguments: [("IP:127.0.0.1,DNS:localhost", "127.0.0.1"), ("DNS:localhost", "localhost")])
    func commandsGoToTheNodesOfTheirKeys(names: String, host: String) async throws {
        let cluster = try await cluster(
            Array(repeating: names, count: 3),
            arguments: host == "localhost" ? Self.namesAreAnnounced : []
        )
        let client = client(cluster)
        #expect(try await client.send(Self.sets("value")).allSatisfy { $0.text == "OK" })
        #expect(try client.sendAndWait(Self.gets).allSatisfy { $0.text == "value" })
        let masters = cluster.servers.map { RedisEndpoint.tcp(host: host, port: $0.port) }
        #expect(Set(client.topology?.masters ?? []) == Set(masters))
        for index in 0..<3 { #expect(try await cluster.ask(index, ["DBSIZE"]).integer ?? 0 > 0) }
    }

    @Test(arguments: [false, true])
    func redirectsAreFollowed(isNamed: Bool) async throws {
        let cluster = try await cluster(arguments: isNamed ? Self.namesAreAnnounced : [])
        let client = client(cluster)
        let slot = HashSlot(ofKey: "tag".utf8)
        let source = cluster.firstMaster(of: slot)
        let target = (source + 1) % 3
        let names = (0..<4).map { RedisCommand.Argument.text("{tag}\($0)") }
        _ = try await client.send(names.map { ["SET", $0, "value"] })
        try await cluster.beginMoving(slot, from: source, to: target)
        #expect(try await cluster.moveKeys(of: slot, from: source, to: target, atMost: 2) == 2)
        #expect(try await client.send(names.map { ["GET", $0] }).allSatisfy { $0.text == "value" })
        #expect(client.statistics.asked == 2 && client.statistics.moved == 0)
        try await cluster.moveKeys(of: slot, from: source, to: target)
        try await cluster.endMoving(slot, to: target)
        // Looked up by itself, the slot's new master may be known by now.
        let places = ["localhost", "127.0.0.1"].map {
            RedisEndpoint.tcp(host: $0, port: cluster.servers[target].port)
        }
        let isKnown = client.topology?.master(of: slot).map { places.contains($0) } ?? false
        #expect(try await client.send(names.map { ["GET", $0] }).allSatisfy { $0.text == "value" })
        #expect(client.statistics.moved > 0 || isKnown)
    }

    @Test func aReplicaTakesItsMastersPlace() async throws {
        let cluster = try await cluster(
            Array(repeating: TestCertificates.names, count: 4),
            replicas: 1,
            nodeTimeout: .seconds(1)
        )
        let client = client(cluster) { $0.timeouts.soft = .seconds(2) }
        func isSaved(_ value: String) async -> Bool {
            (try? await client.send(Self.sets(value)))?.allSatisfy { $0.text == "OK" } == true
        }
        try await wait(until: await isSaved("old"))
        cluster.servers[0].kill()
        try await wait(until: await isSaved("new"))
        #expect(try await client.send(Self.gets).allSatisfy { $0.text == "new" })
        #expect(client.topology?.masters.contains(.tcp(host: "127.0.0.1", port: cluster.servers[3].port)) == true)
    }

    /// Each master's channel is encrypted, too.
    @Test func mastersTellOfChanges() async throws {
        let cluster = try await cluster()
        let changed = Mutex<Set<String>>([])
        var settings = RedisSettings(endpoints: cluster.endpoints)
        settings.usesTLS = true
        settings.tls.authorities = certificates.authority.path
        settings.timeouts = .patient
        let tracked = try TrackedCluster(
            settings: settings,
            prefixes: ["key"],
            heartbeat: "heartbeat",
            interval: .milliseconds(20),
            window: .seconds(20)
        ) { event in
            if case .changed(let keys) = event {
                changed.withLock { $0.formUnion(keys.map { String(decoding: $0, as: UTF8.self) }) }
            }
        }
        try await wait(until: tracked.isWhole)
        _ = try await client(cluster).send(Self.sets("value"))
        try await wait(until: changed.withLock({ $0.count }) >= Self.keys.count)
        tracked.close()
    }

    // MARK: Names

    /// A node with a certificate for another host is not used; the nodes with their own are.
    @Test func eachNodeIsCheckedByTheHostThatIsAnnounced() async throws {
        let names = ["IP:127.0.0.1,DNS:localhost", "DNS:localhost", "DNS:cache.example,IP:127.0.0.1"]
        let cluster = try await cluster(names)
        let client = client(cluster) { $0.timeouts.soft = .seconds(2) }
        let byNode = Dictionary(grouping: Self.keys) { cluster.firstMaster(of: HashSlot(ofKey: $0.utf8)) }
        for index in [0, 2] {
            for key in byNode[index] ?? [] {
                try await wait(until: (try? await client.send(["SET", .text(key), "value"]))?.text == "OK")
            }
        }
        // The seed has that certificate and is trusted by its name, but the cluster names its address.
        for key in byNode[1] ?? [] {
            let error = await #expect(throws: RedisError.self) { try await client.send(["GET", .text(key)]) }
            #expect(error?.mayHaveRun == false && error?.message.contains("mismatch") == true, "\(error as Any)")
        }
        // One name may stand for all nodes.
        let named = self.client(cluster) { $0.tls.serverName = "localhost" }
        let values = try await named.send(Self.gets)
        for (key, value) in zip(Self.keys, values) {
            let isOther = byNode[2]?.contains(key) == true
            if case .error(let error) = value {
                #expect(isOther && error.code == "NOANSWER", "\(key): \(error)")
                #expect(error.message.contains("mismatch"), "\(key): \(error)")
            } else {
                #expect(!isOther)
            }
        }
    }

    /// Such nodes announce the ports without TLS, where no handshake is answered, and nothing is sent.
    @Test func aClusterWithoutTLSGetsNoPassword() async throws {
        let cluster = try await RedisCluster()
        let proxy = try FaultProxy(to: cluster.servers[0].port)
        defer { proxy.end() }
        let client = client(cluster) { settings in
            settings.endpoints = [proxy.endpoint]
            settings.credentials = RedisCredentials(user: nil, password: "geheim")
            settings.timeouts.connect = .milliseconds(300)
            settings.timeouts.soft = .seconds(2)
        }
        let error = await #expect(throws: RedisError.self) { try await client.send(["GET", "key"]) }
        #expect(error?.mayHaveRun == false && error?.message.contains("TLS") == true, "\(error as Any)")
        #expect(!String(decoding: proxy.lastReceived(1 << 10), as: UTF8.self).contains("geheim"))
    }
}
