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
