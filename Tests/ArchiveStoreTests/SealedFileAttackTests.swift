import Foundation
import Sealing
import TestSupport
import Testing

@testable import ArchiveStore

/// An attacker changes the files of an encrypted file store: each change is damage or refused, never a value.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct SealedFileAttackTests {
    /// A small store, its files, and which of them are its entries'.
    private struct Victim {
        var files: [String: [UInt8]] = [:]
        /// The files of entries, by key.
        var entries: [String: String] = [:]
        /// The latest values.
        var values: [String: [UInt8]] = [:]

        var keys: [String] { values.keys.sorted() }

        init(_ fill: (FileStore, inout Victim) throws -> Void) throws {
            var made: Victim?
            try withTemporaryDirectory(inMemory: true) { path in
                let store = try SealedFolder.openFiles(path) { $0.countLimit = 1_000 }
                var victim = Victim()
                try fill(store, &victim)
                for key in victim.keys {
                    let name = try store.current().names.name(of: StoreKey(key))
                    victim.entries[key] = Self.file(name)
                }
                try store.close()
                victim.files = try SealedFolder.files(path)
                made = victim
            }
            self = try #require(made)
        }

        private init() {}

        static func file(_ name: EntryName, slot: Int = 0) -> String {
            EntryName.shardName(name.shard) + "/" + name.fileName(slot: slot)
        }

        mutating func save(_ key: String, _ value: [UInt8], in store: FileStore) throws {
            var attributes = EntryAttributes(storedAt: .distantPast, expiresAt: .distantFuture)
            attributes.tags = ["tag"]
            try store.save(value, forKey: key, attributes: attributes, if: nil)
            values[key] = value
        }

        /// The answers where some files were exchanged, and some are gone; `nil` if the store is not opened.
        func answers(
            _ changed: [String: [UInt8]?],
            _ look: (String) throws -> Void = { _ in }
        ) throws -> [String: SealedFolder.Answer]? {
            var answers: [String: SealedFolder.Answer]?
            try withTemporaryDirectory(inMemory: true) { path in
                var files = files
                for (name, bytes) in changed { files[name] = bytes }
                try SealedFolder.write(files, to: path + "/cache")
                try look(path + "/cache")
                answers = try SealedFolder.answers(path + "/cache", keys, ofFiles: true)
            }
            return answers
        }

        /// Whether each key has its latest value, or none.
        func hasNoOtherValue(_ answers: [String: SealedFolder.Answer]?) -> Bool {
            (answers ?? [:]).allSatisfy { key, answer in
                if case .value(let value) = answer { value == values[key] } else { true }
            }
        }

        /// Whether all keys but some have their values.
        func hasAll(_ answers: [String: SealedFolder.Answer]?, but others: Set<String> = []) -> Bool {
            guard let answers else { return false }
            return keys.allSatisfy { others.contains($0) || answers[$0] == values[$0].map { .value($0) } }
        }

        func bytes(of key: String) throws -> [UInt8] {
            let file = try #require(entries[key])
            return try #require(files[file])
        }
    }

    private func smallVictim(count: Int = 4) throws -> Victim {
        try Victim { store, victim in
            for number in 0..<count {
                try victim.save("key \(number)", [UInt8](repeating: UInt8(number), count: 20), in: store)
            }
        }
    }

    /// Bytes with the checksum that belongs to them, which needs no key.
    private func summed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes.withUnsafeMutableBytes { EntryFile.seal($0) }
        return bytes
    }

    /// A changed byte costs the entry whose file it is in, and no other one, also where the checksum is made to fit.
    @Test func everyByteOfAnEntryCounts() throws {
        let victim = try smallVictim()
        let key = "key 2"
        let file = try #require(victim.entries[key])
        let bytes = try victim.bytes(of: key)
        for position in bytes.indices {
            for isSummed in [false, true] {
                var changed = bytes
                changed[position] ^= 1 << UInt8(position % 8)
                if isSummed { changed = summed(changed) }
                if changed == bytes { continue }
                let answers = try victim.answers([file: changed]) { path in
                    // Nothing but the file can be lost, and only if it is damaged.
                    let store = try SealedFolder.openFiles(path)
                    _ = try store.information(forKey: "key 1")
                    try store.forEachEntry { _ in true }
                    try store.removeExpired(at: .now) { _ in }
                    try store.close()
                }
                #expect(victim.hasAll(answers, but: [key]), "byte \(position)")
                // Another key's number is no damage where the checksum is right.
                let keyPlace = bytes.count - SealedEntry.sealByteCount + 24
                let mayBeKey = isSummed && (keyPlace..<keyPlace + 8).contains(position)
                // Nor is a later version.
                let mayBeVersion = isSummed && (bytes.count - 10..<bytes.count - 8).contains(position)
                let outcome: SealedFolder.Answer = mayBeKey ? .locked : .damaged
                #expect(
                    answers?[key] == outcome || mayBeVersion && answers?[key] == .later,
                    "byte \(position), \(isSummed)"
                )
            }
        }
    }

    /// Damage in the other files: the store is not opened, or all entries are there.
    @Test func everyByteOfOtherFilesCounts() throws {
        let victim = try smallVictim()
        let others = victim.files.filter { !victim.entries.values.contains($0.key) }
        for kind in ["names", "format", "journal", ".wheel/", ".tags/"] {
            #expect(others.keys.contains { $0.hasPrefix(kind) }, "\(kind)")
        }
        for (name, bytes) in others {
            for position in bytes.indices {
                var changed = bytes
                changed[position] ^= 1 << UInt8(position % 8)
                let answers = try victim.answers([name: changed]) { path in
                    guard
                        let store = try? SealedFolder.openFiles(
                            path,
                            .of(TrialKeys.one),
                            create: true,
                            { $0.countLimit = 1_000 }
                        )
                    else {
                        // What is not opened is not touched.
                        #expect(
                            try SealedFolder.files(path).filter { $0.key != name }
                                == victim.files.filter { $0.key != name }
                        )
                        return
                    }
                    try store.removeAll(tagged: "other") { _ in }
                    try store.removeExpired(at: .distantPast) { _ in }
                    try store.save([1], forKey: "more", storedAt: .now, expiresAt: nil)
                    try store.close()
                }
                if answers == nil {
                    #expect(name == "names" || name == "format", "\(name), byte \(position)")
                } else {
                    #expect(victim.hasAll(answers), "\(name), byte \(position)")
                }
                if name == "names" { #expect(answers == nil, "byte \(position)") }
            }
            if name == "names" { continue }
            #expect(victim.hasNoOtherValue(try victim.answers([name: nil])), "without \(name)")
        }
    }

    /// The file of the names with a checksum that fits: still not opened.
    @Test func forgedNamesAreRefused() throws {
        let victim = try smallVictim()
        let bytes = try #require(victim.files["names"])
        for position in 8..<bytes.count {
            var changed = bytes
            changed[position] ^= 1 << UInt8(position % 8)
            var sum: [UInt8] = []
            sum.append(bigEndian: changed[8...].withUnsafeBytes { Zlib.crc32($0) })
            changed.replaceSubrange(4..<8, with: sum)
            for create in [false, true] {
                _ = try victim.answers(["names": changed]) { path in
                    let before = try SealedFolder.files(path)
                    let found = code { _ = try SealedFolder.openFiles(path, create: create) }
                    // An unknown version or cipher.
                    let isUnknown = (8..<11).contains(position)
                    // The byte after the cipher is one that the tag vouches for.
                    #expect(found == (isUnknown ? .unsupportedVersion : .locked), "byte \(position)")
                    #expect(try SealedFolder.files(path) == before, "byte \(position)")
                }
            }
        }
        for count in [0, 1, bytes.count - 1] {
            #expect(try victim.answers(["names": Array(bytes.prefix(count))]) == nil)
        }
        #expect(try victim.answers(["names": bytes + [0]]) == nil)
    }

    /// Files that are copied or exchanged, put under other files' names, cut, or made longer.
    @Test func entriesOpenUnderTheirNamesOnly() throws {
        let victim = try smallVictim()
        let (one, two) = (try victim.bytes(of: "key 1"), try victim.bytes(of: "key 2"))
        let (first, second) = (try #require(victim.entries["key 1"]), try #require(victim.entries["key 2"]))
        try #require(one.count == two.count)
        let copied = try victim.answers([second: one])
        #expect(copied?["key 2"] == .damaged && victim.hasAll(copied, but: ["key 2"]))
        let exchanged = try victim.answers([first: two, second: one])
        #expect(exchanged?["key 1"] == .damaged && exchanged?["key 2"] == .damaged)
        #expect(victim.hasAll(exchanged, but: ["key 1", "key 2"]))
        // In another shard, or another slot alone.
        let shard = String(first.prefix(2)) == "00" ? "01" : "00"
        let moved = try victim.answers([first: nil, shard + first.dropFirst(2): one]) { path in
            let store = try SealedFolder.openFiles(path)
            #expect(try store.removeDamagedEntries() == 1)
        }
        #expect(moved?["key 1"] == .nothing && victim.hasAll(moved, but: ["key 1"]))
        let slot = try victim.answers([first: nil, first.dropLast(1) + "1": one])
        #expect(slot?["key 1"] == .nothing && victim.hasAll(slot, but: ["key 1"]))
        // Parts of one in the other: stream, head, seal.
        let head = two.count - SealedEntry.sealByteCount
        for part in [0..<10, 0..<head, head..<two.count, head - 16..<head, head..<head + 16] {
            var mixed = two
            mixed.replaceSubrange(part, with: one[part])
            let answers = try victim.answers([second: summed(mixed)])
            #expect(answers?["key 2"] == .damaged && victim.hasAll(answers, but: ["key 2"]), "\(part)")
        }
        for count in 0..<two.count {
            let answers = try victim.answers([second: Array(two.prefix(count))])
            #expect(answers?["key 2"] == .damaged, "\(count) bytes")
            let rest = try victim.answers([
                second: count < 50 ? Array(two.suffix(count)) : summed(Array(two.suffix(count)))
            ])
            #expect(rest?["key 2"] == .damaged, "the last \(count) bytes")
        }
        for more in [two + [0], [0] + two, two + two, two + one].map({ summed($0) }) {
            let answers = try victim.answers([second: more])
            // The checksum fits: so the end may be that of a later version.
            #expect([.damaged, .later].contains(answers?["key 2"]) && victim.hasAll(answers, but: ["key 2"]))
        }
        #expect(try victim.answers([second: []])?["key 2"] == .damaged)
        #expect(try victim.answers([second: [UInt8](repeating: 0, count: 5_000)])?["key 2"] == .damaged)
    }

    /// An entry of another cache with the same key, or its file of names.
    @Test func filesAreThoseOfThisStore() throws {
        let victim = try smallVictim()
        let other = try Victim { store, victim in
            for number in 0..<4 { try victim.save("key \(number)", [99], in: store) }
        }
        let file = try #require(victim.entries["key 1"])
        let foreign = try other.bytes(of: "key 1")
        let answers = try victim.answers([file: foreign])
        #expect(answers?["key 1"] == .damaged && victim.hasAll(answers, but: ["key 1"]))
        // Under its own name.
        let otherFile = try #require(other.entries["key 1"])
        let added = try victim.answers([otherFile: foreign])
        #expect(victim.hasAll(added))
        let renamed = try victim.answers(["names": other.files["names"]])
        #expect(renamed?.values.allSatisfy { $0 == .nothing } == true)
    }

    /// The salt of the store counts, even where two stores had the same names.
    @Test func anEntryIsThatOfItsStore() throws {
        let layer = FileLayer()
        let stores = (0..<2).map { _ in
            EntrySealing(NamesFile(layer, key: 1), keys: SealingKeys(current: TrialKeys.one), layer: layer)
        }
        let plain = EntryFileTests.golden
        let name = EntryName(high: 1, low: 2)
        let (bytes, seal) = stores[0].seal(plain, headByteCount: plain.count - 13, name, save: nil)
        let opened = try stores[0].entry(bytes, name)
        #expect(
            opened.plainBytes == plain && opened.seal?.save == seal.save && opened.storedByteCount == bytes.count
        )
        #expect(throws: EntryFault.self) { _ = try stores[1].entry(bytes, name) }
        #expect(throws: EntryFault.self) { _ = try stores[0].entry(bytes, EntryName(high: 1, low: 3)) }
        let tail = Array(bytes.dropFirst(13))
        #expect(try stores[0].entry(tail: tail, fileByteCount: bytes.count, name).footer.zlibByteCount == 13)
        #expect(throws: EntryFault.self) {
            _ = try stores[0].entry(tail: tail, fileByteCount: bytes.count + 1, name)
        }
    }

    /// An entry that is not encrypted is not one of an encrypted store, nor the other way round.
    @Test func anEntryOfTheOtherKindIsRefused() throws {
        let victim = try smallVictim()
        let key = try StoreKey("key 1")
        let plain = try EntryFile.bytes(
            archive: [66],
            key: key,
            attributes: EntryAttributes(storedAt: .now),
            compression: .automatic
        )
        let answers = try victim.answers([try #require(victim.entries["key 1"]): plain])
        #expect(answers?["key 1"] == .damaged && victim.hasAll(answers, but: ["key 1"]))
        try withTemporaryDirectory { path in
            // Under the name that the key has there.
            let name = Victim.file(EntryName(key))
            let files = ["format": StoreMarker.bytes(.file), name: try victim.bytes(of: "key 1")]
            try SealedFolder.write(files, to: path)
            let store = try SealedFolder.openFiles(path, nil)
            #expect(code { _ = try store.fetch(forKey: "key 1") } == .locked)
            #expect(code { _ = try store.remove(forKey: "key 1") } == .locked)
            #expect(try store.removeDamagedEntries() == 0)
            #expect(try SealedFolder.files(path)[name] == files[name])
        }
    }

    /// Bits of a stream that no CRC-32 notices.
    @Test func checksumsAreNotTrusted() throws {
        let victim = try Victim { store, victim in
            for number in 0..<3 {
                var generator = SeededGenerator(seed: number)
                try victim.save("key \(number)", generator.bytes(200_000), in: store)
            }
        }
        // The polynomial of CRC-32 itself, as its bits stand in bytes: it leaves each checksum as it is.
        let pattern: [UInt8] = [0x41, 0x06, 0x71, 0xDB, 0x01]
        var bytes = try victim.bytes(of: "key 1")
        for (index, byte) in pattern.enumerated() { bytes[2_000 + index] ^= byte }
        let former = try victim.bytes(of: "key 1")
        #expect(EntryFile.checksum(bytes) == EntryFile.checksum(former))
        let answers = try victim.answers([try #require(victim.entries["key 1"]): bytes]) { path in
            // With another first key, all are written again but this one, which is not made a sound one.
            let store = try SealedFolder.openFiles(path, .of(TrialKeys.two, TrialKeys.one))
            try store.compact()
            #expect(try SealedFolder.answer(store, "key 1") == .damaged)
            #expect(try SealedFolder.answer(store, "key 2") == .value(victim.values["key 2"] ?? []))
        }
        #expect(answers == nil)
        let again = try victim.answers([try #require(victim.entries["key 1"]): bytes])
        #expect(again?["key 1"] == .damaged && victim.hasAll(again, but: ["key 1"]))
    }

    /// A former file of a key in place of its later one, or all files: as with a backup, nothing tells.
    @Test func anEarlierStateMayComeBack() throws {
        var earlier: [UInt8] = []
        let victim = try Victim { store, victim in
            try victim.save("key", [1], in: store)
            let name = try store.current().names.name(of: StoreKey("key"))
            earlier = try readFile(store.path + "/" + Victim.file(name))
            try victim.save("key", [2], in: store)
            try victim.save("other", [3], in: store)
        }
        let answers = try victim.answers([try #require(victim.entries["key"]): earlier])
        #expect(answers == ["key": .value([1]), "other": .value([3])])
    }

    /// Random bytes in place of files, of all lengths: no trap.
    @Test func randomFilesAreDamage() throws {
        let victim = try smallVictim()
        let file = try #require(victim.entries["key 1"])
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<300 {
            var bytes = generator.bytes(Int.random(in: 0...300, using: &generator))
            if bytes.count > 60 {
                // With the right end, so that the fields before it are read.
                let seal = try victim.bytes(of: "key 1").suffix(14).prefix(6)
                bytes.replaceSubrange(bytes.count - 14..<bytes.count - 8, with: seal)
                bytes.replaceSubrange(bytes.count - 22..<bytes.count - 14, with: [0, 0, 0, 0, 0, 0, 0, 1])
                bytes[bytes.count - 11] = UInt8.random(in: 0...255, using: &generator)
                bytes = summed(bytes)
            }
            let answers = try victim.answers([file: bytes])
            #expect(answers?["key 1"] == .damaged && victim.hasAll(answers, but: ["key 1"]))
        }
    }
}
