import Foundation
import RedisServers
import RedisWire
import TestSupport
import TypedCache

@testable import SharedCache

/// Machines that share a cluster.
struct ClusterFleet {
    let cluster: RedisCluster
    let prefix = "test-\(UUID().uuidString.prefix(8))"

    init(replicas: Int = 0, nodeTimeout: Duration = .seconds(60), needsAllSlots: Bool = true) async throws {
        cluster = try await RedisCluster(replicas: replicas, nodeTimeout: nodeTimeout, needsAllSlots: needsAllSlots)
    }

    /// - Parameter timeout: in milliseconds.
    func machine(timeout: Int = 600_000, deadline: Duration = .seconds(600)) throws -> SharedTier {
        try SharedTier(
            "\(cluster.url)?prefix=\(prefix)&soft_timeout=\(timeout)ms&timeout=\(2 * timeout)ms",
            SharedSettings(
                heartbeat: .init(interval: .milliseconds(50), deadline: deadline)
            )
        )
    }

    /// Has a slot go from master to master, a key at a time.
    func move(_ slot: HashSlot, from source: Int, rounds: Int) async throws {
        for round in 0..<rounds {
            let (from, to) = ((source + round) % 3, (source + round + 1) % 3)
            try await cluster.beginMoving(slot, from: from, to: to)
            try await Task.sleep(for: .milliseconds(30))
            try await wait(until: await cluster.moveKeys(of: slot, from: from, to: to, atMost: 1) == 0)
            try await cluster.endMoving(slot, to: to)
            try await Task.sleep(for: .milliseconds(30))
        }
    }

    /// Whether a server is a master, as it says itself.
    func isMaster(_ index: Int) async throws -> Bool {
        try await cluster.ask(index, ["ROLE"]).elements?.first?.text == "master"
    }

    /// A machine that hears of changes by each master.
    func wholeMachine(timeout: Int = 600_000, deadline: Duration = .seconds(600)) async throws -> SharedTier {
        let tier = try machine(timeout: timeout, deadline: deadline)
        try await wait(until: tier.clusterClient?.isWhole == true)
        try await tier.verified()
        return tier
    }

    /// The master that had the entry of a key at first.
    func firstMaster(of key: String) -> Int {
        cluster.firstMaster(of: HashSlot(ofKey: EntryNames.encoded(key).utf8))
    }

    /// Keys with entries in the slot of one of them.
    func keys(_ count: Int, besides key: String) -> [String] {
        let slot = HashSlot(ofKey: key.utf8)
        let texts = (0...).lazy.map { String($0, radix: 36) }
        let others = texts.filter { $0 != key && HashSlot(ofKey: $0.utf8) == slot }
        return [key] + others.prefix(count - 1)
    }
}

extension SharedTier {
    var clusterClient: TrackedCluster? { client as? TrackedCluster }
}
