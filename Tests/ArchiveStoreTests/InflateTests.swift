import CDeflate
import CZlib
import TestSupport
import Testing

@testable import ArchiveStore

/// Inflating by the package's own code, of data from zlib, with zlib as judge.
@Suite struct InflateTests {
    private static let limit = 1 << 20

    /// Where the ranges lie that C is given: each byte too many ends the process.
    private let data = GuardedMemory(capacity: 2 * limit)
    private let output = GuardedMemory(capacity: limit + 1)
    private let dictionary = GuardedMemory(capacity: 40_000)

    /// The content of DEFLATE data, if that is all of it and has `count` bytes.
    private func own(_ bare: [UInt8], dictionary strings: [UInt8] = [], expecting count: Int) -> [UInt8]? {
        var results: [[UInt8]?] = []
        for place in GuardedMemory.Place.allCases {
            let input = data.copy(bare, at: place)
            let before = dictionary.copy(strings, at: place)
            let room = output.room(count, at: place)
            let isWhole = inflate_whole(
                before.baseAddress,
                before.count,
                input.baseAddress,
                input.count,
                room.baseAddress,
                room.count
            )
            results.append(isWhole ? Array(room) : nil)
        }
        #expect(results[0] == results[1], "the same wherever the ranges lie")
        return results[0]
    }

    private static func settings(using random: inout SeededGenerator, count: Int) -> ZlibAlone.Settings {
        var settings = ZlibAlone.Settings()
        settings.level = .random(in: 0...9, using: &random)
        settings.windowBits = -.random(in: 9...15, using: &random)
        settings.memoryLevel = .random(in: 1...9, using: &random)
        settings.strategy =
            [Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED].randomElement(using: &random) ?? 0
        let kinds = [Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK]
        settings.flushes = (0..<[0, 0, 1, 5][Int.random(in: 0..<4, using: &random)]).map { _ in
            (.random(in: 0...(count / 3), using: &random), kinds.randomElement(using: &random) ?? Z_SYNC_FLUSH)
        }
        return settings
    }

    /// A dictionary, empty in most cases, and an input that has strings of it.
    private static func input(
        _ kind: DeflateInputs,
        upTo limit: Int,
        using random: inout SeededGenerator
    ) -> (input: [UInt8], dictionary: [UInt8]) {
        var input = kind.make(upTo: limit, using: &random)
        guard Int.random(in: 0..<3, using: &random) == 0 else { return (input, []) }
        let dictionary =
            (DeflateInputs.allCases.randomElement(using: &random) ?? .noise).make(upTo: 40_000, using: &random)
        for _ in 0..<5 where !input.isEmpty && !dictionary.isEmpty {
            let start = Int.random(in: input.indices, using: &random)
            let from = Int.random(in: dictionary.indices, using: &random)
            let part = dictionary[from...].prefix(min(300, input.count - start))
            input.replaceSubrange(start..<(start + part.count), with: part)
        }
        return (input, dictionary)
    }

    @Test(arguments: seeds(0..<100))
    func readsAllThatZlibWrites(seed: Int) {
        var random = SeededGenerator(seed: seed)
        for kind in DeflateInputs.allCases {
            let (input, dictionary) = Self.input(kind, upTo: Self.limit, using: &random)
            let settings = Self.settings(using: &random, count: input.count)
            let bare = ZlibAlone.deflate(input, settings, dictionary: dictionary)
            let place: Comment = "seed \(seed), \(kind), \(input.count) bytes, \(settings)"
            #expect(own(bare, dictionary: dictionary, expecting: input.count) == input, place)
            #expect(own(bare, dictionary: dictionary, expecting: input.count + 1) == nil, place)
            if !input.isEmpty {
                #expect(own(bare, dictionary: dictionary, expecting: input.count - 1) == nil, place)
            }
            #expect(own(bare + [0], dictionary: dictionary, expecting: input.count) == nil, place)
            #expect(own(bare.dropLast(), dictionary: dictionary, expecting: input.count) == nil, place)
        }
    }

    @Test(arguments: seeds(0..<200))
    func judgesDamageAsZlibDoes(seed: Int) {
        var random = SeededGenerator(seed: 1_000 + seed)
        for kind in DeflateInputs.allCases {
            let (input, dictionary) = Self.input(kind, upTo: 20_000, using: &random)
            let settings = Self.settings(using: &random, count: input.count)
            let bare = ZlibAlone.deflate(input, settings, dictionary: dictionary)
            for round in 0..<60 {
                var changed = bare
                switch Int.random(in: 0..<4, using: &random) {
                case 0: changed.removeLast(Int.random(in: 0...changed.count, using: &random))
                case 1:
                    changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
                case 2:
                    // The descriptions of codes stand at the start.
                    let place = Int.random(in: 0..<min(40, changed.count), using: &random)
                    changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                default:
                    let place = Int.random(in: changed.indices, using: &random)
                    changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
                let judged = ZlibAlone.inflate(
                    changed,
                    dictionary: dictionary,
                    limit: input.count,
                    windowBits: -15
                )
                let count = judged?.count ?? input.count
                let isSame = own(changed, dictionary: dictionary, expecting: count) == judged
                #expect(isSame, "seed \(seed), \(kind), round \(round), \(settings)")
            }
        }
    }

    /// Codes of one bit or none, which are not complete, and codes that leave bits unused or have too many.
    @Test func judgesEveryFirstTwoBytesAsZlibDoes() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max where isLongRun || (first ^ second) & 7 == 5 {
                for rest in [
                    [UInt8](repeating: 0, count: 20), [UInt8](repeating: 255, count: 20), [0x55, 0xaa, 0x12],
                ] {
                    let bytes = [first, second] + rest
                    let judged = ZlibAlone.inflate(bytes, limit: 400, windowBits: -15)
                    let isSame = own(bytes, expecting: judged?.count ?? 0) == judged
                    #expect(isSame, "\(bytes)")
                }
            }
        }
    }

    /// Raw data of blocks of all kinds, one after another, as zlib writes them when it is flushed.
    @Test func blocksOfAllKindsAreRead() {
        let fixed: [UInt8] = [0x4b, 0x04, 0x00]  // "a", the last block
        #expect(own(fixed, expecting: 1) == [97])
        let stored: [UInt8] = [0x00, 0x02, 0x00, 0xfd, 0xff, 98, 99] + fixed
        #expect(own(stored, expecting: 3) == [98, 99, 97])
        #expect(own(stored, expecting: 2) == nil)
        #expect(own(stored.dropLast(), expecting: 3) == nil)
        #expect(own(stored + [0], expecting: 3) == nil)
        // Data that ends within a stored block's length: zeros after it would make the complement right.
        #expect(own([0x01, 0xff, 0xff], expecting: 65_535) == nil)
        #expect(own([0x01, 0x00, 0xff, 0xff], expecting: 65_280) == nil)
        #expect(own([0x05, 0x00], expecting: 3) == nil)
        #expect(own([0x07], expecting: 3) == nil)
        #expect(own([], expecting: 0) == nil)
        #expect(own([0x03, 0x00], expecting: 0) == [])
    }
}
