import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// What a store that follows other processes tells of their changes.
@Suite struct FollowTests {
    /// Keeps what it has read, as memory does, until it is told of a change.
    private final class Follower: Sendable {
        private let store: FileStore
        private let kept = Mutex<[KeyDigest: [UInt8]?]>([:])

        init(_ store: FileStore) { self.store = store }

        func value(_ key: String) throws -> [UInt8]? {
            switch try store.changesByOthers() {
            case .keys(let digests): kept.withLock { kept in for digest in digests { kept[digest] = nil } }
            case .everything, .doubts, .keysAndDoubts: kept.withLock { $0 = [:] }
            }
            let digest = store.digest(of: key)
            if let found = kept.withLock({ $0[digest] }) { return found }
            let read = try store.fetch(forKey: key)?.archive
            kept.withLock { $0[digest] = .some(read) }
            return read
        }
    }

    /// Whoever changes an entry may be killed at any instant, and others may have seen by then what became of it.
    @Test func whatIsKeptIsTrueAtEveryInstantOfAChange() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.followsOthers = true
            let follower = Follower(try FileStore(directory: path, create: true, settings: settings))
            let plain = try FileStore(directory: path, create: true)
            let keys = ["a", "b", "c"]
            let faults = Faults()
            let action = Mutex("")
            let looks = Atomic<Int>(0)
            @Sendable func look(_ instant: String) {
                do {
                    for key in keys {
                        let (kept, real) = (try follower.value(key), try plain.fetch(forKey: key)?.archive)
                        if kept != real { faults.add("\(action.withLock { $0 }), \(instant), \(key)") }
                    }
                    looks.add(1, ordering: .relaxed)
                } catch {
                    faults.add("\(error)")
                }
            }
            let layer = FileLayer { call in
                look("before \(call.operation) of \(call.name)")
                return .proceed
            }
            let writer = try FileStore(directory: path, create: true, layer: layer) { EntryName($0) }
            func save(_ byte: UInt8, _ key: String, in store: FileStore) throws {
                var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: Double(byte)))
                attributes.tags = ["tag"]
                attributes.expiresAt = key == "b" ? Date(timeIntervalSinceReferenceDate: 1_000) : nil
                _ = try store.save([byte], forKey: key, attributes: attributes, if: nil)
            }
            func moveDeadline() throws {
                guard let entry = try plain.information(forKey: "a") else { return }
                _ = try writer.moveDeadline(of: entry, to: Date(timeIntervalSinceReferenceDate: 500))
            }
            let actions: [(String, () throws -> Void)] = [
                ("save", { try save(7, "a", in: writer) }),
                ("save over", { try save(8, "a", in: writer) }),
                ("remove", { try writer.remove(forKey: "a") }),
                ("remove all", { try writer.removeAll() }),
                ("remove tagged", { try writer.removeAll(tagged: "tag") { _ in } }),
                ("sweep", { try writer.removeExpired(at: Date(timeIntervalSinceReferenceDate: 2_000)) { _ in } }),
                ("trim", { try writer.trim(toByteCount: 0) { _ in } }),
                ("move a deadline", moveDeadline),
            ]
            for (name, act) in actions {
                for (index, key) in keys.enumerated() { try save(UInt8(index), key, in: plain) }
                action.withLock { $0 = name }
                look("at first")
                try act()
                look("in the end")
            }
            #expect(faults.all == [])
            #expect(looks.load(ordering: .relaxed) > 100)
        }
    }
}
