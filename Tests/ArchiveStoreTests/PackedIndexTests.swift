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

            // Parts that are needed are kept, and the next look sees their changes.
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
}
