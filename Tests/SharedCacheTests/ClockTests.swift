import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Behaviour 20: machines with wrong clocks.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct ClockTests {
    /// A machine with a clock so many seconds late against the server's, and the time that its request for the time
    /// took.
    private struct Machine {
        let cache: Cache<String>
        let behind: Double
        let roundTrip: Double
        /// By how much its knowledge of the server's clock is wrong.
        let error: Double

        init(_ fleet: Fleet, behind: Double) async throws {
            var settings = RedisSettings(endpoints: [fleet.server.endpoint])
            settings.timeouts = .patient
            let base = try RedisConnection(to: fleet.server.endpoint, settings: settings)
            let tier = try SharedTier(client: DistantClient(base, behind: behind), prefix: fleet.prefix)
            // Or it would be read once more, in another time.
            try await tier.clockWasRead()
            let start = Date.now
            try tier.readClock()
            roundTrip = Date.now.timeIntervalSince(start)
            error = abs(tier.offset.clock.secondsAhead - behind)
            self.behind = behind
            cache = try Cache(
                name: "cities",
                shared: tier,
                settings: CacheSettings(clock: LateClock(behind: behind))
            )
        }

        /// The deadline of a key's entry, by the server's clock as far as this machine knows it.
        func deadline(_ key: String) async throws -> Date {
            let entry = try #require(try await cache.entry(forKey: key))
            return try #require(entry.expiresAt) + behind
        }
    }

    private static func machines(_ fleet: Fleet, behind: [Double]) async throws -> [Machine] {
        var machines: [Machine] = []
        for behind in behind { machines.append(try await Machine(fleet, behind: behind)) }
        return machines
    }

    /// Answers are under way for longer than questions, or the other way round. The law has no slack but a millisecond;
    /// an adjustment of this machine's clock may spoil some rounds.
    @Test func deadlinesAreOneInstantForAllMachines() async throws {
        let fleet = try await Fleet()
        var (rounds, wrong) = (0, 0)
        for round in 0..<8 {
            let machines = try await Self.machines(fleet, behind: [-3_600, 0, 3_600])
            for machine in machines where machine.error > machine.roundTrip / 2 + 0.001 { wrong += 1 }
            for (number, writer) in machines.enumerated() {
                rounds += 1
                let key = "\(round) \(number)"
                let start = Date.now
                try await writer.cache.save(key, forKey: key, expiration: .after(.seconds(600)))
                let saved = start...Date.now
                for reader in machines {
                    let slack = (writer.roundTrip + reader.roundTrip) / 2 + 0.002
                    let deadline = try await reader.deadline(key) - 600
                    let isRight = deadline >= saved.lowerBound - slack && deadline <= saved.upperBound + slack
                    if !isRight { wrong += 1 }
                }
            }
        }
        #expect(wrong * 10 <= rounds, "\(wrong) of \(rounds)")
    }

    /// A machine's first call comes before it has heard of the server's clock.
    private static func freshMachine(_ fleet: Fleet, behind: Double) throws -> Cache<String> {
        var settings = RedisSettings(endpoints: [fleet.server.endpoint])
        settings.timeouts = .patient
        let base = try RedisConnection(to: fleet.server.endpoint, settings: settings)
        let tier = try SharedTier(client: DistantClient(base, behind: behind), prefix: fleet.prefix)
        return try Cache(name: "cities", shared: tier, settings: CacheSettings(clock: LateClock(behind: behind)))
    }

    @Test(arguments: [-3_600.0, 3_600]) func theFirstFetchOfAMachineSeesAnEntryThatIsFresh(behind: Double)
        async throws
    {
        let fleet = try await Fleet()
        let right = try await fleet.verifiedMachine().cache()
        for round in 0..<4 {
            let key = "key \(round)"
            try await right.save("value", forKey: key, expiration: .after(.seconds(60)))
            let fresh = try Self.freshMachine(fleet, behind: behind)
            #expect(try await fresh.fetch(forKey: key) == "value")
            #expect(try await right.fetch(forKey: key, freshness: .latest) == "value")
        }
    }

    @Test(arguments: [-3_600.0, 3_600]) func theFirstSaveOfAMachineHasTheServersTime(behind: Double) async throws {
        let fleet = try await Fleet()
        let right = try await fleet.verifiedMachine().cache()
        for round in 0..<4 {
            let key = "key \(round)"
            let fresh = try Self.freshMachine(fleet, behind: behind)
            try await fresh.save("value", forKey: key, expiration: .after(.seconds(60)))
            let entry = try await right.entry(forKey: key)
            let left = try #require(entry?.expiresAt).timeIntervalSinceNow
            #expect(left > 0 && left <= 62, "it expires in \(left) s")
        }
    }

    /// This machine's wall clock and its monotonic one, moved by hand.
    @Test func aStepOfTheClockIsNoticedByTheMonotonicOne() {
        let machine = Mutex(ClockOffset.Moment(wall: 1_000, steady: 10))
        let offset = ClockOffset(name: "clock") { machine.withLock(\.self) }
        #expect(!offset.isKnown)
        offset.set(5)
        #expect(!offset.isDue)
        machine.withLock { $0 = .init(wall: 1_100, steady: 110) }
        #expect(offset.clock.secondsAhead == 5 && !offset.noticeStep())
        machine.withLock { $0 = .init(wall: 4_701, steady: 111) }
        #expect(offset.clock.secondsAhead == 5 - 3_600)
        #expect(offset.noticeStep() && !offset.noticeStep())
        #expect(offset.isDue)
    }

    /// All machines have the time of one master, and that of another one while it is away.
    @Test func aMissingMasterTakesNoClockAway() async throws {
        let fleet = try await ClusterFleet(nodeTimeout: .seconds(2), needsAllSlots: false)
        let prefix = EntryNames.prefix(fleet.prefix)
        let killed = fleet.cluster.firstMaster(of: HashSlot(ofKey: "\(prefix)clock".utf8))
        let name = try #require(
            (0..<100).map { "cities \($0)" }.first { name in
                let generation = EntryNames(prefix: prefix, cache: name, schema: 0).generation
                return fleet.cluster.firstMaster(of: HashSlot(ofKey: generation.utf8)) != killed
            }
        )
        fleet.cluster.servers[killed].kill()
        let tier = try fleet.machine(timeout: 1_000, deadline: .seconds(2))
        let cache = try Cache<String>(name: name, shared: tier)
        for key in (0..<10).map({ "key \($0)" }) where fleet.firstMaster(of: key) != killed {
            try await wait(
                until: await code { try await cache.save("value", forKey: key) } == nil,
                within: .seconds(60 * slowness)
            )
            #expect(try await insist { try await cache.fetch(forKey: key) } == "value")
        }
    }

    /// The later of two saves counts, also where the clocks of their machines are wrong.
    @Test func noSaveWinsByItsClock() async throws {
        let fleet = try await Fleet()
        let machines = try await Self.machines(fleet, behind: [3_600, -3_600, 0])
        for (number, writer) in (machines + machines.reversed()).enumerated() {
            try await writer.cache.save("\(number)", forKey: "key", expiration: .after(.seconds(600)))
            for reader in machines {
                #expect(try await reader.cache.fetch(forKey: "key", freshness: .latest) == "\(number)")
            }
        }
    }
}

/// A clock that is wrong by so many seconds.
private struct LateClock: CacheClock {
    let behind: Double

    var now: Date { .now - behind }
}

/// Has the server's clock be ahead of this machine's, and messages take their time.
private final class DistantClient: RedisClient {
    private let base: RedisConnection
    private let ahead: Int64

    init(_ base: RedisConnection, behind: Double) {
        self.base = base
        ahead = Int64(behind)
    }

    private static func isTime(_ command: RedisCommand) -> Bool { "\(command.arguments)".contains("TIME") }

    private func answers(_ values: [RedisValue], to commands: [RedisCommand]) -> [RedisValue] {
        zip(values, commands).map { value, command in
            guard Self.isTime(command), let parts = value.elements, let seconds = parts.first?.integer else {
                return value
            }
            return .array([.bulk(Array("\(seconds + ahead)".utf8))] + parts.dropFirst())
        }
    }

    func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        answers(try await base.send(commands), to: commands)
    }

    func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        let isSlow = commands.contains(where: Self.isTime)
        if isSlow { usleep(.random(in: 0...20_000)) }
        let values = try base.sendAndWait(commands)
        if isSlow { usleep(.random(in: 0...20_000)) }
        return answers(values, to: commands)
    }
}
