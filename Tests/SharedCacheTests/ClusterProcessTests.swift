import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Machines in processes of their own, on a cluster that loses masters and moves slots.
@Suite(
    .serialized,
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .timeLimit(.minutes(40 * slowness))
)
struct ClusterProcessTests {
    private static let keys = (0..<12).map { "key\($0)" }

    /// - Parameter timeout: in milliseconds.
    private func workers(
        _ count: Int,
        _ fleet: ClusterFleet,
        timeout: Int = 600_000,
        deadline: Int = 600_000
    ) throws -> [SharedProcess] {
        let url = "\(fleet.cluster.url)?prefix=\(fleet.prefix)&soft_timeout=\(timeout)ms&timeout=\(timeout)ms"
        return try (0..<count).map { _ in try SharedProcess(url, interval: 50, deadline: deadline) }
    }

    /// Has a process fetch keys until its memory answers all of them, which it does not before their masters tell of
    /// changes.
    private func warm(_ worker: SharedProcess, _ keys: [String]) async throws {
        func hits() throws -> Int {
            let before = try #require(Int(worker.ask("hits")))
            for key in keys { _ = worker.ask("fetch \(key)") }
            return try #require(Int(worker.ask("hits"))) - before
        }
        try await wait(until: hits() == keys.count)
    }

