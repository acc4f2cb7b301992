import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The bytes of records, in the present format and in the former one.
@Suite struct RecordFormatTests {
    private static func attributes(using random: inout SeededGenerator) -> EntryAttributes {
        func date() -> Date {
            let seconds = Double.random(in: -1e10...1e10, using: &random)
            return Date(timeIntervalSinceReferenceDate: Bool.random(using: &random) ? seconds : seconds.rounded())
        }
        var attributes = EntryAttributes(storedAt: date())
        if Bool.random(using: &random) {
            attributes.expiresAt = date()
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            attributes.tags = (0..<Int.random(in: 1...20, using: &random)).map { "tag \($0)" }.sorted()
        }
        return attributes
    }

    private static func bytes(of draft: RecordDraft) -> [UInt8] {
        var bytes: [UInt8] = []
        draft.content.forEachPiece { bytes += $0 }
        return bytes
    }

    private static func verified(
        _ bytes: [UInt8],
        at place: RecordPlace,
        dictionary: UInt32? = nil
    ) throws(RecordFault) -> Record {
        try Record(verifying: bytes, at: place) { $0.hasSoundPayload(bytes, dictionary: dictionary) }
    }

    /// In the longest head, too, a flipped bit is found wherever it is.
    @Test func aLongHeadIsRepaired() throws {
        var random = SeededGenerator(seed: 1)
        let key = random.bytes(StoreKey.largestByteCount)
        var attributes = EntryAttributes(storedAt: .distantPast)
        attributes.tags = (0..<100).map { "a tag that is \($0 + 100)" }.sorted()
        var draft = try RecordDraft.entry(
            key: key,
            hash: 5,
            attributes: attributes,
            archiveByteCount: 1,
            payloadBound: 9
        ) { _ in
            .init(isBare: false, byteCount: 9)
        }
        let place = RecordPlace(segment: 1, offset: 100)
        draft.setPlace(place, isFirst: false, previous: nil)
        let bytes = Self.bytes(of: draft)
        try #require(bytes.count > 2_500)
        for byte in [2, 16, 18, 30, 1_000, 1_200, bytes.count - 10] {
            var changed = bytes
            changed[byte] ^= 2
            var patience = 0
            #expect(Record(repairing: changed, at: place, patience: &patience)?.key == key, "byte \(byte)")
        }
    }

    /// A record of any lengths reads back as it was written; each changed bit, missing byte and wrong place is noticed;
    /// and a flipped bit of the head is found.
    @Test(arguments: seeds(0..<60)) func recordsComeBack(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let key = random.bytes([1, 7, 127, 128, 1_024].randomElement(using: &random) ?? 1)
        let attributes = Self.attributes(using: &random)
        let lengths = [0, 1, 127, 128, 600, 16_383, 16_384, 70_000]
        let payload = random.bytes(lengths.randomElement(using: &random) ?? 0)
        let serial: UInt64? = Bool.random(using: &random) ? nil : .random(in: 0...(.max), using: &random)
        let archiveByteCount = Int(UInt32.random(in: 0...(.max), using: &random))
        var draft = try RecordDraft.entry(
            key: key,
            hash: 5,
            serial: serial,
            attributes: attributes,
            archiveByteCount: archiveByteCount,
            payloadBound: payload.count + .random(in: 0...300, using: &random)
        ) { output in
            output.copyBytes(from: payload)
            return .init(isBare: false, byteCount: payload.count)
        }
        let place = RecordPlace(
            segment: .random(in: 1...9, using: &random),
            offset: .random(in: 0...(.max), using: &random)
        )
        let previous = PreviousRecord(
            byteCount: .random(in: 0...(1 << 26), using: &random),
            hash: KeyDigest.shortened(hash: .random(in: 0...(.max), using: &random))
        )
        let isFirst = Bool.random(using: &random)
        let expected = draft.byteCount
        // A record that could not be appended at one place gets another one.
        let former = RecordPlace(segment: 10, offset: 44)
        draft.setPlace(former, isFirst: true, previous: PreviousRecord(byteCount: 1 << 24 - 1, hash: 1 << 48 - 1))
        draft.setPlace(place, isFirst: isFirst, previous: previous)
        let bytes = Self.bytes(of: draft)
        #expect(bytes.count == expected)

        let record = try Self.verified(bytes, at: place)
        #expect(record.kind == .entry && record.isFirst == isFirst && record.byteCount == bytes.count)
        #expect(record.key == key && record.attributes == attributes)
        #expect(record.archiveByteCount == archiveByteCount && record.payloadByteCount == payload.count)
        #expect(Array(bytes[record.headByteCount...]) == payload)
        #expect(record.serial == serial ?? place.serial && record.serial == draft.serial(at: place))
        #expect(record.previousHash == previous.hash && record.comesAfter(byteCount: previous.byteCount))
        #expect(!record.comesAfter(byteCount: previous.byteCount + 1))

        for _ in 0..<60 {
            var changed = bytes
            let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: RecordFault.self, "bit \(bit)") { try Self.verified(changed, at: place) }
            guard bit / 8 < record.headByteCount else { continue }
            var patience = 0
            #expect(Record(repairing: changed, at: place, patience: &patience)?.key == key, "bit \(bit)")
        }
        let length = Int.random(in: 0..<bytes.count, using: &random)
        #expect(throws: RecordFault.incomplete) { try Self.verified(Array(bytes[..<length]), at: place) }
        let other = RecordPlace(segment: place.segment + 1, offset: place.offset)
        #expect(throws: RecordFault.damaged) { try Record(head: bytes, at: other) }

