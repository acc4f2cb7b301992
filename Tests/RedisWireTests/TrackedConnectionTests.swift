import RedisServers
import Synchronization
import TestSupport
import Testing

@testable import RedisWire

/// Heartbeats prove that no change was missed, even if either connection fails.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(10 * slowness)))
struct TrackedConnectionTests {
    /// The connection for calls is silent for minutes before it is asked for a sign of life, and in the meantime the channel's
    /// heartbeats are answered.
    @Test func nothingIsProvenOnceTheServerHasLostTheConnectionForCalls() async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.end() }
        var settings = RedisSettings(endpoints: [proxy.endpoint])
        settings.timeouts.soft = .milliseconds(100)
        settings.timeouts.hard = .seconds(600)
        settings.timeouts.silence = .seconds(600)
        let verifiedSince = Mutex<ContinuousClock.Instant?>(nil)
        let beats = Atomic<Int>(0)
        let tracked = try TrackedConnection(
            to: proxy.endpoint,
            settings: settings,
            prefixes: ["key"],
            heartbeat: {
                beats.add(1, ordering: .relaxed)
                return ["GET", "key"]
            },
            interval: .milliseconds(1),
            observer: { event in
                if case .verified(let start) = event { verifiedSince.withLock { $0 = start } }
            }
        )
        defer { tracked.close() }
        try await wait(until: verifiedSince.withLock({ $0 }) != nil)
        let number = try #require(try await tracked.send(["CLIENT", "ID"]).integer)

        // The channel has not sent the word.
        proxy.scope = .with("TRACKING")
        proxy.fault = .stall
        let other = try RedisConnection(to: server.endpoint, settings: RedisSettings(endpoints: [server.endpoint]))
        defer { other.close() }
        #expect(try await other.send(["CLIENT", "KILL", "ID", .integer(Int(number))]).integer == 1)
        _ = try await other.send(["SET", "key", "unheard"])
        let changed = ContinuousClock.now
        let before = beats.load(ordering: .relaxed)
        try await wait(until: beats.load(ordering: .relaxed) >= before + 5)
        #expect(try #require(verifiedSince.withLock { $0 }) < changed)
    }
}
