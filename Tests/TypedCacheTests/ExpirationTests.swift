import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Deadlines that a read does not move: every call treats an expired entry as absent.
@Suite struct ExpirationTests {
    /// How an expiration of 80 seconds is said.
    enum Kind: CaseIterable {
        case never, after, at, afterIdle

        func expiration(now: Date) -> Expiration {
            switch self {
            case .never: .never
            case .after: .after(.seconds(80))
            case .at: .at(now + 80)
            case .afterIdle: .afterIdle(.seconds(80))
            }
        }
    }

    @Test func durationsAreGivenInUnits() {
        #expect(Duration.minutes(1) == .seconds(60))
        #expect(Duration.hours(-1) == .seconds(-3_600))
        #expect(Duration.days(2) == .hours(48))
        #expect(Duration.days(.max) == Duration.seconds(Int.max))
        #expect(Duration.hours(.min) == Duration.seconds(Int.min))
        #expect(Expiration.after(.hours(1)) == .after(.seconds(3_600)))
    }

    /// The ways to ask whether there is an entry for `x`.
    enum Question: CaseIterable {
        case fetch, fetchSeveral, contains, keys, entries, count, modify

        func isPresent(in cities: Cache<City>) throws -> Bool {
            switch self {
            case .fetch: try cities.fetch(forKey: "x") != nil
            case .fetchSeveral: try !cities.fetch(forKeys: ["x"]).isEmpty
            case .contains: try cities.contains(forKey: "x")
            case .keys: try cities.keys().all() == ["x"]
            case .entries: try cities.entries().all().contains { $0.key == "x" }
            case .count: try cities.count() == 1
            case .modify:
                try cities.modify(forKey: "x") { city in
                    defer { city = nil }
                    return city != nil
                }
            }
        }

        /// Whether asking leaves everything as it is.
        var isIdle: Bool { [.contains, .keys, .entries, .count].contains(self) }
    }

    private let directory = TestDirectory()
    private let clock = TestClock()
    private let city = City(name: "x", population: 1)

    private func cache(
        _ name: String = "cache",
        memory: MemorySettings = MemorySettings(),
        expiration: Expiration = .never
    ) throws -> Cache<City> {
        try Cache(
            name: name,
            directory: directory.url,
            settings: CacheSettings(memory: memory, expiration: expiration, clock: clock)
        )
    }

    @Test("Expired means absent in fetch, contains, keys, entries and count, without a sweep")
    func expiredMeansAbsent() throws {
        var number = 0
        for kind in Kind.allCases {
            for memory in [MemorySettings(), .none] {
                for isDefault in [false, true] {
                    for isReopened in [false, true] {
                        for first in variants(Question.allCases, at: number) {
                            try checkExpired(
                                kind,
                                memory,
                                isDefault: isDefault,
                                isReopened: isReopened,
                                first: first
                            )
                        }
                        number += 1
                    }
                }
            }
        }
    }

