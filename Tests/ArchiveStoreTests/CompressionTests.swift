import CZlib
import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// How archives are compressed, with each setting of a store.
@Suite struct CompressionTests {
    static let all: [ArchiveCompression] = [.automatic, .stored, .level(1), .level(6), .level(9)]

    /// The content of a stream according to zlib itself; `nil` if it has another length or bytes follow the stream.
    private static func inflated(_ stream: [UInt8], byteCount: Int) -> [UInt8]? {
        var taken = UInt(stream.count)
        var length = UInt(byteCount)
        var isWhole = false
        // Room for one byte more, which must not come.
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount + 1) { buffer, count in
            length += 1
            isWhole = uncompress2(buffer.baseAddress, &length, stream, &taken) == Z_OK
            count = isWhole ? Int(length) : 0
        }
        return isWhole && taken == stream.count && bytes.count == byteCount ? bytes : nil
    }

    /// The most bytes of a stream: 5 for each stored block of 65,535, and 6.
    private static func bound(_ byteCount: Int) -> Int { byteCount + 5 * max(1, (byteCount + 65_534) / 65_535) + 6 }

    /// Pairs of an engine and a compression, of which it makes streams.
    private static let engines = Zlib.Engine.allCases.flatMap { engine in all.map { (engine, $0) } }

    @Test(arguments: engines, MixedArchives.allCases)
    func everyStreamIsOneForZlib(
        _ choice: (engine: Zlib.Engine, compression: ArchiveCompression),
        _ kind: MixedArchives
    ) throws {
        for (seed, byteCount) in MixedArchives.byteCounts.enumerated() where isLongRun || byteCount < 140_000 {
            let archive = kind.make(byteCount: byteCount, seed: seed)
            let stream = Zlib.deflate(archive, choice.compression, by: choice.engine)
            #expect(stream.count <= Self.bound(byteCount), "\(byteCount) bytes, seed \(seed)")
            #expect(
                Self.inflated(stream, byteCount: byteCount) == archive,
                "\(byteCount) bytes, seed \(seed), by zlib"
            )
            let own = try Zlib.inflate(
                from: 0,
                count: stream.count,
                of: stream,
                expecting: byteCount,
                limit: byteCount,
                by: choice.engine
            )
            #expect(own == archive, "\(byteCount) bytes, seed \(seed)")
        }
    }

    @Test func storesWhatHardlyShrinks() {
        var random = SeededGenerator(seed: 1)
        // Huffman codes save 3 % of bytes below 220.
        let archive = MixedArchives.noise(1_000_000, using: &random).map { $0 < 220 ? $0 : $0 &- 220 }
        #expect(Zlib.deflate(archive, .level(1)).count < archive.count * 99 / 100)
        #expect(Zlib.deflate(archive) == Zlib.deflate(archive, .stored))
        // Too short to try first.
        let short = Array(archive.prefix(CompressionProbe.leastInput - 1))
        #expect(Zlib.deflate(short) == Zlib.deflate(short, .level(1)))
    }

    @Test func deflatesTextAroundNoiseAndStoresTheNoise() {
        var random = SeededGenerator(seed: 2)
        let part = CompressionProbe.partByteCount
        let noise = MixedArchives.noise(4 * part, using: &random)
        let text = MixedArchives.text(2 * part)
        let all = [[text, noise], [noise, text], [text, noise, text], [noise, text, noise]]
        for parts in isLongRun ? all : [all[3]] {
            let archive = Array(parts.joined())
            let noiseCount = parts.reduce(0) { $0 + ($1 == noise ? noise.count : 0) }
            let stream = Zlib.deflate(archive)
            #expect(stream.count > noiseCount)
            #expect(stream.count < noiseCount + (archive.count - noiseCount) / 4)
            // The noise is there as it is, in whole blocks.
            let start = parts[0] == noise ? 0 : parts[0].count
            let block = archive[start..<(start + StoredBlocks.largestBlock)]
            #expect(Data(stream).range(of: Data(block)) != nil)
        }
        #expect(Zlib.deflate(text) == Zlib.deflate(text, .level(1)))
    }

    @Test func dividesAnInputIntoRuns() {
        var random = SeededGenerator(seed: 3)
        let part = CompressionProbe.partByteCount
        let noise = MixedArchives.noise(2 * part, using: &random)
        let text = MixedArchives.text(3 * part)
        func runs(_ archive: [UInt8]) -> [CompressionProbe.Run] {
            archive.withUnsafeBytes { CompressionProbe.runs(of: $0) }
        }
        #expect(
            runs(noise + text + noise) == [
                .init(range: 0..<(2 * part), shrinks: false),
                .init(range: (2 * part)..<(5 * part), shrinks: true),
                .init(range: (5 * part)..<(7 * part), shrinks: false),
            ]
        )
        #expect(runs(text + [1]) == [.init(range: 0..<(3 * part + 1), shrinks: true)])
        #expect(runs([]) == [.init(range: 0..<0, shrinks: true)])
        #expect(runs(Array(noise.prefix(70_000))) == [.init(range: 0..<70_000, shrinks: false)])
        #expect(runs(Array(noise.prefix(60_000))) == [.init(range: 0..<60_000, shrinks: true)])
    }

    @Test func higherLevelsLeaveLess() {
        var random = SeededGenerator(seed: 4)
        let words = (0..<400).map { _ in
            (0..<Int.random(in: 3...9, using: &random)).map { _ in UInt8.random(in: 97..<123, using: &random) } + [
                32
            ]
        }
        // Phrases that come again in part: words in any order would shrink alike at each level.
        let phrases = (0..<3_000).map { _ in
            (0..<Int.random(in: 3...12, using: &random)).map { _ in words.randomElement(using: &random) ?? [] }
        }
        let archive = (0..<8_000).flatMap { _ in
            let phrase = phrases.randomElement(using: &random) ?? []
            return phrase[Int.random(in: 0..<phrase.count, using: &random)...].flatMap(\.self)
        }
        let counts = [2, 6, 9].map { Zlib.deflate(archive, .level($0)).count }
        #expect(counts[0] > counts[1])
        #expect(counts[1] >= counts[2])
        #expect(Zlib.deflate(archive, .level(1)).count == Zlib.deflate(archive).count)
    }

    // MARK: Stores

    /// Either store, with the calls that are used here.
    private struct Opened {
        let store: any ArchiveStore
        let fetchStream: (String) throws -> [UInt8]?

        init(_ kind: StoreKind, in directory: String, compression: ArchiveCompression) throws {
            var settings = StoreSettings()
            settings.compression = compression
            switch kind {
            case .packed:
                let store = try PackedStore(directory: directory, create: true, settings: settings)
                self.store = store
                fetchStream = { try store.fetchStream(forKey: $0).map { Array($0.stream) } }
            case .file:
                let store = try FileStore(directory: directory, create: true, settings: settings)
                self.store = store
                fetchStream = { try store.fetchStream(forKey: $0).map { Array($0.stream) } }
            }
        }
    }

    @Test(arguments: [StoreKind.packed, .file])
    func everyStoreReadsWhatAnyOtherHasSaved(_ kind: StoreKind) throws {
        let archives = MixedArchives.allCases.flatMap { kind in
            (isLongRun ? [0, 300, 70_000, 700_000] : [0, 300, 70_000]).map { kind.make(byteCount: $0, seed: $0) }
        }
        try withTemporaryDirectory { directory in
            for (number, compression) in Self.all.enumerated() {
                let saver = try Opened(kind, in: directory + "/store", compression: compression)
                for (index, archive) in archives.enumerated() {
                    try saver.store.save(archive, forKey: "\(number).\(index)", storedAt: .now, expiresAt: nil)
                }
            }
            for compression in Self.all {
                let reader = try Opened(kind, in: directory + "/store", compression: compression)
                for (number, saved) in Self.all.enumerated() {
                    for (index, archive) in archives.enumerated() {
                        let key = "\(number).\(index)"
                        #expect(try reader.store.fetch(forKey: key)?.archive == archive, "\(saved), \(index)")
                        // A dictionary makes another stream of small ones.
                        let isPrimed = kind == .packed && archive.count <= PresetDictionary.largestInput
                        guard !isPrimed || saved == .stored else { continue }
                        let stream = try #require(try reader.fetchStream(key))
                        let isSame = stream == Zlib.deflate(archive, saved)
                        #expect(isSame, "\(saved), \(index)")
                    }
                }
            }
        }
    }

    @Test func learnsNoDictionaryForWhatItDoesNotCompress() throws {
        let archives = AlikeArchives.make(count: 200, seed: 4)
        try withTemporaryDirectory { directory in
            let path = directory + "/store"
            var settings = StoreSettings()
            settings.compression = .stored
            func save(_ store: PackedStore, _ prefix: String) throws {
                for (index, archive) in archives.enumerated() {
                    try store.save(archive, forKey: "\(prefix)\(index)", storedAt: .now, expiresAt: nil)
                }
                store.finishUpkeep()
            }
            func check(_ store: PackedStore, _ prefix: String) throws {
                for (index, archive) in archives.enumerated() {
                    #expect(try store.fetch(forKey: "\(prefix)\(index)")?.archive == archive)
                }
            }
            let plain = try PackedStore(directory: path, create: true, settings: settings)
            try save(plain, "a")
            #expect(plain.current.tail.dictionary == nil)

            // One that compresses learns it, and leaves it to the next one.
            let compressing = try PackedStore(directory: path, create: false)
            try save(compressing, "b")
            #expect(compressing.current.tail.dictionary != nil)
            try save(compressing, "c")

            let again = try PackedStore(directory: path, create: false, settings: settings)
            try save(again, "d")
            for (index, archive) in archives.enumerated() {
                let stream = try #require(try again.fetchStream(forKey: "d\(index)"))
                #expect(Array(stream.stream) == Zlib.deflate(archive, .stored))
            }
            for prefix in ["a", "b", "c", "d"] { try check(again, prefix) }

            // Compaction moves compressed entries without making them longer.
            let before = try again.statistics().entryByteCount
            try again.compact()
            #expect(try again.statistics().entryByteCount <= before)
            for prefix in ["a", "b", "c", "d"] { try check(again, prefix) }
        }
    }

    @Test(arguments: 1...9)
    func dictionariesHaveEveryLevel(level: Int) throws {
        let archives = AlikeArchives.make(count: 20, seed: level)
        let dictionary = PresetDictionary(Array(archives.joined()))
        for archive in AlikeArchives.make(count: 20, seed: 100 + level) {
            let stream = dictionary.deflate(archive, compression: .level(level))
            #expect(try dictionary.inflate(stream, expecting: archive.count) == archive)
            #expect(stream.count < archive.count / 2)
            #expect(dictionary.deflate(archive, compression: .stored) == Zlib.deflate(archive, .stored))
        }
    }

    @Test(arguments: [StoreKind.packed, .file])
    func savesBehindAsItsStoreDoes(_ kind: StoreKind) throws {
        let archive = MixedArchives.text(200_000)
        try withTemporaryDirectory { directory in
            let opened = try Opened(kind, in: directory + "/store", compression: .stored)
            let store = WriteBehindStore(over: opened.store, byteLimit: 1 << 20)
            try store.save(archive, forKey: "a", storedAt: .now, expiresAt: nil)
            try store.flush()
            #expect(try opened.fetchStream("a") == Zlib.deflate(archive, .stored))
        }
    }
}
