import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// Removals, saves and failures while a key is loaded.
extension LoadTests {
    // MARK: Removals and saves during a load

    enum Change: CaseIterable, Sendable { case remove, removeAll, save, removeByAnother, saveByAnother, modify }

    @Test(arguments: Change.allCases)
    func whatHappensDuringALoadCounts(change: Change) async throws {
        let cities = try cache()
        let other = try cache()
        let saved = City(name: "saved", population: 2)
        try await cities.save(City(name: "old", population: 0), forKey: "a", expiration: .after(.seconds(1)))
        clock.advance(by: 2)
        let source = Source(isOpen: false)
        let load = Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        await source.hasRun(1)
        switch change {
        case .remove: try await cities.remove(forKey: "a")
        case .removeAll: try await cities.removeAll()
        case .save: try await cities.save(saved, forKey: "a")
        case .removeByAnother: try await other.remove(forKey: "a")
        case .saveByAnother: try await other.save(saved, forKey: "a")
        case .modify: try await cities.modify(forKey: "a") { $0 = saved }
        }
        source.open()
        // The caller gets the value that was loaded for it; the cache keeps the later one.
        #expect(try await load.value.name == "loaded")
        let isSaved = [Change.save, .saveByAnother, .modify].contains(change)
        for cache in [cities, other, try cache()] {
            #expect(try await cache.fetch(forKey: "a")?.name == (isSaved ? "saved" : nil))
        }
    }

    /// A fetch that begins after a change gets no error of a load from before it.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Change.allCases, [false, true])
    func anErrorFromBeforeAChangeIsNotRemembered(change: Change, isBulk: Bool) async throws {
        let cities = try cache()
        let other = try cache()
        let saved = City(name: "saved", population: 2)
        let expiration = Expiration.after(.seconds(1))
        let options = LoadOptions(failureLifetime: .seconds(3_600))
        let source = Source(.failure(Refusal()), isOpen: false)
        let load = Task { () async throws -> City? in
            guard isBulk else {
                return try await cities.fetch(forKey: "a", options: options) { try await source.load() }
            }
            let loaded = try await cities.fetch(forKeys: ["a"], options: options) { _ in
                ["a": try await source.load()]
            }
            return loaded["a"]
        }
        await source.hasRun(1)
        switch change {
        case .remove: try await cities.remove(forKey: "a")
        case .removeAll: try await cities.removeAll()
        case .save: try await cities.save(saved, forKey: "a", expiration: expiration)
        case .removeByAnother: try await other.remove(forKey: "a")
        case .saveByAnother: try await other.save(saved, forKey: "a", expiration: expiration)
        case .modify: try await cities.modify(forKey: "a", expiration: expiration) { $0 = saved }
        }
        source.open()
        await #expect(throws: Refusal.self) { try await load.value }
        clock.advance(by: 2)
        let later = try await cities.fetch(forKey: "a", options: options) { City(name: "later", population: 1) }
        #expect(later.name == "later")
    }

    /// A fetch that begins after a removal does not get a value from before it.
    @Test(
        .timeLimit(.minutes(1 * slowness)),
        arguments: ["remove", "removeByAnother", "removeSeveral", "removeAll", "removeTagged", "failedSave"]
    )
    func aLaterFetchJoinsNoLoadFromBeforeARemoval(change: String) async throws {
        let store = AgreementTests.TestStore()
        let inDirectory = change != "failedSave"
        let cities = inDirectory ? try cache() : Cache<City>(over: store, clock: clock)
        let other = try cache()
        let old = City(name: "old", population: 0)
        // Of use still, so that it stays on disk.
        let expiration = Expiration.after(.seconds(1)).servingStaleOnError(for: .seconds(3_600))
        try await cities.save(old, forKey: "a", expiration: expiration, tags: ["t"])
        clock.advance(by: 2)
        let source = Source(isOpen: false)
        let former = Task { try await cities.fetch(forKey: "a") { try await source.load() } }
        await source.hasRun(1)
        switch change {
        case "remove": try await cities.remove(forKey: "a")
        case "removeByAnother": try await other.remove(forKey: "a")
        case "removeSeveral": try await cities.remove(forKeys: ["a"])
        case "removeAll": try await cities.removeAll()
        case "removeTagged": try await cities.removeAll(tagged: "t")
        default:
            store.state.withLock { $0.failsSaves = true }
            await #expect(throws: CacheError.self) { try await cities.save(old, forKey: "a") }
            store.state.withLock { $0.failsSaves = false }
        }
        let later = try await cities.fetch(forKey: "a") { City(name: "later", population: 1) }
        #expect(later.name == "later")
        source.open()
        #expect(try await former.value.name == "loaded")
        #expect(try await cities.fetch(forKey: "a")?.name == "later")
    }

