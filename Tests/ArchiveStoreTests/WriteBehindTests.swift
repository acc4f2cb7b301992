import Dispatch
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// A deferred save is visible at once, written in order, and never lost silently.
@Suite struct WriteBehindTests {
    /// A store whose saves wait until the test lets them go, and fail for the keys in `fails`.
    final class SlowStore: ArchiveStore {
        struct State {
            var isOpen = false
            var fails: Set<String> = []
            var failsRemovals = false
            var failsRemovalOfAll = false
            var saved: [String] = []
            var waiting: [DispatchSemaphore] = []
            /// Called before a removal changes anything.
            var beforeRemoval: (@Sendable () -> Void)?
        }

        let entries = ReferenceStore()
        let state = Mutex(State())

        private static let failure = StoreError(.io, action: "saving", reason: "no space left", errorNumber: 28)

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for semaphore in waiting { semaphore.signal() }
        }

        func save(
            _ archive: [UInt8],
            forKey key: String,
            attributes: EntryAttributes,
            if condition: ((EntryInformation?) -> Bool)?
        ) throws(StoreError) -> EntryInformation? {
            let semaphore = state.withLock { state -> DispatchSemaphore? in
                if state.isOpen { return nil }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return semaphore
            }
            semaphore?.wait()
            if state.withLock({ $0.fails.contains(key) }) { throw Self.failure }
            state.withLock { $0.saved.append(key) }
            return try entries.save(archive, forKey: key, attributes: attributes, if: condition)
        }

        func remove(forKey key: String) throws(StoreError) -> Bool {
            state.withLock { $0.beforeRemoval }?()
            if state.withLock({ $0.failsRemovals }) { throw Self.failure }
            return try entries.remove(forKey: key)
        }

