import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct IndexTableTests {
    /// A table finds the same slots as a dictionary, however crowded it is, and stays sound at each step.
    @Test(arguments: seeds(1..<21)) func findsWhatADictionaryFinds(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var table = IndexTable()
        var model: [KeyDigest: IndexSlot] = [:]
        for step in 0..<1_000 {
            // Hashes that differ in few bits, and digests that share a hash.
            let digest = KeyDigest(
                high: .random(in: 0..<100, using: &random) << 41,
                low: .random(in: 1...2, using: &random)
            )
            let slot = IndexSlot(
                digest,
                place: RecordPlace(segment: 1, offset: UInt32(step)),
                byteCount: .random(in: 1...1_000, using: &random),
                deadline: .max,
                isTagged: false
            )
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                table.set(slot)
                model[digest] = slot
            case 2, 3:
                guard let known = model[digest] else { break }
                #expect(table.remove(known.hash, known.place) == known, "seed \(seed), step \(step)")
                model[digest] = nil
            default:
                let removed = table.removeAll { $0.byteCount < 50 }
                #expect(removed.count == model.values.count { $0.byteCount < 50 }, "seed \(seed), step \(step)")
                model = model.filter { $0.value.byteCount >= 50 }
            }
            #expect(table.slot(digest) == model[digest], "seed \(seed), step \(step)")
            #expect(table.isSound, "seed \(seed), step \(step)")
        }
        for (digest, slot) in model { #expect(table.slot(digest) == slot) }
        #expect(table.count == model.count)
    }
}
