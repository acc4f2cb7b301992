import Foundation
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Encrypting the entries of open caches again with another key.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct RekeyTests {
    static let layouts: [DiskSettings.Layout] = [.packed, .files]

    private let directory = TestDirectory()
    private var root: String { directory.url.path }

    /// The keys that a program has now: a rotation changes them while caches are open.
    private final class KeyRing: Sendable {
        private let numbers: Mutex<[UInt64]>

        init(_ numbers: UInt64...) { self.numbers = Mutex(numbers) }

        /// The first is the current one.
        func set(_ numbers: UInt64...) { self.numbers.withLock { $0 = numbers } }

        struct NoKey: Error {}

        var encryption: DiskSettings.Encryption {
            .keys {
                let keys = try self.numbers.withLock { try $0.map(Self.key) }
                guard let current = keys.first else { throw NoKey() }
                return (current: current, others: Array(keys.dropFirst()))
            }
        }

        static func key(_ number: UInt64) throws -> EncryptionKey {
            let bytes = [UInt8](repeating: UInt8(number), count: EncryptionKey.byteCount)
            guard let key = EncryptionKey(identifier: number, bytes: bytes) else { throw NoKey() }
            return key
        }
    }

    private func open(
        _ ring: KeyRing?,
        _ layout: DiskSettings.Layout = .automatic,
        _ change: (inout DiskSettings) -> Void = { _ in }
    ) throws -> Cache<String> {
        var disk = DiskSettings(layout: layout, encryption: ring?.encryption ?? .none)
        change(&disk)
        return try Cache(
            name: "secrets",
            directory: URL(filePath: root),
            settings: CacheSettings(memory: .none, disk: disk)
        )
    }

    /// One process rotates the keys of a cache that it has open twice.
    @Test(arguments: layouts) func twoOpenCachesFollowARotation(_ layout: DiskSettings.Layout) async throws {
        let ring = KeyRing(1)
        let (one, other) = (try open(ring, layout), try open(ring, layout))
        for number in 0..<200 { try await one.save("value \(number)", forKey: "\(number)") }
        #expect(try await other.fetch(forKey: "7") == "value 7")
        #expect(try await one.rekey() == Rekeyed(.init()))

        ring.set(2, 1)
        let result = try await one.rekey()
        #expect(result.entryCount == 200 && result.size.bytes > 200 * 42 && result.formerKeys == [])
        ring.set(2)
        for cache in [other, one] {
            for number in 0..<200 { #expect(try await cache.fetch(forKey: "\(number)") == "value \(number)") }
        }
        try await other.save("newer", forKey: "7")
        #expect(try await one.fetch(forKey: "7") == "newer")
        #expect(try await other.rekey() == Rekeyed(.init()))
        try await other.close()
        try await one.close()

        #expect(code { _ = try open(KeyRing(1)) } == .locked)
        let again = try open(KeyRing(2))
        #expect(try await again.count() == 200)
    }

    /// A cache without entries has the key of its last segment.
    @Test(arguments: layouts, [false, true])
    func noEntriesNeedTheFormerKeyEither(_ layout: DiskSettings.Layout, hadEntries: Bool) throws {
        let ring = KeyRing(1)
        let cache = try open(ring, layout)
        try cache.save("value", forKey: "key")
        if hadEntries { try cache.remove(forKey: "key") } else { try cache.removeAll() }
        ring.set(2, 1)
        #expect(try cache.rekey().formerKeys == [])
        try cache.close()
        #expect(try open(KeyRing(2)).count() == 0)
    }

    /// A cache at its limit has no room for two copies of a segment.
    @Test(arguments: layouts) func aCacheAtItsLimitGivesUpFewEntries(_ layout: DiskSettings.Layout) throws {
        let ring = KeyRing(1)
        let limit = 256 << 10
        let cache = try open(ring, layout) { $0.byteLimit = .bytes(limit) }
        var generator = SeededGenerator(seed: 5)
        for number in 0..<1_000 {
            try cache.save(Data(generator.bytes(600)).base64EncodedString(), forKey: "\(number)")
        }
        let before = try cache.count()
        ring.set(2, 1)
        let result = try cache.rekey()
        #expect(result.formerKeys == [] && result.entryCount > 0)
        #expect(try cache.count() > before / 2)
        try cache.close()
        #expect(try open(KeyRing(2)).count() > before / 2)
    }

    /// Nothing is lost where the former key is missing: both are needed until it is done.
    @Test(arguments: layouts) func withoutTheFormerKeyEntriesStay(_ layout: DiskSettings.Layout) throws {
        let ring = KeyRing(1)
        let cache = try open(ring, layout)
        try cache.save("value", forKey: "key")
        ring.set()
        #expect(code { _ = try cache.rekey() } == .locked)
        ring.set(2)
        #expect(code { _ = try cache.rekey() } == .locked)
        ring.set(2, 1)
        #expect(try cache.fetch(forKey: "key") == "value")
        #expect(try cache.rekey().entryCount == 1)
        #expect(try cache.fetch(forKey: "key") == "value")
    }

    @Test(arguments: layouts) func deferredSavesAreIncluded(_ layout: DiskSettings.Layout) async throws {
        let ring = KeyRing(1)
        let cache = try open(ring, layout) { $0.writing = .behind(limit: .mebibytes(1)) }
        for number in 0..<50 { try await cache.save("value", forKey: "\(number)") }
        ring.set(2, 1)
        #expect(try await cache.rekey().formerKeys == [])
        try await cache.close()
        #expect(try await open(KeyRing(2)).count() == 50)
    }

    @Test(arguments: layouts) func aCacheThatIsNotEncryptedStaysAsItIs(_ layout: DiskSettings.Layout) async throws {
        let cache = try open(nil, layout)
        try await cache.save("value", forKey: "key")
        #expect(try await cache.rekey() == Rekeyed(.init()))
        #expect(try await cache.fetch(forKey: "key") == "value")
        try await cache.close()
        #expect(code { _ = try cache.rekey() } == .closed)
    }
}
