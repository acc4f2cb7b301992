import Foundation
import RedisServers
import RedisWire
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
            cache = try Cache(name: "cities", shared: tier, clock: LateClock(behind: behind))
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
