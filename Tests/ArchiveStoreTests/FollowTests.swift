import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// The changes by other processes that a following store reports.
@Suite struct FollowTests {
    /// Keeps the values it has read, as a memory tier does, until the store reports a change.
    private final class Follower: Sendable {
        private let store: any ArchiveStore
        private let kept = Mutex<[KeyDigest: [UInt8]?]>([:])

        init(_ store: any ArchiveStore) { self.store = store }

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

    /// A process may be killed at any instant of a change, after others have already read the old or the new entry.
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

    // MARK: Parts of an index that are not loaded

    private static let keys = (0..<200).map { "key \($0)" }

    /// Leaves a packed store with a snapshot of 200 keys in a directory, and a follower of it that has read some of
    /// them.
    private func withPackedFollower(
        reading count: Int,
        settings: StoreSettings = StoreSettings(),
        _ body: (_ path: String, Follower, PackedStore) throws -> Void
    ) throws {
        try withTemporaryDirectory { parent in
            let path = parent + "/cache"
            let filled = try PackedStore(directory: path, create: true, settings: settings)
            for key in Self.keys { try filled.save(Array(key.utf8), forKey: key, storedAt: .now, expiresAt: nil) }
            filled.finishUpkeep()
            try filled.close()
            var following = settings
            following.followsOthers = true
            let store = try PackedStore(directory: path, create: true, settings: following)
            let follower = Follower(store)
            for key in Self.keys.prefix(count) { #expect(try follower.value(key) == Array(key.utf8)) }
            #expect(store.current.index.knownCount == nil)
            try body(path, follower, store)
        }
    }

    @Test(arguments: [1, 200]) func aRemovalOfEverythingIsTold(readCount: Int) throws {
        try withPackedFollower(reading: readCount) { path, follower, _ in
            let other = try PackedStore(directory: path, create: true)
            try other.removeAll()
            for key in Self.keys.prefix(readCount) { #expect(try follower.value(key) == nil, "\(key)") }
            other.finishUpkeep()
        }
    }

    @Test(arguments: [1, 200]) func evictionsAreTold(readCount: Int) throws {
        var settings = StoreSettings()
        settings.byteLimit = 1 << 16
        try withPackedFollower(reading: readCount, settings: settings) { path, follower, _ in
            let other = try PackedStore(directory: path, create: true, settings: settings)
            // The evicting store would spare the entries that it has fetched.
            let plain = try PackedStore(directory: path, create: true, settings: settings)
            var random = SeededGenerator(seed: 1)
            for key in 0..<60 {
                try other.save(random.bytes(2_000), forKey: "new \(key)", storedAt: .now, expiresAt: nil)
                other.finishUpkeep()
                // While its last segment is still there: otherwise the follower opens the log again.
                for key in Self.keys.prefix(readCount) {
                    #expect(try follower.value(key) == plain.fetch(forKey: key)?.archive, "\(key)")
                }
            }
            #expect(try plain.fetch(forKey: Self.keys[0]) == nil)
        }
    }

    /// A floor that passes by costs a program that reads few entries none of the index.
    @Test func nothingIsLoadedForASegmentThatGoes() throws {
        try withPackedFollower(reading: 1) { _, _, store in
            let index = store.current.index
            #expect(index.loadedCount == 0)
            var told: [UInt64] = []
            index.removeSegments(before: .max) { told.append($0.hash) }
            #expect(told == [store.hashing(Array(Self.keys[0].utf8)).high])
            #expect(index.loadedCount == 0)
            // It is reported once.
            index.removeSegments(before: .max) { told.append($0.hash) }
            #expect(told.count == 1)
        }
    }

    // MARK: Full volumes

    /// Where a follower has come to in the log.
    enum Position: CaseIterable {
        case formerSegment
        case startOfTail
        /// After a first record of the same length as the first record of the emptied tail.
        case behindAFloor
        case middleOfTail
        /// After the seal of a process that ended before it began the next segment.
        case seal
    }

    /// Where there is no room for another segment, the last one is emptied.
    @Test(arguments: Position.allCases)
    func aRemovalOfEverythingOnAFullVolumeIsTold(position: Position) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let faulty = FaultyLayer(failing: [.makeFile])
            let store = try PackedStore(directory: path, create: true, settings: .init(), layer: faulty.layer) {
                KeyDigest(hashing: $0)
            }
            for key in Self.keys { try store.save(Array(key.utf8), forKey: key) }
            if [.startOfTail, .behindAFloor].contains(position) { try store.current.beginSegment() }
            if position == .behindAFloor {
                try store.current.lock.withExclusiveLog { state throws(StoreError) in
                    try state.log.appendFloor(1)
                }
            }
            if position == .seal {
                let faulty = FaultyLayer(failing: [.rename])
                let sealing = try PackedStore(directory: path, create: true, settings: .init(), layer: faulty.layer)
                {
                    KeyDigest(hashing: $0)
                }
                _ = faulty.planning(.from(0, .fail(EIO))) {
                    #expect(throws: StoreError.self) { try sealing.current.beginSegment() }
                }
            }
            var following = StoreSettings()
            following.followsOthers = true
            let other = try PackedStore(directory: path, create: true, settings: following)
            let follower = Follower(other)
            for key in Self.keys { #expect(try follower.value(key) == Array(key.utf8)) }
            if position == .formerSegment { try store.current.beginSegment() }
            if ![.seal, .behindAFloor].contains(position) { try store.save([1], forKey: "last") }
            _ = try faulty.planning(.from(0, .fail(ENOSPC))) { try store.removeAll() }
            #expect(try PackedSharingTests.byteCount(path) < 200)
            // Readers look now and then, writers at once, whether the log is still the one at its path.
            if position == .seal { usleep(50_000) }
            #expect(try Self.keys.filter { try follower.value($0) != nil } == [])
            #expect(try store.keys() == [])
            try store.save([2], forKey: "new")
            #expect(try follower.value("new") == [2])
            // Both go on in one log.
            try other.save([3], forKey: "other")
            try store.save([4], forKey: "newer")
            let opened = try PackedStore(directory: path, create: true)
            #expect(try Set(opened.keys()) == ["new", "other", "newer"])
        }
    }

    /// However often, the emptied tail is as short, and each process that follows notices.
    @Test func everythingMayBeRemovedFromAFullVolumeAgainAndAgain() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let faulty = FaultyLayer(failing: [.makeFile])
            let store = try PackedStore(directory: path, create: true, settings: .init(), layer: faulty.layer) {
                KeyDigest(hashing: $0)
            }
            var following = StoreSettings()
            following.followsOthers = true
            let follower = Follower(try PackedStore(directory: path, create: true, settings: following))
            try store.save([0], forKey: "first")
            for round in 0..<300 {
                try store.save([UInt8(round & 255)], forKey: "k")
                if round.isMultiple(of: 3) { #expect(try follower.value("k") == [UInt8(round & 255)]) }
                _ = try faulty.planning(.from(0, .fail(ENOSPC))) { try store.removeAll() }
                #expect(try follower.value("k") == nil)
                #expect(try PackedSharingTests.byteCount(path) < 300, "round \(round)")
            }
        }
    }

