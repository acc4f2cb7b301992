import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

@Suite(.timeLimit(.minutes(40)))
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
        await here.verified()
        await there.verified()
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
}
