import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Keys that share a name; the laws for stores are checked for them, too.
@Suite struct CollisionTests {
    private func withStore(_ body: (FileStore) throws -> Void) throws {
        try withTemporaryDirectory { path in
            try body(FileStore(directory: path, create: true) { _ in EntryName(high: 1, low: 2) })
        }
    }

    private func save(_ keys: [UInt8], in store: FileStore) throws {
        for key in keys { try store.save([key], forKey: "\(key)", storedAt: .now, expiresAt: nil) }
    }

    private func slots(_ store: FileStore) -> [String] {
        entries(in: store.path).map { String($0.split(separator: ".").last ?? "") }
    }

    @Test func haveSlotsWithoutGaps() throws {
        try withStore { store in
            try save([0, 1, 2, 3], in: store)
            try save([2], in: store)
            #expect(slots(store) == ["0", "1", "2", "3"])
            try store.remove(forKey: "1")
            #expect(slots(store) == ["0", "1", "2"])
            try store.remove(forKey: "0")
            #expect(slots(store) == ["0", "1"])
            #expect(try store.fetch(forKey: "2")?.archive == [2] && store.fetch(forKey: "3")?.archive == [3])
            #expect(try store.fetch(forKey: "0") == nil && store.fetch(forKey: "1") == nil)
        }
    }

    /// A file that was deleted by hand must not bring back an entry that was removed or saved over later.
    @Test func showNoPhantomAfterAGap() throws {
        try withStore { store in
            try save([0, 1], in: store)
            try FileManager.default.removeItem(atPath: entries(in: store.path)[0])
            #expect(try store.fetch(forKey: "1") == nil)
            var count = 0
            try store.forEachEntry { _ in
                count += 1
                return true
            }
            #expect(count == 0)
            try store.save([9], forKey: "1", storedAt: .now, expiresAt: nil)
            try store.remove(forKey: "1")
            #expect(try store.fetch(forKey: "1") == nil)
            #expect(entries(in: store.path) == [])
        }
    }

    @Test func moveWhileOthersLook() throws {
        try withStore { store in
            try save([0, 1, 2, 3], in: store)
            let other = try FileStore(directory: store.path, create: false) { _ in EntryName(high: 1, low: 2)
            }
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                do {
                    for _ in 0..<200 {
                        if thread == 0 {
                            try store.remove(forKey: "0")
                            try save([0], in: store)
                        } else {
                            let reader = thread == 1 ? store : other
                            for key: UInt8 in 1...3 where try reader.fetch(forKey: "\(key)")?.archive != [key] {
                                faults.add("\(key) is missing")
                            }
                        }
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
        }
    }
}
