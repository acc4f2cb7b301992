import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct PresetDictionaryTests {
    private let archive = AlikeArchives.make(count: 1, seed: 1)[0]
    private let dictionary = PresetDictionary(Array(AlikeArchives.make(count: 8, seed: 2).joined()))

    /// Whether a stream asks for a dictionary.
    private func asks(_ stream: [UInt8]) -> Bool {
        stream[1] & 0x20 != 0
    }

    @Test(arguments: 0..<50)
    func inflatesWhatItDeflated(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let dictionary = PresetDictionary(random.archive(upTo: 40_000))
        for limit in [100, PresetDictionary.largestInput, 70_000] {
            let archive = random.archive(upTo: limit)
            let stream = dictionary.deflate(archive)
            #expect(stream.count <= StoredBlocks.byteCount(for: archive.count), "seed \(seed)")
            #expect(try dictionary.inflate(stream, expecting: archive.count) == archive, "seed \(seed)")

            // Within other bytes, as in a file.
            let file = [1, 2, 3] + stream + [4, 5]
            let inflated = try dictionary.inflate(
                from: 3,
                count: stream.count,
                of: file,
                expecting: archive.count,
                limit: .max
            )
            #expect(inflated == archive, "seed \(seed)")
        }
    }

    /// The first and the last input that a dictionary is used for, and the next one.
    @Test(arguments: [0, 1, 100, PresetDictionary.largestInput, PresetDictionary.largestInput + 1])
    func deflatesAnyLength(count: Int) throws {
        let archive = Array(repeatElement(archive, count: 30).joined().prefix(count))
        let stream = dictionary.deflate(archive)
        #expect(asks(stream) == (100...PresetDictionary.largestInput).contains(count))
        #expect(try dictionary.inflate(stream, expecting: count) == archive)
        if count > PresetDictionary.largestInput { #expect(stream == Zlib.deflate(archive)) }
    }

    @Test func shrinksWhatIsAlikeSeveralTimes() {
        let stream = dictionary.deflate(archive)
        #expect(asks(stream))
        #expect(stream.count * 3 < Zlib.deflate(archive).count)
    }

    /// RFC 1950 § 2.2: header, then DICTID; Adler-32 last.
    @Test func writesTheDictionarysIdentifier() {
        #expect(PresetDictionary(Array("Wikipedia".utf8)).identifier == 0x11e6_0398)
        #expect(PresetDictionary([]).identifier == 1)
        let stream = dictionary.deflate(archive)
        let word = stream[2..<6].reduce(0) { $0 << 8 | UInt32($1) }
        #expect(word == dictionary.identifier)
    }

    @Test func readsStreamsWithoutDictionary() throws {
        let stream = Zlib.deflate(archive)
        #expect(try dictionary.inflate(stream, expecting: archive.count) == archive)
        #expect(PresetDictionary([]).deflate(archive) == stream)
    }

    @Test func storesWhatDoesNotShrink() throws {
        var random = SeededGenerator(seed: 3)
        let archive = random.bytes(500)
        let stream = dictionary.deflate(archive)
        #expect(stream.count == StoredBlocks.byteCount(for: 500))
        #expect(try Zlib.inflate(stream, expecting: 500, limit: .max) == archive)
    }

    @Test func refusesAnotherDictionary() {
        let stream = dictionary.deflate(archive)
        var bytes = dictionary.bytes
        bytes[0] ^= 1
        for other in [PresetDictionary(bytes), PresetDictionary([])] {
            #expect(throws: InflateError.damaged) { try other.inflate(stream, expecting: archive.count) }
        }
        #expect(throws: InflateError.damaged) {
            try Zlib.inflate(stream, expecting: archive.count, limit: .max)
        }
        #expect(throws: InflateError.damaged) {
            try Zlib.inflate(from: 0, count: stream.count, of: stream, expecting: archive.count, limit: .max)
        }
    }

    @Test func refusesAnyOtherLength() {
        let stream = dictionary.deflate(archive)
        let count = archive.count
        for other in [0, 1, count - 1, count + 1, 2 * count] {
            #expect(throws: InflateError.damaged) { try dictionary.inflate(stream, expecting: other) }
        }
        for other in [-1, .min, 1 << 30, .max] {
            #expect(throws: InflateError.impossibleLength) { try dictionary.inflate(stream, expecting: other) }
        }
        #expect(throws: InflateError.tooLarge) {
            try dictionary.inflate(stream, expecting: count, limit: count - 1)
        }
    }

    @Test func refusesWhatIsNoWholeStream() {
        let stream = dictionary.deflate(archive)
        for count in 0..<stream.count {
            #expect(throws: InflateError.damaged) {
                try dictionary.inflate(Array(stream[..<count]), expecting: min(archive.count, count * 1000))
            }
        }
        #expect(throws: InflateError.damaged) {
            try dictionary.inflate(stream + [0], expecting: archive.count)
        }
        for position in stream.indices {
            for change in UInt8(1)...255 {
                var changed = stream
                changed[position] ^= change
                let result = Result { try dictionary.inflate(changed, expecting: archive.count) }
                #expect((try? result.get()) ?? archive == archive, "byte \(position) ^ \(change)")
            }
        }
    }

    @Test(arguments: 0..<20)
    func refusesRandomBytes(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let header = Array(dictionary.deflate(archive).prefix(6))
        for _ in 0..<100 {
            let stream = header + random.archive(upTo: 2000)
            #expect(throws: InflateError.self) { try dictionary.inflate(stream, expecting: archive.count) }
        }
    }

    @Test func servesManyThreads() async {
        let dictionary = dictionary
        await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<16 {
                group.addTask {
                    AlikeArchives.make(count: 50, seed: seed).allSatisfy {
                        (try? dictionary.inflate(dictionary.deflate($0), expecting: $0.count)) == $0
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }

    @Test(.enabled(if: Python.isThere, "python3 is not here"))
    func pythonInflatesWhatItDeflated() throws {
        let script = """
            import sys, zlib
            dictionary, stream, plain = (bytes.fromhex(word) for word in sys.argv[1:])
            def inflate(stream, **options):
                inflater = zlib.decompressobj(**options)
                content = inflater.decompress(stream)
                assert inflater.eof and not inflater.unused_data
                return content
            assert inflate(stream, zdict=dictionary) == inflate(plain)
            print(zlib.adler32(dictionary))
            """
        let words = [dictionary.bytes, dictionary.deflate(archive), Zlib.deflate(archive)].map { bytes in
            bytes.map { String(format: "%02x", $0) }.joined()
        }
        #expect(try Python.run(script, words) == "\(dictionary.identifier)\n")
    }
}

/// Python, whose zlib is another reader of our streams.
private enum Python {
    static var isThere: Bool { (try? run("print(1)", [])) == "1\n" }

    /// Runs a script and returns its output.
    static func run(_ script: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        let pipe = Pipe.make()
        process.standardOutput = pipe
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
