import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The last bytes of entries with serials.
@Suite struct EntryEndTests {
    @Test(arguments: seeds(0..<100))
    func aMovedEndIsThatOfTheEntryWrittenAnew(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        var attributes = random.attributes()
        attributes.serial = .random(in: 0 ... .max, using: &random)
        let key = try StoreKey(String(repeating: "k", count: Int.random(in: 1...1_024, using: &random)))
        func bytes() throws -> [UInt8] {
            try EntryFile.bytes(archive: archive, key: key, attributes: attributes, compression: .automatic)
        }
        let archive = random.archive()
        let former = try bytes()
        attributes.expiresAt =
            seed % 4 == 0 ? nil : Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random))
        let new = try bytes()
        let seconds = attributes.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        let end = EntryEnd.moving(deadlineTo: seconds, of: former.suffix(EntryEnd.byteCount))
        #expect(end == new.suffix(EntryEnd.byteCount))
        #expect(former.dropLast(EntryEnd.byteCount) == new.dropLast(EntryEnd.byteCount))
        #expect(try EntryFile(verifying: former.dropLast(EntryEnd.byteCount) + end).attributes == attributes)
    }
}
