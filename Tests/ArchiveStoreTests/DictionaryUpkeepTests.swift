import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The dictionaries that a packed store makes of its entries.
@Suite struct DictionaryUpkeepTests {
    private static func save(_ archives: [[UInt8]], prefix: String, in store: PackedStore) {
        for start in stride(from: 0, to: archives.count, by: 250) {
            let batch = archives[start..<min(archives.count, start + 250)].enumerated().map { index, archive in
                let attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: 1))
                return NewArchive(key: "\(prefix) \(start + index)", archive: archive, attributes: attributes)
            }
            _ = store.save(batch)
            store.finishUpkeep()
        }
    }

    /// Of one call that saves many entries, those before the first dictionary are few.
    @Test func theFirstDictionaryComesEarly() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true)
            let archives = AlikeArchives.make(count: 2_000, seed: 1)
            Self.save(Array(archives[..<250]), prefix: "a", in: store)
            try #require(store.current.tail.dictionary != nil)
            let without = try (0..<250).count { number in
                let stream = try #require(try store.fetchStream(forKey: "a \(number)")).stream
                return stream[stream.startIndex + 1] & 0x20 == 0
            }
            #expect(without <= 64)
        }
    }

    /// A trim leaves as many entries as have room beside a few headers, which hold the dictionary deflated.
    @Test(arguments: [48, 24, 16, 8])
    func aTrimReservesNoMoreThanTheHeadersTake(kibibytes: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true)
            Self.save(AlikeArchives.make(count: 1_000, seed: 1), prefix: "a", in: store)
            let dictionary = try #require(store.current.tail.dictionary)
            let limit = kibibytes << 10
            try store.trim(toByteCount: limit) { _ in }
            let byteCount = try store.current.space.byteCount()
            #expect(byteCount <= limit)
            let overhead = SegmentHeader.byteCount(with: dictionary) + 2 * Record.largestFieldsByteCount
            #expect(byteCount > limit - 4 * overhead)
        }
    }

    /// Entries of another kind get a dictionary that is better for them, and all entries come back from every one.
    @Test func entriesOfAnotherKindGetADictionaryOfTheirOwn() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let kinds = [1, 99].map { AlikeArchives.make(count: 1_500, seed: $0) }
                .enumerated().map { index, archives in
                    // No string of the one kind is in the other.
                    archives.map { index == 0 ? $0 : $0.map { $0 ^ 0x55 } }
                }
            do {
                let store = try PackedStore(directory: path, create: true, settings: .shortSegments)
                Self.save(kinds[0], prefix: "a", in: store)
                let first = try #require(store.current.tail.dictionary)
                Self.save(kinds[1], prefix: "b", in: store)
                let second = try #require(store.current.tail.dictionary)
                #expect(first !== second)
                let samples = Array(kinds[1].suffix(100))
                let former = DictionaryTrainer.saving(of: first, on: samples)
                let present = DictionaryTrainer.saving(of: second, on: samples)
                #expect(1 - present < 0.7 * (1 - former))
                try store.close()
            }
            for hasIndex in [true, false] {
                if !hasIndex { try FileManager.default.removeItem(atPath: path + "/" + IndexSnapshot.fileName) }
                let store = try PackedStore(directory: path, create: false)
                for (prefix, archives) in zip(["a", "b"], kinds) {
                    for (number, archive) in archives.enumerated() where number % 7 == 0 {
                        #expect(try store.fetch(forKey: "\(prefix) \(number)")?.archive == archive)
                    }
                }
                try store.compact()
                store.finishUpkeep()
                try store.close()
            }
        }
    }

    /// A damaged archive cannot be deflated again for a segment with another dictionary.
    @Test func aCompactionTellsOfTheEntriesThatItCannotMove() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            do {
                let store = try PackedStore(directory: path, create: true, settings: .shortSegments)
                let archives = AlikeArchives.make(count: 1_500, seed: 1)
                Self.save(archives, prefix: "a", in: store)
                Self.save(archives.map { archive in archive.map { $0 ^ 0x55 } }, prefix: "b", in: store)
                for number in stride(from: 0, to: 1_500, by: 2) { try store.remove(forKey: "a \(number)") }
                try store.close()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(".segment") }
            for name in names.sorted().dropLast() {
                var bytes = try readFile(path + "/" + name)
                for place in stride(from: bytes.count / 2, to: bytes.count, by: 1_009) { bytes[place] ^= 0x10 }
                try writeFile(bytes, path + "/" + name)
            }
            let user = TestUser()
            let store = try PackedStore(directory: path, create: false)
            store.setUser(user)
            try store.compact()
            let keys = stride(from: 1, to: 1_500, by: 2).map { "a \($0)" } + (0..<1_500).map { "b \($0)" }
            let lost = keys.filter { key in
                do throws(StoreError) {
                    return try store.information(forKey: key) == nil
                } catch {
                    // It is where it was, and damaged.
                    return false
                }
            }
            // A record with a damaged head has no known key, so fewer evictions may be reported than entries are lost.
            #expect(!user.evicted.isEmpty)
            #expect(Set(user.evicted).isSubset(of: lost))
        }
    }

    /// Entries of a segment with a damaged header come back, with the dictionary that another place has; and are written
    /// again with their segment.
    @Test func aDamagedHeaderCostsNoEntry() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let archives = AlikeArchives.make(count: 2_500, seed: 6)
            do {
                let store = try PackedStore(directory: path, create: true, settings: .shortSegments)
                Self.save(archives, prefix: "a", in: store)
                try store.close()
            }
            func check(_ store: PackedStore) throws {
                for (number, archive) in archives.enumerated() {
                    #expect(try store.fetch(forKey: "a \(number)")?.archive == archive, "\(number)")
                }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(".segment") }
            func damage(_ name: String) throws {
                var bytes = try readFile(path + "/" + name)
                bytes[30] ^= 1
                try writeFile(bytes, path + "/" + name)
            }
            // The index has all dictionaries.
            try names.forEach(damage)
            try check(PackedStore(directory: path, create: false))
            // A process that rewrites the index hands them on.
            let handing = try PackedStore(directory: path, create: false)
            try handing.current.snapshots.write()
            try handing.close()
            try check(PackedStore(directory: path, create: false))
            try names.forEach(damage)
            // Another segment has it.
            try FileManager.default.removeItem(atPath: path + "/" + IndexSnapshot.fileName)
            let byDictionary = Dictionary(grouping: names) { name in
                (try? readFile(path + "/" + name)).map { Array($0[72..<76]) }
            }
            let shared = byDictionary.first { $0.key != [0, 0, 0, 0] && $0.value.count > 1 }?.value
            try damage(#require(shared?.first))
            try check(PackedStore(directory: path, create: false))
            let store = try PackedStore(directory: path, create: false)
            try store.compact()
            store.finishUpkeep()
            try check(store)
        }
    }

    /// A segment with a damaged header needs the dictionary of one that is dropped before it; also for a process that opens the
    /// store after that, where the header of no segment has it any longer.
    @Test func aDamagedHeaderOutlivesTheSegmentsBeforeIt() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let archives = AlikeArchives.make(count: 3_000, seed: 6)
            let others = archives.map { archive in archive.map { $0 ^ 0x55 } }
            var identifiers: [(number: UInt32, identifier: UInt32)] = []
            do {
                let store = try PackedStore(directory: path, create: true)
                Self.save(archives, prefix: "a", in: store)
                Self.save(others, prefix: "b", in: store)
                let segments = store.current.reader.segments
                for number in try segments.numbers() {
                    guard let identifier = try segments.segment(number)?.dictionary?.identifier else { continue }
                    identifiers.append((number, identifier))
                }
                // Only some of the bytes before the damaged header are of use.
                for number in 0..<100 { try store.remove(forKey: "a \(number)") }
                try store.close()
            }
            let first = try #require(identifiers.first)
            let alike = identifiers.filter { $0.identifier == first.identifier }
            try #require(alike.count > 1 && identifiers.last?.identifier != first.identifier)
            let number = alike[alike.count - 1].number
            let damaged = path + "/" + Segment.fileName(number)
            var bytes = try readFile(damaged)
            bytes[20] ^= 0x55
            try writeFile(bytes, damaged)
            try FileManager.default.removeItem(atPath: path + "/" + IndexSnapshot.fileName)
            func check(_ store: PackedStore) throws {
                for number in archives.indices {
                    let expected = number < 100 ? nil : archives[number]
                    #expect(try store.fetch(forKey: "a \(number)")?.archive == expected, "\(number)")
                    #expect(try store.fetch(forKey: "b \(number)")?.archive == others[number], "\(number)")
                }
            }
            for _ in 0..<2 {
                let store = try PackedStore(directory: path, create: false)
                try Self.giveUpSegments(of: store, before: number)
                try check(store)
                try store.current.snapshots.write()
                try store.close()
            }
            let store = try PackedStore(directory: path, create: false)
            try store.compact()
            try check(store)
        }
    }

    /// Drops the segments before one, and keeps their entries.
    private static func giveUpSegments(of store: PackedStore, before number: UInt32) throws {
        try store.current.lock.withExclusiveLog { state throws(StoreError) in
            var evictions = Evictions()
            while let first = state.log.chain.first, first < number {
                _ = try state.reclaimer.reclaimFirst(
                    keeping: .all,
                    now: nil,
                    from: &state.log,
                    evictions: &evictions
                )
            }
        }
    }

    /// The identifiers of the dictionaries that the index has copies of.
    private static func copies(_ path: String) throws -> [UInt32] {
        let folder = try StoreFolder(path: path, kind: .packed, create: false, isDurable: false, layer: FileLayer())
        let snapshot = try #require(try SnapshotFile(in: folder, isLimited: true, keys: nil).open())
        return try snapshot.dictionaries.map { PresetDictionary(try #require($0.inflated())).identifier }
    }

    /// Entries that change their shared strings from time to time get one dictionary after another.
    @Test(arguments: [8, 80]) func dictionariesGoWithTheirSegments(segmentCount: Int) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let settings = StoreSettings(byteLimit: segmentCount << 12)
            var random = SeededGenerator(seed: 5)
            var live: Set<UInt32> = []
            do {
                let store = try PackedStore(directory: path, create: true, settings: settings)
                for number in 0..<3 * segmentCount {
                    let dictionary = try #require(store.current.reader.segments.dictionary(random.bytes(300)))
                    try store.current.beginSegment(dictionary: dictionary)
                    // No more than the segment has room for.
                    try store.save(random.bytes(3_500), forKey: "key \(number)")
                }
                store.finishUpkeep()
                let segments = store.current.reader.segments
                live = Set(try segments.numbers().compactMap { try segments.segment($0)?.dictionary?.identifier })
                #expect(live.count > segmentCount / 2 && live.count < 2 * segmentCount)
                #expect(Set(segments.dictionaries.map(\.identifier)) == live)
                try store.close()
            }
            for _ in 0..<2 {
                let copies = try Self.copies(path)
                #expect(Set(copies).count == min(live.count, 64))
                #expect(live.isSuperset(of: copies))
                // Another process rewrites the index.
                let store = try PackedStore(directory: path, create: false, settings: settings)
                #expect(copies.contains(try #require(store.current.tail.dictionary).identifier))
                try store.save([1], forKey: "new")
                try store.current.snapshots.write()
            }
        }
    }

    /// A header, in which a dictionary is stored as a stream, comes back; one with any other byte is refused.
    @Test func headersComeBack() throws {
        let dictionary = PresetDictionary(Array(AlikeArchives.make(count: 60, seed: 3).joined().prefix(9_000)))
        for given in [nil, dictionary] {
            let fields = SegmentHeader.Fields(
                number: 7,
                log: LogIdentity(seed: 1 << 31, salt: 0),
                identity: 1 << 63 + 5,
                boot: 1 << 62 + 4,
                predecessorEnd: 1 << 30 + 3,
                firstLiveSegment: 5,
                isDurable: given != nil,
                begunAt: 2.5
            )
            let bytes = SegmentHeader.bytes(fields, dictionary: given)
            let header = try SegmentHeader(bytes + [1, 2, 3], number: 7)
            #expect(header.fields == fields)
            #expect(header.byteCount == bytes.count && header.dictionary?.inflated() == given?.bytes)
            #expect(throws: SegmentHeader.Fault.damaged) { try SegmentHeader(bytes, number: 8) }
            #expect(throws: SegmentHeader.Fault.damaged) { try SegmentHeader(Array(bytes.dropLast()), number: 7) }
            for position in bytes.indices {
                var changed = bytes
                changed[position] ^= 0x11
                #expect(throws: SegmentHeader.Fault.damaged, "byte \(position)") {
                    try SegmentHeader(changed, number: 7)
                }
            }
            var later = bytes
            later[9] += 2
            later.replaceSubrange(
                4..<8,
                with: withUnsafeBytes(of: later[8...].withUnsafeBytes({ Zlib.crc32($0) }).bigEndian, Array.init)
            )
            #expect(throws: SegmentHeader.Fault.unsupported(version: 5)) { try SegmentHeader(later, number: 7) }
        }
        #expect(dictionary.stored.count < 4_000)
        #expect(PresetDictionary.bytes(stored: dictionary.stored, byteCount: 9_000) == dictionary.bytes)
        #expect(PresetDictionary.bytes(stored: dictionary.stored, byteCount: 8_999) == nil)
        #expect(PresetDictionary.bytes(stored: [1, 2, 3], byteCount: 1 << 30) == nil)
    }
}