        // Bytes that were damaged stay so where the record is moved to.
        if !payload.isEmpty {
            var damaged = bytes
            damaged[record.headByteCount + payload.count / 2] ^= 1
            var moved = try RecordDraft(moving: record, bytes: damaged, hash: 5)
            moved.setPlace(place, isFirst: isFirst, previous: previous)
            #expect(throws: RecordFault.damaged) { try Self.verified(Self.bytes(of: moved), at: place) }
            #expect(try Record(head: Self.bytes(of: moved), at: place).serial == record.serial)
        }

        let head = record.headAsRemoval(bytes, at: place)
        let removed = try Self.verified(head + bytes[head.count...], at: place)
        #expect(removed.kind == .removal && removed.key == key && removed.byteCount == bytes.count)
        #expect(removed.isFirst == isFirst && removed.previousHash == previous.hash)
    }

    /// Any bytes are a record or none: nothing traps, and no length is taken for more than there is.
    @Test(arguments: seeds(0..<20)) func anyBytesAreARecordOrNone(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let place = RecordPlace(segment: 1, offset: 0)
        for _ in 0..<2_000 {
            var bytes = random.bytes(.random(in: 0...120, using: &random))
            if bytes.count > 7 {
                bytes.replaceSubrange(0..<2, with: [0xF5, 0x32])
                if Bool.random(using: &random) { bytes[6] = .random(in: 0...127, using: &random) }
            }
            // With the right checksum, wherever the head may end.
            bytes.withUnsafeMutableBytes { bytes in
                let head = try? RecordHead(UnsafeRawBufferPointer(bytes), at: place)
                guard let head, head.byteCount <= bytes.count else { return }
                let part = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<head.byteCount])
                ByteWriter(bytes).store(Record.checksum(part, at: place), at: 2)
            }
            if let record = try? Self.verified(bytes, at: place) { #expect(record.byteCount == bytes.count) }
            _ = try? Record(head: bytes, at: place)
        }
    }

    /// Times are rounded down by less than a step, and then take 5 bytes; any other time stays as it is.
    @Test func timesAreInSteps() {
        for seconds in [0, 0.1, 1, 700_000_000.123, 4_278_190_079.99] {
            let rounded = RecordTime.rounded(Date(timeIntervalSinceReferenceDate: seconds))
            let difference = seconds - rounded.timeIntervalSinceReferenceDate
            #expect(difference >= 0 && difference < 1 / 256)
            #expect(RecordTime.rounded(rounded) == rounded)
            #expect(RecordTime.byteCount(of: rounded.timeIntervalSinceReferenceDate) == 5)
        }
        for seconds in [-1, -1e300, 4_278_190_080, 1e300, .infinity, -.infinity] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(RecordTime.rounded(date) == date && RecordTime.byteCount(of: seconds) == 9)
        }
    }

    /// The other kinds, with their serials; a seal has the least bytes.
    @Test func otherKinds() throws {
        let place = RecordPlace(segment: 3, offset: 700)
        var drafts = [
            RecordDraft.removal(key: [1, 2, 3], hash: 9), .loss(hash: 1 << 40), .floor(12), .seal,
        ]
        let kinds: [Record.Kind] = [.removal, .loss, .floor, .seal]
        let serials = [place.serial, 1 << 40, 12, place.serial]
        for index in drafts.indices {
            drafts[index].setPlace(place, isFirst: false, previous: nil)
            let bytes = Self.bytes(of: drafts[index])
            let record = try Self.verified(bytes, at: place)
            #expect(record.kind == kinds[index] && record.serial == serials[index])
            #expect(bytes.count <= Record.largestFieldsByteCount + record.key.count)
            #expect(bytes.count >= Record.leastByteCount)
            #expect(Record.isNearlySeal(bytes) == (kinds[index] == .seal))
            guard kinds[index] == .seal else { continue }
            #expect(bytes.count == Record.leastByteCount)
            for byte in bytes.indices {
                var changed = bytes
                changed[byte] ^= 0xff
                #expect(Record.isNearlySeal(changed))
            }
        }
    }

    /// A stream with the segment's dictionary is kept without header and trailer, and is checked with the dictionary's
    /// name: with another one it is damaged.
    @Test(arguments: seeds(0..<20)) func bareStreamsComeBack(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let archives = AlikeArchives.make(count: 40, seed: seed)
        let dictionary = PresetDictionary(Array(archives.dropFirst().joined().prefix(4_000)))
        let archive = archives[0]
        let place = RecordPlace(segment: 1, offset: 100)
        var draft = try RecordDraft.entry(
            key: Array("key".utf8),
            hash: 1,
            attributes: Self.attributes(using: &random),
            archive: archive,
            dictionary: dictionary,
            compression: .automatic
        )
        draft.setPlace(place, isFirst: false, previous: nil)
        let bytes = Self.bytes(of: draft)
        let record = try Self.verified(bytes, at: place, dictionary: dictionary.identifier)
        #expect(record.isBare && record.archiveByteCount == archive.count)
        let bare = bytes[record.headByteCount...]
        let stream = dictionary.stream(ofBare: bare, content: archive)
        #expect(stream.count == dictionary.deflate(archive).count && stream.count == bare.count + 10)
        #expect(try dictionary.inflate(stream, expecting: archive.count) == archive)
        for other in [dictionary.identifier ^ 1, nil] {
            #expect(throws: RecordFault.damaged) { try Self.verified(bytes, at: place, dictionary: other) }
        }
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            #expect(throws: RecordFault.self) {
                try Self.verified(changed, at: place, dictionary: dictionary.identifier)
            }
        }
        var moved = try RecordDraft(moving: record, bytes: bytes, hash: 1)
        moved.setPlace(place, isFirst: false, previous: nil)
        let again = try Self.verified(Self.bytes(of: moved), at: place, dictionary: dictionary.identifier)
        #expect(again.isBare && again.serial == place.serial)
    }

    // MARK: The former format

    /// The bytes of a record of the former format, written by its description alone.
    private static func former(
        _ kind: UInt8,
        key: [UInt8],
        payload: [UInt8],
        archiveByteCount: Int,
        at place: RecordPlace,
        previous: (byteCount: Int, hash: UInt64),
        serial: UInt64
    ) -> [UInt8] {
        var rest: [UInt8] = []
        rest.append(bigEndian: payload.withUnsafeBytes { Zlib.crc32($0) })
        rest += [kind, place.offset == 36 ? 1 : 0]
        rest.append(bigEndian: UInt16(key.count))
        rest.append(bigEndian: UInt32(0))
        rest.append(bigEndian: UInt32(payload.count))
        rest.append(bigEndian: UInt32(archiveByteCount))
        rest.append(bigEndian: UInt32(previous.byteCount))
        rest.append(bigEndian: previous.hash)
        rest.append(bigEndian: serial)
        rest.append(bigEndian: 100.0.bitPattern)
        rest.append(bigEndian: Double.infinity.bitPattern)
        rest += key
        var salt: [UInt8] = []
        salt.append(bigEndian: place.segment)
        salt.append(bigEndian: place.offset)
        let checked = salt + rest
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt32(0x5443_5052))
        bytes.append(bigEndian: checked.withUnsafeBytes { Zlib.crc32($0) })
        return bytes + rest + payload
    }

    /// A segment of the former format is read, its losses are noticed, and compacting rewrites it.
    @Test func theFormerFormatIsRead() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            do { try PackedStore(directory: path, create: true).save([0], forKey: "old") }
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "format" {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
            var segment = SegmentHeader.bytes(number: 1, begunAt: 0, dictionary: nil)
            var previous: (byteCount: Int, hash: UInt64) = (0, 0)
            var serial: UInt64 = 1
            func add(kind: UInt8, _ key: String, _ archive: [UInt8]?) {
                var payload: [UInt8] = []
                if let archive {
                    payload = [UInt8](repeating: 0, count: StoredBlocks.byteCount(for: archive.count))
                    payload.withUnsafeMutableBytes { output in
                        archive.withUnsafeBytes { _ = StoredBlocks.write($0, into: output) }
                    }
                }
                let bytes = Self.former(
                    kind,
                    key: Array(key.utf8),
                    payload: payload,
                    archiveByteCount: archive?.count ?? 0,
                    at: RecordPlace(segment: 1, offset: UInt32(segment.count)),
                    previous: previous,
                    serial: serial
                )
                segment += bytes
                // All 64 bits of the hash, as they were written.
                previous = (bytes.count, kind == 4 ? 0 : KeyDigest(hashing: key).high)
                serial += 1
            }
            add(kind: 1, "one", [1])
            add(kind: 1, "two", [2])
            add(kind: 1, "one", [3])
            let damaged = segment.count + 70
            add(kind: 1, "two", [4])
            add(kind: 1, "three", [5])
            add(kind: 2, "one", nil)
            add(kind: 1, "four", [6])
            let file = path + "/" + Segment.fileName(1)
            try writeFile(segment, file)
            func values() throws -> [String: [UInt8]] {
                let store = try PackedStore(directory: path, create: false)
                defer { store.finishUpkeep() }
                var values: [String: [UInt8]] = [:]
                for key in ["one", "two", "three", "four", "new"] {
                    do { values[key] = try store.fetch(forKey: key)?.archive } catch { values[key] = [255] }
                }
                return values
            }
            let expected: [String: [UInt8]] = ["two": [4], "three": [5], "four": [6]]
            #expect(try values() == expected)

            // A new index takes the damaged record's key from its successor.
            try? FileManager.default.removeItem(atPath: path + "/index")
            segment[damaged] ^= 0xff
            try writeFile(segment, file)
            #expect(try values() == ["two": [255], "three": [5], "four": [6]])
            try? FileManager.default.removeItem(atPath: path + "/index")
            segment[damaged] ^= 0xff
            try writeFile(segment, file)

            do {
                let store = try PackedStore(directory: path, create: false)
                try store.save([7], forKey: "new")
                try store.compact()
                store.finishUpkeep()
                try store.close()
            }
            let former: [UInt8] = [0x54, 0x43, 0x50, 0x52]
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".segment") {
                let bytes = try readFile(path + "/" + name)
                #expect(!bytes.indices.dropLast(3).contains { Array(bytes[$0..<($0 + 4)]) == former }, "\(name)")
            }
            #expect(try values() == expected.merging(["new": [7]]) { $1 })
        }
    }
}
