import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct DraftTests {
    private func drafts(in store: FileStore) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store.path + "/.drafts").sorted()
    }

    private func save(_ store: FileStore, count: Int = 1) throws {
        for index in 0..<count {
            try store.save([UInt8(index)], forKey: "key \(index)", storedAt: .now, expiresAt: nil)
        }
    }

    @Test func leavesNoneBehind() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            try save(store, count: 20)
            #expect(try drafts(in: store).count == 1)
        }
    }

    @Test func thoseOfDeadSessionsAreDeletedAndThoseOfLiveOnesAreNot() throws {
        try withTemporaryDirectory { path in
            let live = try FileStore(directory: path, create: true)
            try save(live)
            let lock = try #require(try drafts(in: live).first)
            let liveDraft = lock.replacing("lock", with: "77")
            let dead = ["0123456789abcdef.lock", "0123456789abcdef.0", "0123456789abcdef.17"]
            let withoutLock = ["fedcba9876543210.3"]
            let foreign = [
                "0123456789abcdef.x", "0123456789ABCDEF.0", "notes.txt", "0123456789abcdef", "a.lock",
            ]
            for name in dead + withoutLock + foreign + [liveDraft] {
                try writeFile([1, 2, 3], path + "/.drafts/" + name)
            }

            let next = try FileStore(directory: path, create: true)
            #expect(try drafts(in: live).count == 1 + 3 + 1 + 5 + 1)
            try save(next)
            let left = try drafts(in: live)
            #expect(left.filter { (dead + withoutLock).contains($0) } == [])
            #expect(Set(left).isSuperset(of: foreign + [lock, liveDraft]))
            #expect(left.count == 5 + 2 + 1)
            try save(live)
        }
    }

    @Test func sessionsEndWithTheirStore() throws {
        try withTemporaryDirectory { path in
            let reader = try FileStore(directory: path, create: true)
            for _ in 0..<3 { try save(try FileStore(directory: path, create: true)) }
            #expect(try drafts(in: reader).count == 1)
        }
    }

    @Test func manySessionsStartAtOnce() throws {
        try withTemporaryDirectory { path in
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                do {
                    for round in 0..<25 {
                        let store = try FileStore(directory: path + "/cache", create: true)
                        let key = "\(thread) \(round)"
                        try store.save([1], forKey: key, storedAt: .now, expiresAt: nil)
                        if try store.fetch(forKey: key) == nil { faults.add("\(key) is missing") }
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
            #expect(entries(in: path + "/cache").count == 200)
            let store = try FileStore(directory: path + "/cache", create: true)
            #expect(try drafts(in: store) == [])
        }
    }
}