    /// When there is room for the record that tells other processes of an eviction.
    enum Room: CaseIterable {
        case onceTheFileIsGone
        /// Other processes notice by the missing file.
        case never
    }

    @Test(arguments: Room.allCases) func anEvictionOnAFullVolumeIsTold(room: Room) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let isFull = Atomic<Bool>(false)
            let layer = FileLayer { call in
                guard isFull.load(ordering: .relaxed), call.name.hasSuffix(".segment") else { return .proceed }
                if call.operation == .remove, room == .onceTheFileIsGone { isFull.store(false, ordering: .relaxed) }
                return call.operation == .write ? .fail(ENOSPC) : .proceed
            }
            var settings = StoreSettings(byteLimit: 16 << 20)
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            var random = SeededGenerator(seed: 2)
            let keys = Self.keys.prefix(40)
            for key in keys { try store.save(random.bytes(50_000), forKey: key) }
            settings.followsOthers = true
            let follower = Follower(try PackedStore(directory: path, create: true, settings: settings))
            for key in keys { #expect(try follower.value(key) != nil) }
            isFull.store(true, ordering: .relaxed)
            let save = Result { try store.save([1], forKey: "new") }
            let evicted = try keys.filter { try store.fetch(forKey: $0) == nil }
            let first = try #require(evicted.first)
            switch room {
            case .onceTheFileIsGone: try save.get()
            case .never: usleep(30_000)
            }
            #expect(try !store.remove(forKey: first))
            #expect(try evicted.filter { try follower.value($0) != nil } == [])
        }
    }

