import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct IndexPartTests {
    private static func slots(part: Int, count: Int, using random: inout SeededGenerator) -> [IndexSlot] {
        var places: Set<RecordPlace> = []
        while places.count < count {
            let isFar = Int.random(in: 0..<8, using: &random) == 0
            let segment: UInt32 = .random(in: 1...(isFar ? Segment.largestNumber : 4), using: &random)
            let offset: UInt32 = .random(in: 0...(isFar ? .max : 4 << 20), using: &random)
            places.insert(RecordPlace(segment: segment, offset: offset))
        }
        return places.sorted().map { place in
            let digest = KeyDigest(
                high: UInt64(part) << 40 | .random(in: 0..<1 << 40, using: &random),
                low: .random(in: 0..<1 << KeyDigest.checkBitCount, using: &random)
            )
            var slot = IndexSlot(
                digest,
                place: place,
                byteCount: Int(UInt32.random(in: 1...(Bool.random(using: &random) ? 300 : .max), using: &random)),
                deadline: Bool.random(using: &random) ? .max : .random(in: 0...(.max), using: &random),
                isTagged: .random(using: &random)
            )
            slot.uses = .random(in: 0...IndexSlot.mostUses, using: &random)
            return slot
        }
    }

    /// The same slots come back, however the bytes are cut into pieces.
    @Test(arguments: seeds(0..<40)) func slotsComeBack(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let part = Int.random(in: 0..<256, using: &random)
        let slots = Self.slots(part: part, count: .random(in: 0..<200, using: &random), using: &random)
        let bytes = IndexPart.bytes(of: slots)
        var decoder = IndexPart.Decoder(part: part)
        var found: [IndexSlot] = []
        var start = 0
        repeat {
            let end = min(bytes.count, start + .random(in: 1...300, using: &random))
            #expect(decoder.read(Array(bytes[start..<end]), isLast: end == bytes.count) { found.append($0) })
            start = end
        } while start < bytes.count
        #expect(found == slots, "seed \(seed)")
        #expect(decoder.count == slots.count)
    }

    /// Any bytes give slots that could be, or are refused; a part that was cut short is.
    @Test(arguments: seeds(0..<20)) func anyBytesAreSlotsOrRefused(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let slots = Self.slots(part: 7, count: 20, using: &random)
        let bytes = IndexPart.bytes(of: slots)
        let ends = Set(slots.indices.map { IndexPart.bytes(of: Array(slots[...$0])).count } + [0])
        for end in 0...bytes.count {
            var decoder = IndexPart.Decoder(part: 7)
            let isRead = decoder.read(Array(bytes[..<end]), isLast: true) { _ in }
            #expect(isRead == ends.contains(end), "seed \(seed), \(end)")
        }
        for _ in 0..<200 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            var decoder = IndexPart.Decoder(part: 7)
            _ = decoder.read(changed, isLast: true) { slot in
                #expect(slot.byteCount > 0 && slot.place.segment <= Segment.largestNumber)
                #expect(PackedIndex.part(slot.hash) == 7)
            }
        }
    }
}
