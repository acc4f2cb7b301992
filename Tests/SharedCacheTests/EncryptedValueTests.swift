import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import SharedCache
@testable import TypedCache

private struct NoKey: Error {}

/// Whether this build encrypts.
private enum Encryption {
    static let isAvailable: Bool = {
        let sealing = ValueSealing(KeyProvider { throw NoKey() }, place: "")
        do throws(StoreError) { try sealing.askForKeys() } catch { return error.reason.contains("NoKey") }
        return true
    }()
}

/// Values that the server cannot read, and copies on disk that nobody else can.
@Suite(
    .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
    .enabled(if: Encryption.isAvailable, "needs --traits Encryption"),
    .timeLimit(.minutes(40 * slowness))
)
struct EncryptedValueTests {
    private static let marker = "Elisabeth Nkomo"

    /// - Parameter byte: tells keys of one number apart.
    private static func key(_ number: UInt64, _ byte: UInt8 = 0) throws -> EncryptionKey {
        let bytes = [UInt8](repeating: UInt8(number) ^ byte, count: EncryptionKey.byteCount)
        return try #require(EncryptionKey(identifier: number, bytes: bytes))
    }

    private static func keys(_ current: UInt64, _ others: UInt64...) throws -> DiskSettings.Encryption {
        let (current, others) = (try key(current), try others.map { try key($0) })
        return .keys { (current: current, others: others) }
    }

    private func machine(
        _ fleet: Fleet,
        _ encryption: DiskSettings.Encryption,
        compression: SharedSettings.Compression = .automatic
    ) async throws -> SharedTier {
        let tier = try fleet.machine {
            $0.encryption = encryption
            $0.compression = compression
        }
        try await tier.verified()
        return tier
    }

    /// A cache without memory, so that each fetch asks the server.
    private func cache(_ tier: SharedTier, _ name: String = "cities", schema: UInt32 = 0) throws -> Cache<String> {
        try Cache(name: name, shared: tier, schema: schema, settings: CacheSettings(memory: .none))
    }

