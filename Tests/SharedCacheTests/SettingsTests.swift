import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// The effect of each setting of a tier.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct SettingsTests {
    @Test func aURLHasTimeoutsOfItsOwn() throws {
        let tier = try SharedTier(
            "redis://127.0.0.1:1/?timeout=900ms",
            SharedSettings(timeouts: .init(soft: .seconds(2), hard: .seconds(3)))
        )
        #expect(tier.settings.timeouts == .init(soft: .milliseconds(900), hard: .milliseconds(900)))
        let usual = try SharedTier("redis://127.0.0.1:1")
        #expect(usual.settings == SharedSettings())
    }

    @Test func valuesBeyondTheirBoundsBecomeTheNearestOnes() throws {
        var settings = SharedSettings()
        settings.timeouts.connect = .zero
        settings.timeouts.soft = .seconds(9)
        settings.heartbeat.interval = .zero
        settings.heartbeat.deadline = .seconds(-1)
        settings.breaker.failures = 0
        settings.breaker.longestPause = .zero
        settings.whenUnreachable.serve = .seconds(-1)
        let taken = try SharedTier("redis://127.0.0.1:1", settings).settings
        #expect(taken.timeouts == .init(connect: .milliseconds(1), soft: .milliseconds(500)))
        #expect(taken.heartbeat == .init(interval: .milliseconds(10), deadline: .zero))
        #expect(taken.breaker == .init(failures: 1, longestPause: .seconds(1)))
        #expect(taken.whenUnreachable == .init())
    }

    @Test func eachProcessLoadsByItselfIfItIsToldTo() async throws {
        let fleet = try await Fleet()
        let running = Tally()
        try await withThrowingTaskGroup(of: String.self) { group in
            for machine in 0..<2 {
                let cache = try fleet.machine { $0.loads = .oncePerProcess }.cache()
                group.addTask {
                    try await cache.fetch(forKey: "key") {
                        running.add()
                        // Neither waits for the other.
                        try await wait(until: running.count >= 2)
                        return "value \(machine)"
                    }
                }
            }
            for try await value in group { #expect(value.hasPrefix("value")) }
        }
    }

    @Test func aChangeThatTooFewReplicasHaveIsNotAcknowledged() async throws {
        let fleet = try await Fleet()
        let tier = try fleet.machine { $0.replicas = .wait(1, .milliseconds(20)) }
        try await tier.verified()
        let cache = try tier.cache()
        #expect(try await code { try await cache.save("value", forKey: "key") } == .unreachable)
        try await wait(until: tier.owedKeyCount == 0)
        #expect(try await insist { try await cache.fetch(forKey: "key") } == nil)
        let replica = try await RedisServer(["--replicaof", "127.0.0.1", "\(fleet.server.port)"])
        defer { replica.kill() }
        try await insist { try await cache.save("value", forKey: "key") }
        #expect(try await insist { try await cache.fetch(forKey: "key") } == "value")
    }

    @Test func entriesOfOlderFormsGoWithEachChange() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let (former, older) = (try tier.cache(1), try tier.cache(0))
        let new = try Cache<String>(name: "cities", shared: tier, schema: 2, alsoRemoves: [0, 1])
        for change in 0..<4 {
            for cache in [former, older] { try await cache.save("former", forKey: "key") }
            try await former.save("other", forKey: "other")
            switch change {
            case 0: try await new.save("new", forKey: "key")
            case 1: try await new.modify(forKey: "key") { $0 = "newer" }
            case 2: try await new.remove(forKey: "key")
            default: _ = try await new.fetch(forKey: "key") { "loaded" }
            }
            for cache in [former, older] {
                // Memory may have them until the server tells of the change, also caches of the same connection.
                try await fetch(nil, from: cache)
            }
            #expect(try await former.fetch(forKey: "other") == "other")
        }
    }

    // MARK: Outages

    @Test func entriesThatCannotBeComparedAreServedForAsLongAsAsked() async throws {
        for serve in [Duration.zero, .seconds(3_600)] {
            let fleet = try await Fleet(hasOwnServer: true)
            let tier = try fleet.machine(timeout: 100, deadline: .milliseconds(300)) {
                $0.whenUnreachable.serve = serve
            }
            let cache = try tier.cache()
            try await insist { try await cache.save("value", forKey: "key") }
            while cache.statistics.memoryHits == 0 {
                try await tier.verified()
                _ = try await insist { try await cache.fetch(forKey: "key") }
            }
            try await fleet.server.stopped {
                try await wait(until: !tier.isVerified)
                for _ in 0..<10 {
                    if serve == .zero {
                        #expect(try await code { _ = try await cache.fetch(forKey: "key") } == .unreachable)
                    } else {
                        let value = try await cache.fetch(forKey: "key")
                        #expect(value == "value")
                    }
                }
                // A change that was not acknowledged leaves nothing, all the same.
                #expect(try await code { try await cache.save("new", forKey: "key") } == .unreachable)
                let value = try await cache.fetch(forKey: "key")
                #expect(value == nil)
            }
            #expect(try await insist { try await cache.fetch(forKey: "key") } == nil)
        }
    }

    /// Behaviour 9.
    @Test func oneProducerRunsWhileTheServerIsAway() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100) { settings in
            settings.whenUnreachable.keep = .seconds(3_600)
            settings.breaker = .init(failures: 3, pause: .seconds(3_600), longestPause: .seconds(3_600))
        }
        try await tier.verified()
        let cache = try tier.cache()
        let runs = Tally()
        fleet.server.kill()
        for round in 0..<50 {
            for key in ["a", "b"] {
                let value = try await cache.fetch(forKey: key) {
                    runs.add()
                    return "loaded"
                }
                #expect(value == "loaded", "round \(round)")
            }
        }
        #expect(runs.count == 2)
        // Calls for other keys soon wait no longer.
        for number in 0..<20 { _ = try await code { _ = try await cache.fetch(forKey: "\(number)") } }
        guard tier.nodes[0].condition == .open, tier.nodes[0].openUntil != nil else {
            Issue.record("\(tier.nodes)")
            return
        }
    }

    @Test func aValueThatWasKeptDuringAnOutageGivesWayToTheServers() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100) { $0.whenUnreachable.keep = .seconds(3_600) }
        try await tier.verified()
        let cache = try tier.cache()
        let there = try await fleet.verifiedMachine().cache()
        _ = try await insist { try await cache.fetch(forKey: "key") }
        await fleet.server.stopped {
            for _ in 0..<3 { #expect((try? await cache.fetch(forKey: "key") { "kept" }) == "kept") }
        }
        try await insist { try await there.save("saved", forKey: "key") }
        try await wait(until: await code({ try await fetch("saved", from: cache) }) == nil)
    }

    @Test func aSlowServerCostsAFetchWithAProducerTheSoftTimeout() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 3_600_000) { $0.timeouts.soft = .milliseconds(50) }
        try await tier.verified()
        let cache = try tier.cache()
        _ = try await cache.fetch(forKey: "other")
        // Would wait for an hour otherwise.
        try await fleet.server.stopped {
            let value = try await cache.fetch(forKey: "key") { "loaded" }
            #expect(value == "loaded")
            let values = try await cache.fetch(forKeys: ["a", "b"]) { keys in
                Dictionary(uniqueKeysWithValues: keys.map { ($0, "loaded") })
            }
            #expect(values == ["a": "loaded", "b": "loaded"])
        }
    }

    // MARK: Compression

    @Test func entriesAreCompressedAsTheSettingsSay() async throws {
        let fleet = try await Fleet()
        let text = String(repeating: "to be or not to be ", count: 100)
        let settings: [SharedSettings.Compression] = [
            .none, .automatic, .level(9), .above(.kibibytes(1)), .above(.kibibytes(16)),
        ]
        var lengths: [Int64] = []
        let reader = try await fleet.verifiedMachine()
        for (number, compression) in settings.enumerated() {
            let cache = try fleet.machine { $0.compression = compression }.cache()
            if number % 2 == 0 {
                try await cache.save(text, forKey: "\(number)")
            } else {
                try await cache.save(contentsOf: ["\(number)": text])
            }
            #expect(try await reader.cache().fetch(forKey: "\(number)") == text)
            let name = try #require(try await reader.names().first { $0.hasSuffix("{\(number)}") })
            lengths.append(try #require(try await reader.ask(["STRLEN", .text(name)]).integer))
        }
        #expect(lengths[0] > text.utf8.count && lengths[1] < 400 && lengths[2] < 400)
        #expect(lengths[3] == lengths[1] && lengths[4] == lengths[0], "\(lengths)")
    }

    // MARK: State

    @Test func theStateIsToldAsItChanges() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        // However busy this machine is, only the loss of its connection shows.
        let tier = try await fleet.verifiedMachine()
        #expect(tier.nodes.map(\.condition) == [.connected])
        var states = tier.nodeChanges.makeAsyncIterator()
        fleet.server.kill()
        let lost = await states.next()
        #expect(lost?.node == tier.nodes[0].node && lost?.condition != .connected)
        // The same date each time, or listeners would be told again and again.
        try await wait(until: tier.nodes.map(\.condition) != [.connected])
        let first = tier.nodes
        #expect(tier.nodes == first && first.count == 1)
        try await fleet.server.start()
        while let state = await states.next(), state.condition != .connected {}
        #expect(tier.statistics.epochs == 2)
        await tier.close()
        // Ends, perhaps after the loss of the connection.
        while await states.next() != nil {}
    }

    @Test func observersSeeWhatIsDoneOnTheServer() async throws {
        let observer = OperationObserver()
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try Cache<String>(name: "cities", shared: tier, settings: CacheSettings(observer: observer))
        _ = try await cache.fetch(forKey: "key") { "value" }
        #expect(observer.operations == [.remoteRead, .lease, .load, .remoteWrite])
        let statistics = tier.statistics
        #expect(statistics.leasesWon == 1 && statistics.misses == 1 && statistics.epochs == 1)
        #expect(statistics.bytesSent > 0 && statistics.bytesReceived > 0)
    }
}

