import ArchiveStore
import Foundation
import StoreTrials
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// A cache that follows other processes drops old entries from memory, whichever thread learned of the change.
@Suite struct FollowingTests {
    /// A store with entries that another process changes at chosen moments.
    private final class FollowedStore: ArchiveStore {
        let others = ReferenceStore()
        private let changed = Mutex<[KeyDigest]>([])
        /// Each is called once: after a fetch has read, after a save, and after a call has returned the changes.
        let afterFetch = Mutex<(@Sendable () -> Void)?>(nil)
        let afterSave = Mutex<(@Sendable () -> Void)?>(nil)
        let afterTelling = Mutex<(@Sendable () -> Void)?>(nil)
        let asked = DispatchSemaphore(value: 0)
        /// Is told once in place of the keys.
        let answer = Mutex<ChangesByOthers?>(nil)

        /// A save by another process.
        func saveElsewhere(_ archive: [UInt8], _ key: String) throws {
            _ = try others.save(archive, forKey: key, attributes: EntryAttributes(storedAt: .now), if: nil)
            changed.withLock { $0.append(digest(of: key)) }
        }

        func changesByOthers() throws(StoreError) -> ChangesByOthers {
            asked.signal()
            let changes = changed.withLock { changed in
                defer { changed = [] }
                return changed
            }
            if let act = afterTelling.withLock({ $0.take() }) { act() }
            return answer.withLock { $0.take() } ?? .keys(changes)
        }

        func save(
            _ archive: [UInt8],
            forKey key: String,
            attributes: EntryAttributes,
            if condition: ((EntryInformation?) -> Bool)?
        ) throws(StoreError) -> EntryInformation? {
            let saved = try others.save(archive, forKey: key, attributes: attributes, if: condition)
            if let act = afterSave.withLock({ $0.take() }) { act() }
            return saved
        }

        func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
            let found = try others.fetch(forKey: key)
            if let act = afterFetch.withLock({ $0.take() }) { act() }
            return found
        }

        func information(forKey key: String) throws(StoreError) -> EntryInformation? {
            try others.information(forKey: key)
        }