    /// The directory's other caches learn of a removal by tag before the disk does: their loads do not undo it.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [DiskSettings.Layout.packed, .files])
    func aRemovalByTagOutlivesALoadOfAnotherCache(layout: DiskSettings.Layout) async throws {
        let path = directory.url.path
        let store: any ArchiveStore =
            layout == .files
            ? try FileStore(directory: path, create: true) : try PackedStore(directory: path, create: true)
        let watched = WatchedStore(store)
        let cities = Cache<City>(over: watched, place: path, clock: clock)
        let other = Cache<City>(over: try directory.store(""), place: path, clock: clock)
        // Of use still, so that it stays on disk.
        let expiration = Expiration.after(.seconds(1)).servingStaleOnError(for: .seconds(3_600))
        let old = City(name: "old", population: 0)
        try await cities.save(old, forKey: "a", expiration: expiration, tags: ["t"])
        clock.advance(by: 2)
        let source = Source(isOpen: false)
        let isDone = DispatchSemaphore(value: 0)
        let load = Task {
            defer { isDone.signal() }
            return try await other.fetch(forKey: "a", tags: ["t"]) { try await source.load() }
        }
        await source.hasRun(1)
        // The disk has lost the entry, and no cache knows of it.
        watched.interfere { interference in
            interference.removed = { _ in
                source.open()
                isDone.wait()
            }
        }
        #expect(try await cities.removeAll(tagged: "t") == 1)
        #expect(try await load.value.name == "loaded")
        for cache in [cities, other] { #expect(try await cache.fetch(forKey: "a") == nil) }
    }

    // MARK: Later loads

    /// A later fetch may not join the first load, because the tags of that are not known; the cache keeps its newer
    /// value.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true])
    func ofTwoLoadsTheLaterOneIsKept(laterEndsFirst: Bool) async throws {
        let cities = try cache()
        let sources = ["older", "newer"].map { name in
            Source(.success(City(name: name, population: 1)), isOpen: false)
        }
        var loads: [Task<City, any Error>] = []
        for source in sources {
            loads.append(Task { try await cities.fetch(forKey: "a") { _ in .new(try await source.load()) } })
            await source.hasRun(1)
            try await cities.removeAll(tagged: "unrelated")
        }
        for index in laterEndsFirst ? [1, 0] : [0, 1] {
            sources[index].open()
            #expect(try await loads[index].value.name == (index == 0 ? "older" : "newer"))
        }
        for cache in [cities, try cache()] { #expect(try await cache.fetch(forKey: "a")?.name == "newer") }
    }

    /// Its producer was done before.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true])
    func aLoadThatIsGivenUpWhileItSavesGivesWayToALaterOne(hasPassedConditions: Bool) async throws {
        let store = AgreementTests.TestStore()
        let cities = Cache<City>(over: store, clock: clock)
        let (saves, save) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        let wait: @Sendable () -> Void = {
            save.yield()
            mayGoOn.wait()
        }
        if hasPassedConditions {
            store.duringSave.withLock { $0 = wait }
        } else {
            store.beforeSave.withLock { $0 = wait }
        }
        let former = Task { try await cities.fetch(forKey: "a") { City(name: "older", population: 1) } }
        for await _ in saves { break }
        former.cancel()
        await #expect(throws: CancellationError.self) { try await former.value }
        // Several keys: the queue of the one is held up.
        let later = try await cities.fetch(forKeys: ["a", "b"]) { keys in
            mayGoOn.signal()
            return Dictionary(uniqueKeysWithValues: keys.map { ($0, City(name: "newer", population: 1)) })
        }
        #expect(later["a"]?.name == "newer")
        #expect(try await cities.fetch(forKey: "a")?.name == "newer")
        #expect(try await cities.fetch(forKey: "a", freshness: .latest)?.name == "newer")
    }

    // MARK: Removals by tag

    enum Place: CaseIterable, Sendable { case packed, files, memory }

    private func cache(_ place: Place) throws -> Cache<City> {
        let disk = DiskSettings(layout: place == .files ? .files : .packed)
        return try Cache(
            name: "tagged",
            directory: directory.url,
            settings: CacheSettings(disk: place == .memory ? nil : disk, clock: clock)
        )
    }

    enum Tagging: CaseIterable, Sendable { case byFetch, byProducer, byFetchOfMany }

    /// Whether the key has no entry, or an expired one.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Place.allCases, Tagging.allCases)
    func aLoadSavesNoEntryWithATagThatWasRemovedMeanwhile(place: Place, tagging: Tagging) async throws {
        let cities = try cache(place)
        // A cache in memory alone shares its entries with no other.
        let remover = place == .memory ? cities : try cache(place)
        for (index, hadEntry) in [(0, false), (1, true), (2, false), (3, true)] {
            let (key, isOwn) = ("\(index)", index < 2)
            if hadEntry {
                let expired = Expiration.after(.seconds(1))
                try await cities.save(
                    City(name: "old", population: 0),
                    forKey: key,
                    expiration: expired,
                    tags: ["t"]
                )
                clock.advance(by: 2)
            }
            let source = Source(isOpen: false)
            @Sendable func fetch(_ load: @escaping @Sendable () async throws -> City) async throws -> City? {
                switch tagging {
                case .byFetch: try await cities.fetch(forKey: key, tags: ["s", "t"], producer: load)
                case .byProducer:
                    try await cities.fetch(forKey: key) { _ in .new(try await load(), tags: ["s", "t"]) }
                case .byFetchOfMany:
                    try await cities.fetch(forKeys: [key], tags: ["t"]) { _ in [key: try await load()] }[key]
                }
            }
            let former = Task { try await fetch { try await source.load() } }
            await source.hasRun(1)
            try await (isOwn ? cities : remover).removeAll(tagged: "t")
            let later = Task { try await fetch { City(name: "later", population: 1) } }
            #expect(try await later.value?.name == "later", "\(index)")
            try await remover.removeAll(tagged: "t")
            source.open()
            #expect(try await former.value?.name == "loaded", "\(index)")
            for cache in [cities, remover] {
                #expect(try await cache.fetch(forKey: key) == nil, "\(index)")
                #expect(try await cache.contains(forKey: key) == false, "\(index)")
            }
        }
    }

    @Test(.timeLimit(.minutes(1 * slowness)), arguments: Place.allCases)
    func aLoadSavesAnEntryWithoutTheTagThatWasRemovedMeanwhile(place: Place) async throws {
        let cities = try cache(place)
        let source = Source(isOpen: false)
        let loads = [["s"], []].map { tags in
            Task { try await cities.fetch(forKey: "\(tags)", tags: Set(tags)) { try await source.load() } }
        }
        await source.hasRun(2)
        try await cities.removeAll(tagged: "t")
        // It is joined, too.
        let joined = Task { try await cities.fetch(forKey: "[]") { City(name: "own", population: 1) } }
        try await waiters(2, of: "[]", cities)
        source.open()
        for load in loads + [joined] { #expect(try await load.value.name == "loaded") }
        #expect(try await cities.count() == 2)
        // Removals before a load do not count.
        let after = try await cities.fetch(forKey: "t", tags: ["t"]) { City(name: "after", population: 1) }
        #expect(try await cities.fetch(forKey: "t") == after)
    }

    /// Once its entry has passed all conditions, and may have no name yet; also one that the disk refuses.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [false, true])
    func aRemovalByTagDuringTheSaveOfALoadedValueWins(isRefused: Bool) async throws {
        let store = AgreementTests.TestStore()
        let cities = Cache<City>(over: store, clock: clock)
        let remove: @Sendable () -> Void = { #expect(throws: Never.self) { try cities.removeAll(tagged: "t") } }
        if isRefused {
            store.state.withLock { $0.failsSaves = true }
            store.beforeSave.withLock { $0 = remove }
        } else {
            store.duringSave.withLock { $0 = remove }
        }
        let loaded = try await cities.fetch(forKey: "a", tags: ["t"]) { City(name: "loaded", population: 1) }
        #expect(loaded.name == "loaded")
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await cities.fetch(forKey: "a", freshness: .latest) == nil)
    }

    @Test func removalsOfMoreTagsThanAreKeptCountForAllTags() {
        var removals = TagRemovals()
        removals.add("t")
        let afterOne = removals.last
        #expect(removals.include(["s", "t"], since: 0) && !removals.include(["s"], since: 0))
        #expect(removals.include(nil, since: 0) && !removals.include([], since: 0))
        #expect(!removals.include(["t"], since: afterOne) && !removals.include(nil, since: afterOne))
        // Compared by their bytes.
        removals.add("\u{e9}")
        #expect(removals.include(["\u{e9}"], since: afterOne) && !removals.include(["e\u{301}"], since: afterOne))
        for number in 0..<1_000 { removals.add("\(number)") }
        #expect(removals.include(["s"], since: afterOne) && !removals.include([], since: afterOne))
        #expect(!removals.include(["s"], since: removals.last - 1))
        #expect(removals.include(["999"], since: removals.last - 1))
        removals.forget()
        #expect(!removals.include(["999"], since: removals.last))
    }

    /// Removals at any moment of a load, many times: nothing that was loaded before comes back.
    @Test(arguments: ["one", "everything", "tagged"], Place.allCases)
    func noRemovalIsLost(removal: String, place: Place) async throws {
        let cities = try cache(place)
        for round in 0..<200 {
            let loaded = Mutex(false)
            let load = Task {
                try await cities.fetch(forKey: "a", tags: ["t"]) {
                    loaded.withLock { $0 = true }
                    return City(name: "\(round)", population: round)
                }
            }
            try await wait(until: loaded.withLock({ $0 }))
            switch removal {
            case "one": try await cities.remove(forKey: "a")
            case "everything": try await cities.removeAll()
            default: try await cities.removeAll(tagged: "t")
            }
            _ = try await load.value
            // Either the load was done before the removal, or it does not count.
            #expect(try await cities.fetch(forKey: "a") == nil, "round \(round)")
            #expect(try await cities.contains(forKey: "a") == false, "round \(round)")
        }
    }

    /// Everything is removed while a loaded value is saved, and the disk then refuses to remove that one.
    @Test(.timeLimit(.minutes(1 * slowness))) func aLoadedValueThatCannotBeRemovedAgainIsHidden() async throws {
        let store = AgreementTests.TestStore()
        let cities = Cache<City>(over: store, clock: clock)
        store.duringSave.withLock {
            $0 = {
                #expect(throws: Never.self) { try cities.removeAll() }
                store.state.withLock { $0.failsRemovals = true }
            }
        }
        let loaded = try await cities.fetch(forKey: "a") { City(name: "loaded", population: 1) }
        #expect(loaded.name == "loaded")
        #expect(cities.statistics.failures == 1)
        #expect(try await cities.fetch(forKey: "a") == nil)
        #expect(try await cities.fetch(forKey: "a", freshness: .latest) == nil)
    }

    @Test func aValueThatCannotBeSavedIsReturnedAllTheSame() async throws {
        let reported = Mutex<[CacheError.Code]>([])
        let store = AgreementTests.TestStore()
        store.state.withLock { $0.failsSaves = true }
        let cities = Cache<City>(
            name: "full",
            directory: directory.url,
            store: store,
            settings: CacheSettings(
                clock: clock,
                observer: FailureObserver { error in reported.withLock { $0.append(error.code) } }
            ),
            isSendable: true
        )
        let city = try await cities.fetch(forKey: "a") { City(name: "loaded", population: 1) }
        #expect(city.name == "loaded")
        #expect(reported.withLock { $0 } == [.io])
        #expect(cities.statistics.failures == 1 && cities.statistics.loads == 1)
        // Memory alone has it, so it is the latest.
        #expect(try await cities.fetch(forKey: "a", freshness: .latest)?.name == "loaded")
        let again = try await cities.fetch(forKey: "a") { City(name: "again", population: 1) }
        #expect(again.name == "loaded")
    }

    @Test func whatCannotBeArchivedIsAnError() async throws {
        let fickle = try Cache<Fickle>(name: "fickle", directory: directory.url)
        let error = await #expect(throws: CacheError.self) {
            try await fickle.fetch(forKey: "a") { Fickle("bad") }
        }
        #expect(error?.code == .encodingFailed)
        let good = try await fickle.fetch(forKey: "a") { Fickle("good") }
        #expect(good.text == "good")
    }

    /// Refuses to be decoded where it says so.
    struct Picky: Codable, Encoded {
        var isRefused: Bool

        init(isRefused: Bool) { self.isRefused = isRefused }

        init(from decoder: any Decoder) throws {
            isRefused = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isRefused)
            if isRefused { throw Refusal() }
        }
    }

    @Test func anEntryThatItsTypeRefusesIsLoadedAnew() async throws {
        let picky = try Cache<Picky>(
            name: "picky",
            directory: directory.url,
            settings: CacheSettings(memory: .none)
        )
        try await picky.save(Picky(isRefused: true), forKey: "a")
        let refusal = await #expect(throws: CacheError.self) { try await picky.fetch(forKey: "a") }
        #expect(refusal?.code == .decodingFailed)
        let loaded = try await picky.fetch(forKey: "a") { Picky(isRefused: false) }
        #expect(!loaded.isRefused)
        #expect(try await picky.fetch(forKey: "a")?.isRefused == false)
    }

    /// Memory has its archive: no call for several keys counts it as a hit.
    @Test(arguments: [false, true]) func anEntryThatItsTypeRefusesIsNoHit(isAsync: Bool) async throws {
        let picky = Cache<Picky>(over: try WatchedStore(directory), sharesValues: false)
        try await picky.save(contentsOf: [("a", Picky(isRefused: false)), ("b", Picky(isRefused: true))])
        let error = await #expect(throws: CacheError.self) {
            if isAsync {
                _ = try await picky.fetch(forKeys: ["a", "b"])
            } else {
                _ = try picky.sync { try $0.fetch(forKeys: ["a", "b"]) }
            }
        }
        #expect(error?.code == .decodingFailed && error?.key == "b")
        #expect(picky.statistics.memoryHits == 1)
    }