private final class Tally: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.add(1, ordering: .relaxed) }
}

private final class OperationObserver: CacheObserver {
    private let state = Mutex<[CacheOperation]>([])

    var operations: [CacheOperation] { state.withLock { $0 } }

    func cache(_ name: String, willBegin operation: CacheOperation) -> Never? {
        state.withLock { $0.append(operation) }
        return nil
    }
}

/// When calls fail at once.
@Suite struct BreakerTests {
    private typealias Instant = ContinuousClock.Instant

    @Test func pausesDoubleUntilACallIsAnswered() {
        var state = BreakerState(.init(failures: 2, pause: .seconds(1), longestPause: .seconds(5)))
        var now = Instant.now
        state.fail(at: now, jitter: 1)
        #expect(state.openUntil == nil && state.isSilent)
        for pause in [1, 2, 4, 5, 5] {
            state.fail(at: now, jitter: 1)
            #expect(state.openUntil == now + .seconds(pause))
            // More failures, of calls that were under way, change nothing.
            state.fail(at: now + .milliseconds(1), jitter: 1)
            state.beat(at: now + .seconds(pause) - .milliseconds(1))
            #expect(state.openUntil == now + .seconds(pause))
            now += .seconds(pause)
            state.beat(at: now)
            #expect(state.openUntil == nil && !state.isSilent)
        }
        state.answer()
        state.fail(at: now, jitter: 1)
        #expect(state.openUntil == nil)
        state.fail(at: now, jitter: 1.5)
        #expect(state.openUntil == now + .milliseconds(1_500))
    }

