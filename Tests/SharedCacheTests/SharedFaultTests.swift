import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// Caches on a server that does not answer, was emptied, or has something else.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct SharedFaultTests {
    @Test func memoryAnswersNothingOnceNoHeartbeatCame() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let proxy = try FaultProxy(to: fleet.server.port)
        defer { proxy.end() }
        let here = try await fleet.verifiedMachine().cache()
        let tier = try fleet.machine(through: proxy.port, timeout: 100, deadline: .milliseconds(300))
        let there = try tier.cache()
        try await here.save("old", forKey: "key")
        while there.statistics.memoryHits == 0 {
            try await tier.verified()
            _ = try await code { _ = try await there.fetch(forKey: "key") }
        }
        proxy.fault = .stall
        try await here.save("new", forKey: "key")
        try await wait(until: !tier.isVerified)
        let hits = there.statistics.memoryHits
        #expect(try await code { _ = try await there.fetch(forKey: "key") } == .unreachable)
        #expect(there.statistics.memoryHits == hits)
        proxy.fault = .none
        #expect(try await insist { try await there.fetch(forKey: "key") } == "new")
    }

    /// A name, or a balancer, may lead each connection to another server. Messages of the one would prove nothing for
    /// values of the other.
    @Test func callsAndMessagesComeFromOneServer() async throws {
        let (fleet, other) = (try await Fleet(hasOwnServer: true), try await RedisServer())
        // The channel's number is that of another client there, so that tracking can be switched on.
        let stranger = try RedisConnection(to: other.endpoint, settings: RedisSettings(endpoints: [other.endpoint]))
        defer { stranger.close() }
        _ = try await stranger.send(["PING"])
        for round in 0..<4 {
            let proxy = try FaultProxy(toEachOf: [fleet.server.port, other.port])
            defer { proxy.end() }
            let tier = try fleet.machine(through: proxy.port)
            try await tier.verified()
            let information = try #require(try await tier.ask(["INFO", "server"]).text)
            let writer = information.contains("tcp_port:\(fleet.server.port)\r") ? fleet.server : other
            let url = "redis://127.0.0.1:\(writer.port)/?prefix=\(fleet.prefix)"
            let there = try SharedTier(url, tier.settings).cache()
            let here = try tier.cache()
            for number in 0..<5 {
                try await there.save("\(round) \(number)", forKey: "key")
                // It is in memory until the message comes, for heartbeats go on.
                try await fetch("\(round) \(number)", from: here)
            }
        }
    }

    /// Behaviour 10, for a cache that is closed, or of which the program has another one.
    @Test(arguments: [true, false])
    func aTierOwesWhatItsCachesDid(isClosed: Bool) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let (here, other) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine().cache())
        // No heartbeat pays before the caches are used.
        let tier = try fleet.machine(timeout: 100, heartbeat: .seconds(600))
        try await tier.verified()
        let cache = try tier.cache()
        try await other.save("former", forKey: "key")
        try await fetch("former", from: cache)
        let sibling = isClosed ? nil : try tier.cache()
        try await fleet.server.stopped {
            let failure = try await code { try await cache.remove(forKey: "key") }
            #expect(failure == .unreachable)
            if isClosed { try? await cache.close() }
        }
        // Its removal was executed by now, or never will be.
        _ = try await here.ask(["PING"])
        try await other.save("former", forKey: "key")
        #expect(tier.owedKeyCount == 1)
        let again = try sibling ?? tier.cache()
        #expect(try await insist { try await again.fetch(forKey: "key") } == nil)
        try await insist { try await again.save("new", forKey: "key") }
        #expect(tier.owedKeyCount == 0)
        #expect(try await again.fetch(forKey: "key") == "new")
        try await fetch("new", from: other)
    }

    /// The caches may be gone when the server answers again.
    @Test func theDebtsOfAClosedCacheArePaid() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let other = try await fleet.verifiedMachine().cache()
        let tier = try fleet.machine(timeout: 100)
        try await tier.verified()
        try await other.save("former", forKey: "key")
        try await fleet.server.stopped {
            let cache = try? tier.cache()
            let failure = try await code { try await cache?.save("unsaved", forKey: "key") }
            #expect(failure == .unreachable)
            try? await cache?.close()
        }
        try await wait(until: tier.owedKeyCount == 0)
        try await fetch(nil, from: other)
    }

    private func makeReplica(_ server: RedisServer, of master: UInt16?) async throws {
        let connection = try RedisConnection(
            to: server.endpoint,
            settings: RedisSettings(endpoints: [server.endpoint])
        )
        defer { connection.close() }
        let words: [RedisCommand.Argument] = master.map { ["127.0.0.1", .integer(Int($0))] } ?? ["NO", "ONE"]
        _ = try await connection.send(RedisCommand(["REPLICAOF"] + words))
        guard master != nil else { return }
        func isUp() async throws -> Bool {
            try await connection.send(["INFO", "replication"]).text?.contains("master_link_status:up") == true
        }
        try await wait(until: await isUp())
    }

    /// A master that has become a replica keeps its connections, and knows of the new master's changes late or never.
    /// Its name leads new connections to the new master.
    @Test(arguments: [false, true]) func aMasterThatWasReplacedIsLeft(isSavedTo: Bool) async throws {
        let (fleet, new) = (try await Fleet(hasOwnServer: true), try await RedisServer())
        try await makeReplica(new, of: fleet.server.port)
        let ports = [UInt16](repeating: fleet.server.port, count: 2) + [UInt16](repeating: new.port, count: 200)
        let proxy = try FaultProxy(toEachOf: ports)
        defer { proxy.end() }
        let tier = try fleet.machine(through: proxy.port)
        try await tier.verified()
        let here = try tier.cache()
        try await here.save("old", forKey: "key")
        try await fetch("old", from: here)
        try await makeReplica(new, of: nil)
        try await makeReplica(fleet.server, of: new.port)
        if isSavedTo {
            try await wait(until: await code({ try await here.save("new", forKey: "key") }) == nil)
        } else {
            let url = "redis://127.0.0.1:\(new.port)/?prefix=\(fleet.prefix)"
            let there = try SharedTier(url, tier.settings).cache()
            try await there.save("new", forKey: "key")
        }
        try await wait(until: await code({ try await fetch("new", from: here) }) == nil)
    }

    /// A name may lead to a replica at first: a process that only reads stays with it, one that saves does not.
    @Test func aReplicaIsLeftByAProcessThatSaves() async throws {
        let (fleet, replica) = (try await Fleet(hasOwnServer: true), try await RedisServer())
        try await fleet.verifiedMachine().cache().save("old", forKey: "key")
        try await makeReplica(replica, of: fleet.server.port)
        let ports = [UInt16](repeating: replica.port, count: 2) + [UInt16](repeating: fleet.server.port, count: 200)
        let proxy = try FaultProxy(toEachOf: ports)
        defer { proxy.end() }
        let tier = try fleet.machine(through: proxy.port)
        let cache = try tier.cache()
        for _ in 0..<50 {
            #expect(try await cache.fetch(forKey: "key") == "old")
            #expect(!tier.isVerified)
            try await Task.sleep(for: .milliseconds(1))
        }
        try await wait(until: await code({ try await cache.save("new", forKey: "key") }) == nil)
        try await tier.verified()
        #expect(try await fleet.machine().cache().fetch(forKey: "key") == "new")
    }

    /// The connection may lead to a server that has started again since, and knows nothing of cursors.
    @Test func aListingBeginsAgainOnAnotherConnection() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        let keys = (0..<2_000).map { "key \($0)" }
        try await tier.cache().save(contentsOf: keys.map { ($0, "value") })
        let other = try await fleet.verifiedMachine()
        let store = tier.store(cache: "cities", schema: 0)
        var counts: [String: Int] = [:]
        var isCut = false
        try store.scan(store.view.names.cache) { names in
            for name in names { counts[name, default: 0] += 1 }
            if isCut { return true }
            isCut = true
            _ = try? other.client.sendAndWait([["CLIENT", "KILL", "TYPE", "normal"]])
            while (try? tier.client.sendAndWait([["PING"]])) == nil { usleep(1_000) }
            return true
        }
        #expect(counts.count > keys.count && counts.values.allSatisfy { $0 >= 2 })
    }

    @Test func aLostConnectionHidesNoChange() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let here = try await fleet.verifiedMachine().cache()
        let tier = try await fleet.verifiedMachine()
        let there = try tier.cache()
        for round in 0..<10 {
            try await here.save("\(round)", forKey: "key")
            try await fetch("\(round)", from: there)
            let isBoth = round % 2 == 0
            // The other machine's too, sometimes.
            let command: RedisCommand =
                isBoth ? ["CLIENT", "KILL", "TYPE", "normal"] : ["CLIENT", "KILL", "ID", 0]
            _ = try? await tier.ask(command)
            try await wait(until: await code({ try await here.save("\(round)!", forKey: "key") }) == nil)
            try await wait(until: await code({ try await fetch("\(round)!", from: there) }) == nil)
        }
    }

    @Test func aSaveThatWasNotAcknowledgedLeavesNothingOld() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 200)
        try await tier.verified()
        let here = try tier.cache()
        let there = try await fleet.verifiedMachine().cache()
        try await insist { try await here.save("old", forKey: "key") }
        try await insist { try await here.save("kept", forKey: "other") }
        try await fetch("old", from: there)
        var isFound = true
        try await fleet.server.stopped {
            let failure = try await code { try await here.save("new", forKey: "key") }
            #expect(failure == .unreachable && tier.owedKeyCount == 1)
            // Told without asking.
            isFound = try await here.fetch(forKey: "key") != nil
        }
        #expect(!isFound)
        try await wait(until: tier.owedKeyCount == 0)
        try await fetch(nil, from: there)
        #expect(try await here.fetch(forKey: "key") == nil)
        #expect(try await insist { try await here.fetch(forKey: "other") } == "kept")
        // Nothing hides a later save of another machine.
        try await there.save("newer", forKey: "key")
        try await fetch("newer", from: here)
        try await here.save("again", forKey: "key")
        try await fetch("again", from: there)
    }

    @Test func aRemovalThatWasNotAcknowledgedIsMadeLater() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 200)
        try await tier.verified()
        let here = try tier.cache()
        let there = try await fleet.verifiedMachine().cache()
        try await insist { try await here.save("old", forKey: "key") }
        try await insist { try await here.save("short", forKey: "short", expiration: .after(.milliseconds(1))) }
        try await fleet.server.stopped {
            #expect(try await code { try await here.remove(forKey: "key") } == .unreachable)
            _ = try await code { _ = try await here.fetch(forKey: "short") }
        }
        try await wait(until: tier.owedKeyCount == 0)
        try await fetch(nil, from: there)
        for key in ["key", "short"] {
            try await there.save("newer", forKey: key)
            try await fetch("newer", from: here, key: key)
        }
    }

    /// Behaviour 11.
    @Test func tooManyDebtsBecomeANewGeneration() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 100) {
            $0.breaker = .init(failures: 2, pause: .milliseconds(200), longestPause: .milliseconds(200))
        }
        try await tier.verified()
        let here = try tier.cache()
        let there = try await fleet.verifiedMachine().cache()
        for number in 0..<20 {
            try await insist { try await here.save("old", forKey: "\(number)") }
            try await fetch("old", from: there, key: "\(number)")
        }
        try await fleet.server.stopped {
            // All but the first fail at once.
            for number in 0...DebtList.mostKeys {
                let failure = try await code { try await here.save("new", forKey: "\(number)") }
                #expect(failure == .unreachable)
            }
            #expect(tier.owedKeyCount == DebtList.mostKeys)
        }
        try await wait(until: tier.owedKeyCount == 0)
        // None of them comes back, on any machine.
        for number in 0..<20 {
            try await fetch(nil, from: there, key: "\(number)")
            #expect(try await insist { try await here.fetch(forKey: "\(number)") } == nil)
        }
    }

    @Test func aServerThatWasEmptiedOrStartedAnewHasNothing() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        try await cache.save("value", forKey: "key")
        _ = try await tier.ask(["FLUSHALL"])
        try await fetch(nil, from: cache)
        try await cache.save("value", forKey: "key")
        fleet.server.kill()
        try await fleet.server.start()
        try await wait(until: await code({ try await fetch(nil, from: cache) }) == nil)
        try await wait(until: await code({ try await cache.save("value", forKey: "key") }) == nil)
        try await fetch("value", from: cache)
    }

    enum Foreign: CaseIterable { case list, text, changedByte, otherKey, newerVersion, noSerial }

    @Test(arguments: Foreign.allCases)
    func somethingElseAtAnEntrysPlaceIsAMiss(_ kind: Foreign) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        try await cache.save("value", forKey: "key")
        let name = RedisCommand.Argument.text(try #require(try await tier.names().first))
        var bytes = try #require(try await tier.ask(["GET", name]).bytes)
        switch kind {
        case .list:
            _ = try await tier.ask(["DEL", name])
            _ = try await tier.ask(["RPUSH", name, "a", "b"])
        case .text: bytes = Array("something else".utf8)
        case .changedByte: bytes[3] ^= 1
        case .otherKey:
            try await cache.save("other's", forKey: "other")
            let names = try await tier.names()
            bytes = try #require(
                try await tier.ask(["GET", .text(names.first { $0.hasSuffix("{other}") } ?? "")]).bytes
            )
        case .newerVersion:
            bytes[bytes.count - 9] = 9
            let sum = bytes.dropLast(8).withUnsafeBytes { Zlib.crc32($0) }
            bytes.replaceSubrange(
                bytes.count - 8..<bytes.count - 4,
                with: withUnsafeBytes(of: sum.bigEndian, Array.init)
            )
        case .noSerial:
            bytes = try EntryFile.bytes(
                archive: [1, 2, 3],
                key: try StoreKey("key"),
                attributes: EntryAttributes(storedAt: .now),
                compression: .automatic
            )
        }
        if kind != .list { _ = try await tier.ask(["SET", name, .bytes(bytes)]) }
        // Another machine, with an empty memory.
        let there = try fleet.machine().cache()
        var events = there.events.makeAsyncIterator()
        if kind == .newerVersion {
            #expect(try await code { _ = try await there.fetch(forKey: "key") } == .unsupportedVersion)
        } else {
            #expect(try await there.fetch(forKey: "key") == nil)
            let event = await events.next()
            #expect((event?.cause as? CacheError)?.code == (kind == .changedByte ? .corrupted : .foreign))
        }
        // Only a damaged entry is removed.
        #expect(try await tier.ask(["EXISTS", name]).integer == (kind == .changedByte ? 0 : 1))
        try await there.save("new", forKey: "key")
        #expect(try await fleet.machine().cache().fetch(forKey: "key") == "new")
    }

    @Test func aFullServerIsAnErrorThatSaysSo() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        let cache = try tier.cache()
        try await cache.save("old", forKey: "key")
        _ = try await tier.ask(["CONFIG", "SET", "maxmemory", "1"])
        do {
            try await cache.save("new", forKey: "key")
            Issue.record("it was saved")
        } catch {
            #expect(error.code == .io && error.message.contains("OOM"))
        }
        #expect(try await cache.fetch(forKey: "key") == nil)
        #expect(tier.owedKeyCount == 0)
    }

    /// With scripts that may exceed the memory, and without, as with Redis 6.2: the test's user may then not run
    /// scripts.
    @Test(arguments: [true, false])
    func aFullServerIsCleared(hasScripts: Bool) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let (here, there) = (try await fleet.verifiedMachine(), try await fleet.verifiedMachine())
        let (one, other) = (try here.cache(), try there.cache())
        for number in 0..<10 { try await one.save("old", forKey: "\(number)") }
        // In the other machine's memory, too.
        try await fetch("old", from: other, key: "3")
        let names: RedisCommand = ["KEYS", .text("tc:\(fleet.prefix):*")]
        if !hasScripts { _ = try await here.ask(["ACL", "SETUSER", "default", "-eval"]) }
        _ = try await here.ask(["CONFIG", "SET", "maxmemory", "1"])
        try await one.removeAll()
        #expect(here.owedKeyCount == 0)
        let left = try await here.ask(names).elements?.compactMap(\.text) ?? []
        #expect(left == (hasScripts ? ["tc:\(fleet.prefix):cities:gen"] : []), "\(left)")
        func expectNothing() async throws {
            for cache in [one, try fleet.machine().cache()] {
                #expect(try await insist { try await cache.fetch(forKey: "3") } == nil)
            }
            // Its memory answers until the message of the removal has come.
            try await wait(until: try await insist { try await other.fetch(forKey: "3") } == nil)
        }
        if hasScripts { try await expectNothing() }
        _ = try await here.ask(["CONFIG", "SET", "maxmemory", "0"])
        try await expectNothing()
        if !hasScripts { _ = try await here.ask(["ACL", "SETUSER", "default", "+eval"]) }
        try await one.save("new", forKey: "3")
        #expect(try await insist { try await fleet.machine().cache().fetch(forKey: "3") } == "new")
    }
}