        func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
            try others.moveDeadline(of: entry, to: date)
        }

        func remove(forKey key: String) throws(StoreError) -> Bool { try others.remove(forKey: key) }
        func remove(_ entry: EntryInformation) throws(StoreError) -> Bool { try others.remove(entry) }
        func removeAll() throws(StoreError) { try others.removeAll() }
        func removeDamagedEntries() throws(StoreError) -> Int { 0 }

        func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
            try others.forEachEntry(body)
        }
    }

    private let store = FollowedStore()
    private let cities: Cache<City>

    init() {
        cities = Cache(
            name: "test",
            directory: URL(fileURLWithPath: "/test/\(UUID().uuidString)"),
            store: store,
            settings: CacheSettings(disk: DiskSettings(followsOtherProcesses: true)),
            isSendable: true
        )
    }

    /// Has another process save a city under the key `x`.
    private static func save(_ name: String, elsewhereThan store: FollowedStore) throws {
        let scratch = ReferenceStore()
        let cities = Cache<City>(
            name: "scratch",
            directory: URL(fileURLWithPath: "/test/\(UUID().uuidString)"),
            store: scratch,
            settings: CacheSettings(memory: .none),
            isSendable: true
        )
        try cities.save(City(name: name, population: 1), forKey: "x")
        let archive = try #require(try scratch.fetch(forKey: "x")).archive
        try store.saveElsewhere(archive, "x")
    }

    /// Another process saves, and another thread of this one hears of it.
    private var overtaking: @Sendable () -> Void {
        { [cities, store] in
            do {
                try Self.save("new", elsewhereThan: store)
                _ = try cities.fetch(forKey: "y")
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func aReadIsNotKeptIfAnotherThreadHeardOfAChangeMeanwhile() throws {
        try Self.save("old", elsewhereThan: store)
        store.afterFetch.withLock { $0 = overtaking }
        #expect(try cities.fetch(forKey: "x")?.name == "old")
        #expect(try cities.fetch(forKey: "x")?.name == "new")
    }

    @Test func aSaveIsNotKeptIfAnotherThreadHeardOfALaterOne() throws {
        store.afterSave.withLock { $0 = overtaking }
        try cities.save(City(name: "old", population: 1), forKey: "x")
        #expect(try cities.fetch(forKey: "x")?.name == "new")
    }

    @Test func nobodyHitsWhatAnotherThreadIsAboutToForget() throws {
        try Self.save("old", elsewhereThan: store)
        #expect(try cities.fetch(forKey: "x")?.name == "old")
        let found = Mutex<[String?]>([])
        let done = DispatchSemaphore(value: 0)
        store.afterTelling.withLock {
            $0 = { [cities, store] in
                while store.asked.wait(timeout: .now()) == .success {}
                DispatchQueue.global().async {
                    let name = try? cities.fetch(forKey: "x")?.name
                    found.withLock { $0.append(name) }
                    done.signal()
                }
                // If the other thread need not wait for this one, it asks the store and returns now; otherwise it waits
                // for this one.
                if store.asked.wait(timeout: .now() + 0.2) == .success {
                    done.wait()
                    done.signal()
                }
            }
        }
        try Self.save("new", elsewhereThan: store)
        _ = try cities.fetch(forKey: "y")
        done.wait()
        #expect(found.withLock { $0 } == ["new"])
    }

    @Test func manyKeysThatAreReadAtOnceAreAllFollowed() throws {
        // So many other entries that the followed keys are looked through while the one key is being read.
        try Self.save("old", elsewhereThan: store)
        store.afterFetch.withLock {
            $0 = { [cities] in
                for number in 0..<3_000 {
                    _ = try? cities.save(City(name: "n", population: number), forKey: "\(number % 9)")
                }
                for number in 0..<3_000 {
                    _ = try? cities.save(City(name: "n", population: number), forKey: "k\(number)")
                }
            }
        }
        #expect(try cities.fetch(forKey: "x")?.name == "old")
        try Self.save("new", elsewhereThan: store)
        #expect(try cities.fetch(forKey: "x")?.name == "new")
    }

    /// A change after the load's own read of the store, with another thread having heard of an earlier one: by then the
    /// cache has forgotten the expectations of the fetch that led to the load.
    @Test func aLoadKeepsNoEntryIfAnotherThreadHeardOfAChangeMeanwhile() async throws {
        store.afterFetch.withLock {
            $0 = { [cities, store, overtaking] in
                do {
                    try Self.save("old", elsewhereThan: store)
                    _ = try cities.fetch(forKey: "y")
                } catch {
                    Issue.record(error)
                }
                store.afterFetch.withLock { $0 = overtaking }
            }
        }
        let found = try await cities.fetch(forKey: "x") { (_: City?) -> Revalidated<City> in
            Issue.record("the store has an entry")
            return .unchanged()
        }
        #expect(found.name == "old")
        #expect(try await cities.fetch(forKey: "x")?.name == "new")
    }

    /// A fetch that begins after a removal by another process does not get a value from before it, whether the store
    /// knows the key, or only that it may have been changed.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["key", "doubt", "everything"])
    func aLaterFetchJoinsNoLoadFromBeforeAnothersRemoval(told: String) async throws {
        let source = LoadTests.Source(isOpen: false)
        let former = Task { [cities] in try await cities.fetch(forKey: "x") { try await source.load() } }
        await source.hasRun(1)
        let digest = store.digest(of: "x")
        store.answer.withLock {
            $0 =
                switch told {
                case "key": .keys([digest])
                case "doubt": .keysAndDoubts(changed: [], doubtful: [digest])
                default: .everything
                }
        }
        let later = try await cities.fetch(forKey: "x") { City(name: "later", population: 1) }
        #expect(later.name == "later")
        source.open()
        #expect(try await former.value.name == "loaded")
        #expect(try await cities.fetch(forKey: "x")?.name == "later")
    }

    /// While a server is out, nothing is heard, and each call doubts everything: a load is joined all the same.
    @Test(.timeLimit(.minutes(1 * slowness))) func aLoadIsJoinedWhileNothingIsHeard() async throws {
        let source = LoadTests.Source(isOpen: false)
        let first = Task { [cities] in try await cities.fetch(forKey: "x") { try await source.load() } }
        await source.hasRun(1)
        let others = (0..<5).map { _ in
            Task { [cities, store] in
                store.answer.withLock { $0 = .doubts }
                return try await cities.fetch(forKey: "x") { try await source.load() }
            }
        }
        try await wait(until: cities.statistics.joins == 5 || source.runs > 1)
        source.open()
        for task in [first] + others { #expect(try await task.value.name == "loaded") }
        #expect(source.runs == 1)
    }

    // MARK: Removing many

    /// Memory does not undo a removal that other processes may see: while many entries are being removed, neither the
    /// cache that removes them nor its neighbors serve entries from memory that are gone from disk, and memory takes in
    /// no entry that is about to go.
    @Test(arguments: [false, true]) func whatIsGoneFromDiskIsNotServedWhileOthersStillGo(isTagged: Bool) throws {
        let store = WatchedStore(ReferenceStore())
        let place = "/test/\(UUID().uuidString)"
        let cities = Cache<City>(over: store, place: place)
        let neighbor = Cache<City>(over: store, place: place)
        let keys = (0..<20).map { "\($0)" }
        let city = City(name: "city", population: 1)
        for key in keys { try cities.save(city, forKey: key, tags: ["tag"]) }
        let seen = Recorder<String>()
        let latecomer = Mutex<Cache<City>?>(nil)
        store.interfere { interference in
            interference.remove = { () throws(StoreError) in
                do {
                    let late = Cache<City>(over: store, place: place)
                    // Every entry is still there, but must not stay in memory if it is read now.
                    for key in keys {
                        for each in [cities, neighbor, late] where try each.fetch(forKey: key) != city {
                            seen.add("missing \(key)")
                        }
                    }
                    latecomer.withLock { $0 = late }
                } catch { seen.add("\(error)") }
            }
            interference.removed = { removed in
                do {
                    for each in [cities, neighbor, latecomer.withLock { $0 }] {
                        // Of those with a tag, the removing cache is told one by one.
                        if isTagged, each !== cities { continue }
                        for key in removed ?? keys where try each?.fetch(forKey: key) != nil { seen.add(key) }
                    }
                    if removed == nil { try cities.save(city, forKey: "new") }
                } catch { seen.add("\(error)") }
            }
        }
        if isTagged {
            #expect(try cities.removeAll(tagged: "tag") == 20)
        } else {
            try cities.removeAll()
            for each in [cities, neighbor] { #expect(try each.fetch(forKey: "new") == city) }
        }
        #expect(seen.all == [])
        store.interfere { $0 = .init() }
        for each in [cities, neighbor, latecomer.withLock { $0 }] {
            for key in keys { #expect(try each?.fetch(forKey: key) == nil) }
        }
        // Memory is of use again.
        for each in [cities, neighbor, latecomer.withLock { $0 }] {
            try each?.save(city, forKey: "again")
            let count = store.counts.fetches
            #expect(try each?.fetch(forKey: "again") == city)
            #expect(store.counts.fetches == count)
        }
    }

    /// Values do not end under a lock: their `deinit` may use the cache.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [DiskSettings.Layout.packed, .files])
    func valuesOfALostDirectoryMayUseTheCacheAtTheirEnd(layout: DiskSettings.Layout) async throws {
        final class Page: Codable, Encoded, Sendable {
            private enum CodingKeys: CodingKey { case number }

            let number: Int
            let atEnd = Mutex<(@Sendable () -> Void)?>(nil)

            init(_ number: Int) { self.number = number }
            deinit { atEnd.withLock { $0.take() }?() }
        }
        let directory = TestDirectory()
        let disk = DiskSettings(layout: layout, followsOtherProcesses: true)
        let pages = try Cache<Page>(
            name: "pages",
            directory: directory.url,
            settings: CacheSettings(disk: disk, valueSharing: .shared)
        )
        let ends = Recorder<Bool>()
        try await save(Page(1)) { ends.add((try? pages.contains(forKey: "y")) ?? false) }
        func save(_ page: Page, atEnd: @escaping @Sendable () -> Void) async throws {
            page.atEnd.withLock { $0 = atEnd }
            try await pages.save(page, forKey: "x")
        }
        try FileManager.default.removeItem(at: directory.url.appending(path: "pages"))
        func isAtEnd() async throws -> Bool {
            _ = try await pages.fetch(forKey: "y")
            return !ends.all.isEmpty
        }
        try await wait(until: await isAtEnd())
    }
}
