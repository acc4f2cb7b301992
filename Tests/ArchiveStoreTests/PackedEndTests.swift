import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Stores that have one directory open while the end of its log is damaged, cut off or removed: none loses an entry that another
/// one saves from then on.
@Suite struct PackedEndTests {
    private let segment = Segment.fileName(1)

    private func open(_ path: String) throws(StoreError) -> PackedStore {
        try PackedStore(directory: path, create: true)
    }

    /// The key's value; `nil` as well if its record is damaged.
    private func value(_ key: String, in store: PackedStore) throws -> [UInt8]? {
        do throws(StoreError) {
            return try store.fetch(forKey: key)?.archive
        } catch {
            guard error.code == .corrupted else { throw error }
            return nil
        }
    }

    /// Changes a file where it stands.
    private func withFile(_ path: String, _ body: (FileHandle) throws -> Void) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try body(file)
        try file.close()
    }

    private func flipBit(at offset: Int, of path: String) throws {
        try withFile(path) { file in
            try file.seek(toOffset: UInt64(offset))
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: [byte ^ 1])
        }
    }

    private func removeIndex(_ path: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + IndexSnapshot.fileName)
    }

    /// Whether a snapshot tells a store of the last record when that is damaged.
    enum Knowledge: CaseIterable {
        /// Of the store that appends next, and of the one that is opened then.
        case all
        case none
        /// Of one that is open before the snapshot is removed.
        case former
    }

    @Test(arguments: Knowledge.allCases) func aDamagedLastRecordCostsNoLaterSave(known: Knowledge) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let behind = try open(path)
            try behind.save([1], forKey: "key")
            let end = try readFile(path + "/" + segment).count
            do {
                let other = try open(path)
                try other.save([2], forKey: "key")
                try other.close()
            }
            try flipBit(at: end + 8, of: path + "/" + segment)
            let former = known == .former ? try open(path) : nil
            if known != .all { try removeIndex(path) }
            var random = SeededGenerator(seed: 1)
            let archive = random.bytes(1_000)
            let appending = try known == .former ? open(path) : behind
            try appending.save(archive, forKey: "new")
            let next = try former ?? open(path)
            try next.save([3], forKey: "last")
            for store in [behind, appending, next, try open(path)] {
                #expect(try value("new", in: store) == archive)
                #expect(try value("last", in: store) == [3])
                // Only an index knows that there was a later one.
                #expect(try [nil, [1]].contains(value("key", in: store)))
            }
        }
    }

    /// - Parameter isBehind: whether the store that appends next is open before, and has not read the records.
    @Test(arguments: [true, false]) func aCutEndCostsNoLaterSave(isBehind: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 2)
            let behind = try open(path)
            for number in 0..<10 { try behind.save([1], forKey: "key \(number)") }
            do {
                let other = try open(path)
                for number in 0..<10 { try other.save(random.bytes(100), forKey: "key \(number)") }
                try other.close()
            }
            let size = try readFile(path + "/" + segment).count
            try withFile(path + "/" + segment) { try $0.truncate(atOffset: UInt64(size - 190)) }
            let knowing = try open(path)
            if !isBehind { try removeIndex(path) }
            let next = isBehind ? behind : try open(path)
            let archives = (0..<5).map { _ in random.bytes(50) }
            for (number, archive) in archives.enumerated() { try next.save(archive, forKey: "new \(number)") }
            try knowing.save([3], forKey: "last")
            for store in [next, knowing, try open(path)] {
                for (number, archive) in archives.enumerated() {
                    #expect(try value("new \(number)", in: store) == archive)
                }
                #expect(try value("last", in: store) == [3])
                // Only an index knows that there was a later one.
                if isBehind { #expect(try [nil, [1]].contains(value("key 9", in: store))) }
            }
        }
    }

    /// A store that has not come to the last segment begins it again when its file is gone.
    @Test func aRemovedEndCostsNoLaterSave() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let behind = try open(path)
            try behind.save([1], forKey: "key")
            do {
                let other = try open(path)
                try other.current.beginSegment()
                for number in 0..<10 { try other.save([2], forKey: number == 0 ? "key" : "other \(number)") }
                try other.close()
            }
            try FileManager.default.removeItem(atPath: path + "/" + Segment.fileName(2))
            try behind.save([3], forKey: "new")
            for store in [behind, try open(path)] {
                #expect(try value("new", in: store) == [3])
                #expect(try value("key", in: store) == [1])
            }
        }
    }

    // MARK: Snapshots

    enum Replacement: CaseIterable { case byHand, byRemovingAll }

    /// A store writes its snapshot while the log is replaced by a shorter one.
    @Test(arguments: Replacement.allCases) func noSnapshotIsWrittenOfAFormerLog(way: Replacement) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let fault = Fault()
            let other = try PackedStore(directory: path, create: true, layer: fault.layer) {
                KeyDigest(hashing: $0)
            }
            try other.save([1], forKey: "other")
            let writing = Fault()
            let store = try PackedStore(directory: path, create: true, layer: writing.layer) {
                KeyDigest(hashing: $0)
            }
            for number in 0..<50 { try store.save([1], forKey: "key \(number)") }
            #expect(try other.fetch(forKey: "key 0") != nil)
            let errors = Faults()
            let isDone = Atomic<Bool>(false)
            writing.setNumbers { call in
                guard call.operation == .write, Segment.number(call.name) == nil,
                    !isDone.exchange(true, ordering: .relaxed)
                else { return nil }
                do {
                    switch way {
                    case .byHand: try FileManager.default.removeItem(atPath: path + "/" + segment)
                    case .byRemovingAll:
                        // As on a full volume: the last segment is emptied in place.
                        fault.setNumbers { $0.operation == .makeFile ? ENOSPC : nil }
                        try other.removeAll()
                    }
                    fault.set(nil)
                    try other.save([2], forKey: "new")
                } catch {
                    errors.add("\(error)")
                }
                return nil
            }
            try store.close()
            #expect(errors.all == [])
            let wasDone = isDone.load(ordering: .relaxed)
            #expect(wasDone)
            let fresh = try open(path)
            #expect(try fresh.keys() == ["new"])
            #expect(try value("key 1", in: fresh) == nil)
            #expect(try fresh.statistics().entryCount == 1)
        }
    }

    // MARK: Dropped segments

    /// A process is killed before there is room for the floor of a segment that it has dropped.
    @Test func entriesOfARemovedSegmentAreGoneWithoutAFloor() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let given = try OwedRemovalTests.GivenUpSegment(path)
            let other = given.other
            try given.store.close()
            try #require(!FileManager.default.fileExists(atPath: path + "/" + segment))
            usleep(30_000)
            #expect(try other.fetch(forKey: "key 1") == nil)
            #expect(try other.statistics().entryCount == 0)
        }
    }

    /// On a full volume, the last segment is emptied in place, and there is not even room for a floor. Another process had come
    /// no further than to the segment's start.
    @Test func aRemovalOfAllIsSeenWithoutAnyRoom() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let fault = Fault()
            let store = try PackedStore(directory: path, create: true, layer: fault.layer) {
                KeyDigest(hashing: $0)
            }
            for number in 0..<20 { try store.save([1], forKey: "key \(number)") }
            try store.current.beginSegment()
            let other = try open(path)
            #expect(try other.fetch(forKey: "key 0") != nil)
            let writeCount = Atomic<Int>(0)
            fault.setNumbers { call in
                switch call.operation {
                case .makeFile: ENOSPC
                // The first one makes the segment shorter.
                case .write: writeCount.add(1, ordering: .relaxed).newValue > 1 ? ENOSPC : nil
                default: nil
                }
            }
            try store.removeAll()
            fault.set(nil)
            try other.save([2], forKey: "new")
            #expect(other.current.index.total.count == 1)
            for store in [store, other, try open(path)] { #expect(try store.keys() == ["new"]) }
        }
    }
}
