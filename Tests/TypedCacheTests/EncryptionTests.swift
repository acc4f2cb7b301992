import Foundation
import Sealing
import TestSupport
import Testing

@testable import TypedCache

/// Caches whose files are encrypted.
@Suite struct EncryptionTests {
    private static func key(_ identifier: UInt64, _ byte: UInt8 = 0) throws -> EncryptionKey {
        let bytes = [UInt8](repeating: UInt8(identifier) ^ byte, count: EncryptionKey.byteCount)
        return try #require(EncryptionKey(identifier: identifier, bytes: bytes))
    }

    private static func open(
        _ root: String,
        _ encryption: DiskSettings.Encryption,
        _ change: (inout DiskSettings) -> Void = { _ in }
    ) throws -> Cache<String> {
        var disk = DiskSettings(encryption: encryption)
        change(&disk)
        return try Cache(
            name: "secrets",
            directory: URL(filePath: root),
            settings: CacheSettings(memory: .none, disk: disk)
        )
    }

    @Test func keysHave32BytesAndANumber() throws {
        #expect(EncryptionKey(identifier: 0, bytes: [UInt8](repeating: 1, count: 32)) == nil)
        #expect(EncryptionKey(identifier: 1, bytes: [UInt8](repeating: 1, count: 33)) == nil)
        let (key, bytes) = EncryptionKey.random()
        #expect(bytes.count == EncryptionKey.byteCount && key.identifier != 0)
        let (_, others) = EncryptionKey.random()
        #expect(bytes != others)
        #expect("\(key)" == "key \(key.identifier)" && String(reflecting: key) == "key \(key.identifier)")
        let settings = DiskSettings(encryption: .key(key))
        let copy = settings
        #expect(settings == copy && settings != DiskSettings() && settings != DiskSettings(encryption: .key(key)))
    }

    @Test(.enabled(if: CipherAlgorithm.isAvailable), arguments: [DiskSettings.Layout.packed, .files])
    func theRightKeyAloneOpensACache(_ layout: DiskSettings.Layout) throws {
        try withTemporaryDirectory { root in
            let cache = try Self.open(root, .key(Self.key(1))) {
                $0.layout = layout
                $0.publishesStatistics = true
            }
            try cache.save("Elisabeth Nkomo", forKey: "patient 7", tags: ["blood"])
            #expect(try cache.fetch(forKey: "patient 7") == "Elisabeth Nkomo")
            cache.core.publishStatistics()
            for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
                guard let bytes = FileManager.default.contents(atPath: root + "/" + name) else { continue }
                for text in ["Elisabeth", "patient", "blood", CacheDirectory.programName] {
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(name), \(text)")
                }
            }
            try cache.close()
            struct NoKey: Error {}
            let wrong: [DiskSettings.Encryption] = [
                .none, .key(try Self.key(2)), .key(try Self.key(1, 3)), .keys { throw NoKey() },
            ]
            for encryption in wrong { #expect(code { _ = try Self.open(root, encryption) } == .locked) }
            #expect(code { _ = try Self.open(root, .none) { $0.layout = layout } } == .locked)
            let (first, second) = (try Self.key(1), try Self.key(2))
            let rotated = try Self.open(root, .keys { (current: second, others: [first]) })
            #expect(try rotated.fetch(forKey: "patient 7") == "Elisabeth Nkomo")
        }
    }

    /// The directory of a cache in the place of another one with the same key, where its values would be wrong.
    @Test(.enabled(if: CipherAlgorithm.isAvailable), arguments: [DiskSettings.Layout.packed, .files])
    func exchangedDirectoriesAreLocked(_ layout: DiskSettings.Layout) throws {
        try withTemporaryDirectory { root in
            let key = try Self.key(1)
            func open(_ name: String) throws -> Cache<String> {
                let disk = DiskSettings(layout: layout, encryption: .key(key))
                let settings = CacheSettings<String>(memory: .none, disk: disk)
                return try Cache(name: name, directory: URL(filePath: root), settings: settings)
            }
            for name in ["nurses", "doctors"] {
                let cache = try open(name)
                try cache.save(name, forKey: "may read")
                try cache.close()
            }
            let files = FileManager.default
            try files.moveItem(atPath: root + "/nurses", toPath: root + "/other")
            try files.moveItem(atPath: root + "/doctors", toPath: root + "/nurses")
            try files.moveItem(atPath: root + "/other", toPath: root + "/doctors")
            for name in ["nurses", "doctors"] { #expect(code { _ = try open(name) } == .locked) }
            try files.moveItem(atPath: root + "/doctors", toPath: root + "/other")
            try files.moveItem(atPath: root + "/nurses", toPath: root + "/doctors")
            #expect(try open("doctors").fetch(forKey: "may read") == "doctors")
        }
    }

    /// What cannot be encrypted is refused, and not written as it is.
    @Test(.enabled(if: !CipherAlgorithm.isAvailable)) func noCacheIsLeftOpenByMistake() throws {
        try withTemporaryDirectory { root in
            let key = try Self.key(1)
            for layout in [DiskSettings.Layout.packed, .files] {
                #expect(code { _ = try Self.open(root, .key(key)) { $0.layout = layout } } == .locked)
                #expect(try FileManager.default.contentsOfDirectory(atPath: root) == [])
            }
        }
    }
}
