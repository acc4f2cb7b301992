import Foundation
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

private struct City: Codable, Encoded, Equatable {
    var name: String
}

private enum Shape: Codable, Encoded, Sendable {
    case named(String)
}

/// The library as a user's tests see it: only public names are used here.
@Suite struct TypedCacheTestingTests {
    private let city = City(name: "Alvand")

    /// A type of the tests that stands for a cache, and fails and answers as one.
    @Test func whatCachesGiveCanBeMade() {
        let error = CacheError(.io, "disk full", cache: "cities", key: "490", errorNumber: 28)
        #expect(error.localizedDescription == #"disk full (key "490", cache "cities")"#)
        #expect(throws: CacheError.self) { throw error }
        let date = Date(timeIntervalSince1970: 1_000)
        let stored = StoredValue(value: city, storedAt: date, expiresAt: date, isExpired: true, tags: ["IR"])
        #expect(stored.value == city && stored.isExpired && stored.tags == ["IR"])
        let entry = CacheEntry(key: "490", storedAt: date, size: .bytes(7), archiveSize: .bytes(9))
        #expect(entry.size == .bytes(7) && entry.expiresAt == nil)
        let event = CacheEvent(kind: .removed, key: "490", tier: .disk, reason: .expired)
        #expect(event.kind == .removed && event.tier == .disk && event.reason == .expired)
        let failure = CacheEvent(kind: .failed, cause: error)
        #expect((failure.cause as? CacheError)?.code == .io)
        let statistics = CacheStatistics(memoryHits: 3, misses: 1, loadTime: .seconds(2), failures: 4)
        #expect(statistics.hitRatio == 0.75 && statistics.loadTime == .seconds(2))
        #expect(statistics.failures == 4 && statistics.saves == 0)
    }

    @Test func theClockMovesByHandOnly() throws {
        let clock = ManualClock(now: Date(timeIntervalSince1970: 1_000))
        let start = clock.now
        #expect(start == Date(timeIntervalSince1970: 1_000) && clock.now == start)
        try withTemporaryCache(
            of: City.self,
            settings: CacheSettings(expiration: .after(.seconds(60)), clock: clock)
        ) { cities in
            try cities.save(city, forKey: "1")
            clock.advance(by: .milliseconds(59_999))
            #expect(try cities.fetch(forKey: "1") == city)
            clock.advance(by: .milliseconds(1))
            #expect(try cities.fetch(forKey: "1") == nil)
        }
        clock.advance(by: .seconds(-60))
        #expect(clock.now == start)
        clock.set(to: .distantPast)
        #expect(clock.now == .distantPast)
    }

