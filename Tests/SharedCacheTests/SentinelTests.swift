import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// A master that sentinels name, and that they replace when it is gone.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct SentinelTests {
    private func sentinel(of master: RedisServer, in directory: TestDirectory) async throws -> RedisServer {
        let file = directory.url.appending(path: "sentinel.conf")
        let lines = [
            "monitor mymaster 127.0.0.1 \(master.port) 1", "down-after-milliseconds mymaster 300",
            "failover-timeout mymaster 1000",
        ]
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        try lines.map { "sentinel \($0)\n" }.joined().write(to: file, atomically: true, encoding: .utf8)
        return try await RedisServer([file.path, "--sentinel"])
    }

    private func tier(_ sentinels: [UInt16], master: String = "mymaster", prefix: String = "test") throws
        -> SharedTier
    {
        let hosts = sentinels.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let settings = SharedSettings(
            timeouts: .init(connect: .seconds(5), soft: .seconds(1), hard: .seconds(1)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(600)),
            breaker: .init(pause: .milliseconds(20), longestPause: .milliseconds(50))
        )
        return try SharedTier("redis+sentinel://\(hosts)/\(master)?prefix=\(prefix)", settings)
    }

    /// The first of the sentinels is gone; the master is killed, then its replica has taken over.
    @Test func theTierFollowsTheMasterThatSentinelsName() async throws {
        let directory = TestDirectory()
        let master = try await RedisServer()
        let replica = try await RedisServer([
            "--replicaof", "127.0.0.1", "\(master.port)", "--repl-diskless-sync-delay", "0",
        ])
        let gone = try await RedisServer()
        gone.kill()
        let sentinel = try await sentinel(of: master, in: directory)
        let tier = try tier([gone.port, sentinel.port])
        try await tier.verified()
        #expect(tier.nodes[0].node.hasPrefix("mymaster (sentinels 127.0.0.1:"))
        let cache = try tier.cache()
        try await insist { try await cache.save("one", forKey: "key") }
        #expect(
            try await tier.ask(["CONFIG", "GET", "port"]).elements?.last?.text ?? "\(master.port)"
                == "\(master.port)"
        )
        // It has to know the replica, and the replica the entry.
        try await wait(until: try await knownReplicas(sentinel) == 1)
        try await wait(until: try await tier.ask(["WAIT", 1, 100]).integer == 1)
        master.kill()
        try await wait(until: try await fetched("one", cache))
        try await insist { try await cache.save("two", forKey: "key") }
        // The value is on the replica that was.
        let plain = try SharedTier("redis://127.0.0.1:\(replica.port)/?prefix=test")
        #expect(try await insist { try await plain.cache().fetch(forKey: "key") } == "two")
    }

    private func fetched(_ value: String, _ cache: Cache<String>) async throws -> Bool {
        do throws(CacheError) {
            return try await cache.fetch(forKey: "key", freshness: .latest) == value
        } catch {
            if error.code == .unreachable { return false }
            throw error
        }
    }

    private func knownReplicas(_ sentinel: RedisServer) async throws -> Int {
        let connection = try RedisConnection(
            to: sentinel.endpoint,
            settings: RedisSettings(endpoints: [sentinel.endpoint])
        )
        let answer = try await connection.send(RedisCommand(["SENTINEL", "replicas", "mymaster"]))
        return answer.elements?.count ?? 0
    }

    @Test func aNameThatSentinelsDoNotKnowIsTold() async throws {
        let directory = TestDirectory()
        let master = try await RedisServer()
        let sentinel = try await sentinel(of: master, in: directory)
        let cache = try tier([sentinel.port], master: "other").cache()
        var message = ""
        while !message.contains("knows no master other") {
            do throws(CacheError) {
                _ = try await cache.fetch(forKey: "key")
                Issue.record("a master was found")
                return
            } catch {
                #expect(error.code == .unreachable)
                message = error.message
            }
            try Task.checkCancellation()
        }
    }

    // MARK: Credentials that expire

    /// A password that a provider gives.
    private final class Vault: Sendable {
        struct Sealed: Error {}
        let password = Mutex<String?>("first")
        let asked = Counter()

        func credentials() throws -> SharedCredentials {
            asked.add()
            guard let password = password.withLock(\.self) else { throw Sealed() }
            return SharedCredentials(password: password)
        }
    }

    @Test func eachNewConnectionAsksForCredentials() async throws {
        let server = try await RedisServer(["--requirepass", "first"])
        let vault = Vault()
        let settings = SharedSettings(
            timeouts: .init(connect: .seconds(60), soft: .seconds(60), hard: .seconds(60)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(600))
        )
        let url = "redis://127.0.0.1:\(server.port)/"
        let tier = try SharedTier(url, settings) { try vault.credentials() }
        try await tier.verified()
        #expect(vault.asked.count == 2)
        let cache = try tier.cache()
        try await cache.save("value", forKey: "key")
        // Connections that are open stay so.
        _ = try await tier.ask(["CONFIG", "SET", "requirepass", "second"])
        #expect(try await cache.fetch(forKey: "key", freshness: .latest) == "value")
        // No new one is made with the former password, nor without any.
        vault.password.withLock { $0 = nil }
        _ = try? await tier.ask(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"])
        try await wait(until: vault.asked.count >= 4)
        try await wait(until: await message(cache).contains("asking for credentials: Sealed was thrown"))
        vault.password.withLock { $0 = "second" }
        #expect(try await insist { try await cache.fetch(forKey: "key", freshness: .latest) } == "value")
        #expect("\(SharedCredentials(user: "u", password: "geheim"))".contains("geheim") == false)
    }

    private func message(_ cache: Cache<String>) async -> String {
        do throws(CacheError) {
            _ = try await cache.fetch(forKey: "key", freshness: .latest)
            return ""
        } catch {
            return error.message
        }
    }

    @Test func aURLWithAPasswordHasNoOtherCredentials() throws {
        let error = #expect(throws: CacheError.self) {
            try SharedTier("redis://:geheim@127.0.0.1/") { SharedCredentials(password: "geheim") }
        }
        #expect(error?.code == .invalidServer && error?.message.contains("geheim") == false)
    }
}
