import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Tiers on clients that an app brings, beside one that connects by itself.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct OwnClientTests {
    /// An app's client, which has no calls that block, and is an actor as some are.
    private actor Client: RedisClient {
        private let connection: RedisConnection

        init(_ server: RedisServer) throws {
            connection = try RedisConnection(
                to: server.endpoint,
                settings: RedisSettings(endpoints: [server.endpoint])
            )
        }

        func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
            // Elsewhere first, as by an event loop.
            await Task.yield()
            return try await connection.send(commands)
        }
    }

    private static func tier(_ fleet: Fleet, age: Duration = .seconds(3_600)) throws -> SharedTier {
        let settings = SharedSettings(
            timeouts: .init(soft: .seconds(20), hard: .seconds(20)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(20))
        )
        return try SharedTier(client: try Client(fleet.server), prefix: fleet.prefix, age: age, settings)
    }

    @Test func allCallsWorkAndOtherTiersSeeThem() async throws {
        let fleet = try await Fleet()
        let tier = try Self.tier(fleet)
        try await tier.verified()
        let cache = try tier.cache()
        let others = try await fleet.verifiedMachine().cache()
        try await cache.save("one", forKey: "1", expiration: .after(.seconds(600)), tags: ["tag"])
        try await fetch("one", from: others, key: "1")
        #expect(try await cache.fetch(forKey: "2") { "two" } == "two")
        try await others.modify(forKey: "2") { $0 = ($0 ?? "") + "!" }
        #expect(try cache.keys().all().sorted() == ["1", "2"])
        #expect(try await cache.removeAll(tagged: "tag") == 1)
        try await fetch(nil, from: others, key: "1")
        try await cache.removeAll()
        try await fetch(nil, from: others, key: "2")
    }

    @Test func changesByOthersAreSeenAfterTheAge() async throws {
        let fleet = try await Fleet()
        let old = try Self.tier(fleet).cache()
        let young = try Self.tier(fleet, age: .milliseconds(1)).cache()
        let others = try await fleet.verifiedMachine().cache()
        try await others.save("old", forKey: "key")
        for cache in [old, young] {
            while cache.statistics.memoryHits == 0 { #expect(try await cache.fetch(forKey: "key") == "old") }
        }
        try await others.save("new", forKey: "key")
        try await fetch("new", from: young)
        #expect(try await old.fetch(forKey: "key") == "old")
    }

    /// Another machine has removed all entries, and no message has told of that.
    @Test func listingsAndRemovalsByTagAskForTheGeneration() async throws {
        let fleet = try await Fleet()
        let tier = try Self.tier(fleet)
        try await tier.verified()
        let cache = try tier.cache()
        let others = try await fleet.verifiedMachine().cache()
        for round in 0..<3 {
            try await cache.save("old", forKey: "old")
            try await others.removeAll()
            try await others.save("new", forKey: "new", tags: ["tag"])
            if round == 0 { #expect(try cache.keys().all() == ["new"]) }
            if round == 1 { #expect(try cache.entries().all().map(\.key) == ["new"]) }
            #expect(try await cache.removeAll(tagged: "tag") == 1, "round \(round)")
            #expect(try others.keys().all().isEmpty)
        }
    }

    /// Calls that block, as many as the pool has threads and more, and a client that needs them.
    @Test func blockingCallsNeedNoThreadOfThePool() async throws {
        let fleet = try await Fleet()
        let cache = try Self.tier(fleet).cache()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    let save: () throws -> Void = { try cache.save("\(task)", forKey: "\(task)") }
                    let remove: () throws -> Void = { try cache.remove(forKey: "\(task)") }
                    for _ in 0..<5 {
                        try save()
                        try remove()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try cache.keys().all().isEmpty)
    }

    @Test func aClosedTierLeavesTheClientOpen() async throws {
        let fleet = try await Fleet()
        let client = try Client(fleet.server)
        let tier = try SharedTier(client: client, prefix: fleet.prefix)
        let cache = try tier.cache()
        try await cache.save("value", forKey: "key")
        await tier.close()
        #expect(try await code { try await cache.save("other", forKey: "other") } == .closed)
        #expect(try await client.send(["PING"]) == .simple("PONG"))
        #expect(throws: CacheError.self) { try SharedTier(client: client, prefix: "a b") }
    }
}