    /// As after a type was renamed.
    @Test(arguments: [MemorySettings(), .none])
    func anEntryOfAnotherTypeIsLoadedAnewUnlessToldOtherwise(memory: MemorySettings) async throws {
        func save() async throws { try await cache("x").save(City(name: "old", population: 1), forKey: "a") }
        try await save()
        let villages = try Cache<Village>(
            name: "x",
            directory: directory.url,
            settings: CacheSettings(memory: memory)
        )
        let strict = LoadOptions(replacesOtherTypes: false)
        for isBulk in [false, true] {
            let error = await #expect(throws: CacheError.self) {
                if isBulk {
                    _ = try await villages.fetch(forKeys: ["a"], options: strict) { _ in [:] }
                } else {
                    _ = try await villages.fetch(forKey: "a", options: strict) { Village(name: "", population: 2) }
                }
            }
            #expect(error?.code == .typeMismatch)
        }
        #expect(try await cache("x").fetch(forKey: "a")?.name == "old")
        for _ in 0..<2 {
            let loaded = try await villages.fetch(forKey: "a") { Village(name: "new", population: 2) }
            #expect(loaded.name == "new")
        }
        #expect(villages.statistics.loads == 1 && villages.statistics.misses == 1 && villages.statistics.hits == 1)
        try await save()
        let several = try await villages.fetch(forKeys: ["a"]) { _ in ["a": Village(name: "newer", population: 2)] }
        #expect(several["a"]?.name == "newer")
        // It is no former value either, and a plain fetch throws as ever.
        try await save()
        let error = await #expect(throws: CacheError.self) { try await villages.fetch(forKey: "a") }
        #expect(error?.code == .typeMismatch)
        let revalidated = try await villages.fetch(forKey: "a") { former in
            #expect(former == nil)
            return .new(Village(name: "newest", population: 2))
        }
        #expect(revalidated.name == "newest")
    }
}
