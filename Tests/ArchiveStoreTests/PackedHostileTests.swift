import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// What a packed store makes of files that are no store's, or made to mislead it.
@Suite struct PackedHostileTests {
    private func withStore(_ body: (String, PackedDirectory) throws -> Void) throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let directory = try PackedDirectory(.fresh)
            try directory.write(to: parent + "/cache")
            try body(parent + "/cache", directory)
        }
    }

    /// No wrong value; and the store can be used.
    private func check(_ path: String, _ directory: PackedDirectory, isWhole: Bool = false, _ place: Comment) throws
    {
        let store = try PackedDirectory.open(path)
        let answers = try directory.answers(store, place)
        #expect(directory.wrong(answers, than: directory.values) == [], place)
        if isWhole { #expect(directory.differences(answers, from: directory.values) == [], place) }
        try store.save([7], forKey: "new", storedAt: .now, expiresAt: nil)
        #expect(try store.fetch(forKey: "new")?.archive == [7], place)
        #expect(try PackedDirectory.open(path).fetch(forKey: "new")?.archive == [7], place)
        store.finishUpkeep()
    }

    @Test func foreignFilesAreLeftAlone() throws {
        try withStore { path, directory in
            for name in ["1.segment", "00000001.SEGMENT", "00000000.segment", "ffffffff.segment", "x", "index~"] {
                try writeFile([1, 2, 3], path + "/" + name)
            }
            try check(path, directory, isWhole: true, "foreign files")
            #expect(try readFile(path + "/x") == [1, 2, 3])
        }
    }

    @Test(arguments: ["link", "directory", "pipe"], ["last", "next", "middle", "index"])
    func whatIsNoFileIsNotFollowed(kind: String, where position: String) throws {
        try withStore { path, directory in
            let segments = directory.segments
            let number = try #require(Segment.number(segments.last ?? ""))
            let name =
                switch position {
                case "last": segments.last ?? ""
                case "next": Segment.fileName(number + 1)
                case "middle": segments[segments.count / 2]
                default: "index"
                }
            let outside = path + "-outside"
            let file = path + "/" + name
            try? FileManager.default.removeItem(atPath: file)
            try writeFile(directory.files[segments[0]] ?? [], outside)
            switch kind {
            case "link": try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: outside)
            case "directory":
                try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
            default: try #require(mkfifo(file, 0o600) == 0)
            }
            let store = try PackedDirectory.open(path)
            let answers = try directory.answers(store, "\(kind) as \(position)")
            let isWhole = position == "next" || position == "index"
            let values = position == "last" ? directory.values(upTo: 0) : directory.values
            #expect(directory.wrong(answers, than: values) == [])
            if isWhole { #expect(directory.differences(answers, from: values) == []) }
            #expect(try readFile(outside) == directory.files[segments[0]])
            // What is in the way of the next segment may be told, but breaks nothing.
            if kind != "directory" {
                for round in 0..<40 {
                    try store.save(
                        [UInt8](repeating: 7, count: 100),
                        forKey: "new \(round)",
                        storedAt: .now,
                        expiresAt: nil
                    )
                }
                #expect(try store.fetch(forKey: "new 39") != nil)
            }
            #expect(try readFile(outside) == directory.files[segments[0]])
            store.finishUpkeep()
        }
    }

    @Test func gigabytesOfNothingAreLittleWork() throws {
        for name in ["last", "middle", "index"] {
            try withStore { path, directory in
                let segments = directory.segments
                let file =
                    name == "index" ? name : name == "last" ? segments.last ?? "" : segments[segments.count / 2]
                let handle = try #require(FileHandle(forWritingAtPath: path + "/" + file))
                try handle.truncate(atOffset: 1 << 30)
                try handle.close()
                try check(path, directory, isWhole: name != "middle", "\(name)")
            }
        }
    }

    @Test func magicsAreNoRecords() throws {
        try withStore { path, directory in
            let magic: [UInt8] = [0x54, 0x43, 0x50, 0x52]
            let garbage = Array(repeatElement(magic, count: 1 << 13).joined())
            for name in directory.segments.prefix(2) + directory.segments.suffix(2) {
                let bytes = directory.files[name] ?? []
                try directory.write(to: path, changing: name, to: bytes + garbage)
                try check(path, directory, "\(name) and magics")
                try directory.write(to: path, changing: name, to: garbage)
                try check(path, directory, "magics for \(name)")
            }
        }
    }

    /// A slot with one field changed to anything.
    private static func lie(_ slot: IndexSlot, using random: inout SeededGenerator) -> IndexSlot {
        var (digest, place, byteCount) = (slot.digest, slot.place, slot.byteCount)
        var (deadline, isTagged) = (slot.deadline, slot.isTagged)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: digest = KeyDigest(high: digest.high ^ .random(in: 0..<1 << 40, using: &random), low: digest.low)
        case 1:
            let check: UInt64 = .random(in: 0..<1 << KeyDigest.checkBitCount, using: &random)
            digest = KeyDigest(high: digest.high, low: check)
        case 2:
            let segment: UInt32 = .random(in: 0...Segment.largestNumber, using: &random)
            place = RecordPlace(segment: segment, offset: place.offset)
        case 3: place = RecordPlace(segment: place.segment, offset: .random(in: 0...(.max), using: &random))
        case 4: byteCount = .random(in: 1...(.max), using: &random)
        default: (deadline, isTagged) = (.random(in: 0...(.max), using: &random), !isTagged)
        }
        return IndexSlot(digest, place: place, byteCount: Int(byteCount), deadline: deadline, isTagged: isTagged)
    }

    /// Slots with the right checksums that point anywhere.
    @Test(arguments: 0..<8) func aSnapshotThatLiesHidesAndShowsNothingElse(seed: Int) throws {
        try withStore { path, directory in
            var random = SeededGenerator(seed: seed)
            var bytes = try #require(directory.files["index"])
            func store(_ number: UInt32, at offset: Int) {
                for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte)) }
            }
            func word(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
            let start = 32 + 12 * 256
            var offset = start
            var parts: [UInt8] = []
            for part in 0..<256 {
                let head = 32 + part * 12
                let end = offset + word(head + 4)
                var slots: [IndexSlot] = []
                var decoder = IndexPart.Decoder(part: part)
                #expect(decoder.read(Array(bytes[offset..<end]), isLast: true) { slots.append($0) })
                offset = end
                let lying = slots.map { Bool.random(using: &random) ? Self.lie($0, using: &random) : $0 }
                var written = IndexPart.bytes(of: lying.sorted { $0.place < $1.place })
                // Bytes that may be no slots.
                if seed >= 4, !written.isEmpty, Bool.random(using: &random) {
                    written[Int.random(in: written.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                store(UInt32(written.count), at: head + 4)
                store(written.withUnsafeBytes { Zlib.crc32($0) }, at: head + 8)
                parts += written
            }
            bytes = bytes[..<start] + parts
            if seed % 2 == 1 {
                // More bytes than there are.
                store(.max, at: 32 + Int.random(in: 0..<256, using: &random) * 12 + 4)
            } else if seed % 4 == 2 {
                // More slots than the bytes have.
                store(.max, at: 32 + Int.random(in: 0..<256, using: &random) * 12)
            }
            store(bytes[8..<start].withUnsafeBytes { Zlib.crc32($0) }, at: 4)
            try directory.write(to: path, changing: "index", to: bytes)
            try check(path, directory, isWhole: seed % 2 == 1, "seed \(seed)")
            let opened = try PackedDirectory.open(path)
            #expect(try opened.removeDamagedEntries() >= 0)
            #expect(try opened.compact() >= 0)
            try opened.trim(toByteCount: 2_000) { _ in }
            opened.finishUpkeep()
        }
    }
}
