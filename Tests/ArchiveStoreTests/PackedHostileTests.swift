import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A packed store with foreign files, or with files that were made to mislead it.
@Suite struct PackedHostileTests {
    private func withStore(_ body: (String, PackedDirectory) throws -> Void) throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let directory = try PackedDirectory(.fresh)
            try directory.write(to: parent + "/cache")
            try body(parent + "/cache", directory)
        }
    }

    /// No wrong value; and the store can be used.
    private func check(_ path: String, against directory: PackedDirectory, isWhole: Bool = false, _ place: Comment)
        throws
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
            try check(path, against: directory, isWhole: true, "foreign files")
            #expect(try readFile(path + "/x") == [1, 2, 3])
        }
    }

    /// It is taken out of the way where its name is needed.
    @Test(arguments: ["link", "directory", "full directory", "pipe"], ["last", "next", "middle", "index"])
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
            case "directory", "full directory":
                try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
                if kind == "full directory" { try writeFile([1, 2, 3], file + "/kept") }
            default: try #require(mkfifo(file, 0o600) == 0)
            }
            let store = try PackedDirectory.open(path)
            let answers = try directory.answers(store, "\(kind) as \(position)")
            let isWhole = position == "next" || position == "index"
            let values = position == "last" ? directory.values(upTo: 0) : directory.values
            #expect(directory.wrong(answers, than: values) == [])
            if isWhole { #expect(directory.differences(answers, from: values) == []) }
            #expect(try readFile(outside) == directory.files[segments[0]])
            for round in 0..<40 {
                try store.save(
                    [UInt8](repeating: 7, count: 100),
                    forKey: "new \(round)",
                    storedAt: .now,
                    expiresAt: nil
                )
            }
            for store in [store, try PackedDirectory.open(path)] {
                #expect(try store.fetch(forKey: "new 39") != nil)
            }
            store.finishUpkeep()
            try store.current.snapshots.write()
            try store.close()
            #expect(try readFile(outside) == directory.files[segments[0]])
            #expect(
                try FileManager.default.attributesOfItem(atPath: path + "/index")[.type] as? FileAttributeType
                    == .typeRegular
            )
            let asides = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".aside") }
            #expect(asides.count == (kind == "full directory" ? 1 : 0))
            for aside in asides {
                #expect(aside.hasPrefix(name + "."))
                #expect(try readFile(path + "/" + aside + "/kept") == [1, 2, 3])
            }
        }
    }

    /// No store writes a floor above the segment that it is in: everything that is saved there would be dropped.
    @Test func aFloorAboveItsSegmentIsLeftOut() throws {
        try withStore { path, directory in
            let store = try PackedDirectory.open(path)
            for number in [UInt32(directory.segments.count + 5), Segment.largestNumber, .max] {
                try store.current.lock.withExclusiveLog { state throws(StoreError) in
                    try state.log.appendFloor(number)
                }
            }
            store.finishUpkeep()
            try check(path, against: directory, isWhole: true, "floors")
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
                try check(path, against: directory, isWhole: name != "middle", "\(name)")
            }
        }
    }

    /// A segment with a hole in place of its last records, and no snapshot: it is searched for records to its end.
    @Test(arguments: ["last", "middle"]) func holesAreNotRead(where position: String) throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let directory = try PackedDirectory(.none)
            let segments = directory.segments
            let name = position == "last" ? try #require(segments.last) : segments[segments.count / 2]
            let bytes = try #require(directory.files[name])
            let values = position == "last" ? directory.values(upTo: bytes.count / 2) : directory.values
            try directory.write(to: path, changing: name, to: Array(bytes.prefix(bytes.count / 2)))
            let handle = try #require(FileHandle(forWritingAtPath: path + "/" + name))
            try handle.truncate(atOffset: 1 << 30)
            try handle.close()
            let faulty = FaultyLayer()
            let calls = try faulty.planning(.nothing) {
                let settings = PackedDirectory.settings
                let store = try PackedStore(directory: path, create: true, settings: settings, layer: faulty.layer)
                {
                    KeyDigest(hashing: $0)
                }
                let answers = try directory.answers(store, "\(position)")
                #expect(directory.wrong(answers, than: values) == [])
                // Gives the segment up.
                try store.save([7], forKey: "new")
                try store.compact()
                store.finishUpkeep()
                #expect(try store.fetch(forKey: "new")?.archive == [7])
            }
            let readCount = calls.count { $0.operation == .read && $0.name == name }
            #expect(readCount < 400, "\(readCount) of 4,096")
        }
    }

    /// The length of a record is not trusted: the head alone is read of one that no archive within the limit has.
    @Test func aRecordAboveTheLimitIsNotRead() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            var random = SeededGenerator(seed: 1)
            let large = random.bytes(4 << 20)
            let unlimited = try PackedStore(directory: path, create: true)
            try unlimited.save(large, forKey: "large")
            for byte: UInt8 in 0..<10 { try unlimited.save([byte], forKey: "small") }
            let faulty = FaultyLayer()
            var settings = StoreSettings()
            settings.maximumArchiveByteCount = 1_000
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                KeyDigest(hashing: $0)
            }
            // Each call reads a block at most.
            func readCount(_ body: () throws -> Void) rethrows -> Int {
                try faulty.planning(.from(0, .shorten(4_096)), body).count { $0.operation == .read }
            }
            let whole = large.count / 4_096
            let fetching = try readCount {
                let error = #expect(throws: StoreError.self) { try store.fetch(forKey: "large") }
                #expect(error?.code == .tooLarge && error?.reason.contains("1000") == true)
                #expect(code { try store.information(forKey: "large") } == .tooLarge)
                #expect(code { try store.peek(forKey: "large") } == .tooLarge)
                #expect(code { try store.fetchStream(forKey: "large") } == .tooLarge)
                #expect(store.fetch(forKeys: ["large", "small"]).map(\.failureCode) == [.tooLarge, nil])
                #expect(try store.removeDamagedEntries() == 0)
                // It is listed, and others are.
                var listed: [StoreError.Code?] = []
                try store.forEachEntry { entry in
                    listed.append(entry.failureCode)
                    return true
                }
                #expect(Set(listed) == [.tooLarge, nil] && listed.count == 2)
            }
            #expect(fetching < whole / 4)
            #expect(try unlimited.fetch(forKey: "large")?.archive == large)
            // It goes with its segment, as an entry that is damaged does.
            let compacting = try readCount { try store.compact() }
            #expect(compacting < whole / 4)
            for store in [store, unlimited] {
                #expect(try store.fetch(forKey: "large") == nil)
                #expect(try store.fetch(forKey: "small")?.archive == [9])
            }
        }
    }

    @Test func magicsAreNoRecords() throws {
        try withStore { path, directory in
            // With lengths that a head may have.
            let removal: [UInt8] = [0xf5, 0x32, 0, 0, 0, 0, 2] + [UInt8](repeating: 0, count: 9) + [1, 0x6b]
            for count in [1 << 7, 1 << 12] {
                let garbage = Array(repeatElement(removal, count: count).joined())
                for name in directory.segments.prefix(2) + directory.segments.suffix(2) {
                    let bytes = directory.files[name] ?? []
                    try directory.write(to: path, changing: name, to: bytes + garbage)
                    try check(path, against: directory, "\(name) and \(count)")
                    try directory.write(to: path, changing: name, to: garbage)
                    try check(path, against: directory, "\(count) for \(name)")
                }
            }
        }
    }

    /// Headers with the right checksums that say anything of the segments before them: the store is opened, and can be used.
    @Test(arguments: seeds(0..<10)) func headersThatLie(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let directory = try PackedDirectory(.none)
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for name in directory.segments.shuffled(using: &random).prefix(4) {
                var bytes = try #require(directory.files[name])
                let number = try #require(Segment.number(name))
                let byteCount = try SegmentHeader(bytes, number: number).byteCount
                // The identity, the boot, the predecessor's end, and the first segment.
                for place in 20..<44 where Bool.random(using: &random) {
                    bytes[place] = [0, 1, 0xff].randomElement(using: &random) ?? 0
                }
                let checksum = bytes[8..<byteCount].withUnsafeBytes { Zlib.crc32($0) }
                bytes.withUnsafeMutableBytes { ByteWriter($0).store(checksum, at: 4) }
                try directory.write(to: path, changing: name, to: bytes)
                for round in 0..<2 {
                    let store = try PackedDirectory.open(path)
                    try store.save([1], forKey: "new \(round)")
                    #expect(try store.fetch(forKey: "new \(round)")?.archive == [1])
                    _ = try store.statistics()
                    try store.close()
                }
                #expect(try PackedDirectory.open(path).fetch(forKey: "new 0")?.archive == [1])
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
            var index = RewrittenIndex(try #require(directory.files["index"]))
            index.changeParts { slots in
                let lying = slots.map { Bool.random(using: &random) ? Self.lie($0, using: &random) : $0 }
                var written = IndexPart.bytes(of: lying.sorted { $0.place < $1.place })
                // Bytes that may be no slots.
                if seed >= 4, !written.isEmpty, Bool.random(using: &random) {
                    written[Int.random(in: written.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                return (written, slots.count)
            }
            if seed % 2 == 1 {
                // More bytes than there are.
                index.store(.max, at: 40 + Int.random(in: 0..<256, using: &random) * 12 + 4)
            } else if seed % 4 == 2 {
                // More slots than the bytes have.
                index.store(.max, at: 40 + Int.random(in: 0..<256, using: &random) * 12)
            }
            try directory.write(to: path, changing: "index", to: index.sealed())
            try check(path, against: directory, isWhole: seed % 2 == 1, "seed \(seed)")
            let opened = try PackedDirectory.open(path)
            #expect(try opened.removeDamagedEntries() >= 0)
            #expect(try opened.compact() >= 0)
            try opened.trim(toByteCount: 2_000) { _ in }
            opened.finishUpkeep()
        }
    }

    /// Slots that come twice, the second time not in the order of their places, are entries that are there once.
    @Test func aSnapshotOutOfOrderListsEachEntryOnce() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let keys = (0..<900).map { "key \($0)" }
            do {
                let store = try PackedStore(directory: path, create: true)
                for key in keys { try store.save([1, 2, 3], forKey: key, storedAt: .now, expiresAt: nil) }
                store.finishUpkeep()
                try store.close()
            }
            var index = RewrittenIndex(try readFile(path + "/index"))
            var doubled = 0
            index.changeParts { slots in
                let written = IndexPart.bytes(of: slots)
                guard slots.count > 1, let first = slots.first,
                    slots.allSatisfy({ $0.place.segment == first.place.segment })
                else { return (written, slots.count) }
                doubled += 1
                // After its length and flags, the first slot has the segment's distance from the one before.
                var again = written
                again[VariableLength.byteCount(of: Int(first.byteCount) << 5)] = 0
                return (written + again, 2 * slots.count)
            }
            #expect(doubled > 100)
            try writeFile(index.sealed(), path + "/index")
            let store = try PackedStore(directory: path, create: true)
            var found: [String] = []
            try store.forEachEntry { entry in
                found.append((try? entry.get().key) ?? "damaged")
                return true
            }
            #expect(found.sorted() == keys.sorted())
            for key in keys { #expect(try store.fetch(forKey: key)?.archive == [1, 2, 3]) }
        }
    }
}

/// The bytes of an index with changed parts and new checksums to match.
private struct RewrittenIndex {
    private var bytes: [UInt8]
    private static let directory = 40

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func store(_ number: UInt32, at offset: Int) {
        for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * byte)) }
    }

    private func word(_ offset: Int) -> Int { bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }

    /// The bytes before the first part: the fixed ones, the directory, and the dictionaries.
    private var headerByteCount: Int {
        let dictionaryCount = Int(bytes[10]) << 8 | Int(bytes[11])
        return (0..<dictionaryCount).reduce(Self.directory + 12 * 256) { end, _ in end + 8 + word(end + 4) }
    }

    /// Replaces the slots of each part by the bytes and the count that `change` gives for them.
    mutating func changeParts(_ change: ([IndexSlot]) -> (bytes: [UInt8], count: Int)) {
        let header = headerByteCount
        var offset = header
        var parts: [UInt8] = []
        for part in 0..<256 {
            let head = Self.directory + part * 12
            let end = offset + word(head + 4)
            var slots: [IndexSlot] = []
            var decoder = IndexPart.Decoder(part: part)
            #expect(decoder.read(Array(bytes[offset..<end]), isLast: true) { slots.append($0) })
            offset = end
            let new = change(slots)
            store(UInt32(new.count), at: head)
            store(UInt32(new.bytes.count), at: head + 4)
            store(new.bytes.withUnsafeBytes { Zlib.crc32($0) }, at: head + 8)
            parts += new.bytes
        }
        bytes = bytes[..<header] + parts
    }

    /// All of it, with the checksum of the header.
    mutating func sealed() -> [UInt8] {
        store(bytes[8..<headerByteCount].withUnsafeBytes { Zlib.crc32($0) }, at: 4)
        return bytes
    }
}
