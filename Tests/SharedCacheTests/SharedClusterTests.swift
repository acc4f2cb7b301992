import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Caches on a cluster, seen from several machines.
@Suite(
    .serialized,
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .timeLimit(.minutes(40 * slowness))
)
struct SharedClusterTests {
    private static let keys = (0..<30).map { "key \($0)" }

    @Test func allThatACacheHasWorksOnEachMaster() async throws {
        let fleet = try await ClusterFleet()
        let here = try await fleet.wholeMachine().cache()
        let tier = try await fleet.wholeMachine()
        let there = try tier.cache()
        for (index, key) in Self.keys.enumerated() {
            try await here.save("old", forKey: key, tags: [index % 2 == 0 ? "even" : "odd"])
        }
        for index in 0..<3 { #expect(try await fleet.cluster.ask(index, ["DBSIZE"]).integer ?? 0 > 0) }
        #expect(try there.keys().all().sorted() == Self.keys.sorted())
        // Memory answers for each master's keys, until another machine changes them.
        for key in Self.keys { try await fetch("old", from: there, key: key) }
        let hits = there.statistics.memoryHits
        for key in Self.keys { #expect(try await there.fetch(forKey: key) == "old") }
        #expect(there.statistics.memoryHits - hits >= 30)
        for key in Self.keys { try await here.save("new", forKey: key, tags: ["even"]) }
        for key in Self.keys { try await fetch("new", from: there, key: key) }
        try await here.modify(forKey: Self.keys[0], expiration: .never) { $0 = ($0 ?? "") + "!" }
        try await fetch("new!", from: there, key: Self.keys[0])
        for key in Self.keys.prefix(5) { try await here.remove(forKey: key) }
        for key in Self.keys.prefix(5) { try await fetch(nil, from: there, key: key) }
        _ = try await here.removeAll(tagged: "even")
        for key in Self.keys { try await fetch(nil, from: there, key: key) }
        let loaded = try await there.fetch(forKey: Self.keys[7], expiration: .never) { "loaded" }
        #expect(loaded == "loaded")
        try await fetch("loaded", from: here, key: Self.keys[7])
        try await here.removeAll()
        try await fetch(nil, from: there, key: Self.keys[7])
        // The former generations' entries are taken out of each master.
        #expect(try there.keys().all().isEmpty)
        for index in 0..<3 {
            let names = try await fleet.cluster.ask(index, ["KEYS", "*"]).elements?.compactMap(\.text) ?? []
            #expect(!names.contains { $0.hasSuffix("}") }, "\(names)")
        }
    }

    /// The last reference to a store may be that of the thread which tells it of news: its connections end all the
    /// same.
    @Test func aStoreMayGoWhileItHears() async throws {
        let fleet = try await ClusterFleet()
        let here = try await fleet.wholeMachine().cache()
        for round in 0..<3 {
            let held = Mutex<SharedStore?>(nil)
            weak var gone: SharedStore?
            do {
                let store = try await fleet.wholeMachine().store(cache: "cities", schema: 0)
                gone = store
                held.withLock { $0 = store }
                store.setListener { _ in _ = held.withLock { $0.take() } }
            }
            #expect(gone != nil)
            func isGone() async throws -> Bool {
                try await here.save("\(round)", forKey: "key")
                return gone == nil
            }
            try await wait(until: await isGone())
        }
        #expect(try await here.fetch(forKey: "key") == "2")
    }

    /// Each modification gives a number of its own: none is made to the value that another one has replaced, though
    /// slots move and connections break.
    @Test func modificationsAreNotLost() async throws {
        let fleet = try await ClusterFleet()
        let key = "counter"
        let source = fleet.firstMaster(of: key)
        let rounds = isLongRun ? 12 : 3
        let isOver = Shared(false)
        let given = Shared<[String]>([])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(throws: Never.self) {
                        let cache = try fleet.machine().cache()
                        while !isOver.withLock({ $0 }) {
                            let life = "\(UInt64.random(in: 0 ... .max))"
                            do {
                                // A removal, by which a failed change is undone, begins another life.
                                let new = try await cache.modify(forKey: key, expiration: .never) { value in
                                    let parts = (value ?? "\(life) 0").split(separator: " ")
                                    let new = "\(parts[0]) \((Int(parts[1]) ?? 0) + 1)"
                                    value = new
                                    return new
                                }
                                given.withLock { $0.append(new) }
                            } catch CacheError.Code.unreachable {
                                try await Task.sleep(for: .milliseconds(1))
                            }
                        }
                    }
                }
            }
            await #expect(throws: Never.self) {
                for round in 0..<rounds {
                    let (from, to) = ((source + round) % 3, (source + round + 1) % 3)
                    let slot = HashSlot(ofKey: key.utf8)
                    try await fleet.cluster.beginMoving(slot, from: from, to: to)
                    try await Task.sleep(for: .milliseconds(20))
                    try await wait(until: await fleet.cluster.moveKeys(of: slot, from: from, to: to) == 0)
                    try await fleet.cluster.endMoving(slot, to: to)
                    try await fleet.cluster.ask((to + 1) % 3, ["CLIENT", "KILL", "TYPE", "normal"])
                    try await fleet.cluster.ask(to, ["CLIENT", "KILL", "TYPE", "normal"])
                    let count = given.withLock { $0.count }
                    try await wait(until: given.withLock({ $0.count }) >= count + 20)
                }
            }
            isOver.withLock { $0 = true }
        }
        let values = given.withLock { $0 }
        #expect(Set(values).count == values.count && values.count >= 20 * rounds)
    }

    /// A slot goes from master to master while machines read, save and load its keys and others: no caller notices.
    @Test func aSlotMovesUnderLoad() async throws {
        let fleet = try await ClusterFleet()
        let keys = fleet.keys(4, besides: "key") + ["elsewhere", "and there"]
        let slot = HashSlot(ofKey: "key".utf8)
        let source = fleet.firstMaster(of: "key")
        let isOver = Shared(false)
        let tiers = [
            try await fleet.wholeMachine(), try await fleet.wholeMachine(), try await fleet.wholeMachine(),
        ]
        let writer = try tiers[0].cache()
        for key in keys { try await writer.save("0", forKey: key) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: Never.self) {
                    try await Self.load(try tiers[1].cache(), key: fleet.keys(5, besides: "key")[4], until: isOver)
                }
            }
            for tier in tiers {
                for key in keys {
                    let isWriter = tier === tiers[0]
                    group.addTask {
                        await #expect(throws: Never.self) {
                            try await Self.use(try tier.cache(), key: key, saving: isWriter, until: isOver)
                        }
                    }
                }
            }
            await #expect(throws: Never.self) {
                try await fleet.move(slot, from: source, rounds: isLongRun ? 12 : 4)
            }
            isOver.withLock { $0 = true }
        }
        for key in keys {
            let value = try await writer.fetch(forKey: key)
            for tier in tiers { try await fetch(value, from: try tier.cache(), key: key) }
        }
        let counts = tiers.map(\.statistics)
        #expect(counts.contains { $0.redirectsMoved > 0 } && counts.contains { $0.redirectsAsked > 0 })
        #expect(counts.contains { $0.commandsDelayed > 0 })
    }

    /// Counts in an entry, or reads a writer's count, and loads others: none goes back, and a writer sees its own.
    private static func use(
        _ cache: Cache<String>,
        key: String,
        saving: Bool,
        until isOver: Shared<Bool>
    ) async throws {
        var last = 0
        while !isOver.withLock({ $0 }) {
            if saving { try await cache.save("\(last + 1)", forKey: key) }
            let number = Int(try await cache.fetch(forKey: key) ?? "") ?? -1
            let isRight = saving ? number == last + 1 : number >= last
            #expect(isRight, "\(number) after \(last), saving \(saving)")
            last = number
            let other = "\(key) \(Int.random(in: 0..<1_000))"
            let loaded = try await cache.fetch(forKey: other, expiration: .never) { other }
            #expect(loaded == other)
        }
    }

    /// Loads a key again and again; its lease and entry are on their way together.
    private static func load(_ cache: Cache<String>, key: String, until isOver: Shared<Bool>) async throws {
        var count = 0
        while !isOver.withLock({ $0 }) {
            let value = "\(count)"
            let loaded = try await cache.fetch(forKey: key, expiration: .never) { value }
            #expect(loaded == value)
            try await cache.remove(forKey: key)
            count += 1
        }
    }

    /// Entries that are on their way from one master to another are found by a removal.
    @Test func removalsFindEntriesThatMove() async throws {
        let fleet = try await ClusterFleet()
        let cache = try await fleet.wholeMachine().cache()
        let keys = fleet.keys(6, besides: "key")
        let slot = HashSlot(ofKey: "key".utf8)
        let source = fleet.firstMaster(of: "key")
        let target = (source + 1) % 3
        for key in keys { try await cache.save("value", forKey: key, tags: ["tag"]) }
        try await fleet.cluster.beginMoving(slot, from: source, to: target)
        try await fleet.cluster.moveKeys(of: slot, from: source, to: target, atMost: 3)
        let listed = try cache.keys().all().sorted()
        #expect(listed == keys.sorted())
        // Scripts are refused until the slot has arrived.
        async let end: Void = {
            try await Task.sleep(for: .milliseconds(50))
            try await fleet.cluster.moveKeys(of: slot, from: source, to: target)
            try await fleet.cluster.endMoving(slot, to: target)
        }()
        _ = try await cache.removeAll(tagged: "tag")
        let other = try await fleet.wholeMachine().cache()
        for key in keys { #expect(try await other.fetch(forKey: key) == nil) }
        for key in keys { try await cache.save("value", forKey: key) }
        try await cache.removeAll()
        for key in keys { try await fetch(nil, from: other, key: key) }
        try await end
        for key in keys { #expect(try await other.fetch(forKey: key) == nil) }
    }

    /// One of three masters has a replica: a batch of which it has the last keys is not replicated.
    @Test func replicasOfEachMasterAreWaitedFor() async throws {
        let fleet = try await ClusterFleet(replicas: 1)
        let replicas = SharedSettings.Replicas.wait(1, .milliseconds(500))
        let url = "\(fleet.cluster.url)?prefix=\(fleet.prefix)&timeout=60s"
        let tier = try SharedTier(url, .init(replicas: replicas))
        let cache = try tier.cache()
        let replicated = Self.keys.filter { fleet.firstMaster(of: $0) == 0 }
        let others = Self.keys.filter { fleet.firstMaster(of: $0) != 0 }
        let entries = { (keys: [String]) in keys.map { ($0, "value") } }
        try await insist { try await cache.save(contentsOf: entries(replicated)) }
        #expect(try await code { try await cache.save(contentsOf: entries(others + replicated)) } == .unreachable)
        #expect(try await code { try await cache.remove(forKeys: others + replicated) } == .unreachable)
    }

    /// The killed master's replica takes over, and all machines agree with it; a save that failed leaves nothing old.
    @Test func aMasterIsKilled() async throws {
        let fleet = try await ClusterFleet(replicas: 1, nodeTimeout: .seconds(1))
        let tiers = [try await fleet.wholeMachine(timeout: 2_000), try await fleet.wholeMachine(timeout: 2_000)]
        let (here, there) = (try tiers[0].cache(), try tiers[1].cache())
        for key in Self.keys {
            try await insist { try await here.save("old", forKey: key) }
            _ = try await insist { try await there.fetch(forKey: key) }
        }
        // The generation, too, is at the replica by now, wherever it is.
        _ = try? await fleet.cluster.ask(0, ["WAIT", 1, 2_000])
        fleet.cluster.servers[0].kill()
        for key in Self.keys { _ = try await code { try await here.save("lost?", forKey: key) } }
        for key in Self.keys { try await insist { try await here.save("new", forKey: key) } }
        try await wait(until: tiers[0].owedKeyCount == 0)
        for key in Self.keys {
            // Paid debts may have come after the save of another key only.
            try await insist { try await here.save("newest", forKey: key) }
            try await wait(until: await code({ try await fetch("newest", from: there, key: key) }) == nil)
        }
        try await wait(until: !tiers.contains(where: { $0.clusterClient?.isWhole != true }))
        for key in Self.keys { try await insist { try await there.save("last", forKey: key) } }
        for key in Self.keys {
            try await wait(until: await code({ try await fetch("last", from: here, key: key) }) == nil)
        }
    }

    /// Memory goes on with the entries of the masters that are there, and has none of the missing one's.
    @Test func aMissingMasterTakesItsOwnEntriesOnly() async throws {
        let fleet = try await ClusterFleet(nodeTimeout: .seconds(2), needsAllSlots: false)
        let tier = try await fleet.wholeMachine(timeout: 1_000, deadline: .seconds(2))
        let cache = try tier.cache()
        for key in Self.keys { try await insist { try await cache.save("value", forKey: key) } }
        let names = EntryNames(prefix: EntryNames.prefix(fleet.prefix), cache: "cities", schema: 0)
        let kept = fleet.cluster.firstMaster(of: HashSlot(ofKey: names.generation.utf8))
        let killed = (kept + 1) % 3
        fleet.cluster.servers[killed].kill()
        let gone = Self.keys.filter { fleet.firstMaster(of: $0) == killed }
        for key in gone {
            try await wait(until: await code({ _ = try await cache.fetch(forKey: key) }) == .unreachable)
        }
        // Again and again, by heartbeats of the others.
        for key in Self.keys where !gone.contains(key) {
            let hits = cache.statistics.memoryHits
            while cache.statistics.memoryHits < hits + 3 {
                _ = try await insist { try await cache.fetch(forKey: key) }
            }
        }
        for key in gone { #expect(try await code { _ = try await cache.fetch(forKey: key) } == .unreachable) }
        #expect(tier.isVerified)
        let node = "127.0.0.1:\(fleet.cluster.servers[killed].port)"
        try await wait(until: !tier.nodes.contains(where: { $0.node != node && $0.condition != .connected }))
        let state = tier.nodes
        #expect(state.count == 3 && state.filter { $0.condition != .connected }.map(\.node) == [node])
    }

    /// A save that a missing master did not acknowledge is no reason to load the other masters' keys on each machine.
    @Test func aDebtOfAMissingMasterIsOfItsOwnKeysOnly() async throws {
        let fleet = try await ClusterFleet(nodeTimeout: .seconds(2), needsAllSlots: false)
        let tier = try await fleet.wholeMachine(timeout: 1_000, deadline: .seconds(2))
        let cache = try tier.cache()
        try await insist { try await cache.save("first", forKey: "first") }
        let names = EntryNames(prefix: EntryNames.prefix(fleet.prefix), cache: "cities", schema: 0)
        let kept = fleet.cluster.firstMaster(of: HashSlot(ofKey: names.generation.utf8))
        let killed = (kept + 1) % 3
        fleet.cluster.servers[killed].kill()
        let (gone, there) = (
            Self.keys.filter { fleet.firstMaster(of: $0) == killed },
            Self.keys.filter { fleet.firstMaster(of: $0) != killed }
        )
        while tier.owedKeyCount == 0 { _ = try await code { try await cache.save("lost", forKey: gone[0]) } }
        for key in there.prefix(6) {
            let loaded = try await insist { try await cache.fetch(forKey: key, expiration: .never) { "loaded" } }
            #expect(loaded == "loaded")
        }
        #expect(tier.statistics.leasesWon >= 6)
        try await cache.save(contentsOf: there.suffix(3).map { ($0, "saved") })
        #expect(tier.owedKeyCount == 1)
        let other = try fleet.machine(timeout: 1_000, deadline: .seconds(2)).cache()
        for key in there.prefix(6) {
            #expect(try await insist { try await other.fetch(forKey: key) } == "loaded")
        }
    }

    @Test func theStateIsThatOfTheHostsInTheURLAtFirst() throws {
        let tier = try SharedTier("redis+cluster://10.255.255.1:1,10.255.255.1:2/")
        #expect(tier.nodes.map(\.node) == ["10.255.255.1:1", "10.255.255.1:2"])
        #expect(tier.nodes.allSatisfy { $0.condition == .unverified && $0.unverifiedSince == nil })
    }

    /// Calls for a master that answers nothing fail at once after a while, and it alone is told to be `open`.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func theStateIsToldOfEachMaster() async throws {
        let fleet = try await ClusterFleet()
        let tier = try await fleet.wholeMachine(timeout: 200)
        let cache = try tier.cache()
        // Without a generation, no master but its own would be asked.
        try await insist { try await cache.save("value", forKey: "first") }
        let nodes = fleet.cluster.servers.map { "127.0.0.1:\($0.port)" }
        #expect(tier.nodes.map(\.node) == nodes && tier.nodes.allSatisfy { $0.condition == .connected })
        var states = tier.nodeChanges.makeAsyncIterator()
        try await fleet.cluster.servers[1].stopped {
            let keys = Self.keys.filter { fleet.firstMaster(of: $0) == 1 }
            @Sendable func fetchAll() async {
                // At once, or the connection is dropped before so many calls have waited in vain.
                await withTaskGroup(of: Void.self) { group in
                    for key in keys { group.addTask { _ = try? await cache.fetch(forKey: key) } }
                }
            }
            func isOpen() async -> Bool {
                await fetchAll()
                return tier.nodes[1].condition == .open && tier.nodes[1].openUntil != nil
            }
            try await wait(until: await isOpen())
            #expect(tier.nodes.map(\.node) == nodes)
            // It is open for a second after such calls, and the state is looked at from time to time.
            let isTold = Shared(false)
            async let calls: Void = {
                while !isTold.withLock({ $0 }) { await fetchAll() }
            }()
            while let state = await states.next() {
                if state.node == nodes[1], state.condition != .connected { break }
            }
            isTold.withLock { $0 = true }
            await calls
        }
        while tier.nodes.contains(where: { $0.condition != .connected }) {
            for key in Self.keys { _ = try await code { _ = try await cache.fetch(forKey: key) } }
        }
    }

    @Test(arguments: ["redis+cluster://a:1/3", "redis://a,b", "valkey+cluster://"])
    func urlsThatCannotBeUsedAreRefused(url: String) {
        let error = #expect(throws: CacheError.self) { try SharedTier(url) }
        #expect(error?.code == .invalidServer)
    }
}

/// A value that tasks share.
private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
