import ArchiveStore
import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Loads of several machines. Leases last an hour unless a test says otherwise, so that waiting for one to expire fails.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct LeaseTests {
    @Test func oneProducerRunsForAllMachines() async throws {
        let fleet = try await Fleet()
        var caches: [Cache<String>] = []
        for _ in 0..<8 { caches.append(try await fleet.verifiedMachine().cache()) }
        let produced = Produced()
        for round in 0..<5 {
            let key = "key \(round)"
            try await withThrowingTaskGroup(of: String.self) { group in
                for cache in caches {
                    for _ in 0..<32 {
                        group.addTask {
                            try await cache.fetch(forKey: key) {
                                produced.add([key])
                                try await Task.sleep(for: .milliseconds(20))
                                return "value \(round)"
                            }
                        }
                    }
                }
                for try await value in group { #expect(value == "value \(round)") }
            }
            #expect(produced.keys.count == round + 1)
        }
    }

    @Test func severalKeysAreLoadedOnceEach() async throws {
        let fleet = try await Fleet()
        let keys = (0..<60).map { "key \($0)" }
        let produced = Produced()
        try await withThrowingTaskGroup(of: [String: String].self) { group in
            for machine in 0..<4 {
                let cache = try await fleet.verifiedMachine().cache()
                let wanted = keys.shuffled().prefix(40)
                group.addTask {
                    try await cache.fetch(forKeys: Array(wanted)) { (missing: [String]) in
                        produced.add(missing)
                        try await Task.sleep(for: .milliseconds(1 + machine))
                        return Dictionary(uniqueKeysWithValues: missing.map { ($0, "value of \($0)") })
                    }
                }
            }
            for try await values in group {
                #expect(values.count == 40)
                for (key, value) in values { #expect(value == "value of \(key)") }
            }
        }
        let all = produced.keys
        #expect(Set(all).count == all.count)
    }

    /// Each change by another machine that a load must not undo.
    enum Change: CaseIterable {
        case removal, removalOfAll, save, removalByTag, change
    }

    @Test(arguments: Change.allCases, [true, false])
    func aChangeDuringALoadWins(change: Change, hasFormer: Bool) async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine().cache(), try await fleet.verifiedMachine().cache())
        if hasFormer {
            // It has expired, and is there still.
            let brief = Expiration.after(.milliseconds(1)).servingStaleOnError(for: .seconds(3_600))
            try await here.save("former", forKey: "key", expiration: brief, tags: ["tag"])
            try await fetch(nil, from: here)
        }
        let (begun, changed) = (Gate(), Gate())
        async let load = here.fetch(forKey: "key", tags: ["tag"]) {
            begun.open()
            try await changed.opened()
            return "loaded"
        }
        try await begun.opened()
        switch change {
        case .removal: try await there.remove(forKey: "key")
        case .removalOfAll: try await there.removeAll()
        case .removalByTag: try await there.removeAll(tagged: "tag")
        case .save: try await there.save("saved", forKey: "key")
        case .change: try await there.modify(forKey: "key") { $0 = "saved" }
        }
        changed.open()
        let loaded = try await load
        #expect(loaded == "loaded")
        let left = change == .save || change == .change ? "saved" : nil
        for cache in [here, there] { try await fetch(left, from: cache) }
        let seen = try await fleet.verifiedMachine().cache().fetch(forKey: "key")
        #expect(seen == left)
    }

    /// A removal by tag, be it another tag, has a load take its value back. In the meantime another machine may have begun to
    /// load the key, and goes on to be the only one.
    @Test func aLoadThatTakesItsValueBackLeavesTheNextLease() async throws {
        let fleet = try await Fleet()
        let there = try await fleet.verifiedMachine()
        let one = try await fleet.verifiedMachine().store(cache: "cities", schema: 0)
        let other = there.store(cache: "cities", schema: 0)
        let taking = Insisting(TakeLeases([try StoreKey("key")], milliseconds: 3_600_000))
        let lease = try #require(try await one.request(taking).leases.first)
        try await there.cache().removeAll(tagged: "another")

        var attributes = EntryAttributes(storedAt: .now)
        attributes.tags = ["tag"]
        let entry = try one.newEntry([1, 2, 3], forKey: "key", attributes)
        var saving = SaveLoaded(entry, under: lease, one.offset.clock)
        var next: [any LoadLease] = []
        var answers: [RedisValue] = []
        while case .send(let commands) = try saving.next(answers, one.view) {
            answers = try await one.engine.request(commands, action: "saving")
            // As soon as the entry was saved, the lease is free.
            if next.isEmpty { next = try await other.takeLeases(ofKeys: ["key"]) }
        }
        #expect(try await one.fetch(forKeys: ["key"], isUrgent: false, mayBeOlder: false)[0].get() == nil)
        let others = try await one.takeLeases(ofKeys: ["key"])
        #expect(others.isEmpty)
        let saved = try #require(next.first).save([4], attributes: attributes) { true }
        #expect(saved != nil)
    }

    @Test func aLeaseThatAChangeHasEndedSavesNothingAndIsCounted() async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        let leases = try await here.store(cache: "cities", schema: 0).takeLeases(ofKeys: ["removed", "kept"])
        try await there.cache().remove(forKey: "removed")
        let saved = try leases.map { lease in
            try lease.save([1, 2, 3], attributes: EntryAttributes(storedAt: .now)) { true }
        }
        #expect(saved.compactMap(\.?.key) == ["kept"])
        #expect(here.statistics.leasesWon == 2 && here.statistics.leasesLost == 1)
    }

    @Test func aCacheThatIsClosedGivesItsLeasesBack() async throws {
        let fleet = try await Fleet()
        let other = try await fleet.verifiedMachine().store(cache: "cities", schema: 0)
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        let held = try await other.takeLeases(ofKeys: ["held"])
        let load = Task {
            try await cache.fetch(forKeys: ["free", "held"]) { keys in
                Dictionary(uniqueKeysWithValues: keys.map { ($0, "value") })
            }
        }
        try await wait(until: tier.statistics.leasesWon != 0)
        try await cache.close()
        await #expect(throws: (any Error).self) { try await load.value }
        // A lease lasts for an hour.
        try await wait(until: await !other.takeLeases(ofKeys: ["free"]).isEmpty)
        withExtendedLifetime(held) {}
    }

    @Test func aMachineThatDiesHoldsOthersUpForTheLeaseAlone() async throws {
        let fleet = try await Fleet()
        let dead = try await fleet.verifiedMachine(lease: .milliseconds(300))
        let leases = try await dead.store(cache: "cities", schema: 0).takeLeases(ofKeys: ["key"])
        #expect(leases.count == 1 && leases[0].foundEntry == false)
        await dead.close()
        let cache = try await fleet.verifiedMachine().cache()
        #expect(try await cache.fetch(forKey: "key", producer: { "value" }) == "value")
        #expect(try await cache.fetch(forKey: "key") == "value")
    }

    @Test func aLeaseIsExtendedWhileItsProducerRuns() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine(lease: .seconds(6))
        let cache = try tier.cache()
        let (begun, done) = (Gate(), Gate())
        async let load = cache.fetch(forKey: "key") {
            begun.open()
            try await done.opened()
            return "value"
        }
        try await begun.opened()
        let name = try #require(try await tier.ask(["KEYS", .text("tcl:\(fleet.prefix)*")]).elements?.first?.text)
        // Its time only grows when it is extended.
        var left = Int64.max
        func isExtended() async throws -> Bool {
            let former = left
            left = try #require(try await tier.ask(["PTTL", .text(name)]).integer)
            #expect(left > 0)
            return left > former
        }
        try await wait(until: await isExtended())
        done.open()
        #expect(try await load == "value")
        #expect(try await fleet.verifiedMachine().cache().fetch(forKey: "key") == "value")
        let after = try await tier.ask(["KEYS", .text("tcl:\(fleet.prefix)*")]).elements?.count
        #expect(after == 0)
    }

    @Test func aFailedLoadGivesItsLeaseBack() async throws {
        struct Refused: Error {}
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine().cache(), try await fleet.verifiedMachine().cache())
        await #expect(throws: Refused.self) {
            try await here.fetch(forKey: "key") { () async throws -> String in throw Refused() }
        }
        #expect(try await there.fetch(forKey: "key", producer: { "value" }) == "value")
        try await fetch("value", from: here)
    }

    @Test func loadsThatWaitForEachOtherOnTwoMachinesEnd() async throws {
        let fleet = try await Fleet()
        let one = try await fleet.verifiedMachine(lease: .milliseconds(300)).cache()
        let other = try await fleet.verifiedMachine(lease: .milliseconds(300)).cache()
        let (first, second) = (Gate(), Gate())
        async let a = one.fetch(forKey: "a") {
            first.open()
            try await second.opened()
            return try await one.fetch(forKey: "b") { "b of one" }
        }
        async let b = other.fetch(forKey: "b") {
            second.open()
            try await first.opened()
            return try await other.fetch(forKey: "a") { "a of other" }
        }
        let values = try await [a, b]
        #expect(values[0] == "b of one" || values[1] == "a of other")
    }

    @Test func aLoadThatWaitsForItselfIsRefused() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let (one, other) = (try tier.cache(), try tier.cache())
        let refused = try await code {
            _ = try await one.fetch(forKey: "key") {
                try await other.fetch(forKey: "key") { "value" }
            }
        }
        #expect(refused == .recursiveLoad)
    }

    @Test func aWaitingLoadCanBeCancelled() async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine().cache(), try await fleet.verifiedMachine().cache())
        let (begun, done) = (Gate(), Gate())
        async let load = here.fetch(forKey: "key") {
            begun.open()
            try await done.opened()
            return "value"
        }
        try await begun.opened()
        let waiting = Task { try await there.fetch(forKey: "key") { "other" } }
        try await Task.sleep(for: .milliseconds(1))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        done.open()
        #expect(try await load == "value")
    }

    @Test func aLoadThatIsGivenUpGivesItsLeaseBack() async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine().cache(), try await fleet.verifiedMachine().cache())
        let begun = Gate()
        let load = Task {
            try await here.fetch(forKey: "key") {
                begun.open()
                try await Task.sleep(for: .seconds(3_600))
                return "value"
            }
        }
        try await begun.opened()
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(try await there.fetch(forKey: "key") { "other" } == "other")
        #expect(try await fleet.machine().cache().fetch(forKey: "key") == "other")
    }

    @Test func withoutTheServerValuesAreLoadedAndNotSaved() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100) { $0.whenUnreachable.keep = .zero }
        try await tier.verified()
        let cache = try tier.cache()
        try await insist { try await cache.save("other", forKey: "other") }
        await fleet.server.stopped {
            for round in 0..<20 {
                let value = try? await cache.fetch(forKey: "key") { "loaded \(round)" }
                #expect(value == "loaded \(round)")
            }
        }
        #expect(try await insist { try await cache.fetch(forKey: "key") } == nil)
        #expect(try await insist { try await cache.fetch(forKey: "other") } == "other")
        #expect(tier.owedKeyCount == 0)
    }
}

/// The keys that producers were run for.
private final class Produced: Sendable {
    private let state = Mutex<[String]>([])

    var keys: [String] { state.withLock { $0 } }

    func add(_ keys: [String]) { state.withLock { $0 += keys } }
}

/// Opens once.
private final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func opened() async throws {
        try await wait(until: isOpen.load(ordering: .acquiring))
    }
}