    @Test func withoutHeartbeatsOneCallIsLetThroughAfterEachPause() {
        var state = BreakerState(.init(failures: 1, pause: .seconds(1), longestPause: .seconds(3)))
        var now = Instant.now
        func admits() -> Bool { state.admits(at: now, jitter: 1) }
        #expect(admits())
        state.fail(at: now, jitter: 1)
        // The pauses grow as long as no call is answered.
        for pause in [1, 2, 3, 3] {
            now += .seconds(pause) - .milliseconds(1)
            #expect(!admits())
            now += .milliseconds(1)
            #expect(admits())
            #expect(!admits())
            state.fail(at: now, jitter: 1)
        }
        state.answer()
        #expect(admits())
    }

    /// Calls that are let through in the meantime, answered or not, do not put that off.
    @Test func aHeartbeatClosesItSoonAfterALongOutage() {
        for isCancelled in [true, false] {
            var state = BreakerState(.init())
            var now = Instant.now
            for _ in 0..<5 { state.fail(at: now, jitter: 1) }
            for _ in 0..<1_200 {
                now += .milliseconds(50)
                if state.admits(at: now, jitter: 1), !isCancelled { state.fail(at: now, jitter: 1) }
            }
            #expect(state.openUntil != nil)
            state.beat(at: now)
            #expect(state.openUntil == nil)
            let isAdmitted = state.admits(at: now, jitter: 1)
            #expect(isAdmitted)
        }
    }

    @Test func statisticsAreOneLine() {
        var statistics = SharedStatistics()
        #expect("\(statistics)" == "nothing yet")
        statistics.hits = 3
        statistics.leasesWaited = 1
        #expect("\(statistics)" == "3 hits, 1 waits for leases")
    }

    /// Heartbeats that a user's rights do not include prove nothing.
    @Test func aBreakerClosesWithoutHeartbeats() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let other = try await fleet.verifiedMachine()
        let rights: [RedisCommand.Argument] = ["on", ">secret", "+@all", .text("~*\(fleet.prefix):cities:*")]
        _ = try await other.ask(RedisCommand(["ACL", "SETUSER", "limited"] + rights))
        let tier = try SharedTier(
            "redis://limited:secret@127.0.0.1:\(fleet.server.port)/?prefix=\(fleet.prefix)",
            SharedSettings(
                timeouts: .init(hard: .seconds(60)),
                heartbeat: .init(interval: .milliseconds(20)),
                breaker: .init(failures: 1, pause: .milliseconds(20), longestPause: .milliseconds(50))
            )
        )
        let cache = try tier.cache()
        try await insist { try await cache.save("value", forKey: "key") }
        tier.engine.breaker.failed(isSilent: true)
        #expect(try await code { try await cache.save("other", forKey: "key") } == .unreachable)
        try await wait(until: await code({ try await cache.save("new", forKey: "key") }) == nil)
        #expect(try await cache.fetch(forKey: "key") == "new")
        #expect(!tier.isVerified && tier.engine.breaker.openUntil == nil)
    }
}
