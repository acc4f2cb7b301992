import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// The lock of a packed store, which each change takes.
@Suite struct PackedLockTests {
    private func save(_ text: String, _ key: String, in store: PackedStore) throws {
        try store.save(Array(text.utf8), forKey: key, storedAt: .now, expiresAt: nil)
    }

    private func value(_ key: String, in store: PackedStore) throws -> String? {
        try store.fetch(forKey: key).map { String(decoding: $0.archive, as: UTF8.self) }
    }

    /// Runs `body` on so many threads at once, and waits for all.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                body(number)
                group.leave()
            }
        }
        group.wait()
    }

    /// Whether any process has the lock.
    private func isLocked(_ path: String) throws -> Bool {
        let directory = try Directory(path: path, layer: FileLayer())
        do {
            try directory.file.lock(waits: false)
            return false
        } catch {
            guard error.number == EWOULDBLOCK else { throw error }
            return true
        }
    }

    /// A process that is stopped between two changes does not hold up other processes.
    @Test func noLockIsKeptBetweenChanges() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try PackedStore(directory: path, create: true)
            for round in 0..<20 {
                for key in 0..<50 { try save("\(round)", "\(key)", in: store) }
                store.finishUpkeep()
                #expect(try !isLocked(path))
            }
        }
    }

    /// A save that returned is where others look, even if it was one of many.
    @Test func aSaveAfterTheDirectoryWasRemovedIsThere() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let store = try PackedStore(directory: path, create: true)
            for round in 0..<50 {
                for key in 0..<50 { try save("\(round)", "\(key)", in: store) }
                try FileManager.default.removeItem(atPath: path)
                try save("after \(round)", "after", in: store)
                #expect(try value("after", in: PackedStore(directory: path, create: false)) == "after \(round)")
                #expect(try value("after", in: store) == "after \(round)")
            }
        }
    }

    @Test func manyWhoSaveAtOnceComeInAll() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let stores = try (0..<3).map { _ in try PackedStore(directory: path, create: true) }
            let faults = Faults()
            onThreads(3) { number in
                do {
                    for step in 0..<2_000 {
                        try save("\(number) \(step)", "\(number) \(step % 100)", in: stores[number])
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
            for store in try stores + [PackedStore(directory: path, create: false)] {
                for number in 0..<3 {
                    for key in 0..<100 {
                        #expect(try value("\(number) \(key)", in: store) == "\(number) \(1_900 + key)")
                    }
                }
            }
        }
    }

    /// Saves that share a wait for the device return after it, and all fail if it fails.
    @Test func aSaveReturnsOnlyIfTheDeviceHasIt() throws {
        try withTemporaryDirectory { path in
            // Odd while waiting for the device fails.
            let epoch = Atomic<Int>(0)
            let layer = FileLayer { call in
                let fails =
                    call.operation == .synchronize
                    && !epoch.load(ordering: .sequentiallyConsistent).isMultiple(of: 2)
                return fails ? .fail(EIO) : .proceed
            }
            var settings = StoreSettings()
            settings.durability = .power
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            let faults = Faults()
            // All that are done, and those of them that were done while nothing changed.
            let count = Atomic<Int>(0)
            let judgedCount = Atomic<Int>(0)
            onThreads(9) { number in
                guard number > 0 else {
                    for _ in 0..<10 {
                        // However slow the device is.
                        let enough = count.load(ordering: .relaxed) + 40
                        while count.load(ordering: .relaxed) < enough { usleep(1_000) }
                        epoch.add(1, ordering: .sequentiallyConsistent)
                    }
                    return
                }
                var step = 0
                // When everything was well last.
                var savedEpoch = -1
                while epoch.load(ordering: .sequentiallyConsistent) < 10 {
                    let before = epoch.load(ordering: .sequentiallyConsistent)
                    let result = Result { try save("\(step)", "\(number) \(step)", in: store) }
                    let isJudged = epoch.load(ordering: .sequentiallyConsistent) == before
                    switch result {
                    case .success where isJudged && !before.isMultiple(of: 2):
                        faults.add("\(number) \(step) was saved, but not waited for")
                    // A save that was appended while a wait failed fails; once a save has succeeded again, no later one
                    // may.
                    case .failure(let error) where isJudged && before == savedEpoch:
                        faults.add("\(number) \(step) failed: \(error)")
                    case .success where isJudged: savedEpoch = before
                    default: break
                    }
                    judgedCount.add(isJudged ? 1 : 0, ordering: .relaxed)
                    count.add(1, ordering: .relaxed)
                    step += 1
                }
            }
            #expect(faults.all.prefix(5) == [])
            #expect(judgedCount.load(ordering: .relaxed) > 0)
        }
    }

    /// Each of them waits for the device once, and not for a time that was begun for others.
    @Test func manyWhoSaveAtOnceWaitForTheDeviceTogether() throws {
        try withTemporaryDirectory { path in
            let waits = Atomic<Int>(0)
            let layer = FileLayer { call in
                if call.operation == .synchronize {
                    waits.add(1, ordering: .relaxed)
                    usleep(100_000)
                }
                return .proceed
            }
            var settings = StoreSettings()
            settings.durability = .power
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            try save("first", "first", in: store)
            waits.store(0, ordering: .relaxed)
            let faults = Faults()
            onThreads(8) { number in
                do {
                    for step in 0..<10 { try save("\(step)", "\(number) \(step)", in: store) }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
            // Eleven waits if no save came too late for the next one; nearly twenty if each save missed it.
            #expect(waits.load(ordering: .relaxed) < 15)
            waits.store(0, ordering: .relaxed)
            for step in 0..<3 { try save("\(step)", "alone", in: store) }
            #expect(waits.load(ordering: .relaxed) == 3)
        }
    }

    /// The system reports a failed write once, and does not say which bytes were lost.
    @Test func whatWasAppendedWhileAWaitFailedFailsToo() throws {
        try withTemporaryDirectory { path in
            let opened = Mutex<PackedStore?>(nil)
            let isArmed = Atomic<Bool>(false)
            let group = DispatchGroup()
            let second = Mutex<Result<Void, any Error>?>(nil)
            let layer = FileLayer { call in
                guard call.operation == .synchronize, isArmed.exchange(false, ordering: .relaxed),
                    let store = opened.withLock({ $0 })
                else { return .proceed }
                let former = store.current.tail.end
                group.enter()
                Thread.detachNewThread {
                    let result = Result { try save("2", "second", in: store) }
                    second.withLock { $0 = result }
                    group.leave()
                }
                while store.current.tail.end == former { usleep(100) }
                return .fail(EIO)
            }
            var settings = StoreSettings()
            settings.durability = .power
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            opened.withLock { $0 = store }
            try save("0", "former", in: store)
            isArmed.store(true, ordering: .relaxed)
            #expect(throws: StoreError.self) { try save("1", "first", in: store) }
            group.wait()
            #expect(throws: StoreError.self) { try second.withLock { $0 }?.get() }
            try save("3", "third", in: store)
            opened.withLock { $0 = nil }
        }
    }

    /// The next save gets room even if earlier ones failed.
    @Test func aDeviceThatFailedForAWhileIsUsedAgain() throws {
        try withTemporaryDirectory { path in
            let fails = Atomic<Bool>(false)
            let layer = FileLayer { call in
                call.operation == .synchronize && fails.load(ordering: .relaxed) ? .fail(EIO) : .proceed
            }
            var settings = StoreSettings()
            settings.durability = .power
            settings.byteLimit = 10_000
            let store = try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
            for key in 0..<50 { try save("\(key)", "\(key)", in: store) }
            // Wherever in a segment, and whether or not the next one needs room.
            for key in 0..<200 {
                fails.store(true, ordering: .relaxed)
                for _ in 0..<key % 5 {
                    #expect(throws: StoreError.self) { try save("failed \(key)", "\(key)", in: store) }
                    #expect(try PackedSharingTests.byteCount(path) <= 10_000)
                }
                fails.store(false, ordering: .relaxed)
                try save("after \(key)", "\(key)", in: store)
                #expect(try value("\(key)", in: store) == "after \(key)")
            }
            try store.removeExpired(at: .now) { _ in }
            try store.remove(forKey: "199")
            #expect(try value("199", in: store) == nil)
        }
    }

    /// A snapshot is written while others save: a store opened from it finds the content of some later moment.
    @Test func aSnapshotStopsNobodyAndMissesNothing() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            let store = try PackedStore(directory: path, create: true)
            let counters = Mutex([Int](repeating: 0, count: 4 * 50))
            for key in 0..<200 { try save("0", "\(key)", in: store) }
            let isOver = Atomic<Bool>(false)
            let faults = Faults()
            onThreads(5) { number in
                defer { if number == 4 { isOver.store(true, ordering: .relaxed) } }
                do {
                    guard number == 4 else {
                        var random = SeededGenerator(seed: number)
                        while !isOver.load(ordering: .relaxed) {
                            let key = number * 50 + Int.random(in: 0..<50, using: &random)
                            let next = counters.withLock { $0[key] } + 1
                            try save("\(next)", "\(key)", in: store)
                            counters.withLock { $0[key] = next }
                        }
                        return
                    }
                    for round in 0..<20 {
                        try checkCopy(
                            of: store,
                            at: path,
                            to: parent + "/copy-\(round)",
                            counters: counters,
                            faults: faults
                        )
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all.prefix(5) == [])
        }
    }

    private func checkCopy(
        of store: PackedStore,
        at path: String,
        to copy: String,
        counters: borrowing Mutex<[Int]>,
        faults: Faults
    ) throws {
        try store.current.snapshots.write()
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        let before = counters.withLock { $0 }
        let segments = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
        for name in ["format", IndexSnapshot.fileName] + segments.sorted() {
            try writeFile(try readFile(path + "/" + name), copy + "/" + name)
        }
        let after = counters.withLock { $0 }
        let other = try PackedStore(directory: copy, create: false)
        for key in before.indices {
            let found = try value("\(key)", in: other).flatMap { Int($0) } ?? -1
            // The value may be one ahead: its save has not returned yet.
            if !(before[key]...(after[key] + 1)).contains(found) {
                faults.add("key \(key) is \(found), not \(before[key]) to \(after[key])")
            }
        }
        try removeDirectory(copy)
    }
}
