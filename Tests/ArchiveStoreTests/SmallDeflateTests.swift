import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Deflating small inputs by the package's own code, and inflating them, with zlib as judge.
@Suite struct SmallDeflateTests {
    /// Inputs of every kind: archives, runs, few letters, noise, repeated noise, and the beginnings of real files.
    private static func inputs(_ random: inout SeededGenerator) -> [[UInt8]] {
        var inputs = AlikeArchives.make(count: 4, seed: 1)
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 257, 258, 259, 260, 4_095, 4_096] {
            inputs.append([UInt8](repeating: 65, count: count))
            inputs.append(random.bytes(count))
            inputs.append((0..<count).map { _ in UInt8.random(in: 97..<100, using: &random) })
        }
        let noise = random.bytes(300)
        inputs.append(noise + [1] + noise + [2] + noise)
        if let corpus = ProcessInfo.processInfo.environment["TYPED_CACHE_CORPUS"] {
            let names = FileManager.default.enumerator(atPath: corpus)?.compactMap { $0 as? String } ?? []
            for name in names.sorted() {
                guard let file = FileManager.default.contents(atPath: corpus + "/" + name), !file.isEmpty else {
                    continue
                }
                inputs.append(Array(file.prefix(PresetDictionary.largestInput)))
            }
        }
        return inputs
    }

    @Test(arguments: [0, 1, 3, 4, 300, 8_192, 16_384, 28_672, 28_673, 40_000])
    func zlibReadsWhatIsWritten(dictionaryByteCount: Int) throws {
        var random = SeededGenerator(seed: dictionaryByteCount)
        let material = Array(AlikeArchives.make(count: 200, seed: 2).joined())
        let dictionary = PresetDictionary(Array(material.prefix(dictionaryByteCount)))
        for (number, input) in Self.inputs(&random).enumerated() {
            for level in variants([1, 6, 9], at: number) {
                let stream = dictionary.deflate(input, compression: .level(level))
                let place: Comment = "input \(number) of \(input.count) bytes, level \(level)"
                #expect(stream.count <= StoredBlocks.byteCount(for: input.count), place)
                #expect(ZlibAlone.inflate(stream, dictionary: dictionary.bytes, limit: input.count) == input, place)
                #expect(try dictionary.inflate(stream, expecting: input.count) == input, place)
            }
        }
    }

    /// At most a twentieth more than zlib's level 6 with the same dictionary leaves, and a few bytes.
    @Test func streamsAreAboutAsShortAsThoseOfZlib() {
        let material = AlikeArchives.make(count: 300, seed: 5)
        let dictionary = PresetDictionary(Array(material.prefix(20).joined()))
        var own = 0
        var zlib = 0
        for archive in material[20...] {
            own += dictionary.deflate(archive).count
            zlib += ZlibAlone.deflate(archive, .init(), dictionary: dictionary.bytes).count
        }
        #expect(own * 20 <= zlib * 21, "\(own) bytes, zlib \(zlib)")
    }

    /// Its own inflate takes and refuses the same bytes as zlib.
    @Test(arguments: seeds(0..<20))
    func damagedStreamsAreJudgedAsByZlib(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let dictionary = PresetDictionary(Array(AlikeArchives.make(count: 8, seed: 2).joined()))
        let input =
            Self.inputs(&random).filter { $0.count > 20 && $0.count < 600 }.randomElement(using: &random) ?? []
        let stream = dictionary.deflate(input)
        judgeDamage(of: stream, content: input, dictionary, seed: seed, &random)
    }

    /// The same of streams by zlib: text of letters of which some are much rarer than others has codes of its own, some of
    /// them long.
    @Test(arguments: seeds(0..<10))
    func damagedStreamsWithOwnCodesAreJudgedAsByZlib(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let dictionary = PresetDictionary(Array(AlikeArchives.make(count: 2, seed: 3).joined()))
        let input = (0..<700).map { _ -> UInt8 in
            let rarity = (UInt64.random(in: 1 ... .max, using: &random)).leadingZeroBitCount
            return UInt8(100 + 3 * min(rarity, 20) + Int.random(in: 0..<3, using: &random))
        }
        let raw = Array(Zlib.deflate(input, .level(9))[2...].dropLast(4))
        try #require(raw[0] & 7 == 5, "the last block, with codes of its own")
        let stream = dictionary.stream(ofBare: raw[...], content: input)
        #expect(try dictionary.inflate(stream, expecting: input.count) == input)
        judgeDamage(of: stream, content: input, dictionary, seed: seed, &random)
    }

    private func judgeDamage(
        of stream: [UInt8],
        content input: [UInt8],
        _ dictionary: PresetDictionary,
        seed: Int,
        _ random: inout SeededGenerator
    ) {
        func judge(_ changed: [UInt8], _ place: Comment) {
            let zlib = ZlibAlone.inflate(changed, dictionary: dictionary.bytes, limit: input.count)
            let own = Result { try dictionary.inflate(changed, expecting: input.count) }
            switch own {
            case .success(let bytes): #expect(zlib == bytes, place)
            case .failure: #expect(zlib?.count != input.count, place)
            }
        }
        for count in stream.indices { judge(Array(stream[..<count]), "first \(count) bytes, seed \(seed)") }
        for bit in 0..<(8 * stream.count) {
            var changed = stream
            changed[bit / 8] ^= 1 << (bit % 8)
            judge(changed, "bit \(bit), seed \(seed)")
        }
        for round in 0..<200 {
            var changed = stream
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            judge(changed, "round \(round), seed \(seed)")
        }
    }

    /// Many strings with the same beginning take no longer than a few times as long as others.
    @Test func adversarialInputsEnd() {
        let dictionary = PresetDictionary([UInt8](repeating: 7, count: 16_000))
        for level in [1, 9] {
            let alike = (0..<4_096).map { (index: Int) -> UInt8 in index % 257 == 0 ? UInt8(index & 0xff) : 7 }
            let stream = dictionary.deflate(alike, compression: .level(level))
            #expect(ZlibAlone.inflate(stream, dictionary: dictionary.bytes, limit: alike.count) == alike)
        }
    }
}
