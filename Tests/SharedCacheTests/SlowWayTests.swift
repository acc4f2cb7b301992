import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// Servers that answer, and take longer than a fetch with a producer waits by itself.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct SlowWayTests {
    @Test func theSoftTimeoutFollowsTheMedianWithinTheSettings() {
        let timeouts = SharedSettings.Timeouts(soft: .milliseconds(50), hard: .milliseconds(500))
        var times = AnswerTimes()
        #expect(times.softTimeout(timeouts) == .milliseconds(500) && !times.isSlow(timeouts))
        for _ in 0..<31 { times.note(.milliseconds(1)) }
        #expect(times.softTimeout(timeouts) == .milliseconds(50) && !times.isSlow(timeouts))
        // A few late answers say nothing.
        for _ in 0..<15 { times.note(.milliseconds(400)) }
        #expect(times.usual == .milliseconds(1))
        for _ in 0..<16 { times.note(.milliseconds(60)) }
        #expect(times.softTimeout(timeouts) == .milliseconds(240) && times.isSlow(timeouts))
        for _ in 0..<31 { times.note(.milliseconds(400)) }
        #expect(times.softTimeout(timeouts) == .milliseconds(500))
    }

    /// Each answer takes 0.3 s or more, and a fetch with a producer waits for 50 ms by itself, or for four usual answers: much
    /// longer than a busy machine is late.
    @Test func aSlowWayTurnsTheCacheNotOff() async throws {
        let fleet = try await Fleet()
        let proxy = try FaultProxy(to: fleet.server.port, .delay(milliseconds: 300))
        defer { proxy.end() }
        let url = "redis://127.0.0.1:\(proxy.port)/?prefix=\(fleet.prefix)"
        let tier = try SharedTier(url, SharedSettings(timeouts: .init(hard: .seconds(20 * slowness))))
        try await tier.verified()
        let cache = try Cache<String>(
            name: "cities",
            shared: tier,
            settings: CacheSettings(memory: MemorySettings(byteLimit: .bytes(0)))
        )
        let produced = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<6 {
                        let key = "\(task) \(round % 3)"
                        let value = try await cache.fetch(forKey: key) {
                            produced.add()
                            return "value of \(key)"
                        }
                        #expect(value == "value of \(key)")
                    }
                }
            }
            try await group.waitForAll()
        }
        // As many as keys. Without the measured time, each of the 24 fetches has its own, and nothing is saved.
        #expect(produced.count == 12)
        #expect(try await cache.count() == 12)
    }

    /// The answer takes longer than the fetch waits by itself, and comes before the producer's.
    @Test func anAnswerThatComesWhileTheProducerRunsIsUsed() async throws {
        let fleet = try await Fleet()
        try await fleet.verifiedMachine().cache().save("saved", forKey: "key")
        let proxy = try FaultProxy(to: fleet.server.port)
        defer { proxy.end() }
        let timeouts = SharedSettings.Timeouts(soft: .milliseconds(50), hard: .seconds(60 * slowness))
        let tier = try SharedTier(
            "redis://127.0.0.1:\(proxy.port)/?prefix=\(fleet.prefix)",
            SharedSettings(timeouts: timeouts, heartbeat: .init(interval: .seconds(600)))
        )
        try await tier.verified()
        let cache = try tier.cache()
        while tier.answerTime.map({ $0 > .milliseconds(12) }) ?? true { _ = try await cache.fetch(forKey: "other") }
        proxy.fault = .delay(milliseconds: 300)
        let produced = Counter()
        let value = try await cache.fetch(forKey: "key") {
            produced.add()
            try await Task.sleep(for: .seconds(30 * slowness))
            return "loaded"
        }
        #expect(value == "saved" && produced.count == 1)
        #expect(cache.statistics.loadFailures == 0)
    }

    /// Answers all commands, but for `LATE`, which fails once the test says so.
    private final class LateClient: RedisClient {
        let isWaiting = Mutex(false)

        func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
            if commands[0].name == "PING" { return [.simple("PONG")] }
            isWaiting.withLock { $0 = true }
            while isWaiting.withLock(\.self) { await Task.yield() }
            throw RedisError(.timeout, mayHaveRun: true, "no answer")
        }

        func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] { [] }
    }

    /// A fetch whose answer is late asks for its key's lease, unless the server is silent for all calls: otherwise it would run
    /// a producer beside another machine's.
    @Test(arguments: [false, true])
    func aLateAnswerAmongOthersSaysNothingAboutTheServer(othersAreAnswered: Bool) async throws {
        let client = LateClient()
        let engine = Engine(client, Breaker())
        let late = Task { try await engine.request([["LATE"]], action: "testing") }
        try await wait(until: client.isWaiting.withLock(\.self))
        if othersAreAnswered { _ = try await engine.request([["PING"]], action: "testing") }
        client.isWaiting.withLock { $0 = false }
        await #expect(throws: StoreError.self) { try await late.value }
        #expect(engine.breaker.isSuspect == !othersAreAnswered)
    }
}
