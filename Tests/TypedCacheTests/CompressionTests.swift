import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// How caches compress, as their settings say.
@Suite struct CompressionTests {
    let directory = TestDirectory()

    static let all: [DiskSettings.Compression] = [.automatic, .none, .level(1), .level(6), .level(9)]

    private func cache(
        _ layout: DiskSettings.Layout,
        _ compression: DiskSettings.Compression,
        writing: DiskSettings.Writing = .through
    ) throws -> Cache<Blob> {
        let disk = DiskSettings(layout: layout, writing: writing, compression: compression)
        return try Cache<Blob>(
            name: "blobs",
            directory: directory.url,
            settings: CacheSettings(memory: .none, disk: disk)
        )
    }

    private func blob(text: Int, noise: Int, seed: Int) -> Blob {
        var random = SeededGenerator(seed: seed)
        let line = Array("so many words, so many more ".utf8)
        let words = (0..<text).map { line[$0 % line.count] }
        return Blob(bytes: Data(words + random.bytes(noise)))
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files], [nil, 1 << 20] as [Int?])
    func everyCacheReadsEveryKind(_ layout: DiskSettings.Layout, behind limit: Int?) throws {
        let writing = limit.map { DiskSettings.Writing.behind(limit: .bytes($0)) } ?? .through
        let blobs = [(0, 0), (100, 0), (100_000, 0), (0, 100_000), (300_000, 300_000)].enumerated().map {
            blob(text: $1.0, noise: $1.1, seed: $0)
        }
        for (number, compression) in Self.all.enumerated() {
            let saver = try cache(layout, compression, writing: writing)
            for (index, blob) in blobs.enumerated() { try saver.save(blob, forKey: "\(number).\(index)") }
            try saver.flush()
        }
        for compression in Self.all {
            let reader = try cache(layout, compression)
            for number in Self.all.indices {
                for (index, blob) in blobs.enumerated() {
                    #expect(try reader.fetch(forKey: "\(number).\(index)") == blob)
                }
            }
        }
    }

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func compressesAsItIsTold(_ layout: DiskSettings.Layout) throws {
        let text = blob(text: 200_000, noise: 0, seed: 1)
        func storedByteCount(_ compression: DiskSettings.Compression) throws -> Int {
            let blobs = try cache(layout, compression)
            try blobs.save(text, forKey: "text")
            return try #require(try blobs.core.store.information(forKey: "text")).storedByteCount
        }
        #expect(try storedByteCount(.none) > 200_000)
        #expect(try storedByteCount(.none) < 201_000)
        for compression in Self.all where compression != .none {
            #expect(try storedByteCount(compression) < 20_000)
        }
    }

    @Test func isAutomaticUnlessItIsTold() {
        #expect(DiskSettings().compression == .automatic)
        #expect(DiskSettings().storeSettings(forCache: "a").compression == .automatic)
        #expect(DiskSettings(compression: .none).storeSettings(forCache: "a").compression == .stored)
        #expect(DiskSettings(compression: .level(9)).storeSettings(forCache: "a").compression == .level(9))
        #expect(Set(Self.all).count == Self.all.count)
    }

    @Test func levelsThatThereAreNotTrap() async {
        await #expect(processExitsWith: .failure) { _ = DiskSettings.Compression.level(0) }
        await #expect(processExitsWith: .failure) { _ = DiskSettings.Compression.level(10) }
    }
}

private struct Blob: Codable, Encoded, Equatable {
    let bytes: Data
}
