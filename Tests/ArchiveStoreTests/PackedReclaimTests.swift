import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Dropped segments take nothing useful with them.
@Suite struct PackedReclaimTests {
    private static let keys = (0..<300).map { "key \($0)" }

    private static func archive(_ key: String, _ round: Int) -> [UInt8] {
        var random = SeededGenerator(seed: key.utf8.reduce(round) { $0 &* 31 &+ Int($1) })
        return random.bytes(2_000)
    }

    /// Saves every key, and every second one again, in several segments.
    private func fill(_ path: String) throws -> [String: [UInt8]] {
        // Not reached, but segments are a part of it.
        var settings = StoreSettings()
        settings.byteLimit = 4 << 20
        let store = try PackedStore(directory: path, create: true, settings: settings)
        var archives: [String: [UInt8]] = [:]
        for round in 0..<2 {
            for (index, key) in Self.keys.enumerated() where round == 0 || index % 2 == 0 {
                archives[key] = Self.archive(key, round)
                try store.save(archives[key] ?? [], forKey: key, storedAt: .now, expiresAt: nil)
            }
        }
        store.finishUpkeep()
        return archives
    }

    private func segments(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }.sorted()
    }

    @Test(arguments: [EMFILE, EIO, EACCES])
    func nothingIsLostWhereASegmentCannotBeOpened(number: Int32) throws {
        try withTemporaryDirectory { path in
            let path = path + "/cache"
            let archives = try fill(path)
            #expect(try segments(path).count > 4)
            let failing = Failing()
            let layer = FileLayer { call in
                let isSegment = call.operation == .open && call.name.hasSuffix(".segment")
                return isSegment && failing.isOn.load(ordering: .relaxed) ? .fail(number) : .proceed
            }
            let store = try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
            failing.isOn.store(true, ordering: .relaxed)
            #expect(throws: StoreError.self) { try store.compact() }
            failing.isOn.store(false, ordering: .relaxed)
            for (key, archive) in archives { #expect(try store.fetch(forKey: key)?.archive == archive) }
            let other = try PackedStore(directory: path, create: true)
            for (key, archive) in archives { #expect(try other.fetch(forKey: key)?.archive == archive) }
        }
    }

    private final class Failing: Sendable {
        let isOn = Atomic<Bool>(false)
    }

    @Test(arguments: [1, 5, 20])
    func whatIsBesideDamageIsMoved(count: Int) throws {
        try withTemporaryDirectory { path in
            let path = path + "/cache"
            let archives = try fill(path)
            // The index knows where everything is.
            let file = path + "/" + (try #require(try segments(path).dropFirst().first))
            var bytes = try readFile(file)
            let magic = withUnsafeBytes(of: Record.magic.bigEndian) { Array($0) }
            let places = bytes.indices.dropLast(4).filter {
                bytes[$0] == magic[0] && Array(bytes[$0..<($0 + 4)]) == magic
            }
            for place in places.suffix(count) { bytes[place + 4] ^= 1 }
            try writeFile(bytes, file)
            let store = try PackedStore(directory: path, create: true)
            try store.compact()
            #expect(try segments(path).first != URL(fileURLWithPath: file).lastPathComponent)
            var missing = 0
            for (key, archive) in archives {
                let found = try? store.fetch(forKey: key)?.archive
                #expect(found == nil || found == archive)
                if found == nil { missing += 1 }
            }
            #expect(missing <= count)
        }
    }
}
