import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Removals that other processes or the device may not have: their records could not be appended, or may be lost.
@Suite struct OwedRemovalTests {
    private static func store(_ path: String, _ settings: StoreSettings, fault: Fault) throws -> PackedStore {
        try PackedStore(directory: path, create: true, settings: settings, layer: fault.layer) {
            KeyDigest(hashing: $0)
        }
    }

    // MARK: To other processes

    #if os(Linux)
        /// On a full volume, removals have room in the margin: other processes see them at once.
        @Test(.enabled(if: SmallVolume.isPossible), arguments: [true, false])
        func removalsOnAFullVolumeAreSeenByOthers(isLimited: Bool) throws {
            try SmallVolume.mount("size=1m") { volume, _ in
                let path = volume + "/cache"
                var settings = StoreSettings(countLimit: isLimited ? 10_000 : nil)
                settings.followsOthers = true
                let store = try PackedStore(directory: path, create: true, settings: settings)
                var random = SeededGenerator(seed: 3)
                for number in 0..<200 { try store.save(random.bytes(700), forKey: "key \(number)") }
                store.finishUpkeep()
                let other = try PackedStore(directory: path, create: true, settings: settings)
                _ = try other.changesByOthers()
                let fillerPath = volume + "/filler"
                try #require(FileManager.default.createFile(atPath: fillerPath, contents: nil))
                let filler = try #require(FileHandle(forWritingAtPath: fillerPath))
                for number in 0..<150 {
                    while (try? filler.write(contentsOf: [UInt8](repeating: 1, count: 4_096))) != nil {}
                    #expect(try store.remove(forKey: "key \(number)"))
                    guard case .keys(let keys) = try other.changesByOthers() else { continue }
                    #expect(keys.contains { $0.high == store.digest(of: "key \(number)").high })
                }
                #expect(try other.statistics().entryCount == 50)
            }
        }

        /// There are more removals than the margin has room for: dead records give way to them.
        @Test(.enabled(if: SmallVolume.isPossible), arguments: [true, false])
        func everyEntryOfAFullVolumeCanBeRemoved(isShuffled: Bool) throws {
            try SmallVolume.mount("size=3m") { volume, _ in
                let store = try PackedStore(directory: volume + "/cache", create: true)
                var random = SeededGenerator(seed: 4)
                var keys: [String] = []
                while (try? store.save(random.bytes(60), forKey: "key \(keys.count)")) != nil {
                    keys.append("key \(keys.count)")
                }
                store.finishUpkeep()
                try #require(keys.count > 10_000)
                if isShuffled { keys.shuffle(using: &random) }
                for key in keys { #expect(try store.remove(forKey: key)) }
                #expect(try PackedStore(directory: volume + "/cache", create: true).keys() == [])
            }
        }
    #endif

    enum Call: CaseIterable { case removeAll, removeTagged, removeOne }

    /// Segments with entries were dropped, and the floor that says so found no room.
    @Test(arguments: Call.allCases) func aRemovalReturnsOnceOthersSeeTheEntriesGone(call: Call) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings(countLimit: 1_000)
            let first = try PackedStore(directory: path, create: true, settings: settings)
            for number in 0..<20 {
                var attributes = EntryAttributes(storedAt: .now)
                attributes.tags = ["tag"]
                _ = try first.save([UInt8(number)], forKey: "key \(number)", attributes: attributes, if: nil)
            }
            let other = try PackedStore(directory: path, create: true, settings: settings)
            #expect(try other.fetch(forKey: "key 1") != nil)
            settings.minimumFreeByteCount = 1 << 60
            let fault = Fault()
            let store = try Self.store(path, settings, fault: fault)
            fault.set { $0.operation == .write && $0.name == Segment.fileName(2) }
            #expect(throws: StoreError.self) { try store.save([1], forKey: "new") }
            fault.set(nil)
            try #require(try store.fetch(forKey: "key 1") == nil)
            switch call {
            case .removeAll: try store.removeAll()
            case .removeTagged: try store.removeAll(tagged: "tag", removing: { _ in }, removed: { _ in })
            case .removeOne: try store.remove(forKey: "key 1")
            }
            #expect(try other.fetch(forKey: "key 1") == nil)
        }
    }

    // MARK: To the device

    enum Repetition: CaseIterable { case one, many, inALogOpenedAnew }

    /// The wait for the device has failed, so the record may be lost: the same call, repeated, must not find that nothing is
    /// to do. Other records are on the device by then.
    @Test(arguments: Repetition.allCases, [true, false])
    func aRepeatedRemovalIsAppendedAgain(repetition: Repetition, many: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let fault = Fault()
            var settings = StoreSettings()
            settings.durability = .power
            let store = try Self.store(path, settings, fault: fault)
            for key in ["a", "b", "c"] { try store.save([1], forKey: key) }
            func remove(many: Bool) throws {
                if !many {
                    _ = try store.remove(forKey: "a")
                    return
                }
                for result in store.remove(forKeys: ["a"]) { _ = try result.get() }
            }
            fault.set { $0.operation == .synchronize }
            #expect(throws: StoreError.self) { try remove(many: many) }
            // The log is opened again, because its lock cannot be released.
            fault.set { repetition == .inALogOpenedAnew && $0.operation == .unlock }
            try store.save([2], forKey: "b")
            fault.set(nil)
            try store.save([2], forKey: "c")
            let former = fault.writeCount.load(ordering: .relaxed)
            try remove(many: repetition == .many)
            #expect(fault.writeCount.load(ordering: .relaxed) == former + 1)
            // That one is not lost.
            try remove(many: repetition == .many)
            #expect(fault.writeCount.load(ordering: .relaxed) == former + 1)
        }
    }

    // MARK: Floors

    /// A store that drops the first segment, and finds no room for the floor that says so.
    struct GivenUpSegment {
        /// Open all the time; `other` has read an entry of the segment.
        let (first, other): (PackedStore, PackedStore)
        let store: PackedStore
        let fault = Fault()

        init(_ path: String) throws {
            var settings = StoreSettings(countLimit: 1_000)
            first = try PackedStore(directory: path, create: true, settings: settings)
            for number in 0..<20 { try first.save([UInt8(number)], forKey: "key \(number)") }
            other = try PackedStore(directory: path, create: true, settings: settings)
            #expect(try other.fetch(forKey: "key 1") != nil)
            settings.minimumFreeByteCount = 1 << 60
            let store = try OwedRemovalTests.store(path, settings, fault: fault)
            self.store = store
            fault.setNumbers { $0.operation == .write && $0.name == Segment.fileName(2) ? ENOSPC : nil }
            #expect(throws: StoreError.self) { try store.save([1], forKey: "new") }
        }
    }
}
