import ArchiveStore
import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Saves and listings of many entries.
@Suite(.enabled(if: RedisServer.isInstalled, "no redis-server is installed"))
struct ManyEntriesTests {
    @Test("Many saves go out by few writes, and the failure of one harms no other")
    func savedTogether() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await Self.quietMachine(fleet)
        let cache = try tier.cache()
        let reads = try await Self.reads(tier)
        try await cache.save(contentsOf: (0..<2_000).map { ("key \($0)", "value \($0)") })
        #expect(try await Self.reads(tier) - reads < 500)
        #expect(try await tier.names().count == 2_000)
        let other = try fleet.machine().cache()
        #expect(try await other.fetch(forKey: "key 1999") == "value 1999")
        // Of two for one key, the later one counts.
        try await cache.save(contentsOf: [("a", "1"), ("b", "2"), ("a", "3")])
        #expect(try await other.fetch(forKey: "a") == "3")
        let large = String(repeating: "a", count: 9 << 20)
        #expect(
            try await code { try await cache.save(contentsOf: [("x", "1"), ("large", large), ("z", "2")]) }
                == .tooLarge
        )
        #expect(try await other.fetch(forKey: "x") == "1")
        #expect(try await other.fetch(forKey: "z") == "2")
    }

    @Test("Many fetches go out by few writes, blocking and suspending")
    func fetchedByFewWrites() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let keys = (0..<640).map { "key \($0)" }
        let tier = try await Self.quietMachine(fleet)
        try await tier.cache().save(contentsOf: keys.map { ($0, "value of \($0)") })
        let cache = try Cache<String>(name: "cities", shared: tier, settings: CacheSettings(memory: .none))
        let asked = keys + ["absent"]
        for isBlocking in [true, false] {
            let reads = try await Self.reads(tier)
            let found: [String: String]
            if isBlocking {
                found = try blocking(cache, asked)
            } else {
                found = try await cache.fetch(forKeys: asked)
            }
            #expect(try await Self.reads(tier) - reads < 200)
            #expect(found == Dictionary(uniqueKeysWithValues: keys.map { ($0, "value of \($0)") }))
        }
    }

    @Test(
        "Lengths that no value can have are those of something foreign",
        arguments: [Int.min, -1, 0, 1 << 40, .max]
    )
    func impossibleLengths(byteCount: Int) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine()
        try await tier.cache().save("value", forKey: "key")
        let name = try #require(try await tier.names().first)
        let answer = try await tier.ask(["GETRANGE", .text(name), -200, -1])
        let tail = try #require(answer.bytes)
        let entry = EngineEntry(key: try StoreKey("key"), name: name, clock: EngineClock())
        #expect(try entry.information(ofTail: tail, byteCount: tail.count).key == "key")
        let error = #expect(throws: StoreError.self) {
            try entry.information(ofTail: tail, byteCount: byteCount)
        }
        #expect(error?.code == .foreign)
    }

    @Test("Of a value that is longer than any entry, no more than an entry's bytes come")
    func hugeValues() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        try await tier.cache().save("value", forKey: "key")
        let name = RedisCommand.Argument.text(try #require(try await tier.names().first))
        _ = try await tier.ask(["SETRANGE", name, .integer(400 << 20), "x"])
        let cache = try fleet.machine().cache()
        let before = tier.statistics.bytesReceived
        for _ in 0..<2 {
            #expect(try await tier.cache().fetch(forKey: "key", freshness: .latest) == nil)
        }
        #expect(tier.statistics.bytesReceived - before < 40 << 20)
        #expect(try await cache.fetch(forKey: "key") == nil)
        try await cache.save("new", forKey: "key")
        #expect(try await cache.fetch(forKey: "key") == "new")
    }

    private func blocking(_ cache: Cache<String>, _ keys: [String]) throws -> [String: String] {
        try cache.fetch(forKeys: keys)
    }

    /// A machine whose server reads nothing but its calls.
    private static func quietMachine(_ fleet: Fleet) async throws -> SharedTier {
        let tier = try fleet.machine(heartbeat: .seconds(3_600))
        try await tier.verified()
        return tier
    }

    private static func reads(_ tier: SharedTier) async throws -> Int {
        let text = try await tier.ask(["INFO", "stats"]).text ?? ""
        let line = try #require(
            text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_reads_processed:") }
        )
        return try #require(Int(line.dropFirst("total_reads_processed:".count)))
    }

    @Test("Saves that were not acknowledged together are all owed, and gone once the server answers again")
    func owedTogether() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 200)
        try await tier.verified()
        let (cache, keys) = (try tier.cache(), (0..<300).map { "key \($0)" })
        try await insist { try await cache.save(contentsOf: keys.map { ($0, "old") }) }
        try await fleet.server.stopped {
            let failure = try await code { try await cache.save(contentsOf: keys.map { ($0, "new") }) }
            #expect(failure == .unreachable)
            #expect(tier.owedKeyCount >= keys.count)
        }
        try await wait(until: tier.owedKeyCount == 0)
        let other = try fleet.machine().cache()
        for key in keys {
            let found = try await insist { try await other.fetch(forKey: key) }
            #expect(found != "old")
        }
    }

    @Test("A fetch of many keys gives each one its value, in parts, and a damaged entry harms no other")
    func fetchedTogether() async throws {
        let fleet = try await Fleet()
        let tier = try await fleet.verifiedMachine()
        let saved = try tier.cache()
        let keys = (0..<333).map { "key \($0)" }
        try await saved.save(contentsOf: keys.enumerated().map { ($1, "value \($0)") })
        let damaged = try #require(try await tier.names().first { $0.hasSuffix("{key%2077}") })
        var bytes = try #require(try await tier.ask(["GET", .text(damaged)]).bytes)
        bytes[2] ^= 1
        _ = try await tier.ask(["SET", .text(damaged), .bytes(bytes)])

        let cache = try fleet.machine().cache()
        // Every third key comes twice, and as many have no entry.
        let wanted = keys.enumerated().flatMap { $0.isMultiple(of: 3) ? [$1, "none \($0)", $1] : [$1] }
        let found = try await cache.fetch(forKeys: wanted)
        #expect(found.count == keys.count - 1)
        for (number, key) in keys.enumerated() { #expect(found[key] == (number == 77 ? nil : "value \(number)")) }
        #expect(cache.statistics.diskHits == keys.count - 1)
        #expect(cache.statistics.misses == 111 + 1)
        #expect(cache.statistics.corruptions == 1)
        #expect(try await tier.names().count == keys.count - 1)
        // Each key that has an entry is in memory now.
        #expect(try await cache.fetch(forKeys: keys).count == keys.count - 1)
        #expect(cache.statistics.diskHits == keys.count - 1)
    }

    @Test("A fetch of many keys is cancelled with its task, which says nothing about the server")
    func manyCancelled() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 10_000)
        try await tier.verified()
        let cache = try tier.cache()
        let keys = (0..<300).map { "key \($0)" }
        try await fleet.server.stopped {
            let task = Task { try await cache.fetch(forKeys: keys) }
            try await Task.sleep(for: .milliseconds(50))
            task.cancel()
            let outcome = await task.result
            let error = #expect(throws: CacheError.self) { try outcome.get() }
            #expect(error?.code == .cancelled)
        }
        #expect(try await cache.fetch(forKeys: keys).isEmpty)
    }

    @Test("A cancelled load throws CancellationError, and the next one takes its lease and saves")
    func loadCancelled() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 10_000)
        try await tier.verified()
        let cache = try tier.cache()
        try await fleet.server.stopped {
            let tasks = (0..<10).map { number in
                Task { try await cache.fetch(forKey: "key \(number)") { "unsaved" } }
            }
            try await Task.sleep(for: .milliseconds(20))
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        }
        #expect(try await cache.fetch(forKey: "key 1") { "saved" } == "saved")
        #expect(try await fleet.machine().cache().fetch(forKey: "key 1") == "saved")
    }

    @Test("Keys of a batch that the server did not acknowledge are owed, and counted")
    func batchOwed() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100)
        try await tier.verified()
        let cache = try tier.cache()
        await fleet.server.stopped {
            #expect(throws: CacheError.self) { try cache.save(contentsOf: (0..<7).map { ("key \($0)", "") }) }
            #expect(tier.owedKeyCount == 7)
            #expect(tier.statistics.debts == 7)
        }
    }

    @Test("A save of missing entries leaves those that could not be looked at")
    func unseenStay() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100)
        try await tier.verified()
        try await insist { try await tier.cache().save("fresh", forKey: "key") }
        let store = tier.store(cache: "cities", schema: 0)
        let new = NewArchive(key: "key", archive: [1], attributes: EntryAttributes(storedAt: .now))
        await fleet.server.stopped {
            let error = #expect(throws: StoreError.self) { try store.save([new], unlessFreshAt: .now)[0].get() }
            #expect(error?.code == .unreachable)
            #expect(tier.owedKeyCount == 0)
        }
        #expect(try await insist { try await tier.cache().fetch(forKey: "key") } == "fresh")
    }

    @Test("Of missing entries those are saved whose nodes answer")
    func unseenBesideSaved() throws {
        let names = EntryNames(prefix: "tc:test:", cache: "cache", schema: 1)
        let news = try ["seen", "unseen"].map { key in
            let attributes = EntryAttributes(storedAt: .now)
            return try NewEntry([1], of: try StoreKey(key), in: names, attributes, clock: EngineClock(), serial: 1)
        }
        var call = SaveMissingEntries(news, EngineClock()) { $0 == nil }
        #expect(call.begin(names, in: .random()).count == 4)
        let silence = RedisValue.error(RedisReplyError(message: "NOANSWER"))
        guard case .send(let commands) = try call.take([.bulk([]), .integer(0), silence, silence]) else {
            Issue.record("Nothing is saved.")
            return
        }
        #expect(commands.count == 1)
        guard case .done(let outcomes) = try call.take([.integer(1)]), case .done(.success(_?)) = outcomes[0],
            case .unseen(let error) = outcomes[1]
        else {
            Issue.record("It ends otherwise.")
            return
        }
        #expect(error.code == .unreachable)
    }

    @Test("A listing gives no key twice while the server's table grows and shrinks, and misses none that stays")
    func listedOnce() async throws {
        let fleet = try await Fleet()
        let (tier, other) = (try await fleet.verifiedMachine(), try fleet.machine())
        let (cache, changed) = (try tier.cache(), try other.cache())
        let kept = (0..<2_000).map { "kept \($0)" }
        try await cache.save(contentsOf: kept.map { ($0, "") })
        try await cache.save(contentsOf: (0..<8_000).map { ("removed \($0)", "") })
        let store = tier.store(cache: "cities", schema: 0)
        var counts: [String: Int] = [:]
        try store.forEachEntry { entry in
            if case .success(let entry) = entry { counts[entry.key, default: 0] += 1 }
            switch counts.count {
            case 1_000: _ = try? changed.remove(forKeys: (0..<8_000).map { "removed \($0)" })
            case 2_000: try? changed.save(contentsOf: (0..<12_000).map { ("added \($0)", "") })
            default: break
            }
            return true
        }
        #expect(counts.values.allSatisfy { $0 == 1 }, "\(counts.filter { $0.value > 1 }.count) keys came twice")
        for key in kept { #expect(counts[key] == 1) }
        #expect(counts.count < 10_000)
    }

    @Test("The window of recent keys knows the last thousands, and holds no more")
    func recentKeys() {
        var recent = RecentKeys()
        func isNew(_ number: Int) -> Bool { recent.insert(KeyDigest(hashing: "\(number)")) }
        for number in 0..<50_000 {
            #expect(isNew(number))
            if number % 97 == 0 { #expect(!isNew(max(0, number - RecentKeys.count + 1))) }
        }
        #expect(isNew(0))
    }
}