    /// Where no entry went with the segment, other processes return nothing that is gone here.
    @Test func aKeyWithoutAnEntryIsRemovedFromAFullVolume() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let isFull = Atomic<Bool>(false)
            let layer = FileLayer { call in
                let isWriting = call.operation == .write && call.name.hasSuffix(".segment")
                return isWriting && isFull.load(ordering: .relaxed) ? .fail(ENOSPC) : .proceed
            }
            let settings = StoreSettings(byteLimit: 16 << 20)
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            var random = SeededGenerator(seed: 3)
            for _ in 0..<40 { try store.save(random.bytes(50_000), forKey: "x") }
            isFull.store(true, ordering: .relaxed)
            let former = try store.statistics().byteCount
            #expect(throws: StoreError.self) { try store.save([1], forKey: "new") }
            #expect(try store.statistics().byteCount < former)
            #expect(try !store.remove(forKey: "absent"))
            #expect(try store.fetch(forKey: "x") != nil)
        }
    }

    /// A store that begins to follow and then fails must say the next time that anything may have changed.
    @Test func whatAFailureKeptFromBeingToldIsToldLater() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings()
            settings.followsOthers = true
            let isFailing = Atomic<Bool>(false)
            let layer = FileLayer { call in
                isFailing.load(ordering: .relaxed) && call.operation == .lock && call.name != JournalFile.name
                    ? .fail(EIO) : .proceed
            }
            let store = try FileStore(directory: path, create: true, settings: settings, layer: layer) {
                EntryName($0)
            }
            let other = try FileStore(directory: path, create: true, settings: settings)
            try store.save([1], forKey: "key")
            _ = try store.changesByOthers()
            try other.save([2], forKey: "key")
            try FileManager.default.removeItem(atPath: path + "/" + JournalFile.name)
            isFailing.store(true, ordering: .relaxed)
            #expect(throws: StoreError.self) { try store.changesByOthers() }
            isFailing.store(false, ordering: .relaxed)
            guard case .everything = try store.changesByOthers() else {
                Issue.record("only some keys may have changed")
                return
            }
        }
    }

    /// The journal had no room for the removals. They are reported when the store is closed or deallocated.
    @Test(arguments: [true, false], [true, false]) func removalsAreToldBeforeTheEnd(
        isLimited: Bool,
        byClosing: Bool
    ) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            var settings = StoreSettings()
            settings.followsOthers = true
            if isLimited { settings.countLimit = 1_000 }
            let isFull = Atomic<Bool>(false)
            let layer = FileLayer { call in
                isFull.load(ordering: .relaxed) && call.operation == .write && call.name == JournalFile.name
                    ? .fail(ENOSPC) : .proceed
            }
            var store: FileStore? = try FileStore(directory: path, create: true, settings: settings, layer: layer) {
                EntryName($0)
            }
            let other = try FileStore(directory: path, create: true, settings: settings)
            for number in 0..<5 { try store?.save([1], forKey: "key \(number)") }
            _ = try other.changesByOthers()
            isFull.store(true, ordering: .relaxed)
            #expect(try store?.remove(forKey: "key 1") == true)
            isFull.store(false, ordering: .relaxed)
            store?.upkeep.sync {}
            if byClosing { try store?.close() }
            store = nil
            let digest = other.digest(of: "key 1")
            if case .keys(let keys) = try other.changesByOthers() { #expect(keys.contains(digest)) }
        }
    }
}
