import ArchiveStore
import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// A lease ends with the load that has it, and keeps no other load from an entry that is there. Leases last an hour
/// unless a test says otherwise.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct LeaseOwnerTests {
    private struct Refused: Error {}

    private func leaseNames(_ fleet: Fleet, _ tier: SharedTier) async throws -> [String] {
        try await tier.ask(["KEYS", .text("tcl:\(fleet.prefix)*")]).elements?.compactMap(\.text) ?? []
    }

    /// The entry and another machine's lease come in one write, as if that machine had looked for the entry and died.
    @Test func anEntryThatIsThereIsUsedThoughAnotherMachineHasTheLease() async throws {
        let fleet = try await Fleet()
        let (tier, there) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        let (cache, other) = (try tier.cache(), there.store(cache: "cities", schema: 0))
        // It has an entry in the form of the cache's values, which is taken apart below.
        try await there.cache().save("value", forKey: "key")
        let archive = try #require(try other.fetch(forKey: "key")).archive
        try await there.cache().remove(forKey: "key")
        let held = try await other.takeLeases(ofKeys: ["key"])
        #expect(held.count == 1)
        async let load = cache.fetch(forKey: "key") { () async throws -> String in throw Refused() }
        try await wait(until: tier.statistics.leasesWaited > 0)
        let new = try other.newEntry(archive, forKey: "key", EntryAttributes(storedAt: .now))
        let generation = try #require(other.view.generation)
        let name = other.view.names.entry("key", generation)
        let save = SaveEntry(new).commands(for: name, other.view.names, in: generation)
        let answers = try await there.client.send(
            save + [["SET", .text(EntryNames.lease(ofEntry: name)), "dead", "PX", 3_600_000]]
        )
        #expect(answers.last?.text == "OK")
        #expect(try await load == "value")
        withExtendedLifetime(held) {}
    }

    enum Ending: CaseIterable {
        case value, failure, nothing, waiting
    }

    /// Looked at as soon as the fetch has returned: its process may end then.
    @Test(arguments: Ending.allCases)
    func aFetchThatHasReturnedHasNoLease(ending: Ending) async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        let (cache, other) = (try here.cache(), try there.cache())
        for round in 0..<20 {
            let key = "key \(round)"
            switch ending {
            case .value: _ = try await cache.fetch(forKey: key) { "value" }
            case .failure:
                let failing = { @Sendable () async throws -> String in throw Refused() }
                await #expect(throws: Refused.self) { try await cache.fetch(forKey: key, producer: failing) }
            case .nothing:
                let found = try await cache.fetch(forKeys: [key]) { (_: [String]) in [:] }
                #expect(found.isEmpty)
            case .waiting:
                async let first = other.fetch(forKey: key) {
                    try await Task.sleep(for: .milliseconds(20))
                    return "value"
                }
                _ = try await cache.fetch(forKey: key) { "value" }
                _ = try await first
            }
            #expect(try await leaseNames(fleet, here) == [])
        }
    }

    /// None of them needs the lease for that, which only one could have at a time.
    @Test func allWaitersHaveTheValueAtOnce() async throws {
        let fleet = try await Fleet()
        let chief = try await fleet.verifiedMachine().cache()
        var tiers: [SharedTier] = []
        for _ in 0..<64 {
            tiers.append(try fleet.machine(heartbeat: .seconds(5)))
            try await tiers.last?.verified()
        }
        let (begun, done) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await chief.fetch(forKey: "key") {
                    begun.add()
                    try await wait(until: done.count > 0)
                    return "value"
                }
            }
            try await wait(until: begun.count > 0)
            for tier in tiers {
                let cache = try tier.cache()
                group.addTask {
                    let value = try await cache.fetch(forKey: "key") { "another" }
                    #expect(value == "value")
                }
            }
            try await wait(until: tiers.allSatisfy { $0.statistics.leasesWaited > 0 })
            done.add()
            try await group.waitForAll()
        }
        #expect(tiers.map(\.statistics.leasesWon).reduce(0, +) == 0)
    }

    @Test func aTierThatIsClosedLeavesNoLease() async throws {
        let fleet = try await Fleet()
        let (tier, other) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        let cache = try tier.cache()
        let (begun, done) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await cache.fetch(forKey: "key") {
                    begun.add()
                    try await wait(until: done.count > 0)
                    return "value"
                }
            }
            try await wait(until: begun.count > 0)
            #expect(try await leaseNames(fleet, other).count == 1)
            await tier.close()
            #expect(try await leaseNames(fleet, other) == [])
            done.add()
            try await group.waitForAll()
        }
    }

    /// The producer takes four times as long as a lease that nobody extends.
    @Test func oneProducerRunsHoweverLongItTakes() async throws {
        let fleet = try await Fleet()
        let produced = Counter()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                let cache = try await fleet.verifiedMachine(lease: .seconds(1)).cache()
                group.addTask {
                    try await cache.fetch(forKey: "key") {
                        produced.add()
                        try await Task.sleep(for: .seconds(4))
                        return "value"
                    }
                }
            }
            for try await value in group { #expect(value == "value") }
        }
        #expect(produced.count == 1)
    }

    /// All threads of Swift's pool may be busy with producers.
    @Test func aLeaseIsExtendedThoughProducersBlockAllThreads() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine(lease: .milliseconds(600))
        let other = try await fleet.verifiedMachine(lease: .milliseconds(600))
        let (cache, there) = (try tier.cache(), other.store(cache: "cities", schema: 0))
        let lost = try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    _ = try await cache.fetch(forKey: "key \(number)") {
                        usleep(1_500_000)
                        return "value"
                    }
                }
            }
            try await group.waitForAll()
            return tier.statistics.leasesLost
        }
        #expect(lost == 0)
        withExtendedLifetime(there) {}
    }
}
