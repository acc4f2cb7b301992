import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The bytes of records.
@Suite struct RecordFormatTests {
    private static let logSeed: UInt32 = 77
    private let logSeed = Self.logSeed
    private let form = RecordForm(seed: Self.logSeed)

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
        var bytes = bytes
        return try Record(verifying: &bytes, at: place, in: RecordForm(seed: Self.logSeed)) {
            $0.hasSoundPayload($1, dictionary: dictionary)
        }
    }

    /// A record of any lengths reads back as it was written; each changed bit, missing byte, wrong place and other log is
    /// noticed.
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
            isSealed: false,
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
        let expected = draft.byteCount
        // A record that could not be appended at one place gets another one.
        let former = RecordPlace(segment: 10, offset: 44)
        draft.setPlace(former, in: form, previous: PreviousRecord(byteCount: 1 << 24 - 1, hash: 1 << 48 - 1))
        draft.setPlace(place, in: form, previous: previous)
        let bytes = Self.bytes(of: draft)
        #expect(bytes.count == expected)

        let record = try Self.verified(bytes, at: place)
        #expect(record.kind == .entry && record.byteCount == bytes.count)
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
        }
        let length = Int.random(in: 0..<bytes.count, using: &random)
        #expect(throws: RecordFault.incomplete) { try Self.verified(Array(bytes[..<length]), at: place) }
        let other = RecordPlace(segment: place.segment + 1, offset: place.offset)
        #expect(throws: RecordFault.damaged) { try Record(head: bytes, at: other, in: form) }
        let otherLog = RecordForm(seed: logSeed + 1)
        #expect(throws: RecordFault.damaged) { try Record(head: bytes, at: place, in: otherLog) }

        // Bytes that were damaged stay so where the record is moved to.
        if !payload.isEmpty {
            var damaged = bytes
            damaged[record.headByteCount + payload.count / 2] ^= 1
            var moved = try RecordDraft(moving: record, bytes: damaged, hash: 5, isSealed: false)
            moved.setPlace(place, in: form, previous: previous)
            #expect(throws: RecordFault.damaged) { try Self.verified(Self.bytes(of: moved), at: place) }
            #expect(try Record(head: Self.bytes(of: moved), at: place, in: form).serial == record.serial)
        }
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
                ByteWriter(bytes).store(Record.checksum(part, at: place, seed: logSeed), at: 2)
            }
            if let record = try? Self.verified(bytes, at: place) { #expect(record.byteCount == bytes.count) }
            _ = try? Record(head: bytes, at: place, in: form)
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
            RecordDraft.removal(key: [1, 2, 3], hash: 9, isSealed: false), .loss(hash: 1 << 40, isSealed: false),
            .floor(12, isSealed: false), .seal(isSealed: false),
        ]
        let kinds: [Record.Kind] = [.removal, .loss, .floor, .seal]
        let serials = [place.serial, 1 << 40, 12, place.serial]
        for index in drafts.indices {
            drafts[index].setPlace(place, in: form, previous: nil)
            let bytes = Self.bytes(of: drafts[index])
            let record = try Self.verified(bytes, at: place)
            #expect(record.kind == kinds[index] && record.serial == serials[index])
            #expect(bytes.count <= Record.largestFieldsByteCount + record.key.count)
            #expect(bytes.count >= Record.leastByteCount)
            if kinds[index] == .seal { #expect(bytes.count == Record.leastByteCount) }
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
            isSealed: false,
            attributes: Self.attributes(using: &random),
            archive: archive,
            dictionary: dictionary,
            compression: .automatic
        )
        draft.setPlace(place, in: form, previous: nil)
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
        var moved = try RecordDraft(moving: record, bytes: bytes, hash: 1, isSealed: false)
        moved.setPlace(place, in: form, previous: nil)
        let again = try Self.verified(Self.bytes(of: moved), at: place, dictionary: dictionary.identifier)
        #expect(again.isBare && again.serial == place.serial)
    }
}
