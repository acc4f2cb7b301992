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

    /// The highest segment before which everything is given up, as a floor or a header says; 0 if there is none.
    private static func lastFloor(_ path: String) throws -> UInt64 {
        let segments = try PackedStore(directory: path, create: false).current.reader.segments
        var last: UInt64 = 0
        for number in try segments.numbers() {
            guard let segment = try segments.segment(number) else { continue }
            if let first = segment.header?.firstLiveSegment, first > 1 { last = max(last, UInt64(first)) }
            var scanner = SegmentScanner(segment, to: try segment.file.byteCount())
            while let step = try scanner.next() {
                if case .record(let record, _) = step, record.kind == .floor { last = max(last, record.serial) }
            }
        }
        return last
    }

    // MARK: To other processes

    #if os(Linux)
        /// On a full volume entries are removed where they stand. Another process that has them in memory hears of it as soon
        /// as there is room for the records.
        @Test(.enabled(if: SmallVolume.isPossible), arguments: [true, false])
        func removalsOnAFullVolumeAreToldLater(byClosing: Bool) throws {
            try SmallVolume.mount("size=1m") { volume, remount in
                let path = volume + "/cache"
                var settings = StoreSettings(countLimit: 10_000)
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
                var told: Set<UInt64> = []
                func listen() throws {
                    if case .keys(let keys) = try other.changesByOthers() { told.formUnion(keys.map(\.high)) }
                }
                for number in 0..<150 {
                    while (try? filler.write(contentsOf: [UInt8](repeating: 1, count: 4_096))) != nil {}
                    #expect(try store.remove(forKey: "key \(number)"))
                    try listen()
                }
                let removed = Set((0..<150).map { store.digest(of: "key \($0)").high })
                try #require(!removed.isSubset(of: told))
                try remount("size=2m")
                if byClosing { try store.close() } else { try store.save([1], forKey: "new") }
                try listen()
                #expect(removed.isSubset(of: told))
                #expect(try other.statistics().entryCount == (byClosing ? 50 : 51))
            }
        }
    #endif

    /// The records of removals that found no room do not take more than the limit when there is room again.
    @Test func removalsThatAreToldLaterKeepTheLimit() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let settings = StoreSettings(byteLimit: 1_000_000)
            let fault = Fault()
            let store = try Self.store(path, settings, fault: fault)
            let keys = (0..<1_000).map { String($0) + String(repeating: "-", count: 900) }
            for key in keys { try store.save([1], forKey: key) }
            store.finishUpkeep()
            let other = try PackedStore(directory: path, create: true, settings: settings)
            let former = try other.statistics().entryCount
            let tail = Segment.fileName(try #require(store.current.tail.number))
            fault.setNumbers { call in
                call.operation == .makeFile || call.operation == .write && call.name == tail ? ENOSPC : nil
            }
            for key in keys[100..<700] { #expect(try store.remove(forKey: key)) }
            fault.set(nil)
            try #require(try other.statistics().entryCount == former)
            for number in 0..<20 {
                try store.save([1], forKey: "new \(number)")
                store.finishUpkeep()
                #expect(try store.statistics().byteCount <= 1_000_000)
            }
            #expect(try other.statistics().entryCount == store.statistics().entryCount)
        }
    }

    /// A store that is closed while another process saves tells of its removals all the same: the other one has the lock for
    /// moments only.
    @Test func removalsAreToldByClosingWhileOthersSave() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let fault = Fault()
            let store = try Self.store(path, StoreSettings(), fault: fault)
            for number in 0..<10 { try store.save([1], forKey: "key \(number)") }
            store.finishUpkeep()
            let other = try PackedStore(directory: path, create: true)
            #expect(try other.fetch(forKey: "key 1") != nil)
            let tail = Segment.fileName(try #require(store.current.tail.number))
            // The second write of a removal turns the entry's record into one.
            let writeCount = Atomic<Int>(0)
            fault.setNumbers { call in
                if call.operation == .makeFile { return ENOSPC }
                guard call.operation == .write, call.name == tail else { return nil }
                return writeCount.add(1, ordering: .relaxed).oldValue == 0 ? ENOSPC : nil
            }
            #expect(try store.remove(forKey: "key 1"))
            try #require(try other.statistics().entryCount == 10)
            let lockCount = Atomic<Int>(0)
            fault.setNumbers { call in
                guard call.operation == .lock else { return nil }
                return lockCount.add(1, ordering: .relaxed).oldValue < 3 ? EWOULDBLOCK : nil
            }
            try store.close()
            #expect(try other.statistics().entryCount == 9)
            #expect(try other.fetch(forKey: "key 1") == nil)
        }
    }

    enum Call: CaseIterable { case removeAll, removeTagged, removeOne }

    /// Segments with entries were dropped, and the floor that says so could not be appended.
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
            try #require(try Self.lastFloor(path) == 0)
            switch call {
            case .removeAll: try store.removeAll()
            case .removeTagged: try store.removeAll(tagged: "tag", removing: { _ in }, removed: { _ in })
            case .removeOne: try store.remove(forKey: "key 1")
            }
            #expect(try Self.lastFloor(path) > 1)
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

    /// On a full volume the entry's record was turned into a removal, and the wait for the device has failed then.
    @Test func aRemovalInPlaceWhoseWaitFailsIsOwed() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let fault = Fault()
            var settings = StoreSettings()
            settings.durability = .power
            settings.followsOthers = true
            let store = try Self.store(path, settings, fault: fault)
            var random = SeededGenerator(seed: 5)
            try store.save(random.bytes(1_000), forKey: "key")
            for number in 0..<30 { try store.save(random.bytes(8_000), forKey: "other \(number)") }
            store.finishUpkeep()
            let tail = try #require(store.current.tail.number)
            try #require(tail > 1)
            let other = try PackedStore(directory: path, create: true, settings: settings)
            _ = try other.changesByOthers()
            fault.setNumbers { call in
                switch call.operation {
                case .synchronize: EIO
                case .makeFile: ENOSPC
                case .write: call.name == Segment.fileName(tail) ? ENOSPC : nil
                default: nil
                }
            }
            let error = #expect(throws: StoreError.self) { try store.remove(forKey: "key") }
            #expect(error?.errorNumber == EIO)
            fault.set(nil)
            #expect(try store.fetch(forKey: "key") == nil)
            try store.save([1], forKey: "new")
            if case .keys(let keys) = try other.changesByOthers() {
                #expect(keys.contains { $0.high == store.digest(of: "key").high })
            }
            let former = fault.writeCount.load(ordering: .relaxed)
            #expect(try !store.remove(forKey: "key"))
            // The volume was full: room is asked for first.
            #expect(fault.writeCount.load(ordering: .relaxed) == former + 2)
        }
    }

    // MARK: Floors

    /// A store that gives up the first segment, and finds no room for the floor that says so.
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

    /// Segments with entries were dropped, and the floor that says so found no room: the log that owes it is left.
    @Test(arguments: [true, false]) func anOwedFloorOutlivesItsLog(byClosing: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let given = try GivenUpSegment(path)
            let (store, other) = (given.store, given.other)
            given.fault.set(nil)
            try #require(store.current.reader.status.owesFloor)
            try #require(try Self.lastFloor(path) == 0)
            if byClosing {
                try store.close()
            } else {
                // As a lock does that cannot be given back.
                store.current.reader.status.markBroken()
                #expect(try store.fetch(forKey: "key 1") == nil)
                #expect(store.current.reader.status.owesFloor)
                try store.remove(forKey: "key 1")
                #expect(!store.current.reader.status.owesFloor)
            }
            #expect(try Self.lastFloor(path) > 1)
            #expect(try other.fetch(forKey: "key 1") == nil)
        }
    }
}
