import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// Caches on a server with copies on this machine's disk.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct TieredTests {
    /// A cache without memory, so that each fetch asks the disk.
    private func cache(
        _ tier: SharedTier,
        _ directory: TestDirectory,
        memory: MemorySettings = .none,
        clock: some CacheClock = SystemClock()
    ) throws -> Cache<String> {
        try Cache(
            name: "cities",
            shared: tier,
            near: .disk(directory: directory.url),
            settings: CacheSettings(memory: memory, clock: clock)
        )
    }

    @Test func copiesAreUsedUnaskedOnceTheyWereCompared() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let here = try await fleet.verifiedMachine().cache()
        for number in 0..<20 { try await here.save("value \(number)", forKey: "\(number)") }
        for start in 0..<3 {
            let tier = try await fleet.verifiedMachine()
            let there = try cache(tier, directory)
            var events = there.events.makeAsyncIterator()
            for round in 0..<3 {
                let before = tier.statistics
                for number in 0..<20 {
                    #expect(try await there.fetch(forKey: "\(number)") == "value \(number)")
                    let event = try #require(await events.next())
                    #expect(event.kind == .hit && event.tier == (start == 0 && round == 0 ? .shared : .disk))
                }
                // Copies are written in the background.
                try await there.flush()
                let after = tier.statistics
                // Read once by the first process; compared once by each later one.
                #expect(after.hits - before.hits == (start == 0 && round == 0 ? 20 : 0))
                #expect(after.compares - before.compares == (start > 0 && round == 0 ? 20 : 0))
                #expect(after.nearFailures == 0)
            }
            #expect(tier.statistics.nearHits == (start == 0 ? 40 : 60))
            try await there.close()
        }
    }

    /// Behaviour 2, on disk.
    @Test func aChangedEntryIsNotReadFromTheDiskNorFoundThereAfterAStart() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let here = try await fleet.verifiedMachine().cache()
        let tier = try await fleet.verifiedMachine()
        let there = try cache(tier, directory)
        for round in 0..<20 {
            try await here.save("\(round)", forKey: "key")
            try await fetch("\(round)", from: there)
            #expect(try await there.fetch(forKey: "key") == "\(round)")
        }
        try await here.save("last", forKey: "key")
        try await fetch("last", from: there)
        try await here.remove(forKey: "key")
        try await fetch(nil, from: there)
        try await there.close()
        // Another process begins: the copy of the disk is not taken on trust.
        let other = try await fleet.verifiedMachine()
        let again = try cache(other, directory)
        #expect(try await again.fetch(forKey: "key") == nil)
        try await here.save("new", forKey: "key")
        #expect(try await again.fetch(forKey: "key") == "new")
    }

    /// The server does not tell a client of its own saves.
    @Test func aSaveByAnotherCacheOfTheProcessHasTheCopyCompared() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let tier = try await fleet.verifiedMachine()
        let (here, there) = (try tier.cache(), try cache(tier, directory))
        for round in 0..<10 {
            try await here.save("\(round)", forKey: "key")
            #expect(try await there.fetch(forKey: "key") == "\(round)")
            // From the copy, once it is there.
            let before = tier.statistics.nearHits
            while tier.statistics.nearHits == before {
                #expect(try await there.fetch(forKey: "key") == "\(round)")
            }
        }
    }

    @Test func aCopyThatCannotBeComparedIsNotServed() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let directory = TestDirectory()
        let first = try await fleet.verifiedMachine()
        let writer = try cache(first, directory)
        try await writer.save("value", forKey: "key")
        try await writer.close()
        let tier = try fleet.machine(timeout: 100) { $0.whenUnreachable.serve = .seconds(3_600) }
        try await tier.verified()
        let there = try cache(tier, directory)
        try await fleet.server.stopped {
            let failure = try await code { _ = try await there.fetch(forKey: "key") }
            #expect(failure == .unreachable)
        }
        #expect(try await insist { try await there.fetch(forKey: "key") } == "value")
    }

    @Test func ownSavesAndRemovalsReachTheCopies() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let tier = try await fleet.verifiedMachine()
        let cache = try cache(tier, directory)
        var servedUnasked = 0
        for round in 0..<10 {
            try await cache.save("\(round)", forKey: "key")
            try await cache.flush()
            let saved = tier.statistics
            #expect(try await cache.fetch(forKey: "key") == "\(round)")
            // Messages about the last round's changes may come late, and then the copy is compared, or read again.
            let now = tier.statistics
            if now.compares == saved.compares, now.hits == saved.hits { servedUnasked += 1 }
            try await cache.modify(forKey: "key") { $0 = "\($0 ?? "")!" }
            #expect(try await cache.fetch(forKey: "key") == "\(round)!")
            #expect(try await cache.remove(forKey: "key"))
            #expect(try await cache.fetch(forKey: "key") == nil)
            let loaded = try await cache.fetch(forKey: "key") { "loaded" }
            #expect(loaded == "loaded")
            #expect(try await cache.fetch(forKey: "key") == "loaded")
        }
        #expect(servedUnasked > 0)
        try await cache.save("a", forKey: "a", tags: ["tag"])
        #expect(try await cache.removeAll(tagged: "tag") == 1)
        #expect(try await cache.fetch(forKey: "a") == nil)
        try await cache.removeAll()
        #expect(try await cache.fetch(forKey: "key") == nil)
        #expect(tier.statistics.nearFailures == 0)
    }

    /// Other processes that use the directory may hold its disk up for seconds.
    @Test func noCallWaitsForChangesOfCopies() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let other = try await fleet.verifiedMachine().store(cache: "cities", schema: 0)
        let shared = try await fleet.verifiedMachine().store(cache: "cities", schema: 0)
        let near = try PackedStore(directory: directory.url.path, create: true)
        let store = TieredStore(near: near, shared: shared)
        let attributes = EntryAttributes(storedAt: .now)
        let isHeld = DispatchSemaphore(value: 0)
        store.changeCopies { isHeld.wait() }
        for number in 0..<300 {
            let key = "\(number % 3)"
            let archive = [UInt8](repeating: UInt8(number % 256), count: 10)
            _ = try store.save(archive, forKey: key, attributes: attributes, if: nil)
            #expect(try store.fetch(forKey: key)?.archive == archive)
            let found = try await store.fetch(forKeys: [key], isUrgent: false, mayBeOlder: true)[0].get()
            #expect(found?.archive == archive)
        }
        #expect(try store.remove(forKey: "0"))
        #expect(try store.fetch(forKey: "0")?.archive == nil)
        #expect(try other.fetch(forKey: "0")?.archive == nil)
        _ = try other.save([1], forKey: "1", attributes: attributes, if: nil)
        try await wait(until: store.fetch(forKey: "1")?.archive == [1])
        isHeld.signal()
        try store.flush()
        for key in ["0", "1", "2"] {
            for _ in 0..<2 {
                #expect(try store.fetch(forKey: key)?.archive == other.fetch(forKey: key)?.archive)
                try store.flush()
            }
        }
        #expect(shared.engine.counters.current.nearHits >= 2)
        try store.close()
    }

    @Test func severalKeysAreAskedForTogether() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let here = try await fleet.verifiedMachine().cache()
        let tier = try await fleet.verifiedMachine()
        let there = try cache(tier, directory)
        for number in 0..<30 { try await here.save("\(number)", forKey: "\(number)") }
        let keys = (0..<40).map { "\($0)" }
        for _ in 0..<3 {
            let values = try await there.fetch(forKeys: keys)
            #expect(values.count == 30)
            for number in 0..<30 { #expect(values["\(number)"] == "\(number)") }
        }
        for number in 0..<10 { try await here.save("new", forKey: "\(number)") }
        for number in 0..<10 { try await fetch("new", from: there, key: "\(number)") }
        let values = try await there.fetch(forKeys: keys)
        for number in 0..<30 { #expect(values["\(number)"] == (number < 10 ? "new" : "\(number)")) }
    }

    @Test func copiesHaveTheServersTime() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        let tier = try await fleet.verifiedMachine()
        try await tier.clockWasRead()
        tier.offset.set(3_600.1)
        let cache = try cache(tier, directory)
        try await cache.save("value", forKey: "key", expiration: .after(.seconds(60)))
        let saved = try #require(try await cache.entry(forKey: "key")?.expiresAt)
        try await cache.flush()
        for _ in 0..<2 { #expect(try await cache.fetch(forKey: "key") == "value") }
        #expect(tier.statistics.nearHits == 2)
        let other = try await fleet.verifiedMachine()
        try await other.clockWasRead()
        other.offset.set(0)
        let again = try self.cache(other, directory)
        // The same copy, an hour ahead for a machine with a right clock.
        #expect(try await again.fetch(forKey: "key") == "value")
        #expect(other.statistics.nearHits == 1 && other.statistics.hits == 0)
        let seen = try #require(try await again.entry(forKey: "key")?.expiresAt)
        #expect(abs(seen.timeIntervalSince(saved) - 3_600.1) < 0.001)
    }
}

