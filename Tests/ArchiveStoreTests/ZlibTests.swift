import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct ZlibTests {
    /// Inflates a whole stream as the stores do, by an engine of the test's choice.
    private func inflate(
        _ stream: [UInt8],
        expecting count: Int,
        limit: Int = .max,
        by engine: Zlib.Engine
    ) throws(InflateError) -> [UInt8] {
        try Zlib.inflate(
            from: 0,
            count: stream.count,
            of: stream,
            expecting: count,
            limit: limit,
            by: engine
        )
    }

    @Test(arguments: Zlib.Engine.allCases, 0..<50)
    func inflatesWhatItDeflated(by engine: Zlib.Engine, seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let archive = random.archive(upTo: 300_000)
        let stream = Zlib.deflate(archive, .automatic, by: engine)
        #expect(try inflate(stream, expecting: archive.count, by: engine) == archive, "seed \(seed)")
    }

    @Test(
        arguments: Zlib.Engine.allCases,
        [0, 1, 2, 100, 2048, 2049, 65_534, 65_535, 65_536, 131_070, 131_071, 400_000]
    )
    func storesWhatDoesNotShrink(by engine: Zlib.Engine, count: Int) throws {
        var random = SeededGenerator(seed: count)
        let archive = random.bytes(count)
        let stream = Zlib.deflate(archive, .automatic, by: engine)
        #expect(stream.count <= count + 6 + 5 * max(1, (count + 65534) / 65535))
        #expect(try inflate(stream, expecting: count, by: engine) == archive)
    }

    /// The result of inflating in pieces; `nil` if the stream is refused.
    private func pieces(
        _ stream: [UInt8],
        dictionary: PresetDictionary? = nil,
        expecting count: Int
    ) -> [UInt8]? {
        var archive: [UInt8] = []
        let result = Result { () throws(InflateError) in
            try Zlib.inflate(
                from: 0,
                count: stream.count,
                of: stream,
                dictionary: dictionary,
                expecting: count,
                limit: .max
            ) {
                archive += $0
                return true
            }
        }
        return (try? result.get()).map { archive }
    }

    @Test(arguments: Zlib.Engine.allCases, 0..<20)
    func inflatesInPiecesWhatItInflatesWhole(by engine: Zlib.Engine, seed: Int) {
        var random = SeededGenerator(seed: seed)
        let archive = random.archive(upTo: 2_000_000)
        let stream = Zlib.deflate(archive, .automatic, by: engine)
        #expect(pieces(stream, expecting: archive.count) == archive, "seed \(seed)")
        for _ in 0..<20 where !archive.isEmpty {
            var changed = stream
            changed[Int.random(in: 0..<changed.count, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
            let whole = try? inflate(changed, expecting: archive.count, by: engine)
            #expect(pieces(changed, expecting: archive.count) == whole, "seed \(seed)")
        }
        #expect(pieces(stream + [0], expecting: archive.count) == nil)
        #expect(pieces(Array(stream.dropLast()), expecting: archive.count) == nil)
        for other in [archive.count - 1, archive.count + 1] { #expect(pieces(stream, expecting: other) == nil) }
    }

    @Test func inflatesInPiecesWithItsDictionaryOnly() {
        let archives = AlikeArchives.make(count: 9, seed: 2)
        let dictionary = PresetDictionary(Array(archives[1...].joined()))
        let archive = archives[0]
        let stream = dictionary.deflate(archive)
        #expect(stream[1] & 0x20 != 0)
        #expect(pieces(stream, dictionary: dictionary, expecting: archive.count) == archive)
        #expect(pieces(stream, expecting: archive.count) == nil)
        #expect(pieces(stream, dictionary: PresetDictionary([1, 2, 3]), expecting: archive.count) == nil)
        #expect(pieces(Zlib.deflate(archive), dictionary: dictionary, expecting: archive.count) == archive)
    }

    @Test func stopsInflatingWhenTold() throws {
        let stream = Zlib.deflate([UInt8](repeating: 0, count: 10_000_000))
        var count = 0
        try Zlib.inflate(from: 0, count: stream.count, of: stream, expecting: 10_000_000, limit: .max) {
            count += $0.count
            return false
        }
        #expect(count > 0 && count < 1_000_000)
    }

    /// The stored stream of two blocks, byte by byte as RFC 1950 and RFC 1951 have it.
    @Test func writesStoredBlocks() throws {
        var random = SeededGenerator(seed: 7)
        let archive = random.bytes(65_537)
        let stream = Zlib.deflate(archive)
        #expect(stream.prefix(7) == [0x78, 0x01, 0x00, 0xff, 0xff, 0x00, 0x00])
        #expect(stream[7..<65_542] == archive[..<65_535])
        #expect(stream[65_542..<65_547] == [0x01, 0x02, 0x00, 0xfd, 0xff])
        #expect(stream[65_547..<65_549] == archive[65_535...])
        #expect(stream.count == 65_553)
    }

    @Test(arguments: Zlib.Engine.allCases)
    func refusesAnyOtherLength(by engine: Zlib.Engine) {
        let archive = [UInt8](repeating: 7, count: 1000)
        let stream = Zlib.deflate(archive, .automatic, by: engine)
        for count in [-1, 0, 1, 999, 1001, 2000] {
            #expect(throws: InflateError.self) { try inflate(stream, expecting: count, by: engine) }
        }
        #expect(throws: InflateError.tooLarge) { try inflate(stream, expecting: 1000, limit: 999, by: engine) }
        for count in [1 << 30, .max] {
            #expect(throws: InflateError.impossibleLength) { try inflate(stream, expecting: count, by: engine) }
        }
    }

    @Test func inflatesARangeOfOtherBytes() throws {
        let archive = Array("a stream, a stream, a stream".utf8)
        let stream = Zlib.deflate(archive)
        let file = [1, 2, 3] + stream + [4, 5]
        for (offset, count) in [
            (3, stream.count), (2, stream.count), (3, stream.count + 1), (3, 0), (file.count, 0),
        ] {
            let inflated = try? Zlib.inflate(
                from: offset,
                count: count,
                of: file,
                expecting: archive.count,
                limit: .max
            )
            #expect(inflated == (offset == 3 && count == stream.count ? archive : nil))
        }
    }

    @Test(arguments: Zlib.Engine.allCases)
    func refusesAStreamThatIsNotWhole(by engine: Zlib.Engine) {
        let archive = Array("a stream, a stream, a stream".utf8)
        let stream = Zlib.deflate(archive, .automatic, by: engine)
        for count in 0..<stream.count {
            #expect(throws: InflateError.damaged) {
                try inflate(Array(stream[..<count]), expecting: archive.count, by: engine)
            }
        }
        #expect(throws: InflateError.damaged) {
            try inflate(stream + [0], expecting: archive.count, by: engine)
        }
        for position in stream.indices {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xff] {
                var changed = stream
                changed[position] ^= change
                // The level and the window in the header may differ without harm; the inflated bytes may not.
                let result = Result { try inflate(changed, expecting: archive.count, by: engine) }
                #expect((try? result.get()) ?? archive == archive, "byte \(position) ^ \(change)")
            }
        }
    }

    @Test(arguments: Zlib.Engine.allCases)
    func inflatesTheMostCompressibleBytes(by engine: Zlib.Engine) throws {
        for count in [1032, 100_000, 10_000_000] {
            let stream = Zlib.deflate([UInt8](repeating: 0, count: count), .automatic, by: engine)
            #expect(try inflate(stream, expecting: count, by: engine).count == count)
        }
    }

    /// By a sum of its definition, for lengths around those of blocks, and for the largest bytes.
    @Test(arguments: seeds(0..<20))
    func calculatesAdler32(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        for count in [
            0, 1, 31, 32, 33, 5_535, 5_536, 5_537, 5_552, 40_000, Int.random(in: 0..<9_000, using: &generator),
        ] {
            let bytes = seed == 0 ? [UInt8](repeating: 255, count: count) : generator.bytes(count)
            var (first, second): (UInt32, UInt32) = (1, 0)
            for byte in bytes {
                first = (first + UInt32(byte)) % 65_521
                second = (second + first) % 65_521
            }
            let expected = second << 16 | first
            #expect(bytes.withUnsafeBytes { Zlib.adler32($0) } == expected)
            let cut = Int.random(in: 0...count, using: &generator)
            let start = bytes[..<cut].withUnsafeBytes { Zlib.adler32($0) }
            #expect(bytes[cut...].withUnsafeBytes { Zlib.adler32($0, continuing: start) } == expected)
        }
    }

    @Test func calculatesCRC32() {
        let bytes = Array("123456789".utf8)
        #expect(bytes.withUnsafeBytes { Zlib.crc32($0) } == 0xcbf4_3926)
        let start = bytes[..<4].withUnsafeBytes { Zlib.crc32($0) }
        #expect(bytes[4...].withUnsafeBytes { Zlib.crc32($0, continuing: start) } == 0xcbf4_3926)
        #expect([UInt8]().withUnsafeBytes { Zlib.crc32($0) } == 0)

        // For single bytes, our function leaves the work to zlib.
        var generator = SeededGenerator(seed: 32)
        for count in Array(0...300) + [1_000, 4_096, 65_537] {
            let bytes = generator.bytes(count)
            let start = UInt32.random(in: 0...(.max), using: &generator)
            let single = bytes.reduce(start) { checksum, byte in
                withUnsafeBytes(of: byte) { Zlib.crc32($0, continuing: checksum) }
            }
            #expect(bytes.withUnsafeBytes { Zlib.crc32($0, continuing: start) } == single)
        }
    }
}
