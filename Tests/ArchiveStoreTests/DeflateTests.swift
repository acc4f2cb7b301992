import CDeflate
import CZlib
import TestSupport
import Testing

@testable import ArchiveStore

/// Deflating by the package's own code, without a dictionary, with zlib as judge.
@Suite final class DeflateTests {
    private static let limit = 1 << 18

    /// Where the ranges lie that C is given: each byte too many ends the process.
    private let input = GuardedMemory(capacity: limit)
    private let output = GuardedMemory(capacity: 2 * limit)
    private let state = deflater_make()

    deinit { deflater_free(state) }

    /// DEFLATE data of `bytes`; `nil` if it does not fit into `room` bytes.
    private func own(
        _ bytes: [UInt8],
        isLast: Bool = true,
        room: Int,
        at place: GuardedMemory.Place = .end
    ) -> [UInt8]? {
        let input = input.copy(bytes, at: place)
        let room = output.room(room, at: place)
        let count = deflate_whole(state, input.baseAddress, input.count, isLast, room.baseAddress, room.count)
        return count == 0 ? nil : Array(room[..<count])
    }

    private func inflated(_ bare: [UInt8], limit: Int) -> [UInt8]? {
        ZlibAlone.inflate(bare, limit: limit, windowBits: -15)
    }

    /// One state for all inputs, so that what it keeps of one does no harm to the next.
    @Test(arguments: seeds(0..<100))
    func zlibReadsWhatIsWritten(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        for kind in DeflateInputs.allCases {
            let bytes = kind.make(upTo: Self.limit, using: &random)
            let place: Comment = "seed \(seed), \(kind), \(bytes.count) bytes"
            // A block that is stored takes five bytes.
            let bound = bytes.count + 5 * (bytes.count / 8_192 + 1) + 1
            for side in GuardedMemory.Place.allCases {
                let bare = try #require(own(bytes, room: bound, at: side), place)
                #expect(inflated(bare, limit: bytes.count) == bytes, place)
                #expect(own(bytes, room: bare.count, at: side) == bare, place)
                #expect(own(bytes, room: bare.count - 1, at: side) == nil, place)
                #expect(own(bytes, room: .random(in: 0..<bare.count, using: &random), at: side) == nil, place)
            }
        }
    }

    @Test(arguments: seeds(0..<50))
    func partsFollowOneAnother(seed: Int) throws {
        var random = SeededGenerator(seed: 500 + seed)
        var all: [UInt8] = []
        var bare: [UInt8] = []
        for number in 0..<4 {
            let part = (DeflateInputs.allCases.randomElement(using: &random) ?? .noise)
                .make(upTo: 100_000, using: &random)
            let room = part.count + 5 * (part.count / 8_192 + 1) + 7
            let blocks = try #require(own(part, isLast: number == 3, room: room), "seed \(seed)")
            #expect(own(part, isLast: number == 3, room: blocks.count) == blocks)
            #expect(own(part, isLast: number == 3, room: blocks.count - 1) == nil)
            bare += blocks
            all += part
        }
        #expect(inflated(bare, limit: all.count) == all, "seed \(seed)")
    }

    /// Places are counted on from input to input, with a distance of 32 KiB between them, in 32 bits: when they begin again,
    /// a string stands where it stood in the first round.
    @Test func placesOfEarlierInputsAreNeverReferredTo() {
        let text = Array("string".utf8)
        // As many inputs of so many bytes as have room in 32 bits, less the one distance before the first of them.
        let round = ((1 << 32) - 32_769) / (text.count + 32_768)
        for number in 0..<(round + 10) {
            let isSame = number < 10 || number >= round
            let bytes = isSame ? text.map { $0 &+ UInt8(number % round % 10) } : Array("another".utf8.prefix(6))
            let bare = own(bytes, room: 100, at: .start)
            if isSame { #expect(bare.map { inflated($0, limit: 100) } == bytes, "input \(number)") }
        }
    }

    /// Of text at most a thirtieth more than zlib's level 1 leaves; at most a twelfth of records: places in a file, as the
    /// end of a binary property list has them, where nearly all matches have three bytes.
    @Test(arguments: [2_000, 20_000, 150_000])
    func streamsAreAboutAsShortAsThoseOfZlib(byteCount: Int) throws {
        var random = SeededGenerator(seed: byteCount)
        let text = MixedArchives.text(byteCount)
        let records = (0..<(byteCount / 4)).flatMap { index in
            withUnsafeBytes(of: UInt32(24 * index + Int.random(in: 0..<20, using: &random)).bigEndian, Array.init)
        }
        for (bytes, allowance) in [(text, 30), (records, 12), (text.prefix(byteCount / 2) + records, 12)] {
            let zlib = ZlibAlone.deflate(bytes, .init(level: 1, windowBits: -15, memoryLevel: 9)).count
            let left = try #require(own(bytes, room: 2 * bytes.count)).count
            #expect(left <= zlib + zlib / allowance, "\(left) bytes, zlib \(zlib)")
        }
    }

    /// Codes of a block's own are made where they save a sixteenth: for text of few letters, not for one of so many that
    /// the description of their codes is long. Bytes of which neither kind of codes makes fewer are stored.
    @Test func eachBlockHasTheShortestForm() throws {
        func blockType(of bytes: [UInt8]) throws -> UInt8 {
            let bare = try #require(own(bytes, room: 5_000))
            #expect(inflated(bare, limit: bytes.count) == bytes)
            return bare[0] >> 1 & 3
        }
        var random = SeededGenerator(seed: 3)
        for count in [200, 300, 400] {
            let text = (0..<count).map { _ in UInt8.random(in: 0..<128, using: &random) }
            #expect(try blockType(of: text) == 1, "fixed codes, \(count) bytes")
        }
        for count in [700, 1_400, 4_096] {
            let text = (0..<count).map { _ in UInt8.random(in: 97..<105, using: &random) }
            #expect(try blockType(of: text) == 2, "codes of its own, \(count) bytes")
            #expect(try blockType(of: random.bytes(count)) == 0, "noise is stored, \(count) bytes")
        }
    }
}
