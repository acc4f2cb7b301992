import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

@Suite(.timeLimit(.minutes(40 * slowness)))
struct EncryptedTierTests {
    @Test(.enabled(if: !RedisTLSSettings.isSupported, "this build has TLS"))
    func aBuildWithoutTLSSaysWhatItNeeds() {
        let error = #expect(throws: CacheError.self) { try SharedTier("rediss://app:geheim@localhost/") }
        #expect(error?.code == .invalidServer)
        #expect(error?.description.contains("trait TLS") == true)
        #expect(error?.description.contains("geheim") == false)
    }

    @Test(.enabled(if: RedisServer.canEncrypt, "needs --traits TLS, a redis-server with TLS, and openssl"))
    func tiersShareEntries() async throws {
        let certificates = try TestCertificates()
        defer { withExtendedLifetime(certificates) {} }
        let server = try await RedisServer(
            ["--requirepass", "geheim"],
            certificate: try certificates.make("server"),
            authority: certificates.authority
        )
        let url = "rediss://:geheim@localhost:\(server.port)/?prefix=test"
        let settings = SharedSettings(
            timeouts: .init(soft: .seconds(20), hard: .seconds(20)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(20))
        )
        let here = try SharedTier(url + "&tls_ca=\(certificates.authority.path)", settings)
        let there = try SharedTier(url + "&tls_insecure=true", settings)
        try await here.verified()
        try await there.verified()
        try await here.cache().save("value", forKey: "key")
        try await fetch("value", from: there.cache())
        try await here.cache().save("other", forKey: "key")
        try await fetch("other", from: there.cache())

        // The system trusts no authority of a test.
        let stranger = try SharedTier(url, settings)
        let error = await #expect(throws: CacheError.self) { try await stranger.cache().fetch(forKey: "key") }
        #expect(error?.code == .unreachable)
        #expect(error?.description.contains("certificate") == true, "\(String(describing: error))")
        #expect(error?.description.contains("geheim") == false)
    }

    /// Sentinels, and the servers that they name, speak TLS alone. The master is killed, and its replica takes over.
    @Test(.enabled(if: RedisServer.canEncrypt, "needs --traits TLS, a redis-server with TLS, and openssl"))
    func theTierFollowsSentinelsByTLS() async throws {
        let certificates = try TestCertificates()
        defer { withExtendedLifetime(certificates) {} }
        let directory = TestDirectory()
        func start(_ arguments: [String], _ certificate: TestCertificates.Certificate) async throws -> RedisServer {
            try await RedisServer(
                arguments + ["--tls-replication", "yes"],
                certificate: certificate,
                authority: certificates.authority
            )
        }
        let certificate = try certificates.make("server")
        let master = try await start([], certificate)
        let replicaOf = ["--replicaof", "127.0.0.1", "\(master.port)", "--repl-diskless-sync-delay", "0"]
        let replica = try await start(replicaOf, certificate)
        let file = directory.url.appending(path: "sentinel.conf")
        let lines = [
            "monitor mymaster 127.0.0.1 \(master.port) 1", "down-after-milliseconds mymaster 300",
            "failover-timeout mymaster 1000",
        ]
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        try lines.map { "sentinel \($0)\n" }.joined().write(to: file, atomically: true, encoding: .utf8)
        let sentinel = try await start([file.path, "--sentinel"], try certificates.make("sentinel"))
        let url = "rediss+sentinel://127.0.0.1:\(sentinel.port)/mymaster?prefix=test"
        let settings = SharedSettings(
            timeouts: .init(connect: .seconds(20), soft: .seconds(2), hard: .seconds(2)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(600)),
            breaker: .init(pause: .milliseconds(20), longestPause: .milliseconds(50))
        )
        let trusted = url + "&tls_ca=\(certificates.authority.path)"
        let tier = try SharedTier(trusted, settings)
        try await tier.verified()
        let cache = try tier.cache()
        try await insist { try await cache.save("one", forKey: "key") }
        try await wait(until: try await tier.ask(["WAIT", 1, 100]).integer == 1)
        // The sentinel has to know the replica.
        try await Self.knowsReplica(sentinel, certificates)
        master.kill()
        try await wait(until: await (try? cache.fetch(forKey: "key", freshness: .latest)) == "one")
        try await insist { try await cache.save("two", forKey: "key") }
        try await fetch("two", from: cache)
        withExtendedLifetime(replica) {}

        // A sentinel that another authority vouches for is not believed: its answer could lead anywhere.
        let stranger = try SharedTier(url, settings)
        let error = await #expect(throws: CacheError.self) { try await stranger.cache().fetch(forKey: "key") }
        #expect(error?.code == .unreachable)
        #expect(error?.description.contains("certificate") == true, "\(String(describing: error))")
    }

    private static func knowsReplica(_ sentinel: RedisServer, _ certificates: TestCertificates) async throws {
        var settings = RedisSettings(endpoints: [sentinel.endpoint])
        settings.usesTLS = true
        settings.tls.authorities = certificates.authority.path
        let connection = try RedisConnection(to: sentinel.endpoint, settings: settings)
        try await wait(
            until: try await connection.send(RedisCommand(["SENTINEL", "replicas", "mymaster"])).elements?.count
                == 1
        )
    }

    @Test(.enabled(if: RedisServer.canEncrypt, "needs --traits TLS, a redis-server with TLS, and openssl"))
    func tiersShareEntriesOfACluster() async throws {
        let certificates = try TestCertificates()
        defer { withExtendedLifetime(certificates) {} }
        let servers = try (0..<3).map { try certificates.make("server \($0)") }
        let cluster = try await RedisCluster(certificates: (servers, certificates.authority))
        #expect(cluster.url.hasPrefix("rediss+cluster://"))
        let url = cluster.url + "?prefix=test"
        let settings = SharedSettings(
            timeouts: .init(soft: .seconds(20), hard: .seconds(20)),
            heartbeat: .init(interval: .milliseconds(50), deadline: .seconds(20))
        )
        let tiers = try (0..<2).map { _ in try SharedTier(url + "&tls_ca=\(certificates.authority.path)", settings)
        }
        for tier in tiers {
            try await wait(until: tier.clusterClient?.isWhole == true)
            try await tier.verified()
        }
        let (here, there) = (try tiers[0].cache(), try tiers[1].cache())
        let keys = (0..<12).map { "key\($0)" }
        for value in ["value", "other"] {
            // The second time, memory there has the former values until each master has told of the new ones.
            for key in keys { try await here.save(value, forKey: key) }
            for key in keys { try await fetch(value, from: there, key: key) }
            try await wait(until: await memoryHits(there, keys) >= keys.count)
        }
        for index in 0..<3 { #expect(try await cluster.ask(index, ["DBSIZE"]).integer ?? 0 > 0) }
        try await here.removeAll()
        for key in keys { try await fetch(nil, from: there, key: key) }

        // The system trusts no authority of a test.
        let stranger = try SharedTier(url, settings)
        let error = await #expect(throws: CacheError.self) { try await stranger.cache().fetch(forKey: "key") }
        #expect(error?.code == .unreachable)
        #expect(error?.description.contains("certificate") == true, "\(String(describing: error))")
    }

    /// How many of the keys memory answers.
    private func memoryHits(_ cache: Cache<String>, _ keys: [String]) async throws -> Int {
        let before = cache.statistics.memoryHits
        for key in keys { _ = try await cache.fetch(forKey: key) }
        return cache.statistics.memoryHits - before
    }
}