/// Which copies may be used, beside a model that keeps the engine's versions.
@Suite struct NearCopiesTests {
    /// Operations of one process overlap at random with changes by others, with messages that come in order, and with
    /// losses of the connection. A verified copy is never older than the last message that was heard, nor than the last
    /// own change that was acknowledged.
    @Test(arguments: seeds(0..<300))
    func aVerifiedCopyIsNeverOlderThanWhatWasHeard(seed: Int) {
        struct Operation {
            let start: NearCopies.Start
            let isWrite: Bool
            /// The version that it has read or written.
            var version: UInt64?
        }
        var random = SeededGenerator(seed: seed)
        var copies = NearCopies()
        let key = KeyDigest(high: 1, low: 1)
        var engine: UInt64 = 1
        var heard: UInt64 = 1
        var messages: [UInt64] = []
        var disk: UInt64?
        var running: [Operation] = []
        var epoch: UInt64 = 0
        // Whether the engine tells of changes.
        var isTold = true
        for step in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                engine += 1
                if isTold { messages.append(engine) }
            case 1:
                if messages.isEmpty { break }
                heard = max(heard, messages.removeFirst())
                copies.change(key)
                // The removal follows before long.
                if Bool.random(using: &random) {
                    disk = nil
                    copies.didRemove(key)
                }
            case 2:
                copies.didRemove(key)
            case 3:
                if isTold {
                    epoch += 1
                    copies.follow(epoch: epoch)
                    messages = []
                } else {
                    // The first heartbeat of a new connection.
                    heard = engine
                }
                isTold.toggle()
            case 4, 5:
                running.append(Operation(start: copies.beginRead(key, isHeard: isTold), isWrite: false))
            case 6:
                running.append(Operation(start: copies.beginWrite(key, isHeard: isTold), isWrite: true))
            default:
                guard let index = running.indices.randomElement(using: &random) else { break }
                var operation = running[index]
                guard let version = operation.version else {
                    // The read reaches the engine, or the engine makes the own change, which it does not report.
                    if operation.isWrite { engine += 1 }
                    operation.version = engine
                    running[index] = operation
                    break
                }
                running.remove(at: index)
                var kept: UInt64?
                if copies.isCurrent(key, operation.start) {
                    disk = version
                    kept = version
                }
                if operation.isWrite {
                    copies.endWrite(key, operation.start, verified: kept)
                    // It is acknowledged now.
                    heard = max(heard, version)
                } else {
                    copies.endRead(key, operation.start, verified: kept)
                }
            }
            if isTold, let disk, copies.isVerified(key, version: disk) {
                #expect(disk >= heard, "seed \(seed), step \(step)")
            }
        }
    }
}