    @Test func changesArriveInOtherProcessesThoughASlotMoves() async throws {
        let fleet = try await ClusterFleet()
        let workers = try workers(3, fleet)
        defer { for worker in workers { worker.end() } }
        for round in 0..<3 {
            for key in Self.keys { #expect(workers[round].ask("save \(key) \(round)") == "saved") }
            for worker in workers {
                for key in Self.keys { try await worker.wait(for: "\(round)", to: "fetch \(key)") }
                try await warm(worker, Self.keys)
            }
        }
        for index in 0..<3 { #expect(try await fleet.cluster.ask(index, ["DBSIZE"]).integer ?? 0 > 0) }
        // One of the processes loads.
        for (number, worker) in workers.enumerated() { worker.send("load other \(number)") }
        let answers = workers.map { $0.answer() }
        #expect(answers.count { $0.hasSuffix(" loaded") } == 1 && Set(answers.map { $0.prefix(1) }).count == 1)
        try await moveASlot(fleet, workers)
    }

    @Test func aKilledMastersReplicaServesAllProcesses() async throws {
        let fleet = try await ClusterFleet(replicas: 1, nodeTimeout: .seconds(1))
        let workers = try workers(2, fleet, timeout: 2_000)
        defer { for worker in workers { worker.end() } }
        for key in Self.keys {
            try await workers[0].wait(for: "saved", to: "save \(key) old")
            try await workers[1].wait(for: "old", to: "fetch \(key)")
        }
        // The generation, too, is at the replica by now, wherever it is.
        _ = try? await fleet.cluster.ask(0, ["WAIT", 1, 2_000])
        fleet.cluster.servers[0].kill()
        for key in Self.keys { _ = workers[0].ask("save \(key) lost?") }
        for value in ["new", "newest"] {
            for key in Self.keys { try await workers[0].wait(for: "saved", to: "save \(key) \(value)") }
            // It has removed the entries that it could not save.
            try await workers[0].wait(for: "0", to: "owed")
        }
        for worker in workers {
            for key in Self.keys { try await worker.wait(for: "newest", to: "fetch \(key)") }
        }
        // Changes arrive again, also from the former replica.
        try await warm(workers[0], Self.keys)
        for key in Self.keys { try await workers[1].wait(for: "saved", to: "save \(key) last") }
        for key in Self.keys { try await workers[0].wait(for: "last", to: "fetch \(key)") }
    }

    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func aKilledMasterWithoutReplicaTakesItsOwnKeys() async throws {
        let fleet = try await ClusterFleet(nodeTimeout: .seconds(2), needsAllSlots: false)
        let workers = try workers(2, fleet, timeout: 1_000, deadline: 2_000)
        defer { for worker in workers { worker.end() } }
        for key in Self.keys { try await workers[0].wait(for: "saved", to: "save \(key) old") }
        for worker in workers { try await warm(worker, Self.keys) }
        let names = EntryNames(prefix: EntryNames.prefix(fleet.prefix), cache: "cities", schema: 0)
        let kept = fleet.cluster.firstMaster(of: HashSlot(ofKey: names.generation.utf8))
        let killed = (kept + 1) % 3
        let (gone, left) = (
            Self.keys.filter { fleet.firstMaster(of: $0) == killed },
            Self.keys.filter { fleet.firstMaster(of: $0) != killed }
        )
        #expect(!gone.isEmpty && !left.isEmpty)
        fleet.cluster.servers[killed].kill()
        for worker in workers {
            for key in gone { try await worker.wait(for: "error unreachable", to: "fetch \(key)") }
            try await warm(worker, left)
        }
        for key in left { try await workers[0].wait(for: "saved", to: "save \(key) new") }
        for key in left { try await workers[1].wait(for: "new", to: "fetch \(key)") }
        for key in gone { #expect(workers[1].ask("save \(key) lost") == "error unreachable") }
        // Started again, it is empty, and has its slots.
        try await fleet.cluster.servers[killed].start()
        for key in gone { try await workers[0].wait(for: "-", to: "fetch \(key)") }
        try await workers[1].wait(for: "0", to: "owed")
        for key in gone { try await workers[0].wait(for: "saved", to: "save \(key) again") }
        for key in gone { try await workers[1].wait(for: "again", to: "fetch \(key)") }
    }

    /// Behaviour 17: no process notices; none goes back, and the writer sees its own values.
    private func moveASlot(_ fleet: ClusterFleet, _ workers: [SharedProcess]) async throws {
        let keys = fleet.keys(3, besides: "key")
        let slot = HashSlot(ofKey: "key".utf8)
        let source = fleet.firstMaster(of: "key")
        for key in keys { #expect(workers[0].ask("save \(key) 0") == "saved") }
        for worker in workers { try await warm(worker, keys) }
        let isOver = Mutex(false)
        async let moves: Void = {
            try await fleet.move(slot, from: source, rounds: isLongRun ? 12 : 4)
            isOver.withLock { $0 = true }
        }()
        var count = 0
        var last: [Int: [String: Int]] = [:]
        while !isOver.withLock({ $0 }) {
            count += 1
            for key in keys { #expect(workers[0].ask("save \(key) \(count)") == "saved") }
            for (number, worker) in workers.enumerated() {
                worker.send("load \(count) \(number)")
                #expect(worker.answer().hasPrefix("0"))
                for key in keys {
                    let value = try #require(Int(worker.ask("fetch \(key)")))
                    #expect(number == 0 ? value == count : value >= last[number]?[key] ?? 0)
                    last[number, default: [:]][key] = value
                }
            }
            // Other tasks use this thread, too.
            try await Task.sleep(for: .milliseconds(1))
        }
        try await moves
        for worker in workers {
            for key in keys { try await worker.wait(for: "\(count)", to: "fetch \(key)") }
        }
    }

    /// Behaviour 16: processes count in one entry, while connections are cut and a replica takes its master's place
    /// without a loss. Each modification gives another number, so none is made to a value that was replaced.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func noModificationIsLost() async throws {
        let fleet = try await ClusterFleet(replicas: 1)
        let workers = try workers(8, fleet)
        defer { for worker in workers { worker.end() } }
        let key = try #require(Self.keys.first { fleet.firstMaster(of: $0) == 0 })
        let rounds = 10
        var given: [String] = []
        for round in 0..<rounds {
            for worker in workers { worker.send("count \(key) 100") }
            for cut in 0..<6 {
                try await Task.sleep(for: .milliseconds(20))
                try await fleet.cluster.ask(cut % 3, ["CLIENT", "KILL", "TYPE", "normal"])
            }
            // The replica and its master change places.
            let replica = round.isMultiple(of: 2) ? 3 : 0
            while try await !fleet.isMaster(replica) {
                // A change that servers are too busy for is refused, or abandoned after five seconds, and asked for again.
                _ = try? await fleet.cluster.ask(replica, ["CLUSTER", "FAILOVER"])
                try? await wait(until: await fleet.isMaster(replica), within: .seconds(6))
            }
            for worker in workers { given += worker.answer().split(separator: " ").map(String.init) }
        }
        #expect(given.count == 100 * rounds * workers.count && Set(given).count == given.count)
        // The last life's sum has all of its modifications, but for modifications without an answer.
        let last = try #require(given.last?.split(separator: ":").first)
        let value = workers[0].ask("latest \(key)").split(separator: ":")
        if value.first == last { #expect(Int(value[1]) ?? 0 >= given.count { $0.hasPrefix("\(last):") }) }
    }
}
