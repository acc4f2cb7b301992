import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Several packed stores on one directory, and processes that are killed.
@Suite struct PackedSharingTests {
    private func save(_ text: String, _ key: String, in store: PackedStore) throws {
        try store.save(Array(text.utf8), forKey: key, storedAt: .now, expiresAt: nil)
    }

    private func value(_ key: String, in store: PackedStore) throws -> String? {
        try store.fetch(forKey: key).map { String(decoding: $0.archive, as: UTF8.self) }
    }

    private final class Failing: Sendable {
        let isOn = Atomic<Bool>(false)

        /// Fails calls that `isMeant` while it is on.
        func layer(_ number: Int32, _ isMeant: @escaping @Sendable (FileLayer.Call) -> Bool) -> FileLayer {
            FileLayer { [self] call in
                isOn.load(ordering: .relaxed) && isMeant(call) ? .fail(number) : .proceed
            }
        }
    }

    /// A rotation may fail after it has sealed the segment; other stores then write to the next one.
    @Test(arguments: [EMFILE, EIO, ENOSPC])
    func whoseRotationFailedSeesWhatOthersWrite(number: Int32) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let failing = Failing()
            let layer = failing.layer(number) { call in
                call.operation == .rename || call.operation == .open && call.name.hasSuffix(".segment")
            }
            let store = try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
            try save("one", "key", in: store)
            failing.isOn.store(true, ordering: .relaxed)
            #expect(throws: StoreError.self) {
                try store.current.beginSegment()
            }
            failing.isOn.store(false, ordering: .relaxed)
            try save("two", "key", in: PackedStore(directory: path, create: false))
            #expect(try value("key", in: store) == "two")
        }
    }

    /// An entry differs from every later one of its key, even after removals that left no trace.
    @Test func noEntryPassesForAnother() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true)
            for round in 0..<5 {
                try save("one", "key", in: store)
                let entry = try #require(try store.information(forKey: "key"))
                if round % 2 == 0 { try store.removeAll() } else { try store.remove(forKey: "key") }
                try store.compact()
                store.finishUpkeep()
                try? FileManager.default.removeItem(atPath: path + "/" + IndexSnapshot.fileName)
                let other = try PackedStore(directory: path, create: false)
                try save("two", "key", in: other)
                #expect(try !store.remove(entry))
                #expect(try store.moveDeadline(of: entry, to: .distantFuture) == nil)
                #expect(try value("key", in: store) == "two")
            }
        }
    }

    /// A damaged index is rebuilt from all segments, which then need not stay open.
    @Test func aRescuedIndexKeepsNoSegmentOpen() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings()
            settings.byteLimit = 1 << 20
            do {
                let store = try PackedStore(directory: path, create: true, settings: settings)
                for key in 0..<2_000 { try save("\(key)", "\(key)", in: store) }
                try store.current.snapshots.write()
                store.finishUpkeep()
            }
            let file = path + "/" + IndexSnapshot.fileName
            var bytes = try readFile(file)
            bytes[bytes.count - 5] ^= 1
            try writeFile(bytes, file)
            let store = try PackedStore(directory: path, create: false, settings: settings)
            for key in 0..<2_000 { #expect(try store.information(forKey: "\(key)") != nil) }
            try store.removeAll()
            try save("new", "new", in: store)
            // The directory, the tail and the snapshot.
            if let count = openFileCount(in: path) { #expect(count <= 6) }
        }
    }

    /// The record that was being written last is whole or not there, at every length.
    @Test func aTornRecordIsNotThere() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let cache = path + "/cache"
            let store = try PackedStore(directory: cache, create: true)
            try save("one", "key", in: store)
            let file = cache + "/" + Segment.fileName(1)
            let before = try readFile(file)
            try save("two", "key", in: store)
            let after = try readFile(file)
            for length in before.count...after.count {
                let other = path + "/other-\(length)"
                try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
                try writeFile(StoreMarker.bytes(.packed), other + "/format")
                try writeFile(Array(after[..<length]), other + "/" + Segment.fileName(1))
                let reader = try PackedStore(directory: other, create: false)
                let writer = try PackedStore(directory: other, create: false)
                let expected = length == after.count ? "two" : "one"
                #expect(try value("key", in: reader) == expected)
                try save("new", "new", in: writer)
                #expect(try value("new", in: reader) == "new")
                #expect(try value("key", in: reader) == expected)
                #expect(try value("key", in: PackedStore(directory: other, create: false)) == expected)
            }
        }
    }

    enum Shortening: CaseIterable { case damagedBit, damagedByte, cutByHand, removalOfAll }

    /// Another process has made the log shorter, and appended one record beyond its former end: for a process that knows
    /// that end, the bytes after it are the middle of a record, and no write that was cut short.
    @Test(arguments: Shortening.allCases, [true, false])
    func noRecordIsCutThatBeginsBeforeTheKnownEnd(way: Shortening, onlyReads: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let first = try PackedStore(directory: path, create: true)
            for number in 0..<10 { try save("old \(number)", "m\(number)", in: first) }
            try save("old", "k", in: first)
            let segment = path + "/00000001.segment"
            let end = try #require(FileManager.default.contents(atPath: segment)?.count)
            try save("z", "z", in: first)
            first.finishUpkeep()
            let failing = Failing()
            switch way {
            case .damagedBit, .damagedByte:
                let file = try #require(FileHandle(forUpdatingAtPath: segment))
                try file.seek(toOffset: UInt64(end + 3))
                let byte = try #require(try file.read(upToCount: 1)?.first)
                try file.seek(toOffset: UInt64(end + 3))
                try file.write(contentsOf: [byte ^ (way == .damagedBit ? 4 : 7)])
                try file.close()
            case .cutByHand:
                let file = try #require(FileHandle(forUpdatingAtPath: segment))
                try file.truncate(atOffset: UInt64(end + 10))
                try file.close()
            case .removalOfAll: break
            }
            let layer = failing.layer(ENOSPC) { $0.operation == .makeFile }
            let second = try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
            if way == .removalOfAll {
                // As on a full volume: the last segment is emptied in place.
                failing.isOn.store(true, ordering: .relaxed)
                try second.removeAll()
                failing.isOn.store(false, ordering: .relaxed)
            }
            var random = SeededGenerator(seed: 1)
            let noise = (0..<12_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            try second.save(noise, forKey: "k", storedAt: .now, expiresAt: nil)
            let remaining = way == .removalOfAll ? nil : "old 3"
            if !onlyReads {
                try save("mine", "mine", in: first)
                #expect(try first.remove(forKey: "m1") == (way != .removalOfAll))
            }
            for store in [first, second, try PackedStore(directory: path, create: true)] {
                #expect(try store.fetch(forKey: "k")?.archive == noise)
                #expect(try value("m3", in: store) == remaining)
                if !onlyReads {
                    #expect(try value("mine", in: store) == "mine")
                    #expect(try value("m1", in: store) == nil)
                }
            }
        }
    }

    @Test func aStoreWithoutSegmentsHasNoFiles() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true)
            #expect(try store.statistics().fileCount == 0)
            try save("one", "key", in: store)
            #expect(try store.statistics().fileCount == 1)
            try store.current.beginSegment()
            #expect(try store.statistics().fileCount == 2)
        }
    }

    /// A process may be killed between a seal and the next segment.
    @Test func aSealWithoutANextSegmentKeepsNobodyWaiting() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let reader: PackedStore
            do {
                let store = try PackedStore(directory: path, create: true)
                try save("one", "key", in: store)
                try store.current.beginSegment()
                try FileManager.default.removeItem(atPath: path + "/" + Segment.fileName(2))
            }
            reader = try PackedStore(directory: path, create: false)
            #expect(try value("key", in: reader) == "one")
            let writer = try PackedStore(directory: path, create: false)
            try save("two", "key", in: writer)
            #expect(try value("key", in: reader) == "two")
            try save("three", "key", in: writer)
            #expect(try value("key", in: reader) == "three")
        }
    }

    /// Files of dropped segments do not come back, and do not stay.
    @Test func halfARemovalOfAllIsAWholeOne() throws {
        let directory = try PackedDirectory(.none)
        try withTemporaryDirectory(inMemory: true) { parent in
            for left in [1, 3, directory.segments.count] {
                let path = parent + "/\(left)"
                try directory.write(to: path)
                try PackedDirectory.open(path).removeAll()
                try? FileManager.default.removeItem(atPath: path + "/index")
                // As if it had been killed before all files were gone.
                for name in directory.segments.suffix(left) {
                    try writeFile(directory.files[name] ?? [], path + "/" + name)
                }
                let store = try PackedDirectory.open(path)
                let answers = try directory.answers(store, "\(left) left")
                #expect(answers.values.allSatisfy { $0 == .nothing })
                try save("new", "new", in: store)
                let names = try FileManager.default.contentsOfDirectory(atPath: path)
                #expect(names.filter { directory.segments.contains($0) } == [])
            }
        }
    }

    @Test func storesSeeWhatOthersGiveUp() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings()
            settings.byteLimit = 20_000
            let one = try PackedStore(directory: path, create: true, settings: settings)
            let other = try PackedStore(directory: path, create: true, settings: settings)
            for round in 0..<600 {
                let (writer, reader) = round % 3 == 0 ? (one, other) : (other, one)
                let text = String(repeating: "\(round) ", count: round % 40)
                try save(text, "key \(round % 50)", in: writer)
                #expect(try value("key \(round % 50)", in: reader) == text)
                if round % 97 == 96 { try reader.removeAll() }
                let total = try Self.byteCount(path)
                #expect(total <= 20_000 + 1_000, "\(total) bytes")
            }
            for key in (0..<50).map({ "key \($0)" }) { #expect(try value(key, in: one) == value(key, in: other)) }
        }
    }

    static func byteCount(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }.reduce(0) {
            sum,
            name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    @Test func aDirectoryThatIsReplacedIsLeft() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let store = try PackedStore(directory: path, create: true)
            try save("old", "key", in: store)
            try FileManager.default.moveItem(atPath: path, toPath: path + "-moved")
            do {
                let other = try PackedStore(directory: path, create: true)
                try save("new", "key", in: other)
            }
            usleep(30_000)
            #expect(try value("key", in: store) == "new")
            try FileManager.default.removeItem(atPath: path)
            usleep(30_000)
            #expect(try value("key", in: store) == nil)
            try save("again", "key", in: store)
            #expect(try value("key", in: PackedStore(directory: path, create: false)) == "again")
        }
    }

    /// The segments that are there by then have lower numbers than the listed segments.
    @Test func aFolderIsEmptiedWhileItsLogIsOpened() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            do {
                let former = try PackedStore(directory: path, create: true)
                try save("old", "key", in: former)
                try former.removeAll()
                try save("old", "key", in: former)
                try former.close()
            }
            let first = try #require(
                try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }.first
            )
            #expect(first > Segment.fileName(1))
            let isEmptied = Mutex(false)
            let layer = FileLayer { call in
                guard call.operation == .open, call.name == first,
                    !isEmptied.withLock({ isEmptied in
                        defer { isEmptied = true }
                        return isEmptied
                    })
                else { return .proceed }
                empty(path)
                return .proceed
            }
            let store = try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
            #expect(isEmptied.withLock { $0 })
            let other = try PackedStore(directory: path, create: true)
            try save("new", "key", in: other)
            for round in 0..<40 { try save("\(round)", "other \(round % 4)", in: store) }
            try store.current.lock.withExclusiveLog { state throws(StoreError) in
                _ = try state.log.beginSegment(dictionary: nil)
            }
            #expect(try value("key", in: other) == "new")
            #expect(try value("key", in: PackedStore(directory: path, create: false)) == "new")
        }
    }

    /// No removed entry comes back in the next segment.
    @Test func aFolderIsEmptiedWhileItIsCompacted() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            for round in 0..<9 { try save("\(round)", "key", in: PackedStore(directory: path, create: true)) }
            try FileManager.default.removeItem(atPath: path + "/.drafts")
            let isEmptied = Mutex(false)
            let layer = FileLayer { call in
                guard call.operation == .makeDirectory, call.name == ".drafts" else { return .proceed }
                isEmptied.withLock { isEmptied in
                    if !isEmptied { empty(path) }
                    isEmptied = true
                }
                return .proceed
            }
            let store = try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
            try store.compact()
            #expect(isEmptied.withLock { $0 })
            #expect(try value("key", in: store) == nil)
            #expect(try value("key", in: PackedStore(directory: path, create: true)) == nil)
            try save("new", "key", in: store)
            #expect(try value("key", in: PackedStore(directory: path, create: false)) == "new")
        }
    }

    private func empty(_ path: String) {
        #expect(throws: Never.self) {
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
        }
    }

    /// How many bytes are rewritten for each byte of keys that are saved over and over.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func noByteIsWrittenMoreThanTwice() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings()
            settings.byteLimit = 200_000
            let store = try PackedStore(directory: path, create: true, settings: settings)
            var random = SeededGenerator(seed: 5)
            for _ in 0..<8_000 {
                let key = "key \(Int.random(in: 0..<800, using: &random))"
                let archive = (0..<Int.random(in: 50...250, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                try store.save(archive, forKey: key, storedAt: .now, expiresAt: nil)
                _ = try store.fetch(forKey: "key \(Int.random(in: 0..<100, using: &random))")
            }
            store.finishUpkeep()
            let statistics = try store.statistics()
            let (appended, carried) = (statistics.appendedByteCount, statistics.carriedByteCount)
            print("of \(appended) bytes \(carried) had been saved before")
            #expect(carried * 2 <= appended)
            #expect(try Self.byteCount(path) <= 200_000 + 400)
        }
    }
}
