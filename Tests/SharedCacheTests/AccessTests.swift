import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// The rights that docs/decisions/shared/access.md gives to a tier's user: all that is used, and no more.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct AccessTests {
    private static let commands: Set<String> = [
        "client|tracking", "info", "ping", "time", "scan", "get", "getrange", "strlen", "set", "setrange", "del",
        "unlink",
        "pexpire", "persist", "eval",
    ]
    /// More that clusters need.
    private static let ofClusters: Set<String> = ["cluster|slots", "cluster|nodes", "cluster|info", "asking"]
    /// Those that a connection may always use.
    private static let always: Set<String> = ["hello", "auth"]

    private static func rules(prefix: String, isCluster: Bool = false) -> [String] {
        let commands = isCluster ? commands.union(ofClusters) : commands
        return ["on", ">geheim", "~tc:\(prefix):*", "~tcl:\(prefix):*"] + commands.sorted().map { "+\($0)" }
    }

    private static func tier(_ server: RedisServer, prefix: String, _ settings: SharedSettings) throws -> SharedTier
    {
        try SharedTier(
            "redis://app:geheim@127.0.0.1:\(server.port)/?prefix=\(prefix)",
            settings
        )
    }

    private static func settings(lease: Duration) -> SharedSettings {
        SharedSettings(
            timeouts: .init(soft: .seconds(20), hard: .seconds(20)),
            heartbeat: .init(interval: .milliseconds(20), deadline: .seconds(20)),
            loads: .oncePerFleet(lease: lease)
        )
    }

    @Test func theRightsAreThoseThatAreUsed() async throws {
        let server = try await RedisServer(["--requirepass", "chef", "--user", "app"] + Self.rules(prefix: "shop"))
        var chiefly = RedisSettings(endpoints: [server.endpoint])
        chiefly.credentials = RedisCredentials(user: nil, password: "chef")
        let chief = try RedisConnection(to: server.endpoint, settings: chiefly)
        // Of this connection's own commands none is the user's.
        let own: Set<String> = ["config|resetstat", "acl|log", "select"]
        _ = try await chief.send(["CONFIG", "RESETSTAT"])
        let settings = Self.settings(lease: .milliseconds(60))
        let here = try Self.tier(server, prefix: "shop", settings)
        let there = try Self.tier(server, prefix: "shop", settings)
        try await here.verified()
        try await there.verified()
        try await Self.useEverything(try here.cache(), try there.cache())
        try await wait(until: await Self.used(chief)["time"] != nil)

        let refusals = try await chief.send(["ACL", "LOG"]).elements ?? []
        #expect(refusals.isEmpty, "\(refusals.map { "\($0.field("object")?.text ?? "?")" })")
        let used = Set(try await Self.used(chief).keys).subtracting(own).subtracting(Self.always)
        // A heartbeat is sent after a long silence only.
        #expect(used.union(["ping"]) == Self.commands)
    }

    /// A listing that may not look at entries does not say that there are none.
    @Test func aMissingRightIsNoMissingEntry() async throws {
        let rules = Self.rules(prefix: "shop").filter { $0 != "+strlen" }
        let server = try await RedisServer(["--requirepass", "chef", "--user", "app"] + rules)
        let cache = try Self.tier(server, prefix: "shop", Self.settings(lease: .seconds(60))).cache()
        try await cache.save("value", forKey: "key", tags: ["tag"])
        let listed = #expect(throws: CacheError.self) { try cache.keys().all() }
        #expect(listed?.code == .io && listed?.message.contains("strlen") == true)
        #expect(try await code { _ = try await cache.removeAll(tagged: "tag") } == .io)
        #expect(try await code { _ = try await cache.entry(forKey: "key") } == .io)
    }

    /// Some hosts forbid scripts.
    @Test func withoutScriptsPlainCallsWork() async throws {
        let rules = Self.rules(prefix: "shop").filter { $0 != "+eval" }
        let server = try await RedisServer(["--requirepass", "chef", "--user", "app"] + rules)
        let (here, there) = (
            try Self.tier(server, prefix: "shop", Self.settings(lease: .seconds(60))).cache(),
            try Self.tier(server, prefix: "shop", Self.settings(lease: .seconds(60))).cache()
        )
        try await here.save("value", forKey: "key", expiration: .after(.seconds(600)))
        #expect(try await there.fetch(forKey: "key") == "value")
        #expect(try await here.fetch(forKey: "other") { "loaded" } == "loaded")
        #expect(try await there.fetch(forKey: "other") == nil)
        #expect(try await code { try await here.modify(forKey: "key") { $0 = "new" } } == .io)
        #expect(try await code { try await here.remove(forKey: "key") } == .io)
        try await here.removeAll()
        #expect(try await there.fetch(forKey: "key", freshness: .latest) == nil)
    }

    /// The servers' default user forms the cluster, and moves a slot.
    @Test func theRightsAreThoseThatAreUsedOnACluster() async throws {
        let user = ["--user", "app"] + Self.rules(prefix: "shop", isCluster: true)
        let cluster = try await RedisCluster(arguments: user)
        let own: Set<String> = [
            "config|resetstat", "acl|log", "select", "cluster|myid", "cluster|setslot", "cluster|getkeysinslot",
            "migrate", "restore-asking",
        ]
        for index in 0..<3 { try await cluster.ask(index, ["CONFIG", "RESETSTAT"]) }
        let url = cluster.url.replacing("://", with: "://app:geheim@") + "?prefix=shop"
        let here = try SharedTier(url, Self.settings(lease: .milliseconds(60)))
        let there = try SharedTier(url, Self.settings(lease: .milliseconds(60)))
        for tier in [here, there] {
            try await wait(until: tier.clusterClient?.isWhole == true)
            try await tier.verified()
        }
        try await Self.useEverything(try here.cache(), try there.cache())
        // A key on its way, and arrived.
        let slot = HashSlot(ofKey: "moved".utf8)
        let source = cluster.firstMaster(of: slot)
        let target = (source + 1) % 3
        try await here.cache().save("value", forKey: "moved")
        try await cluster.beginMoving(slot, from: source, to: target)
        try await cluster.moveKeys(of: slot, from: source, to: target)
        #expect(try await there.cache().fetch(forKey: "moved", freshness: .latest) == "value")
        try await cluster.endMoving(slot, to: target)
        #expect(try await there.cache().fetch(forKey: "moved", freshness: .latest) == "value")
        #expect(there.statistics.redirectsAsked > 0)

        var used: Set<String> = []
        for index in 0..<3 {
            let refusals = try await cluster.ask(index, ["ACL", "LOG"]).elements ?? []
            #expect(refusals.isEmpty, "\(refusals.map { "\($0.field("object")?.text ?? "?")" })")
            used.formUnion(Self.commands(in: try await cluster.ask(index, ["INFO", "commandstats"])).keys)
        }
        // The time is requested once a minute.
        #expect(
            used.subtracting(own).subtracting(Self.always).union(["ping", "time"])
                == Self.commands.union(Self.ofClusters)
        )
    }

    /// The pages show the rights that are tested here, in any order.
    @Test(arguments: ["docs/decisions/shared/access.md", "Sources/SharedCache/SharedCache.docc/RunningAServer.md"])
    func thePagesShowTheseRights(page: String) throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.contains("~tc:shop:*") && $0.contains(" on >secret ") }
        let rights = lines.map { line in Set(line.split(separator: " ").filter { "+~&".contains($0.first ?? " ") })
        }
        let expected = [false, true].map { isCluster in
            Set(Self.rules(prefix: "shop", isCluster: isCluster).dropFirst(2).map { Substring($0) })
        }
        #expect(rights == expected)
    }

    @Test func noOtherPrefixCanBeUsed() async throws {
        let server = try await RedisServer(["--requirepass", "chef", "--user", "app"] + Self.rules(prefix: "shop"))
        let other = try Self.tier(server, prefix: "shop2", Self.settings(lease: .seconds(60)))
        await #expect(throws: CacheError.self) { try await other.cache().save("value", forKey: "key") }
        await #expect(throws: CacheError.self) { try await other.cache().fetch(forKey: "other") }
        #expect(!other.isVerified)
    }

    /// The commands that the server has run, in small letters.
    private static func used(_ chief: RedisConnection) async throws -> [String: Substring] {
        commands(in: try await chief.send(["INFO", "commandstats"]))
    }

    private static func commands(in information: RedisValue) -> [String: Substring] {
        let lines = (information.text ?? "").split(whereSeparator: \.isNewline).filter { $0.hasPrefix("cmdstat_") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                let parts = line.dropFirst("cmdstat_".count).split(separator: ":", maxSplits: 1)
                return parts.count == 2 ? (String(parts[0]), parts[1]) : nil
            }
        )
    }

    private static func useEverything(_ here: Cache<String>, _ there: Cache<String>) async throws {
        try await here.save("one", forKey: "1", expiration: .after(.seconds(600)), tags: ["tag"])
        #expect(try await there.fetch(forKey: "1") == "one")
        #expect(try await here.extend(forKey: "1", expiration: .after(.seconds(900))))
        #expect(try await here.extend(forKey: "1", expiration: .never))
        // Longer than a lease, which is extended.
        let loaded = try await there.fetch(forKey: "2", expiration: .afterIdle(.seconds(60))) {
            try await Task.sleep(for: .milliseconds(200))
            return "two"
        }
        #expect(loaded == "two")
        try await here.modify(forKey: "2") { $0 = ($0 ?? "") + "!" }
        #expect(try await there.fetch(forKey: "2")?.hasSuffix("!") == true)
        await #expect(throws: CancellationError.self) {
            try await here.fetch(forKey: "3") { throw CancellationError() }
        }
        #expect(try here.keys().all().sorted() == ["1", "2"])
        #expect(try await here.count() == 2)
        #expect(try await here.removeAll(tagged: "tag") == 1)
        try await here.remove(forKey: "2")
        try await here.save("four", forKey: "4")
        try await here.removeAll()
        #expect(try await there.fetch(forKey: "4") == nil)
    }
}
