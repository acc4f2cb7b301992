import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The memory of an index that was left on disk.
@Suite struct PackedIndexTests {
    /// Listing, counting and adding up a million entries must not take the memory of their places.
    @Test func aLookAtAllEntriesKeepsNoPart() throws {
        let count = 300
        try withTemporaryDirectory(inMemory: true) { path in
            func open() throws -> PackedStore {
                try PackedStore(directory: path, create: true, settings: StoreSettings())
            }
            let writer = try open()
            for number in 0..<count { try writer.save([1, 2, 3], forKey: "key \(number)") }
            try writer.close()

            let store = try open()
            let all = Set((0..<count).map { "key \($0)" })
            // Again, since the first look left nothing.
            for _ in 0..<2 {
                #expect(try store.keys() == all)
                let statistics = try store.statistics()
                #expect(statistics.entryCount == count)
                let live = try store.segments().reduce(0) { $0 + $1.liveByteCount }
                #expect(live == statistics.entryByteCount && live > 0)
                #expect(store.current.index.loadedCount == 0)
            }

            // So do the first fetches from a part.
            #expect(try store.information(forKey: "key 7") != nil)
            #expect(try store.information(forKey: "key 7") != nil)
            #expect(store.current.index.loadedCount == 0)

            // Parts that are needed more often are kept, and the next look sees their changes.
            #expect(try store.information(forKey: "key 7") != nil)
            #expect((1..<count / 2).contains(store.current.index.loadedCount))
            #expect(try store.keys() == all)
            #expect(try store.remove(forKey: "key 7"))
            try store.save([4], forKey: "new")
            #expect(try store.keys() == all.subtracting(["key 7"]).union(["new"]))
            #expect(try store.statistics().entryCount == count)
            let total = store.current.index.total
            #expect(store.current.index.peekedTotal == total)
            #expect(try store.segments().reduce(0) { $0 + $1.liveByteCount } == total.byteCount)
            try store.close()
        }
    }

    /// Keys are found in a part that is not loaded as in its table, and uses of entries are counted once it is.
    @Test func whatIsFoundWithoutATableIsFoundInIt() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let keys = (0..<2_000).map { "key \($0)" }
            do {
                let writer = try PackedStore(directory: path, create: true)
                for key in keys { try writer.save(Array(key.utf8), forKey: key, storedAt: .now, expiresAt: nil) }
                try writer.close()
            }
            let store = try PackedStore(directory: path, create: false)
            let index = store.current.index
            var looked: [String: IndexSlot] = [:]
            for key in keys + ["never"] { looked[key] = index.slot(try store.key(key).1) }
            #expect(looked.count == keys.count)
            // Most parts were asked more often than they answer without a table.
            #expect(index.loadedCount > keys.count / 2)
            for key in keys { #expect(index.slot(try store.key(key).1) == looked[key]) }
            try store.close()

            let again = try PackedStore(directory: path, create: false)
            let digest = try again.key("key 3").1
            for uses in 1...3 {
                #expect(try again.fetch(forKey: "key 3") != nil)
                let table = again.current.index.slots(inPart: PackedIndex.part(digest.high), keepsPart: false)
                #expect(table.first { $0.digest == digest }?.uses == UInt8(uses))
            }
            #expect(try again.fetch(forKeys: keys).allSatisfy { try $0.get() != nil })
            try again.close()
        }
    }

    /// An index that was left without segments tells nothing of the segments that are begun after it.
    @Test func anIndexWithoutSegmentsIsOfAnotherLog() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let keys = (0..<50).map { "key \($0)" }
            let former = try PackedStore(directory: path, create: true)
            for key in keys { try former.save([1], forKey: key) }
            // Its position is in a later segment than the log begins with.
            try former.current.lock.withExclusiveLog { state throws(StoreError) in
                _ = try state.log.beginSegment(dictionary: nil)
            }
            try former.save([1], forKey: "last")
            try former.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where Segment.number(name) != nil
            {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            }
            try #require(FileManager.default.fileExists(atPath: path + "/" + IndexSnapshot.fileName))

            let store = try PackedStore(directory: path, create: true)
            for key in keys { try store.save([2], forKey: key) }
            let other = try PackedStore(directory: path, create: true)
            for key in keys { #expect(try other.fetch(forKey: key)?.archive == [2]) }
            #expect(try other.removeDamagedEntries() == 0)
        }
    }
}
