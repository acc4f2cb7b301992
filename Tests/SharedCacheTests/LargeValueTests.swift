import ArchiveStore
import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Values of some MiB beside small ones.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct LargeValueTests {
    private static let largest = noise(EngineEntry.archiveByteLimit - 1_024)

    /// Bytes that nothing compresses.
    private static func noise(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var bytes = Data(capacity: count + 8)
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return bytes.prefix(count)
    }

    enum Way: CaseIterable, Sendable { case save, saveMany, modify, load, fetch, fetchMany }

    /// On a slow way, the largest value takes half a second. Small fetches that begin after it end before half of it is there.
    @Test(arguments: Way.allCases)
    func aLargeValueHoldsUpNoSmallCalls(_ way: Way) async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let settings = { (settings: inout SharedSettings) in settings.compression = .none }
        let plain = try fleet.machine(settings)
        let there = try Cache<Data>(name: "pictures", shared: plain)
        try await there.save(Self.largest, forKey: "there")
        for key in 0..<20 { try await there.save(Data([1]), forKey: key) }

        let proxy = try FaultProxy(to: fleet.server.port)
        defer { proxy.end() }
        let tier = try fleet.machine(through: proxy.port, settings)
        try await tier.verified()
        let cache = try Cache<Data>(
            name: "pictures",
            shared: tier,
            settings: CacheSettings(memory: MemorySettings(byteLimit: .bytes(0)))
        )
        _ = try await cache.fetch(forKey: "none")
        proxy.fault = .slow
        let large = Task {
            switch way {
            case .save: try await cache.save(Self.largest, forKey: "large")
            case .saveMany: try await cache.save(contentsOf: [("large", Self.largest)])
            case .modify: try await cache.modify(forKey: "large") { $0 = Self.largest }
            case .load: _ = try await cache.fetch(forKey: "large") { Self.largest }
            case .fetch: _ = try await cache.fetch(forKey: "there")
            case .fetchMany: _ = try await cache.fetch(forKeys: ["there", "none"])
            }
        }
        // It is on its way.
        try await wait(until: proxy.slowByteCount > 1 << 17)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in 0..<20 {
                group.addTask {
                    let small = try await cache.fetch(forKey: key)
                    #expect(small == Data([1]))
                }
            }
            try await group.waitForAll()
        }
        #expect(proxy.slowByteCount < Self.largest.count / 2)
        try await large.value
        proxy.fault = .none
        let key = way == .fetch || way == .fetchMany ? "there" : "large"
        #expect(try await there.fetch(forKey: key, freshness: .latest) == Self.largest)
        #expect(try await Self.parts(of: plain).isEmpty)
    }

    private static func parts(of tier: SharedTier) async throws -> [RedisValue] {
        try #require(try await tier.ask(["KEYS", .text("tcl\(tier.prefix.dropFirst(2))*:part:*")]).elements)
    }

    /// The value is replaced again and again while it is read, by one of another length, or of the same.
    @Test func partsOfTwoValuesAreNeverOne() async throws {
        let fleet = try await Fleet()
        let settings = { (settings: inout SharedSettings) in settings.compression = .none }
        let writer = try Cache<Data>(name: "pictures", shared: try fleet.machine(settings))
        let tier = try fleet.machine(settings)
        let reader = try Cache<Data>(
            name: "pictures",
            shared: tier,
            settings: CacheSettings(memory: MemorySettings(byteLimit: .bytes(0)))
        )
        let values = [700_000, 700_000, 1_000_000].enumerated().map { Self.noise($1, seed: UInt64($0)) }
        try await writer.save(values[0], forKey: "key")
        let isOver = Atomic<Bool>(false)
        let writing = Task {
            // A save that is cancelled may leave no value, so the last one is to end.
            for round in 0..<60 where !isOver.load(ordering: .relaxed) {
                try await writer.save(values[round % 3], forKey: "key")
            }
        }
        for _ in 0..<60 {
            let found = try #require(try await reader.fetch(forKey: "key"))
            #expect(values.contains(found))
        }
        isOver.store(true, ordering: .relaxed)
        try await writing.value
        #expect(reader.statistics.corruptions == 0)
        #expect(try await reader.fetch(forKeys: ["key", "none"]).count == 1)
    }

    /// A save whose parts are not all there has changed nothing, and its key is owed as after any save that failed.
    @Test func aMissingPartFailsTheSave() async throws {
        let fleet = try await Fleet()
        let tier = try fleet.machine()
        try await tier.verified()
        let names = EntryNames(prefix: "tc:\(fleet.prefix):", cache: "cities", schema: 0)
        let store = tier.store(cache: "cities", schema: 0)
        let new = try NewEntry(
            Array(Self.noise(600_000)),
            of: try StoreKey("key"),
            in: names,
            EntryAttributes(storedAt: .now),
            clock: EngineClock(),
            serial: 1
        )
        try #require(new.parts.count == 3)
        let error = #expect(throws: StoreError.self) { try store.ask(Insisting(SaveEntry(new))) }
        #expect(error?.code == .unreachable && error?.isUnacknowledged == true)
        #expect(try await tier.names().isEmpty)
        #expect(try store.ask(SendingParts(new, Insisting(SaveEntry(new)))) == new.information)
        #expect(try await Self.parts(of: tier).isEmpty)
        #expect(try await tier.ask(["KEYS", .text(new.parts[0])]).elements?.isEmpty == true)
    }

    /// On a host without scripts, plain saves work, as those of small values do.
    @Test func largeValuesAreSavedWithoutScripts() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try await fleet.verifiedMachine()
        let cache = try Cache<Data>(name: "pictures", shared: tier)
        _ = try await tier.ask(["ACL", "SETUSER", "default", "-eval"])
        let value = Self.noise(600_000)
        try await cache.save(value, forKey: "key")
        #expect(try await cache.fetch(forKey: "key", freshness: .latest) == value)
        #expect(try await Self.parts(of: tier).isEmpty)
    }
}
