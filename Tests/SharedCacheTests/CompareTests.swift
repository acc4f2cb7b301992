import ArchiveStore
import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Entries in memory that may be out of date are compared with the server's, not thrown away.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct CompareTests {
    /// Behaviour 6.
    @Test func afterALostChannelEachUntouchedEntryCostsOneCompare() async throws {
        let fleet = try await Fleet()
        let other = try await fleet.verifiedMachine()
        let here = try other.cache()
        let tier = try await fleet.verifiedMachine()
        let there = try tier.cache()
        let (touched, untouched) = ((0..<100).map { "touched \($0)" }, (0..<100).map { "untouched \($0)" })
        for key in touched + untouched { try await here.save("old", forKey: key) }
        try await known(touched + untouched, by: there, tier)
        let before = tier.statistics
        try await tier.cutChannel(by: other)
        for key in touched { try await here.save("new", forKey: key) }
        try await wait(until: tier.statistics.epochs != before.epochs)
        try await tier.verified()
        for key in touched { #expect(try await there.fetch(forKey: key) == "new") }
        for key in untouched { #expect(try await there.fetch(forKey: key) == "old") }
        let after = tier.statistics
        #expect(after.unchanged - before.unchanged == 100)
        #expect(after.hits - before.hits == 100)
        #expect(there.statistics.verifications == 100)
        for key in untouched { #expect(try await there.fetch(forKey: key) == "old") }
        #expect(tier.statistics.compares == after.compares && tier.statistics.hits == after.hits)
    }

    /// A node without an answer says nothing about an entry; a value of another kind is another entry.
    @Test func aMissingAnswerIsNoChange() throws {
        let answers: [RedisValue] = [
            .error(RedisReplyError(message: "NOANSWER node1:7000 gave no answer in time.")), .bulk([]),
            .error(RedisReplyError(message: "WRONGTYPE Operation against a key")),
            .error(RedisReplyError(message: "LOADING")),
        ]
        let keys = try answers.indices.map { try StoreKey("\($0)") }
        guard case .done(let versions) = CompareEnds(keys: keys).take(answers) else {
            Issue.record("It asks once more.")
            return
        }
        let codes = versions.map { version -> StoreError.Code? in
            if case .failure(let error) = version { error.code } else { nil }
        }
        #expect(codes == [.unreachable, nil, nil, .unreachable])
        #expect(try versions[1].get() == nil && versions[2].get() == nil)
    }

    /// Has memory know entries. An invalidation by a save before may arrive late, and memory drops the entry once more.
    private func known(_ keys: [String], by cache: Cache<String>, _ tier: SharedTier) async throws {
        for key in keys { _ = try await cache.fetch(forKey: key) }
        for _ in 0..<10 {
            let hits = tier.statistics.hits
            for key in keys { _ = try await cache.fetch(forKey: key) }
            if tier.statistics.hits == hits { return }
        }
        Issue.record("memory does not know the entries")
    }

    /// Behaviour 7.
    @Test func aSilentChannelHasEachEntryCompared() async throws {
        let fleet = try await Fleet()
        let proxy = try FaultProxy(to: fleet.server.port)
        defer { proxy.end() }
        proxy.scope = .without("TRACKING")
        let here = try await fleet.verifiedMachine().cache()
        let tier = try fleet.machine(through: proxy.port, deadline: .milliseconds(400))
        let there = try tier.cache()
        for key in ["key", "other"] { try await here.save("old", forKey: key) }
        while there.statistics.memoryHits < 2 {
            try await tier.verified()
            for key in ["key", "other"] { #expect(try await there.fetch(forKey: key) == "old") }
        }
        proxy.fault = .stall
        try await here.save("new", forKey: "key")
        try await wait(until: !tier.isVerified)
        let before = tier.statistics
        #expect(try await there.fetch(forKey: "key") == "new")
        for _ in 0..<3 { #expect(try await there.fetch(forKey: "other") == "old") }
        let after = tier.statistics
        #expect(after.unchanged - before.unchanged == 3 && after.hits - before.hits == 1)
    }

    /// Behaviour 13.
    @Test func anAnswerThatAMessageOvertakesIsNotKept() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let proxy = try FaultProxy(to: fleet.server.port)
        defer { proxy.end() }
        proxy.scope = .with("TRACKING")
        let other = try await fleet.verifiedMachine()
        let here = try other.cache()
        let tier = try fleet.machine(through: proxy.port)
        try await tier.verified()
        let there = try tier.cache()
        // Messages are understood from when the generation is known.
        try await here.save("first", forKey: "key")
        try await fetch("first", from: there)
        for round in 0..<3 {
            let key = "key \(round)"
            try await here.save("old", forKey: key)
            let reads = try await Self.readCount(other)
            proxy.fault = .delay(milliseconds: 200)
            async let read = there.fetch(forKey: key)
            // The server has answered, and the answer is on its way.
            try await wait(until: await Self.readCount(other) > reads)
            let heard = tier.statistics.invalidations
            try await here.save("new", forKey: key)
            try await wait(until: tier.statistics.invalidations != heard)
            _ = try await read
            proxy.fault = .none
            #expect(try await there.fetch(forKey: key) == "new")
        }
    }

    /// How many values the server has read; saves read none.
    private static func readCount(_ tier: SharedTier) async throws -> Int {
        let text = try await tier.ask(["INFO", "commandstats"]).text ?? ""
        let start = "cmdstat_getrange:calls="
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(start) }
        return line.flatMap { Int($0.dropFirst(start.count).prefix { $0.isNumber }) } ?? 0
    }

    /// Behaviour 14.
    @Test func anOwnChangeByConditionCostsOneCompareAtMost() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        _ = try await cache.fetch(forKey: "key")
        for round in 0..<5 {
            let before = tier.statistics
            try await cache.modify(forKey: "key") { $0 = "\(round)" }
            try await wait(until: tier.statistics.ownEchoes != before.ownEchoes)
            let changed = tier.statistics
            for _ in 0..<3 { #expect(try await cache.fetch(forKey: "key") == "\(round)") }
            let after = tier.statistics
            #expect(after.hits == changed.hits && after.misses == changed.misses)
            #expect(after.compares - changed.compares <= 1)
            #expect(after.invalidations == before.invalidations)
        }
    }

    @Test func anIdleDeadlineThatMovesCostsOneCompareAtMost() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        _ = try await cache.fetch(forKey: "key")
        try await cache.save("value", forKey: "key", expiration: .afterIdle(.seconds(8)))
        // A fetch between the server's change and its answer reads the entry; not each move can meet one.
        var isCheap = false
        for _ in 0..<5 where !isCheap {
            let before = tier.statistics
            // The server follows when it lags by an eighth.
            func isEchoed() async throws -> Bool {
                #expect(try await cache.fetch(forKey: "key") == "value")
                return tier.statistics.ownEchoes > before.ownEchoes
            }
            try await wait(until: await isEchoed())
            for _ in 0..<3 { #expect(try await cache.fetch(forKey: "key") == "value") }
            let after = tier.statistics
            isCheap = after.hits == before.hits && after.compares - before.compares <= 1
        }
        #expect(isCheap)
    }

    @Test func anOwnSaveAsksNothing() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        _ = try await cache.fetch(forKey: "key")
        for round in 0..<5 {
            try await cache.save("\(round)", forKey: "key")
            let saved = tier.statistics
            #expect(try await cache.fetch(forKey: "key") == "\(round)")
            let after = tier.statistics
            #expect(after.hits == saved.hits && after.misses == saved.misses && after.compares == saved.compares)
        }
    }

    @Test func theLatestValueIsAskedFor() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let tier = try fleet.machine { $0.coherence = .age(.seconds(3_600)) }
        let there = try tier.cache()
        try await here.save("old", forKey: "key")
        for _ in 0..<2 { #expect(try await there.fetch(forKey: "key") == "old") }
        try await here.save("new", forKey: "key")
        #expect(try await there.fetch(forKey: "key") == "old")
        #expect(try await there.fetch(forKey: "key", freshness: .bounded) == "old")
        #expect(try await there.fetch(forKey: "key", freshness: .latest) == "new")
        #expect(try await there.fetch(forKey: "key") == "new")
        let before = tier.statistics
        let blocking = { () throws(CacheError) in try there.fetch(forKey: "key", freshness: .latest) }
        #expect(try blocking() == "new")
        let after = tier.statistics
        #expect(after.unchanged - before.unchanged == 1 && after.hits == before.hits)
        try await here.remove(forKey: "key")
        #expect(try await there.fetch(forKey: "key", freshness: .latest) == nil)
    }

    @Test func entriesAreComparedByAgeWhereNothingIsTold() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let tier = try fleet.machine { $0.coherence = .age(.milliseconds(50)) }
        try await tier.verified()
        let there = try tier.cache()
        try await here.save("old", forKey: "key")
        try await here.save("kept", forKey: "other")
        try await fetch("old", from: there)
        try await fetch("kept", from: there, key: "other")
        try await here.save("new", forKey: "key")
        try await fetch("new", from: there)
        let hits = tier.statistics.hits
        while tier.statistics.unchanged < 2 { #expect(try await there.fetch(forKey: "other") == "kept") }
        #expect(tier.statistics.hits == hits && tier.statistics.invalidations == 0)
    }

    @Test func eventsTellOfChangesByOthersAndOfComparisons() async throws {
        let fleet = try await Fleet()
        let other = try await fleet.verifiedMachine()
        let here = try other.cache()
        let tier = try await fleet.verifiedMachine()
        let there = try tier.cache()
        try await here.save("old", forKey: "key")
        try await known(["key"], by: there, tier)
        let events = there.events
        // From the start: fetches have events as well, and a stream keeps the latest alone.
        let seen = Task {
            var kinds: [String] = []
            for await event in events where event.kind == .invalidated || event.kind == .verified {
                kinds.append("\(event.kind) \(event.key ?? "all")")
                if event.kind == .verified { #expect(event.tier == .shared) }
                if kinds.last == "invalidated key", kinds.contains("verified key") { break }
            }
            return kinds
        }
        try await tier.cutChannel(by: other)
        while there.statistics.verifications == 0 {
            _ = try await insist { try await there.fetch(forKey: "key") }
            try await Task.sleep(for: .milliseconds(1))
        }
        try await tier.verified()
        _ = try await there.fetch(forKey: "key")
        try await here.save("new", forKey: "key")
        try await fetch("new", from: there)
        // A message about the first save may arrive as late as this, and a busy machine cuts the channel once more.
        let kinds = await seen.value.drop { $0 != "invalidated all" }
        #expect(kinds.contains("verified key"), "\(kinds)")
    }
}