        func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
            try entries.moveDeadline(of: entry, to: date)
        }
        func fetch(forKey key: String) throws(StoreError) -> StoredArchive? { try entries.fetch(forKey: key) }
        func information(forKey key: String) throws(StoreError) -> EntryInformation? {
            try entries.information(forKey: key)
        }
        func remove(_ entry: EntryInformation) throws(StoreError) -> Bool { try entries.remove(entry) }
        func removeAll() throws(StoreError) {
            if state.withLock({ $0.failsRemovalOfAll }) { throw Self.failure }
            state.withLock { $0.beforeRemoval }?()
            try entries.removeAll()
        }
        func removeDamagedEntries() throws(StoreError) -> Int { 0 }
        /// How many saves had been written.
        func compact() throws(StoreError) -> Int { state.withLock { $0.saved.count } }
        func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
            try entries.forEachEntry(body)
        }
    }

    /// Remembers the failures.
    final class User: StoreUser {
        let failures = Mutex<[(key: String, leavesStale: Bool)]>([])

        func isInUse(_ key: String) -> Bool { false }
        func didEvict(_ entry: EntryInformation) {}
        func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) {
            failures.withLock { $0.append((key, save != nil)) }
        }
    }

    private func save(_ byte: UInt8, _ key: String, in store: some ArchiveStore, count: Int = 1) throws {
        let archive = [UInt8](repeating: byte, count: count)
        try store.save(archive, forKey: key, storedAt: .now, expiresAt: nil)
    }

    /// Waits until a removal of everything has dropped the saves that wait.
    ///
    /// - Precondition: the deferred saves fill the store, so that the next save waits until the removal has dropped some of them.
    private func waitUntilARemovalOfAllHasBegun(in store: WriteBehindStore) throws {
        try save(0, "room", in: store)
    }

    @Test func aSaveReturnsBeforeItIsWrittenAndIsSeen() throws {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        for (index, key) in ["a", "b", "a", "a"].enumerated() { try save(UInt8(index), key, in: store) }
        #expect(try store.fetch(forKey: "a")?.archive == [3])
        #expect(try store.information(forKey: "b")?.archiveByteCount == 1)
        #expect(try below.fetch(forKey: "b") == nil)
        below.open()
        try store.flush()
        #expect(try below.fetch(forKey: "a")?.archive == [3])
        #expect(try below.fetch(forKey: "b")?.archive == [1])
        // The first save may have been on its way; later ones are written once for each key.
        #expect(below.state.withLock { $0.saved.count } <= 3)
    }

    @Test func compactingWaitsForWhatWasDeferred() throws {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        for key in ["a", "b", "c"] { try save(1, key, in: store) }
        #expect(try store.peek(forKey: "c")?.archive == [1])
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { below.open() }
        #expect(try store.compact() == 3)
    }

    @Test func aFullQueueHoldsUpTheSaver() throws {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 100)
        try save(1, "large", in: store, count: 1_000)
        let isDone = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            try? self.save(2, "next", in: store)
            isDone.withLock { $0 = true }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        #expect(!isDone.withLock { $0 })
        below.open()
        done.wait()
        try store.flush()
        #expect(try below.fetch(forKey: "next")?.archive == [2])
    }

    @Test func whatIsRemovedIsNeverWritten() throws {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        try save(0, "first", in: store)
        for key in ["a", "b", "c"] { try save(1, key, in: store) }
        #expect(try store.remove(forKey: "a"))
        #expect(try !store.remove(forKey: "a"))
        #expect(try store.fetch(forKey: "a") == nil)
        let stored = try #require(try store.information(forKey: "b"))
        below.open()
        try store.flush()
        #expect(try store.remove(stored))
        #expect(below.state.withLock { !$0.saved.contains("a") })
        #expect(try below.fetch(forKey: "a") == nil && below.fetch(forKey: "b") == nil)
        try store.removeAll()
        try save(2, "d", in: store)
        try store.flush()
        #expect(try below.fetch(forKey: "c") == nil)
        #expect(try below.fetch(forKey: "d")?.archive == [2])
    }

    /// A reader at the time of a removal may see the removed value, but not the older one that it had replaced.
    @Test(arguments: [false, true])
    func whatWasReplacedIsNotSeenAgainWhileItIsRemoved(removesAll: Bool) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        for key in ["a", "b"] { try save(1, key, in: store) }
        try store.flush()
        below.state.withLock { $0.isOpen = false }
        try save(0, "first", in: store)
        for key in ["a", "b"] { try save(2, key, in: store) }
        let seen = Mutex<[[UInt8]?]>([])
        @Sendable func look() {
            let archive = try? store.fetch(forKey: "a")?.archive
            let information = try? store.information(forKey: "a")
            seen.withLock { $0.append(archive) }
            #expect((archive == nil) == (information == nil))
        }
        below.state.withLock { $0.beforeRemoval = look }
        if removesAll {
            // The save that is being written cannot be held back, so it is let go; the saves that wait after it may be
            // written.
            DispatchQueue.global().async { below.open() }
            try store.removeAll()
        } else {
            #expect(try store.remove(forKey: "a"))
        }
        #expect(seen.withLock { $0 } == [[2]])
        #expect(try store.fetch(forKey: "a") == nil)
        #expect(try below.fetch(forKey: "a") == nil)
        #expect(try (store.fetch(forKey: "b") == nil) == removesAll)
        try save(3, "a", in: store)
        #expect(try store.fetch(forKey: "a")?.archive == [3])
        below.open()
        try store.flush()
        #expect(try store.fetch(forKey: "a")?.archive == [3])
        // A save during the removal of everything is kept.
        below.state.withLock { state in
            state.beforeRemoval = {
                do {
                    let attributes = EntryAttributes(storedAt: .now)
                    let isSaved = try store.save([4], forKey: "a", attributes: attributes, if: { _ in true }) != nil
                    #expect(try isSaved && store.fetch(forKey: "a")?.archive == [4])
                    try self.save(5, "b", in: store)
                    #expect(try store.fetch(forKey: "b")?.archive == [5])
                } catch {
                    Issue.record(error)
                }
            }
            state.isOpen = false
        }
        try save(0, "first", in: store)
        for key in ["a", "b"] { try save(2, key, in: store) }
        DispatchQueue.global().async { below.open() }
        try store.removeAll()
        try store.flush()
        below.state.withLock { $0.beforeRemoval = nil }
        try save(3, "a", in: store)
        #expect(try store.remove(forKey: "a"))
        #expect(try store.fetch(forKey: "a") == nil)
    }

    @Test(arguments: [false, true])
    func aFailureIsToldAndLeavesNothingStale(failsRemovals: Bool) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        let user = User()
        store.setUser(user)
        try save(1, "a", in: store)
        try store.flush()
        below.state.withLock { state in
            state.fails = ["a"]
            state.failsRemovals = failsRemovals
        }
        try save(2, "a", in: store)
        try save(3, "b", in: store)
        let error = #expect(throws: StoreError.self) { try store.flush() }
        #expect(error?.errorNumber == 28)
        try store.flush()
        #expect(user.failures.withLock { $0.map(\.key) } == ["a"])
        #expect(user.failures.withLock { $0.map(\.leavesStale) } == [failsRemovals])
        #expect(try (below.entries.fetch(forKey: "a") == nil) == !failsRemovals)
        #expect(try below.entries.fetch(forKey: "b")?.archive == [3])
    }

    /// A value that was saved over must not come back, even if the removal fails.
    @Test(arguments: [false, true])
    func aFailedRemovalOfEverythingLeavesNothingStale(failsRemovals: Bool) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: 3)
        let user = User()
        store.setUser(user)
        for key in ["a", "b", "c"] { try save(1, key, in: store) }
        try store.flush()
        below.state.withLock { state in
            state.isOpen = false
            state.failsRemovalOfAll = true
            state.failsRemovals = failsRemovals
        }
        // The first one is being written, the others wait.
        for key in ["a", "b", "new"] { try save(2, key, in: store) }
        try wait(until: below.state.withLock { !$0.waiting.isEmpty })
        let isRemoved = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            #expect(throws: StoreError.self) { try store.removeAll() }
            isRemoved.signal()
        }
        try waitUntilARemovalOfAllHasBegun(in: store)
        below.open()
        isRemoved.wait()
        for key in ["a", "b"] {
            let archive = try store.fetch(forKey: key)?.archive
            let isBarred = user.failures.withLock { $0.contains { $0.key == key && $0.leavesStale } }
            #expect(archive == [2] || archive == nil || isBarred, "\(key): \(archive ?? [])")
        }
        #expect(try store.fetch(forKey: "c")?.archive == [1])
        // And it is used as before.
        below.state.withLock { $0.failsRemovalOfAll = false }
        try save(3, "b", in: store)
        #expect(try store.fetch(forKey: "b")?.archive == [3])
        try store.flush()
        #expect(try below.entries.fetch(forKey: "b")?.archive == [3])
        try store.removeAll()
        #expect(try below.entries.fetch(forKey: "b") == nil)
    }

    /// The deferred value stays, and is written; a flush that began in the meantime waits for it.
    @Test(arguments: [false, true])
    func aFailedRemovalLeavesTheDeferredValue(isBatch: Bool) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        let user = User()
        store.setUser(user)
        for key in ["a", "b"] { try save(1, key, in: store) }
        try store.flush()
        below.state.withLock { $0.isOpen = false }
        try save(0, "first", in: store)
        for key in ["a", "b"] { try save(2, key, in: store, count: 400) }
        let isFlushed = DispatchSemaphore(value: 0)
        let flushed = Mutex<[UInt8]?>(nil)
        below.state.withLock { state in
            state.failsRemovals = true
            state.beforeRemoval = {
                below.state.withLock { $0.beforeRemoval = nil }
                below.open()
                DispatchQueue.global().async {
                    #expect(throws: Never.self) { try store.flush() }
                    let archive = try? below.entries.fetch(forKey: "a")?.archive
                    flushed.withLock { $0 = archive }
                    isFlushed.signal()
                }
                usleep(50_000)
            }
        }
        if isBatch {
            for result in store.remove(forKeys: ["a", "", "b"]) {
                #expect(throws: StoreError.self) { try result.get() }
            }
        } else {
            #expect(throws: StoreError.self) { try store.remove(forKey: "a") }
        }
        #expect(try store.fetch(forKey: "a")?.archive.first == 2)
        #expect(try store.information(forKey: "a")?.archiveByteCount == 400)
        isFlushed.wait()
        #expect(flushed.withLock { $0?.first } == 2)
        for key in ["a", "b"] { #expect(try below.entries.fetch(forKey: key)?.archive.first == 2) }
        #expect(user.failures.withLock { $0.isEmpty })
        below.state.withLock { $0.failsRemovals = false }
        // And it is used as before, with as much room.
        below.state.withLock { $0.isOpen = false }
        try save(0, "first", in: store)
        for key in ["a", "b"] { try save(3, key, in: store, count: 400) }
        #expect(try store.remove(forKey: "a"))
        below.open()
        try store.flush()
        #expect(try below.entries.fetch(forKey: "a") == nil)
        #expect(try below.entries.fetch(forKey: "b")?.archive.first == 3)
    }

    /// After each call a key has the value that was saved last, or none if a removal has succeeded since.
    @Test(arguments: 0..<10) func failedRemovalsChangeNothing(seed: Int) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: seed % 2 == 0 ? 1 << 20 : 30)
        let keys = (0..<4).map { "key \($0)" }
        var random = SeededGenerator(seed: seed)
        var model: [String: UInt8] = [:]
        for step in 0..<400 {
            let key = keys.randomElement(using: &random) ?? ""
            let fails = Bool.random(using: &random)
            below.state.withLock { $0.failsRemovals = fails }
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                do throws(StoreError) {
                    #expect(try store.remove(forKey: key) == (model[key] != nil))
                    model[key] = nil
                } catch {
                    #expect(fails)
                }
            case 1:
                let chosen = keys.filter { _ in Bool.random(using: &random) }
                for (key, result) in zip(chosen, store.remove(forKeys: chosen)) {
                    if case .success = result { model[key] = nil } else { #expect(fails) }
                }
            case 2: try store.flush()
            default:
                let byte = UInt8.random(in: 0...255, using: &random)
                try save(byte, key, in: store, count: Int.random(in: 1...20, using: &random))
                model[key] = byte
            }
            for key in keys {
                #expect(try store.fetch(forKey: key)?.archive.first == model[key], "\(step), \(key)")
            }
        }
        try store.flush()
        for key in keys { #expect(try below.entries.fetch(forKey: key)?.archive.first == model[key]) }
    }

    /// Takes its time to hear of a failure.
    private final class SlowUser: StoreUser {
        let failures = Mutex<[String]>([])
        let isTold = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)

        func isInUse(_ key: String) -> Bool { false }
        func didEvict(_ entry: EntryInformation) {}
        func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) {
            isTold.signal()
            _ = mayGoOn.wait(timeout: .now() + .milliseconds(100))
            failures.withLock { $0.append(key) }
        }
    }

    /// A user that runs a closure on each failure.
    private final class ActiveUser: StoreUser {
        let act: @Sendable () -> Void

        init(_ act: @escaping @Sendable () -> Void) { self.act = act }

        func isInUse(_ key: String) -> Bool { false }
        func didEvict(_ entry: EntryInformation) {}
        func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) { act() }
    }

    /// The value from before a save that was accepted is not seen until the user knows that it must be hidden.
    @Test(arguments: [false, true]) func aFailingSaveShowsNoFormerValue(failsRemoval: Bool) throws {
        let below = SlowStore()
        below.open()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        try save(1, "a", in: store)
        try store.flush()
        below.state.withLock { state in
            state.fails = ["a"]
            state.failsRemovals = failsRemoval
        }
        let seen = Mutex<[[UInt8]?]>([])
        let user = ActiveUser {
            #expect(throws: Never.self) {
                let found = try store.fetch(forKey: "a")?.archive
                seen.withLock { $0.append(found) }
            }
        }
        store.setUser(user)
        try save(2, "a", in: store)
        #expect(throws: StoreError.self) { try store.flush() }
        #expect(seen.withLock { $0 } == [failsRemoval ? [2] : nil])
    }

    /// So that the failure is not taken for one of the later save.
    @Test func noSaveIsAcceptedBeforeTheFailureToRemoveAllIsTold() throws {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 2)
        let isSaved = Mutex(false)
        let wasSaved = Mutex<Bool?>(nil)
        let saved = DispatchSemaphore(value: 0)
        let user = ActiveUser {
            Thread {
                #expect(throws: Never.self) { try store.save([3], forKey: "a", storedAt: .now, expiresAt: nil) }
                isSaved.withLock { $0 = true }
                saved.signal()
            }.start()
            usleep(100_000)
            wasSaved.withLock { $0 = isSaved.withLock { $0 } }
        }
        store.setUser(user)
        try save(0, "blocker", in: store)
        try wait(until: below.state.withLock { !$0.waiting.isEmpty })
        try save(1, "a", in: store)
        below.state.withLock { state in
            state.failsRemovals = true
            state.failsRemovalOfAll = true
        }
        let removal = Thread { #expect(throws: StoreError.self) { try store.removeAll() } }
        removal.start()
        try waitUntilARemovalOfAllHasBegun(in: store)
        below.open()
        saved.wait()
        #expect(wasSaved.withLock { $0 } == false)
        #expect(try store.fetch(forKey: "a")?.archive == [3])
        withExtendedLifetime(user) {}
    }

    /// A caller that settles a key while it is saved again and again waits for the saves from before alone.
    @Test func settlingAKeyWaitsForNoLaterSave() throws {
        // A call that begins only after the later save, as on a busy machine, waits for that one too.
        #expect(try [50, 1_000, 10_000].contains { try isSettled(afterMilliseconds: $0) })
    }

    /// Whether a call that settles a key, and has so much time to begin, waits for no later save.
    private func isSettled(afterMilliseconds pause: UInt32) throws -> Bool {
        let below = SlowStore()
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        try save(1, "a", in: store)
        try wait(until: below.state.withLock { !$0.waiting.isEmpty })
        let settled = DispatchSemaphore(value: 0)
        Thread {
            store.settle("a")
            settled.signal()
        }.start()
        usleep(pause * 1_000)
        try save(2, "a", in: store)
        // The first write alone goes on; the second one waits.
        let first = below.state.withLock { $0.waiting.removeFirst() }
        first.signal()
        let isSettled = settled.wait(timeout: .now() + 10) == .success
        #expect(!isSettled || below.state.withLock { $0.saved } == ["a"])
        below.open()
        if !isSettled { settled.wait() }
        try store.flush()
        return isSettled
    }

    @Test(arguments: ["flush", "close", "removeAll", "settle"])
    func waitingForAllSavesWaitsUntilFailuresAreTold(call: String) throws {
        let below = SlowStore()
        below.open()
        below.state.withLock { $0.fails = ["a"] }
        let store = WriteBehindStore(over: below, byteLimit: 1_000)
        let user = SlowUser()
        store.setUser(user)
        try save(1, "a", in: store)
        user.isTold.wait()
        switch call {
        case "flush": #expect(throws: StoreError.self) { try store.flush() }
        case "close": #expect(throws: StoreError.self) { try store.close() }
        case "removeAll": try store.removeAll()
        default: store.settle(nil)
        }
        #expect(user.failures.withLock { $0 } == ["a"])
        user.mayGoOn.signal()
    }

    /// A condition sees every save that returned before.
    @Test func conditionsSeeWhatWasDeferred() throws {
        let below = ReferenceStore()
        let store = WriteBehindStore(over: below, byteLimit: 10_000)
        let faults = Faults()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<200 {
                do {
                    var isDone = false
                    while !isDone {
                        let former = try store.fetch(forKey: "count")
                        let next = (former?.archive.first ?? 0) &+ 1
                        let saved = try store.save(
                            [next],
                            forKey: "count",
                            attributes: EntryAttributes(storedAt: .now)
                        ) { $0?.identity == former?.information.identity }
                        isDone = saved != nil
                    }
                    try self.save(9, "other \(thread)", in: store)
                } catch {
                    faults.add("\(error)")
                }
            }
        }
        #expect(faults.all.isEmpty)
        #expect(try store.fetch(forKey: "count")?.archive == [UInt8(truncatingIfNeeded: 800)])
    }

    /// Eight threads, each with keys of its own: at the end, each key has the result of its last save or removal.
    @Test func theOrderOfEachKeyIsKept() throws {
        try withTemporaryDirectory { path in
            let file = try FileStore(directory: path + "/cache", create: true)
            let store = WriteBehindStore(over: file, byteLimit: 5_000)
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                var random = SeededGenerator(seed: thread)
                var last: [String: UInt8] = [:]
                do {
                    for _ in 0..<300 {
                        let key = "\(thread) \(Int.random(in: 0..<4, using: &random))"
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0:
                            if try store.remove(forKey: key) != (last[key] != nil) {
                                faults.add("removal of \(key)")
                            }
                            last[key] = nil
                        case 1: try store.flush()
                        default:
                            let byte = UInt8.random(in: 0...255, using: &random)
                            try self.save(byte, key, in: store, count: Int.random(in: 1...400, using: &random))
                            last[key] = byte
                        }
                        if try store.fetch(forKey: key)?.archive.first != last[key] {
                            faults.add("fetch of \(key)")
                        }
                    }
                    try store.flush()
                    for (key, byte) in last where try file.fetch(forKey: key)?.archive.first != byte {
                        faults.add("\(key) on disk")
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
        }
    }
}
