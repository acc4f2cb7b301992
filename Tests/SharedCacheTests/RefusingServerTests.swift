import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Servers that answer, and refuse, or answer with something else.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct RefusingServerTests {
    enum Refusal: CaseIterable {
        case fullMemory, noRightToWrite, replica
    }

    private func refuseWrites(_ refusal: Refusal, by chief: SharedTier) async throws {
        switch refusal {
        case .fullMemory: _ = try await chief.ask(["CONFIG", "SET", "maxmemory", "1"])
        case .noRightToWrite:
            let answer = try await chief.ask(["ACL", "SETUSER", "default", "-@write", "-eval"])
            #expect(answer.text == "OK")
        case .replica: _ = try await chief.ask(["REPLICAOF", "127.0.0.1", "1"])
        }
    }

    /// The cache is new, or the server has evicted its generation, or it has one.
    @Test(arguments: Refusal.allCases, [false, true])
    func aServerThatRefusesWritesStopsNoLoad(refusal: Refusal, hasGeneration: Bool) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let chief = try await fleet.verifiedMachine()
        if hasGeneration { try await chief.cache().save("other", forKey: "other") }
        let tier = try await fleet.verifiedMachine()
        try await refuseWrites(refusal, by: chief)
        let cache = try tier.cache()
        for round in 0..<3 {
            let value = try await cache.fetch(forKey: "key") { "loaded \(round)" }
            #expect(value.hasPrefix("loaded"))
            let values = try await cache.fetch(forKeys: ["a", "b"]) { (keys: [String]) in
                Dictionary(uniqueKeysWithValues: keys.map { ($0, "loaded") })
            }
            #expect(values == ["a": "loaded", "b": "loaded"])
        }
        #expect(cache.statistics.failures > 0)
        if refusal != .replica {
            #expect(try await cache.fetch(forKey: "key") == nil)
            #expect(try await cache.contains(forKey: "key") == false)
            #expect(try await cache.fetch(forKey: "other") == (hasGeneration ? "other" : nil))
        }
    }

    /// On a cluster no breaker spares calls the wait for a master that does not answer.
    @Test func aSecondChangeOfManyKeysWaitsForADeadServerOnce() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 200, heartbeat: .seconds(600)) { $0.breaker.failures = 10_000 }
        try await tier.verified()
        let cache = try tier.cache()
        try await insist { try await cache.save("value", forKey: "other") }
        let entries = Dictionary(uniqueKeysWithValues: (0..<40).map { ("key \($0)", "value") })
        try await fleet.server.stopped {
            let first = try await code { try await cache.save(contentsOf: entries) }
            let timeouts = tier.statistics.timeouts
            let second = try await code { try await cache.save(contentsOf: entries) }
            #expect([first, second] == [.unreachable, .unreachable])
            // One by one they were 40.
            #expect(tier.statistics.timeouts - timeouts <= 2)
        }
        try await insist { try await cache.save(contentsOf: entries) }
        #expect(tier.owedKeyCount == 0)
        #expect(try await cache.fetch(forKeys: entries.keys) == entries)
    }

    // MARK: Answers of another kind

    /// Has some answers of a server be others.
    private final class SpoilingClient: RedisClient {
        private let base: RedisConnection
        private let spoil: @Sendable (RedisCommand, RedisValue) -> RedisValue

        init(_ server: RedisServer, _ spoil: @escaping @Sendable (RedisCommand, RedisValue) -> RedisValue) throws {
            base = try RedisConnection(
                to: server.endpoint,
                settings: RedisSettings(endpoints: [server.endpoint])
            )
            self.spoil = spoil
        }

        private func spoilt(_ commands: [RedisCommand], _ values: [RedisValue]) -> [RedisValue] {
            zip(commands, values).map { spoil($0, $1) }
        }

        func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
            spoilt(commands, try await base.send(commands))
        }

        func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
            spoilt(commands, try base.sendAndWait(commands))
        }
    }

    private func tier(
        _ fleet: Fleet,
        _ spoil: @escaping @Sendable (RedisCommand, RedisValue) -> RedisValue
    ) throws -> SharedTier {
        try SharedTier(client: try SpoilingClient(fleet.server, spoil), prefix: fleet.prefix)
    }

    private func failure(_ body: () async throws -> Void) async throws -> CacheError? {
        do {
            try await body()
            return nil
        } catch let error as CacheError {
            return error
        }
    }

    @Test(.timeLimit(.minutes(5))) func aListingThatNeverEndsIsRefused() async throws {
        let fleet = try await Fleet()
        let cache = try tier(fleet) { command, value in
            command.name == "SCAN" ? .array([.bulk(Array("17".utf8)), .array([])]) : value
        }.cache()
        try await cache.save("value", forKey: "key")
        let error = try await failure { _ = try await cache.count() }
        #expect(error?.code == .unreachable && error?.message.contains("SCAN") == true)
    }

    @Test(arguments: [RedisValue.null, .integer(1), .array([]), .bulk(Array("x".utf8))])
    func anAnswerToASaveThatIsNoAcknowledgementIsAnError(answer: RedisValue) async throws {
        let fleet = try await Fleet()
        let cache = try tier(fleet) { command, value in
            command.name == "SET" && value.text == "OK" ? answer : value
        }.cache()
        // The generation is there.
        try await fleet.verifiedMachine().cache().save("former", forKey: "key")
        #expect(try await failure { try await cache.save("value", forKey: "key") }?.code == .unreachable)
        #expect(try await failure { try await cache.removeAll() }?.code == .unreachable)
    }

    @Test func aGenerationThatIsNeverThereIsTold() async throws {
        let fleet = try await Fleet()
        let cache = try tier(fleet) { command, value in command.name == "GET" ? .null : value }.cache()
        let error = try await failure { try await cache.save("value", forKey: "key") }
        #expect(error?.code == .unreachable && error?.message.contains("is not there") == true, "\(error as Any)")
    }
}