    private func checkExpired(
        _ kind: Kind,
        _ memory: MemorySettings,
        isDefault: Bool,
        isReopened: Bool,
        first: Question
    ) throws {
        let what: Comment = "\(kind), \(memory), default \(isDefault), reopened \(isReopened), \(first) first"
        let name = UUID().uuidString
        let expiration = kind.expiration(now: clock.now)
        let standard: Expiration = isDefault ? expiration : .after(.seconds(5))
        func open() throws -> Cache<City> { try cache(name, memory: memory, expiration: standard) }
        let writer = try open()
        try writer.save(city, forKey: "x", expiration: isDefault ? nil : expiration)
        let cities = isReopened ? try open() : writer

        clock.advance(by: 79.5)
        for question in Question.allCases where question.isIdle {
            #expect(try question.isPresent(in: cities), what)
        }
        clock.advance(by: 0.5)
        if kind == .never {
            clock.advance(by: 1e9)
            #expect(try first.isPresent(in: cities), what)
            return
        }
        for question in [first] + Question.allCases { #expect(try !question.isPresent(in: cities), what) }
        clock.advance(by: 1_000)
        for question in Question.allCases { #expect(try !question.isPresent(in: cities), what) }
        #expect(try directory.entryCount(name) == 0, what)
    }

    @Test("An absolute deadline never moves, in either tier", arguments: [Kind.after, .at])
    func absoluteDeadlinesNeverMove(kind: Kind) throws {
        for memory in [MemorySettings(), .none] {
            let warm = try cache("\(kind)", memory: memory)
            let deadline = clock.now + 80
            try warm.save(city, forKey: "x", expiration: kind.expiration(now: clock.now))
            while clock.now < deadline {
                for cities in [warm, try cache("\(kind)", memory: memory)] {
                    #expect(try cities.fetch(forKey: "x") == city)
                    #expect(try cities.contains(forKey: "x"))
                    #expect(try cities.entries().all().map(\.expiresAt) == [deadline])
                }
                try warm.flush()
                clock.advance(by: 10)
            }
            for cities in [warm, try cache("\(kind)", memory: memory)] {
                #expect(try cities.fetch(forKey: "x") == nil)
            }
        }
    }

    @Test(arguments: [MemorySettings(), .none])
    func anExpirationOfItsOwnWinsOverTheDefault(memory: MemorySettings) throws {
        let cities = try cache(memory: memory, expiration: .after(.seconds(10)))
        try cities.save(city, forKey: "default")
        try cities.save(city, forKey: "longer", expiration: .after(.seconds(20)))
        try cities.save(city, forKey: "ever", expiration: .never)
        try cities.save(city, forKey: "saved again", expiration: .after(.seconds(1)))
        try cities.save(city, forKey: "saved again")
        try cities.modify(forKey: "changed", expiration: .after(.seconds(20))) { $0 = city }
        clock.advance(by: 9)
        #expect(try Set(cities.keys().all()) == ["default", "longer", "ever", "saved again", "changed"])
        clock.advance(by: 1)
        #expect(try Set(cities.keys().all()) == ["longer", "ever", "changed"])
        // The default belongs to the cache, not to the entries: another cache does not apply its own to existing
        // entries.
        let other = try cache(memory: memory, expiration: .after(.seconds(1)))
        clock.advance(by: 9)
        #expect(try Set(other.keys().all()) == ["longer", "ever", "changed"])
        clock.advance(by: 1)
        #expect(try other.keys().all() == ["ever"])
    }

    @Test(arguments: [
        Expiration.after(.zero), .after(.seconds(-1)), .afterIdle(.zero), .afterIdle(.seconds(-5)),
        .at(.distantPast), .at(Date(timeIntervalSinceReferenceDate: -.infinity)),
    ])
    func whatHasExpiredWhenItIsSavedTakesThePlaceOfWhatWasThere(expiration: Expiration) throws {
        let cities = try cache()
        let other = try cache()
        try cities.save(city, forKey: "x")
        #expect(try other.fetch(forKey: "x") == city)
        try cities.save(city, forKey: "x", expiration: expiration)
        for cities in [cities, other] {
            #expect(try cities.fetch(forKey: "x") == nil)
            #expect(try cities.count() == 0)
        }
        #expect(try directory.entryCount("cache") == 0)
        #expect(cities.statistics.saves == 1 && cities.statistics.removals == 1)
    }

    // MARK: A clock that jumps

    @Test("The clock jumps back: nothing fresh expires", arguments: Kind.allCases)
    func nothingFreshExpiresWhenTheClockIsSetBack(kind: Kind) throws {
        for memory in [MemorySettings(), .none] {
            let name = UUID().uuidString
            let warm = try cache(name, memory: memory)
            try warm.save(city, forKey: "x", expiration: kind.expiration(now: clock.now))
            for jump in [-1e6, 1e6 + 30, -40, 20] {
                clock.advance(by: jump)
                for cities in [warm, try cache(name, memory: memory)] {
                    for question in Question.allCases where question.isIdle {
                        #expect(try question.isPresent(in: cities), "\(kind), \(jump)")
                    }
                    #expect(try cities.removeExpired() == 0)
                }
            }
            // Reading an idle entry while the clock is slow does not shorten its life.
            clock.advance(by: -1e6)
            #expect(try warm.fetch(forKey: "x") == city)
            try warm.flush()
            for cities in [warm, try cache(name, memory: memory)] { #expect(try cities.fetch(forKey: "x") == city) }
            clock.advance(by: 1e6)
            for cities in [warm, try cache(name, memory: memory)] { #expect(try cities.fetch(forKey: "x") == city) }
        }
    }

    enum Finding: CaseIterable {
        case fetch, contains, modify, neighborsFetch, neighborsContains, sweep, neighborsSweep
    }

    @Test("The clock jumps back: what was found expired does not revive", arguments: Finding.allCases)
    func whatWasFoundExpiredDoesNotRevive(finding: Finding) throws {
        for kind in [Kind.after, .at, .afterIdle] {
            for memory in [MemorySettings(), .none] {
                let name = UUID().uuidString
                let cities = try cache(name, memory: memory)
                let neighbor = try cache(name, memory: memory)
                try cities.save(city, forKey: "x", expiration: kind.expiration(now: clock.now))
                // Both have it in memory.
                for cities in [cities, neighbor] { #expect(try cities.fetch(forKey: "x") == city) }
                clock.advance(by: 100)
                switch finding {
                case .fetch: #expect(try cities.fetch(forKey: "x") == nil)
                case .contains: #expect(try !cities.contains(forKey: "x"))
                case .modify: try cities.modify(forKey: "x") { #expect($0 == nil) }
                case .neighborsFetch: #expect(try neighbor.fetch(forKey: "x") == nil)
                case .neighborsContains: #expect(try !neighbor.contains(forKey: "x"))
                case .sweep: #expect(try cities.removeExpired() == 1)
                case .neighborsSweep: #expect(try neighbor.removeExpired() == 1)
                }
                clock.advance(by: -90)
                for cities in [cities, neighbor, try cache(name, memory: memory)] {
                    for question in Question.allCases {
                        #expect(try !question.isPresent(in: cities), "\(kind), \(memory), \(question)")
                    }
                }
                #expect(try directory.entryCount(name) == 0)
            }
        }
    }

    @Test func whatWasFoundExpiredButCouldNotBeRemovedDoesNotReviveEither() throws {
        let store = try WatchedStore(directory)
        let reports = Recorder<CacheError>()
        let cities = Cache<City>(over: store, place: directory.url.path, clock: clock) { reports.add($0) }
        let neighbor = Cache<City>(over: store, place: directory.url.path, clock: clock)
        try cities.save(city, forKey: "x", expiration: .after(.seconds(80)))
        for cities in [cities, neighbor] { #expect(try cities.fetch(forKey: "x") == city) }
        clock.advance(by: 80)
        store.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
        #expect(try !cities.contains(forKey: "x"))
        #expect(reports.all.map(\.code) == [.io])
        #expect(cities.statistics.failures == 1 && cities.statistics.expirations == 0)
        clock.advance(by: -40)
        for cities in [cities, neighbor] {
            #expect(try cities.fetch(forKey: "x") == nil)
            #expect(try !cities.contains(forKey: "x"))
            #expect(try cities.keys().all().isEmpty)
        }
        store.interfere { $0.remove = nil }
        try neighbor.save(city, forKey: "x")
        for cities in [cities, neighbor] { #expect(try cities.fetch(forKey: "x") == city) }
    }

    // MARK: Sweeping

    @Test(arguments: [MemorySettings(), .none])
    func removeExpiredRemovesWhatIsOfNoUseAndNothingElse(memory: MemorySettings) throws {
        let observer = EventObserver()
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store, memory: memory, clock: clock, observer: observer)
        func seconds(_ seconds: Int) -> Expiration { .after(.seconds(seconds)) }
        try cities.save(city, forKey: "10", expiration: seconds(10))
        try cities.save(city, forKey: "20", expiration: .at(clock.now + 20))
        try cities.save(city, forKey: "never")
        try cities.save(city, forKey: "stale until 30", expiration: seconds(10).servingStale(for: .seconds(20)))
        try cities.save(
            city,
            forKey: "stale until 40",
            expiration: seconds(10).servingStaleOnError(for: .seconds(30))
        )
        // Someone may have read it an eighth of its time after that.
        try cities.save(city, forKey: "idle until 9", expiration: .afterIdle(.seconds(8)))
        for (time, gone) in [
            (8.5, []), (9, ["idle until 9"]), (10, ["10"]), (19.5, []), (20, ["20"]), (30, ["stale until 30"]),
            (39.5, []), (1e9, ["stale until 40"]),
        ] as [(Double, [String])] {
            clock.advance(by: time - clock.now.timeIntervalSinceReferenceDate + 1_000_000)
            #expect(try cities.removeExpired() == gone.count, "at \(time)")
            #expect(try cities.removeExpired() == 0, "at \(time)")
        }
        #expect(try cities.keys().all() == ["never"])
        #expect(try directory.entryCount("cache") == 1)
        #expect(cities.statistics.expirations == 5)
        let swept = observer.events.all.filter { $0.reason == .expired }.map(\.key)
        #expect(swept == ["idle until 9", "10", "20", "stale until 30", "stale until 40"])
    }

    @Test func theSweepInTheBackgroundTellsWhatItDoes() throws {
        let store = try WatchedStore(directory)
        let observer = EventObserver()
        let cities = Cache<City>(over: store, clock: clock, observer: observer)
        try cities.save(city, forKey: "x", expiration: .after(.seconds(10)))
        try cities.save(city, forKey: "y")
        clock.advance(by: 10)
        store.interfere { $0.remove = { () throws(StoreError) in throw WatchedStore.failure } }
        cities.core.sweep()
        #expect(observer.events.all.map(\.kind) == [.saved, .saved, .failed])
        #expect((observer.events.all.last?.cause as? CacheError)?.code == .io)
        store.interfere { $0.remove = nil }
        cities.core.sweep()
        #expect(observer.events.all.last?.reason == .expired && observer.events.all.last?.key == "x")
        #expect(observer.operations.all.filter { $0 == .sweep }.count == 2)
        #expect(cities.statistics.expirations == 1 && cities.statistics.failures == 1)
        #expect(try directory.entryCount("cache") == 1)
    }
}