    /// The only entry on the server, or that of a key.
    private func bytes(of key: String = "", on tier: SharedTier) async throws -> (name: String, bytes: [UInt8]) {
        let name = try #require(try await tier.names().first { $0.hasSuffix("{\(key)}") || key.isEmpty })
        return (name, try #require(try await tier.ask(["GET", .text(name)]).bytes))
    }

    // MARK: Copies on disk

    @Test func copiesOnDiskAreEncryptedByTheirOwnSettings() async throws {
        let fleet = try await Fleet()
        let directory = TestDirectory()
        func open(_ encryption: DiskSettings.Encryption) async throws -> (SharedTier, Cache<String>) {
            let tier = try await machine(fleet, .none)
            let disk = DiskSettings(compression: .none, encryption: encryption)
            let cache = try Cache<String>(
                name: "cities",
                shared: tier,
                near: .disk(disk, directory: directory.url),
                settings: CacheSettings(memory: .none)
            )
            return (tier, cache)
        }
        let writer = try cache(try await machine(fleet, .none, compression: .none))
        let keys = (0..<10_000).map { "\(Self.marker) \($0)" }
        try await writer.save(contentsOf: keys.map { ($0, $0) })
        #expect(try await bytes(on: machine(fleet, .none)).bytes.contains(Self.marker))
        for start in 0..<2 {
            let (tier, cache) = try await open(Self.keys(1))
            for key in keys { #expect(try await cache.fetch(forKey: key) == key) }
            try await cache.flush()
            #expect(tier.statistics.nearFailures == 0 && (tier.statistics.nearHits > 0) == (start > 0))
            try await cache.close()
        }
        var byteCount = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.url.path) {
            let file = FileManager.default.contents(atPath: directory.url.appending(path: name).path) ?? Data()
            byteCount += file.count
            let isReadable = Array(file).contains("Nkomo")
            #expect(!isReadable, "\(name)")
        }
        #expect(byteCount > 10_000 * Self.marker.utf8.count)
        for wrong in [DiskSettings.Encryption.none, try Self.keys(2), .key(try Self.key(1, 3))] {
            #expect(try await code { _ = try await open(wrong) } == .locked)
        }
    }

    // MARK: Values on the server

    @Test func clientsWithTheKeyShareValues() async throws {
        let fleet = try await Fleet()
        let here = try await machine(fleet, Self.keys(1), compression: .none)
        let there = try await machine(fleet, Self.keys(1))
        let (one, other) = (try cache(here), try cache(there))
        try await one.save(Self.marker, forKey: "key", tags: ["tag"])
        #expect(try await other.fetch(forKey: "key") == Self.marker)
        try await other.modify(forKey: "key") { $0 = "\($0 ?? "")!" }
        #expect(try await one.fetch(forKey: "key") == Self.marker + "!")
        #expect(try await one.fetch(forKey: "loaded") { Self.marker } == Self.marker)
        #expect(try await other.fetch(forKey: "loaded") == Self.marker)
        // In parts, and with keys of other entries at a time.
        let large = String(repeating: Self.marker, count: 100_000)
        try await one.save(large, forKey: "large")
        #expect(try await other.fetch(forKey: "large") == large)
        let many = try await other.fetch(forKeys: ["key", "loaded", "large", "none"])
        #expect(many.count == 3 && many["large"] == large)
        #expect(try await one.removeAll(tagged: "tag") == 1)
        for name in try await here.names() {
            let value = try #require(try await here.ask(["GET", .text(name)]).bytes)
            #expect(!value.contains("Nkomo"))
        }
        // Without the setting all is as it was: a zlib stream of a keyed archive.
        let plain = try await machine(fleet, .none, compression: .none)
        try await cache(plain, "plain").save(Self.marker, forKey: "plain")
        let found = try await bytes(of: "plain", on: plain).bytes
        #expect(found.contains("Nkomo") && found.contains("bplist00"))
        #expect(try EntryFile(verifying: found).archive(limit: 1_000).starts(with: "bplist00".utf8))
    }

    @Test func twoSavesOfOneValueHaveNothingInCommon() async throws {
        let fleet = try await Fleet()
        let tier = try await machine(fleet, Self.keys(1))
        let cache = try cache(tier)
        var archives: [[UInt8]] = []
        for _ in 0..<2 {
            try await cache.save(Self.marker, forKey: "key")
            archives.append(try EntryFile(verifying: try await bytes(on: tier).bytes).archive(limit: 1_000))
        }
        #expect(archives[0].count == archives[1].count)
        // Magic, version, cipher, key and its check.
        #expect(archives[0][..<18] == archives[1][..<18])
        let equal = zip(archives[0][18...], archives[1][18...]).count { $0 == $1 }
        #expect(equal < archives[0].count / 4)
    }

    @Test func aClientWithoutTheKeyIsLockedOutAndTheValueStays() async throws {
        let fleet = try await Fleet()
        let tier = try await machine(fleet, Self.keys(1))
        try await cache(tier).save("value", forKey: "key")
        let before = try await bytes(on: tier)
        for wrong in [DiskSettings.Encryption.none, try Self.keys(2), .key(try Self.key(1, 3))] {
            let other = try cache(try await machine(fleet, wrong))
            #expect(try await code { _ = try await other.fetch(forKey: "key") } == .locked)
            #expect(try await code { _ = try await other.fetch(forKey: "key", freshness: .latest) } == .locked)
        }
        let nobody = try fleet.machine { $0.encryption = .keys { throw NoKey() } }
        #expect(try await code { _ = try cache(nobody) } == .locked)
        #expect(try await bytes(on: tier) == before)
        #expect(try await cache(tier).fetch(forKey: "key") == "value")
    }

    /// Who has no key can put a value there, and it is not taken for one.
    @Test func aValueThatIsNotEncryptedIsAMiss() async throws {
        let fleet = try await Fleet()
        let tier = try await machine(fleet, Self.keys(1))
        let cache = try cache(tier)
        try await self.cache(machine(fleet, .none)).save("forged", forKey: "key")
        var events = cache.events.makeAsyncIterator()
        #expect(try await cache.fetch(forKey: "key") == nil)
        let event = try #require(await events.next())
        #expect((event.cause as? CacheError)?.code == .foreign, "\(event)")
        #expect(try await cache.fetch(forKey: "key") { "loaded" } == "loaded")
        #expect(try await cache.fetch(forKey: "key") == "loaded")
    }

    @Test func aRotationLosesNothing() async throws {
        let fleet = try await Fleet()
        let ring = Mutex<[UInt64]>([1])
        let rotating = DiskSettings.Encryption.keys {
            let keys = try ring.withLock { $0 }.map { try Self.key($0) }
            return (current: keys[0], others: Array(keys.dropFirst()))
        }
        let tier = try await machine(fleet, rotating)
        let cache = try cache(tier)
        try await cache.save("former", forKey: "a")
        // Every client knows the new key before one of them saves with it.
        let other = try self.cache(try await machine(fleet, Self.keys(2, 1)))
        #expect(try await other.fetch(forKey: "a") == "former")
        try await other.save("new", forKey: "b")
        ring.withLock { $0 = [1, 2] }
        // Keys are asked for again a second later at the earliest.
        try await wait(until: (try? await cache.fetch(forKey: "b")) == "new")
        ring.withLock { $0 = [2, 1] }
        #expect(try await cache.rekey().formerKeys == [0])
        try await cache.save("newest", forKey: "c")
        let late = try self.cache(try await machine(fleet, Self.keys(2)))
        #expect(try await late.fetch(forKey: "c") == "newest")
        #expect(try await late.fetch(forKey: "b") == "new")
        #expect(try await code { _ = try await late.fetch(forKey: "a") } == .locked)
    }

    // MARK: Attacks

    /// Puts an entry with a sealed value on the server, its checksum right, under the name of a key.
    private func put(
        _ value: [UInt8],
        as entry: (name: String, bytes: [UInt8]),
        on tier: SharedTier
    ) async throws {
        let file = try EntryFile(verifying: entry.bytes)
        let forged = try EntryFile.bytes(
            archive: value,
            key: file.key(),
            attributes: file.attributes,
            compression: .stored
        )
        _ = try await tier.ask(["SET", .text(entry.name), .bytes(forged)])
    }

    private func value(of entry: (name: String, bytes: [UInt8])) throws -> [UInt8] {
        try EntryFile(verifying: entry.bytes).archive(limit: 1 << 20)
    }

    @Test func noChangedByteGivesAValue() async throws {
        let fleet = try await Fleet()
        let tier = try await machine(fleet, Self.keys(1))
        let cache = try cache(tier)
        try await cache.save(Self.marker, forKey: "key")
        let entry = try await bytes(on: tier)
        let value = try value(of: entry)
        for index in value.indices {
            var changed = value
            changed[index] ^= 1
            try await put(changed, as: entry, on: tier)
            let code = try await code {
                let found = try await cache.fetch(forKey: "key")
                #expect(found == nil, "byte \(index)")
            }
            // Another version, cipher or key; all else is a miss.
            #expect(
                index < 4 || [nil, .locked, .unsupportedVersion].contains(code),
                "byte \(index): \(code as Any)"
            )
            if (18...).contains(index) { #expect(try await tier.names().isEmpty, "byte \(index)") }
        }
        for count in [0, 4, 46, value.count - 1] {
            try await put(Array(value.prefix(count)), as: entry, on: tier)
            #expect(try await cache.fetch(forKey: "key") == nil)
        }
        try await put(value, as: entry, on: tier)
        #expect(try await cache.fetch(forKey: "key") == Self.marker)
    }

    @Test func noValueIsTakenForAnotherEntrys() async throws {
        let fleet = try await Fleet()
        let encryption = try Self.keys(1)
        let tier = try await machine(fleet, encryption)
        let cache = try cache(tier)
        try await cache.save("mine", forKey: "mine")
        try await cache.save("theirs", forKey: "theirs")
        let mine = try await bytes(of: "mine", on: tier)
        let theirs = try await bytes(of: "theirs", on: tier)
        try await put(try value(of: theirs), as: mine, on: tier)
        #expect(try await cache.fetch(forKey: "mine") == nil)
        #expect(try await cache.fetch(forKey: "theirs") == "theirs")
        // Nor of another cache, schema or prefix, with the same keys.
        let elsewhere = try await machine(Fleet(), encryption)
        let others = [
            (tier, try self.cache(tier, "towns")), (tier, try self.cache(tier, schema: 1)),
            (elsewhere, try self.cache(elsewhere)),
        ]
        for (there, other) in others {
            try await other.save("other", forKey: "same")
            let names = try await there.names().filter { $0.hasSuffix("{same}") }
            let name = try #require(names.first)
            let bytes = try #require(try await there.ask(["GET", .text(name)]).bytes)
            try await cache.save("value", forKey: "same")
            let own = try await tier.names().first { $0.hasSuffix("{same}") && !names.contains($0) }
            try await put(try value(of: (name, bytes)), as: (try #require(own), bytes), on: tier)
            #expect(try await cache.fetch(forKey: "same") == nil)
            #expect(try await other.fetch(forKey: "same") == "other")
            try await other.remove(forKey: "same")
            try await cache.remove(forKey: "same")
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool { Data(self).range(of: Data(text.utf8)) != nil }
}
