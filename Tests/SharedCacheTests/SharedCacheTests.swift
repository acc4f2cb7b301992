import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Caches on a real server, seen from several machines.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct SharedCacheTests {
    @Test func aValueIsFetchedByOtherMachinesWithAllThatWasSavedWithIt() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine()
        let there = try await fleet.verifiedMachine()
        try await here.cache().save("Tokyo", forKey: "490", expiration: .after(.seconds(600)), tags: ["JP", "big"])
        let cache = try there.cache()
        #expect(try await cache.fetch(forKey: "490") == "Tokyo")
        let entry = try #require(try await cache.entry(forKey: "490"))
        #expect(entry.tags == ["JP", "big"])
        let saved = try #require(try await here.cache().entry(forKey: "490"))
        #expect(entry.expiresAt == saved.expiresAt && entry.expiresAt != nil)
        #expect(try cache.keys().all() == ["490"])
        // The engine gives it up by itself.
        let name = try #require(try await there.names().first)
        let left = try #require(try await there.ask(["PTTL", .text(name)]).integer)
        #expect((500_000...600_000).contains(left))
    }

    @Test func memoryAnswersUntilAnotherMachineChangesTheEntry() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let there = try await fleet.verifiedMachine().cache()
        try await here.save("old", forKey: "key")
        #expect(try await there.fetch(forKey: "key") == "old")
        while there.statistics.memoryHits == 0 { #expect(try await there.fetch(forKey: "key") == "old") }
        try await here.save("new", forKey: "key")
        try await fetch("new", from: there)
        try await here.remove(forKey: "key")
        try await fetch(nil, from: there)
    }

    @Test func anOwnSaveIsInMemoryRightAway() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        // The first call finds that nothing was verified before.
        _ = try await cache.fetch(forKey: "key")
        for round in 0..<20 {
            try await cache.save("\(round)", forKey: "key")
            #expect(try await cache.fetch(forKey: "key") == "\(round)")
        }
        #expect(cache.statistics.memoryHits == 20)
        #expect(cache.statistics.diskHits == 0)
    }

    @Test func eventsNameTheSharedTier() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let there = try await fleet.verifiedMachine().cache()
        try await here.save("value", forKey: "key")
        var events = there.events.makeAsyncIterator()
        _ = try await there.fetch(forKey: "key")
        let event = await events.next()
        #expect(event?.kind == .hit && event?.tier == .shared)
    }

    @Test func cachesOfOneProcessAgree() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let (one, other) = (try tier.cache(), try tier.cache())
        for round in 0..<20 {
            try await one.save("\(round)", forKey: "key")
            #expect(try await other.fetch(forKey: "key") == "\(round)")
            try await other.save("\(round)!", forKey: "key")
            #expect(try await one.fetch(forKey: "key") == "\(round)!")
        }
        try await one.removeAll()
        #expect(try await other.fetch(forKey: "key") == nil)
    }

    @Test func removingAllAndByTagsReachesOtherMachines() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let here = try tier.cache()
        let there = try await fleet.verifiedMachine().cache()
        for number in 0..<50 {
            try await here.save("value", forKey: "key \(number)", tags: number % 2 == 0 ? ["even"] : [])
            #expect(try await there.fetch(forKey: "key \(number)") == "value")
        }
        #expect(try await here.removeAll(tagged: "even") == 25)
        try await fetch(nil, from: there, key: "key 0")
        #expect(try await there.fetch(forKey: "key 1") == "value")
        #expect(try await there.count() == 25)
        try await here.removeAll()
        try await fetch(nil, from: there, key: "key 1")
        #expect(try await there.count() == 0)
        // The engine has its memory back, too.
        #expect(try await tier.names() == [])
        try await here.save("again", forKey: "key 1")
        try await fetch("again", from: there, key: "key 1")
    }

    @Test func schemasAreApart() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let (former, new) = (try tier.cache(1), try tier.cache(2))
        try await former.save("former", forKey: "key")
        #expect(try await new.fetch(forKey: "key") == nil)
        try await new.save("new", forKey: "key")
        #expect(try await former.fetch(forKey: "key") == "former")
        try await new.removeAll()
        try await fetch(nil, from: former)
    }

    @Test func modifyLosesNoUpdateAmongMachines() async throws {
        let fleet = try await Fleet()
        let key = "counter"
        let first = try await fleet.verifiedMachine()
        try await Cache<Int>(name: "counts", shared: first).save(0, forKey: key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let cache = try Cache<Int>(name: "counts", shared: try fleet.machine())
                    for _ in 0..<50 { try await cache.modify(forKey: key) { $0 = ($0 ?? 0) + 1 } }
                }
            }
            try await group.waitForAll()
        }
        let cache = try Cache<Int>(name: "counts", shared: try fleet.machine())
        #expect(try await cache.fetch(forKey: key) == 200)
    }

    @Test func twoWritersAgreeInTheEnd() async throws {
        let fleet = try await Fleet()
        let machines = [try await fleet.verifiedMachine(), try await fleet.verifiedMachine()]
        let caches = try machines.map { try $0.cache() }
        let count = rounds(2_000, short: 100)
        for round in 0..<count {
            let key = "key \(round)"
            async let one: Void = caches[0].save("one", forKey: key)
            async let other: Void = caches[1].save("other", forKey: key)
            _ = try await (one, other)
        }
        // A message that was sent before this answer has been read.
        for machine in machines { _ = try await machine.ask(["PING"]) }
        let reader = try fleet.machine().cache()
        for round in 0..<count {
            let key = "key \(round)"
            let value = try #require(try await reader.fetch(forKey: key))
            for cache in caches { try await fetch(value, from: cache, key: key) }
        }
    }

    @Test func machinesWithOtherClocksSeeOneDeadline() async throws {
        let fleet = try await Fleet()
        let (here, there) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        try await here.clockWasRead()
        try await there.clockWasRead()
        // As if this machine's clock were an hour late against the engine's.
        here.offset.set(3_600)
        there.offset.set(0)
        let cache = try here.cache()
        try await cache.save("value", forKey: "key", expiration: .after(.seconds(60)))
        let saved = try #require(try await cache.entry(forKey: "key")?.expiresAt)
        let seen = try #require(try await there.cache().entry(forKey: "key")?.expiresAt)
        #expect(abs(seen.timeIntervalSince(saved) - 3_600) < 0.001)
    }

    /// Calls that suspend wait for no thread.
    @Test func manyCallsAreUnderWayTogether() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let saved = try tier.cache()
        for number in 0..<200 { try await saved.save("value \(number)", forKey: "key \(number)") }
        let client = CrowdClient(tier.client, size: 200)
        let store = SharedStore(client, prefix: tier.prefix, cache: "cities", schema: 0)
        let cache = try Cache<String>(
            name: "cities",
            store: store,
            memoryPlace: "elsewhere",
            settings: CacheSettings(memory: .none),
            isSendable: true
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let value = try await cache.fetch(forKey: "key \(number)")
                    #expect(value == "value \(number)")
                }
            }
            try await group.waitForAll()
        }
        let keys = (0..<300).map { "key \($0)" }
        let values = try await cache.fetch(forKeys: keys)
        #expect(values.count == 200)
        for number in 0..<200 { #expect(values["key \(number)"] == "value \(number)") }
        client.gather()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await cache.save("new \(number)", forKey: "key \(number)") }
            }
            try await group.waitForAll()
        }
        for number in 0..<200 { try await fetch("new \(number)", from: saved, key: "key \(number)") }
    }

    @Test func aClosedTierRefuses() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        try await cache.save("value", forKey: "key")
        await tier.close()
        #expect(try await code { _ = try await cache.fetch(forKey: "other") } == .closed)
        #expect(try await code { try await cache.save("value", forKey: "other") } == .closed)
    }

    @Test(
        arguments: [
            "redis+cluster://a/3", "redis://a,b", "redis://a/?prefix=a:b", "redis://a/?prefix=",
            "http://a",
            "redis://a/?lease=5s",
        ]
    )
    func urlsThatCannotBeUsedAreRefused(url: String) async throws {
        #expect(try await code { _ = try SharedTier(url) } == .invalidServer)
    }
}

/// Sends nothing until so many calls are under way.
private final class CrowdClient: RedisClient {
    private let base: any RedisClient
    private let size: Int
    private let count = Atomic<Int>(0)

    init(_ base: any RedisClient, size: Int) {
        self.base = base
        self.size = size
    }

    /// Begins to count again from zero.
    func gather() { count.store(0, ordering: .relaxed) }

    func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        count.add(1, ordering: .relaxed)
        try? await wait(until: count.load(ordering: .relaxed) >= size)
        return try await base.send(commands)
    }

    func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        try base.sendAndWait(commands)
    }
}