    @Test func aTemporaryDirectoryIsTheUsersOwnAndGoesWithTheObject() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let url = try #require(directory?.url)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        do {
            let cities = try Cache<City>(name: "cities", directory: url)
            try cities.save(city, forKey: "1")
        }
        #expect(FileManager.default.fileExists(atPath: url.appending(path: "cities").path))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func twoTemporaryCachesShareNothingAndLeaveNothing() async throws {
        struct Refused: Error {}
        let places = try withTemporaryCache(of: City.self) { first in
            try first.save(city, forKey: "1")
            return try withTemporaryCache(of: City.self) { second in
                let other = try second.fetch(forKey: "1")
                #expect(other == nil)
                return try [#require(first.directory), #require(second.directory)]
            }
        }
        var kept: [URL] = []
        await #expect(throws: Refused.self) {
            try await withTemporaryCache(of: City.self) { cities in
                try await cities.save(city, forKey: "1")
                #expect(try await cities.fetch(forKey: "1") == city)
                kept.append(try #require(cities.directory))
                throw Refused()
            }
        }
        for place in places + kept { #expect(!FileManager.default.fileExists(atPath: place.path)) }
    }

    /// One that waits sees events also where as many were forgotten in the meantime.
    @Test func theRecorderFindsEventsAfterOthersWereForgotten() async throws {
        let recorder = EventRecorder()
        try await withTemporaryCache(
            of: City.self,
            settings: CacheSettings(disk: nil, observer: recorder)
        ) { cities async throws in
            // At once, so that the waiting task does not look in between.
            func miss(_ keys: [String]) throws { for key in keys { _ = try cities.fetch(forKey: key) } }
            try miss(["1", "1", "1"])
            async let found = recorder.event { $0.key == "2" }
            try await Task.sleep(for: .milliseconds(50))
            recorder.removeAll()
            try miss(["2", "1", "1"])
            #expect(await found?.key == "2")
        }
    }

    @Test func testCachesShareAsTheProgramsDo() async throws {
        let directory = try TemporaryDirectory()
        #expect(try Cache<Shape>(name: "program", directory: directory.url).sharesValues)
        #expect(
            try Cache<Shape>(
                name: "faulty",
                directory: directory.url,
                settings: CacheSettings().failing(by: DiskFaults())
            ).sharesValues
        )
        #expect(try withTemporaryCache(of: Shape.self) { $0.sharesValues })
        #expect(try await withTemporaryCache(of: Shape.self) { shapes async throws in shapes.sharesValues })
        #expect(
            try !withTemporaryCache(
                of: Shape.self,
                settings: CacheSettings(valueSharing: .decodedEachTime)
            ) { $0.sharesValues }
        )
    }

    @Test func theRecorderKeepsEveryEventInOrder() async throws {
        let recorder = EventRecorder()
        try withTemporaryCache(of: City.self, settings: CacheSettings(observer: recorder)) { cities in
            #expect(try cities.fetch(forKey: "1") == nil)
            try cities.save(city, forKey: "1")
            #expect(try cities.fetch(forKey: "1") == city)
        }
        #expect(recorder.events.map(\.kind) == [.missed, .saved, .hit])
        #expect(recorder.keys(of: .saved) == ["1"] && recorder.failures.isEmpty)
        recorder.removeAll()
        #expect(recorder.events.isEmpty)
        #expect(await recorder.event(within: .milliseconds(10)) { _ in true } == nil)
    }

    @Test func theRecorderWaitsForAnEventOfTheBackground() async throws {
        let recorder = EventRecorder()
        try await withTemporaryCache(of: City.self, settings: CacheSettings(observer: recorder)) { cities in
            let later = Task { [city] in
                try await Task.sleep(for: .milliseconds(20))
                try await cities.save(city, forKey: "late")
            }
            #expect(await recorder.event(within: .seconds(3_000)) { $0.kind == .saved }?.key == "late")
            try await later.value
        }
    }

    // MARK: Faults

    private static let failures = [DiskFaults.Failure.noSpace, .device, .readOnly, .denied]

    @Test(arguments: failures) func aFullDiskIsToldAndLeavesNothingStale(failure: DiskFaults.Failure) throws {
        let directory = try TemporaryDirectory()
        let faults = DiskFaults()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings().failing(by: faults)
        )
        try cities.save(city, forKey: "1")
        faults.fail(.write, with: failure)
        let error = #expect(throws: CacheError.self) { try cities.save(City(name: "new"), forKey: "1") }
        #expect(error?.code == .io && error?.errorNumber == failure.errorNumber)
        #expect(try cities.fetch(forKey: "1") == nil)
        faults.heal()
        try cities.save(city, forKey: "1")
        #expect(try cities.fetch(forKey: "1") == city)
    }

    @Test(arguments: 1...3) func theNthCallFailsAndNoOther(number: Int) throws {
        let directory = try TemporaryDirectory()
        let faults = DiskFaults()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(memory: .none).failing(by: faults)
        )
        try cities.save(city, forKey: "1")
        faults.failCall(number)
        let before = faults.callCount
        let answers = (1...4).map { _ in Result { try cities.fetch(forKey: "1") } }
        #expect(faults.callCount == before + 4)
        for (index, answer) in answers.enumerated() {
            if index + 1 == number {
                #expect(throws: CacheError.self) { try answer.get() }
            } else {
                #expect(try answer.get() == city)
            }
        }
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func aQueueOfSavesMeetsTheFaultsInTheBackground() async throws {
        let directory = try TemporaryDirectory()
        let (faults, recorder) = (DiskFaults(), EventRecorder())
        let disk = DiskSettings(writing: .behind(limit: .mebibytes(1)))
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(disk: disk, observer: recorder).failing(by: faults)
        )
        faults.fail(.write, with: .noSpace)
        try await cities.save(city, forKey: "1")
        await #expect(throws: CacheError.self) { try await cities.flush() }
        // The observer may be told a little later than the caller.
        while recorder.failures.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(recorder.failures.count == 1)
        #expect((recorder.failures.first as? CacheError)?.errorNumber == ENOSPC)
    }
}
