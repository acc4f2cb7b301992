import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Tiers that read from replicas.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct ReplicaReadTests {
    /// A server with a replica, which hears of it by a proxy.
    private struct Pair {
        let fleet: Fleet
        let replica: RedisServer
        let proxy: FaultProxy
        /// Writes, and reads from the primary.
        let other: SharedTier

        init() async throws {
            fleet = try await Fleet(hasOwnServer: true)
            proxy = try FaultProxy(to: fleet.server.port)
            replica = try await RedisServer([
                "--replicaof", "127.0.0.1", "\(proxy.port)", "--repl-diskless-sync-delay", "0",
            ])
            other = try await fleet.verifiedMachine()
        }

        func tier(_ change: (inout SharedSettings) -> Void = { _ in }) async throws -> SharedTier {
            let tier = try fleet.machine { settings in
                settings.reads = .replicas(["127.0.0.1:\(replica.port)"])
                change(&settings)
            }
            try await tier.verified()
            return tier
        }

        /// Waits until the replica has all changes.
        func isEqual() async throws {
            try await wait(until: try await other.ask(["WAIT", 1, 100]).integer == 1)
        }
    }

    private func remote(_ tier: SharedTier, name: String = "cities") throws -> Cache<String> {
        try Cache(name: name, shared: tier, settings: CacheSettings(memory: MemorySettings(byteLimit: .bytes(0))))
    }

    /// Fetches until a replica gives the value: the first ones ask whether it is connected with its primary.
    private func replica(of tier: SharedTier, gives value: String?, to cache: Cache<String>) async throws {
        let before = tier.statistics.replicaHits
        try await wait(
            until: try await cache.fetch(forKey: "key") == value && tier.statistics.replicaHits > before
        )
    }

    @Test func fetchesMayBeOlderAndAllElseIsNot() async throws {
        let pair = try await Pair()
        defer { pair.proxy.end() }
        let tier = try await pair.tier()
        let cache = try remote(tier)
        let there = try remote(pair.other)
        try await there.save("old", forKey: "key")
        try await pair.isEqual()
        try await replica(of: tier, gives: "old", to: cache)
        let hits = tier.statistics.hits
        for _ in 0..<10 { #expect(try await cache.fetch(forKey: "key") == "old") }
        #expect(try await cache.fetch(forKeys: ["key", "none"]) == ["key": "old"])
        #expect(tier.statistics.hits == hits)

        // The replica hears of nothing for a while.
        pair.proxy.fault = .stall
        try await there.save("new", forKey: "key")
        try await there.save("only there", forKey: "second")
        #expect(try await cache.fetch(forKey: "key") == "old")
        #expect(try await cache.fetch(forKey: "key", freshness: .latest) == "new")
        #expect(try await cache.fetch(forKey: "second") == "only there")
        #expect(try await cache.fetch(forKey: "second") { "loaded" } == "only there")
        #expect(try await cache.fetch(forKey: "third") { "loaded" } == "loaded")
        #expect(try await there.fetch(forKey: "third") == "loaded")
        let blocking = { () throws(CacheError) -> String? in try cache.fetch(forKey: "key") }
        #expect(try blocking() == "new")
        try await cache.modify(forKey: "key") { $0 = ($0 ?? "") + "er" }
        #expect(try await there.fetch(forKey: "key") == "newer")
        pair.proxy.fault = .none
        try await replica(of: tier, gives: "newer", to: cache)
    }

    /// An entry of a replica is compared with the primary's at its next use, and is vouched for from then on.
    @Test func memoryIsVouchedForByThePrimary() async throws {
        let pair = try await Pair()
        defer { pair.proxy.end() }
        for name in ["cities", "towns"] { try await remote(pair.other, name: name).save("value", forKey: "key") }
        try await pair.isEqual()
        let tier = try await pair.tier()
        try await replica(of: tier, gives: "value", to: try remote(tier, name: "towns"))
        let cache = try tier.cache()
        // It has to know the generation.
        #expect(try await cache.fetch(forKey: "none") == nil)
        let hits = tier.statistics.replicaHits
        #expect(try await cache.fetch(forKey: "key") == "value")
        #expect(tier.statistics.replicaHits == hits + 1)
        let compares = tier.statistics.compares
        #expect(try await cache.fetch(forKey: "key") == "value")
        #expect(tier.statistics.compares == compares + 1)
        #expect(try await cache.fetch(forKey: "key") == "value")
        #expect(tier.statistics.compares == compares + 1)
        #expect(cache.statistics.memoryHits == 2)
        // Once it is vouched for, the replica is not heard.
        pair.proxy.fault = .stall
        try await remote(pair.other).save("new", forKey: "key")
        try await wait(until: tier.statistics.invalidations > 0)
        #expect(try await cache.fetch(forKey: "key", freshness: .latest) == "new")
        #expect(try await cache.fetch(forKey: "key") == "new")
        pair.proxy.fault = .none
    }

    @Test func withoutReplicasThePrimaryAnswers() async throws {
        let pair = try await Pair()
        let tier = try await pair.tier()
        let cache = try remote(tier)
        let there = try remote(pair.other)
        try await there.save("old", forKey: "key")
        try await pair.isEqual()
        try await replica(of: tier, gives: "old", to: cache)
        // It is cut off from its primary, and known to be.
        pair.proxy.end()
        try await there.save("new", forKey: "key")
        try await wait(until: try await cache.fetch(forKey: "key") == "new")
        pair.replica.kill()
        for _ in 0..<20 { #expect(try await cache.fetch(forKey: "key") == "new") }
        #expect(try await cache.fetch(forKey: "other") { "loaded" } == "loaded")
    }

    @Test func aRemovalOfAllEntriesHoldsBeforeReplicasHearOfIt() async throws {
        let pair = try await Pair()
        defer { pair.proxy.end() }
        let tier = try await pair.tier()
        let cache = try remote(tier)
        let there = try remote(pair.other)
        try await there.save("value", forKey: "key")
        try await pair.isEqual()
        try await replica(of: tier, gives: "value", to: cache)
        pair.proxy.fault = .stall
        try await there.removeAll()
        try await wait(until: try await cache.fetch(forKey: "key") == nil)
        for _ in 0..<10 { #expect(try await cache.fetch(forKey: "key") == nil) }
        pair.proxy.fault = .none
    }

    @Test func replicasOfAClusterAreReadFrom() async throws {
        let fleet = try await ClusterFleet(replicas: 1)
        let tier = try SharedTier(
            "\(fleet.cluster.url)?prefix=\(fleet.prefix)&soft_timeout=60s&timeout=120s",
            SharedSettings(
                heartbeat: .init(interval: .milliseconds(50), deadline: .seconds(600)),
                reads: .replicas()
            )
        )
        try await wait(until: tier.clusterClient?.isWhole == true)
        try await tier.verified()
        let cache = try remote(tier)
        for number in 0..<30 { try await cache.save("value \(number)", forKey: number) }
        while tier.statistics.replicaHits <= 60 {
            for number in 0..<30 {
                let found = try await cache.fetch(forKey: number)
                #expect(found == "value \(number)")
            }
        }
        let found = try await cache.fetch(forKeys: Array(0..<30))
        #expect(found.count == 30)
    }

    @Test func settingsThatDoNotFitAreRefused() throws {
        for (url, hosts) in [
            ("redis://10.0.0.1", []), ("redis://10.0.0.1", ["10.0.0.2", ""]),
            ("redis+cluster://10.0.0.1", ["10.0.0.2"]),
        ] {
            let error = #expect(throws: CacheError.self) {
                try SharedTier(url, SharedSettings(reads: .replicas(hosts)))
            }
            #expect(error?.code == .invalidServer)
        }
        let error = #expect(throws: CacheError.self) {
            try SharedTier("redis://a", SharedSettings(coherence: .age(.seconds(1)), reads: .replicas(["b"])))
        }
        #expect(error?.code == .invalidServer)
    }
}
