import RedisServers
import Synchronization
import TestSupport
import Testing

@testable import RedisWire

@Suite("News of several masters")
struct ClusterTrackingTests {
    private typealias Answers = ClusterAnswers

    private static let start = ContinuousClock.now
    private static let (a, b) = (Answers.node(0), Answers.node(1))

    private static func time(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// The events in short: the second of a proof.
    private static func short(_ events: [TrackingEvent]) -> [String] {
        events.map { event in
            switch event {
            case .changed(let keys): "changed \(keys.count)"
            case .changedAll: "changed all"
            case .unheard(let keys): "unheard \(keys.count)"
            case .lost: "lost"
            case .verified(let instant): "verified \(Int((instant - start) / .seconds(1)))"
            }
        }
    }

    /// Two masters that count since second 0 and 1.
    private static func both() -> ClusterTracking {
        var tracking = ClusterTracking(window: .seconds(10))
        _ = tracking.connect(a, 1)
        _ = tracking.connect(b, 2)
        _ = tracking.set([a, b], losers: [])
        _ = tracking.take(.verified(since: time(0)), of: a, 1, at: time(0))
        _ = tracking.take(.verified(since: time(1)), of: b, 2, at: time(1))
        return tracking
    }

    @Test("Each master is heard of by itself")
    func hearing() {
        var tracking = Self.both()
        #expect(tracking.hearing(of: Self.a, at: Self.time(9)) == .heard)
        #expect(tracking.hearing(of: Self.a, at: Self.time(10)) == .unheard(since: Self.time(0)))
        #expect(tracking.hearing(of: Self.b, at: Self.time(10)) == .heard)
        #expect(tracking.hearing(of: Answers.node(2), at: Self.time(0)) == .unheard(since: nil))
        let loss = TrackingEvent.lost(RedisError(.connectionLost, "lost"))
        _ = tracking.take(loss, of: Self.b, 2, at: Self.time(3))
        // One attempt to connect after another fails.
        _ = tracking.take(loss, of: Self.b, 2, at: Self.time(5))
        #expect(tracking.hearing(of: Self.b, at: Self.time(5)) == .unheard(since: Self.time(3)))
        #expect(tracking.hearing(of: Self.a, at: Self.time(5)) == .heard)
        _ = tracking.take(.verified(since: Self.time(6)), of: Self.b, 2, at: Self.time(6))
        #expect(tracking.hearing(of: Self.b, at: Self.time(6)) == .heard)
        // The slots of a master have moved: until its next heartbeat.
        _ = tracking.set([Self.a, Self.b], losers: [Self.b])
        #expect(tracking.hearing(of: Self.b, at: Self.time(7)) == .unheard(since: Self.time(6)))
    }

    @Test("A server that does not begin to tell is asked less and less often")
    func pauses() {
        var pauses = HeartPauses(interval: .seconds(1))
        #expect(pauses.next(after: .notConnected) == .milliseconds(20))
        for milliseconds in [20, 40, 80, 160, 320, 640, 1_000, 1_000] {
            #expect(pauses.next(after: .notTracking) == .milliseconds(milliseconds))
        }
        #expect(pauses.next(after: .notConnected) == .milliseconds(20))
        #expect(pauses.next(after: .notTracking) == .milliseconds(20))
        #expect(pauses.next(after: .tracking) == .seconds(1))
        var short = HeartPauses(interval: .milliseconds(10))
        #expect(short.next(after: .notTracking) == .milliseconds(10))
        for _ in 0..<10_000 { _ = short.next(after: .notTracking) }
    }

    @Test("A heartbeat asks for a key of its node, or for none of any")
    func tags() throws {
        let trackers = ClusterTrackers(window: .seconds(1)) { _ in }
        #expect(trackers.tag(of: Self.a) == "")
        let topology = try Answers.topology(masters: 2, others: [2])
        trackers.take(topology)
        for node in [Self.a, Self.b] {
            let tags = (0..<20).map { _ in trackers.tag(of: node) }
            #expect(tags.allSatisfy { topology.master(of: HashSlot(ofKey: $0.utf8)) == node })
            #expect(Set(tags).count > 1)
        }
        #expect(trackers.tag(of: Answers.node(2)) == "")
    }

    @Test("The earliest proof counts, of masters that give any")
    func earliest() {
        var tracking = ClusterTracking(window: .seconds(10))
        #expect(Self.short(tracking.connect(Self.a, 1)) == [])
        // Not before a topology has it.
        #expect(Self.short(tracking.take(.verified(since: Self.time(0)), of: Self.a, 1, at: Self.time(0))) == [])
        _ = tracking.connect(Self.b, 2)
        _ = tracking.set([Self.a, Self.b], losers: [])
        #expect(
            Self.short(tracking.take(.verified(since: Self.time(1)), of: Self.a, 1, at: Self.time(1))) == [
                "verified 1"
            ]
        )
        #expect(!tracking.isWhole && tracking.mark(of: Self.a, 1) != nil && tracking.mark(of: Self.b, 2) == nil)
        #expect(
            Self.short(tracking.take(.verified(since: Self.time(2)), of: Self.b, 2, at: Self.time(2))) == [
                "verified 1"
            ]
        )
        #expect(tracking.isWhole)
        #expect(
            Self.short(tracking.take(.verified(since: Self.time(3)), of: Self.a, 1, at: Self.time(3))) == [
                "verified 2"
            ]
        )
    }

    @Test("A master that is lost takes all that was known along, and the others go on")
    func lost() {
        var tracking = Self.both()
        let mark = tracking.mark(of: Self.b, 2)
        let error = RedisError(.connectionLost, "lost")
        #expect(Self.short(tracking.take(.lost(error), of: Self.b, 2, at: Self.time(2))) == ["lost", "verified 0"])
        #expect(Self.short(tracking.take(.lost(error), of: Self.b, 2, at: Self.time(2))) == [])
        #expect(!tracking.isWhole && tracking.mark(of: Self.b, 2) == nil && tracking.mark(of: Self.a, 1) != nil)
        _ = tracking.take(.verified(since: Self.time(3)), of: Self.b, 2, at: Self.time(3))
        // An answer of before is not covered by the new proof.
        #expect(tracking.mark(of: Self.b, 2) != mark && tracking.mark(of: Self.b, 2) != nil)
    }

    @Test("A master without heartbeats ceases to count")
    func silent() {
        var tracking = Self.both()
        let news = tracking.take(.verified(since: Self.time(10)), of: Self.a, 1, at: Self.time(10))
        #expect(Self.short(news) == ["verified 1"])
        let later = tracking.take(.verified(since: Self.time(11)), of: Self.a, 1, at: Self.time(11))
        #expect(Self.short(later) == ["lost", "verified 11"])
        #expect(tracking.mark(of: Self.b, 2) == nil)
    }

    @Test("Masters that lose slots, or are none any more, prove nothing of before")
    func topologies() {
        var tracking = Self.both()
        let mark = tracking.mark(of: Self.a, 1)
        #expect(Self.short(tracking.set([Self.a, Self.b], losers: [])) == [])
        #expect(Self.short(tracking.set([Self.a, Self.b], losers: [Self.a])) == ["lost", "verified 1"])
        _ = tracking.take(.verified(since: Self.time(2)), of: Self.a, 1, at: Self.time(2))
        #expect(tracking.mark(of: Self.a, 1) != mark && tracking.isWhole)
        #expect(Self.short(tracking.set([Self.a], losers: [])) == ["lost", "verified 2"])
        #expect(
            Self.short(tracking.take(.verified(since: Self.time(3)), of: Self.b, 2, at: Self.time(3))) == [
                "verified 2"
            ]
        )
        #expect(tracking.isWhole && tracking.mark(of: Self.b, 2) == nil)
    }

    @Test("A new connection begins again, and a former one has no say")
    func connections() {
        var tracking = Self.both()
        #expect(Self.short(tracking.connect(Self.b, 3)) == ["lost", "verified 0"])
        #expect(
            Self.short(tracking.take(.verified(since: Self.time(5)), of: Self.b, 2, at: Self.time(5))) == [
                "verified 0"
            ]
        )
        #expect(tracking.mark(of: Self.b, 2) == nil && tracking.mark(of: Self.b, 3) == nil)
        _ = tracking.take(.verified(since: Self.time(5)), of: Self.b, 3, at: Self.time(5))
        #expect(tracking.mark(of: Self.b, 2) == nil && tracking.mark(of: Self.b, 3) != nil)
        #expect(Self.short(tracking.disconnect(Self.b, 2)) == [])
        #expect(Self.short(tracking.disconnect(Self.b, 3)) == ["lost", "verified 0"])
    }

    /// Changes at each master are heard of, and answers of masters that do not tell of changes are marked.
    @Test(
        .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
        .timeLimit(.minutes(40 * slowness))
    )
    func realMasters() async throws {
        let cluster = try await RedisCluster()
        var settings = RedisSettings(endpoints: cluster.endpoints)
        settings.timeouts = .patient
        let news = News()
        let client = try TrackedCluster(
            settings: settings,
            prefixes: ["p:"],
            heartbeat: "p:heartbeat:",
            interval: .milliseconds(20),
            window: .seconds(20)
        ) { news.take($0) }
        let early = try await client.send(["GET", "p:early"])
        #expect(early == .null)
        try await wait(until: client.isWhole)
        let keys = (0..<30).map { "p:\($0)" }
        _ = try await client.send(keys.map { ["SET", .text($0), "own"] })
        #expect(news.unheard.isDisjoint(with: keys))
        let other = ClusterClient(cluster)
        _ = try await other.send(keys.map { ["SET", .text($0), "other"] })
        try await wait(until: news.changed.isSuperset(of: keys))
        // A master that was cut off is heard of no longer, until it is connected to again.
        let lossCount = news.lossCount
        let master = cluster.firstMaster(of: HashSlot(ofKey: keys[0].utf8))
        try await cluster.ask(master, ["CLIENT", "KILL", "TYPE", "normal"])
        try await wait(until: news.lossCount != lossCount)
        try await wait(until: (try? await client.send(["GET", .text(keys[0])])) != nil)
        try await wait(until: client.isWhole)
        _ = try await other.send([["SET", .text(keys[0] + "+{\(keys[0])}"), "again"]])
        try await wait(until: news.changed.contains(keys[0] + "+{\(keys[0])}"))
    }

    private final class News: Sendable {
        private let state = Mutex<(changed: Set<String>, unheard: Set<String>, losses: Int)>(([], [], 0))

        func take(_ event: TrackingEvent) {
            state.withLock { state in
                switch event {
                case .changed(let keys): state.changed.formUnion(keys.map { String(decoding: $0, as: UTF8.self) })
                case .unheard(let keys): state.unheard.formUnion(keys.map { String(decoding: $0, as: UTF8.self) })
                case .lost: state.losses += 1
                case .changedAll, .verified: break
                }
            }
        }

        var changed: Set<String> { state.withLock { $0.changed } }
        var unheard: Set<String> { state.withLock { $0.unheard } }
        var lossCount: Int { state.withLock { $0.losses } }
    }
}
