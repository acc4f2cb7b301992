import Testing

@testable import ArchiveStore

@Suite struct EntryNameTests {
    /// Made with `openssl mac -macopt size:16 … SIPHASH`; the first one is in the reference implementation, too.
    @Test(arguments: [
        ("", "a3817f04ba25a8e66df67214c7550293"),
        ("hello world, twenty-nine bytes", "c76f3229bd35bc3b9ea1b939fa8d52e1"),
        ("coordinate", "2c84d22ec0df631bcea6f88f0f1c22ec"),
    ])
    func hashesAsTheReferenceDoes(text: String, digits: String) {
        let hash = SipHash128(Array(text.utf8))
        let name = EntryName(high: hash.high, low: hash.low)
        #expect(
            EntryName.shardName(name.shard) + "/" + name.fileName(slot: 0) == digits.prefix(2) + "/"
                + digits.dropFirst(2) + ".0"
        )
    }

    @Test(arguments: [0, 1, 9, 10, 65_535])
    func parsesItsOwnNames(slot: Int) throws {
        let name = try EntryName(StoreKey("key"))
        let parsed = try #require(EntryName.parse(name.fileName(slot: slot), shard: name.shard))
        #expect(parsed.name == name && parsed.slot == slot)
        #expect(EntryName.parse(name.fileName(slot: slot), shard: name.shard ^ 1)?.name != name)
    }

    @Test func parsesNoOtherNames() {
        let digits = String(repeating: "a", count: 30)
        let others = [
            "", ".", "photo.jpg", digits, digits + ".", digits + ".x", digits + ".-1", digits + ".+1",
            digits + ".01",
            digits + ".1.0", digits + ".65536", digits + ".9223372036854775807", digits + ".99999999999999999999",
            digits.uppercased() + ".0",
            "a" + digits + ".0",
            String(digits.dropLast()) + ".0", String(digits.dropLast()) + "g.0", digits + ".0 ",
            digits + ".0\u{301}",
        ]
        for other in others {
            #expect(EntryName.parse(other, shard: 0) == nil, "\(other)")
        }
    }
}
