import Foundation
import Testing
import TypedCache
import TypedCacheTesting

private struct City: Codable, Encoded, Equatable {
    var name: String
}

/// The library as a user's tests see it: only public names are used here.
@Suite struct TypedCacheTestingTests {
    private let city = City(name: "Alvand")

    @Test func theClockMovesByHandOnly() throws {
        let clock = HandClock(now: Date(timeIntervalSince1970: 1_000))
        let start = clock.now
        #expect(start == Date(timeIntervalSince1970: 1_000) && clock.now == start)
        try withTemporaryCache(of: City.self, expiration: .after(.seconds(60)), clock: clock) { cities in
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

    @Test func theRecorderKeepsEveryEventInOrder() async throws {
        let recorder = EventRecorder()
        try withTemporaryCache(of: City.self, observer: recorder) { cities in
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
        try await withTemporaryCache(of: City.self, observer: recorder) { cities in
            let later = Task { [city] in
                try await Task.sleep(for: .milliseconds(20))
                try await cities.save(city, forKey: "late")
            }
            #expect(await recorder.event(within: .seconds(300)) { $0.kind == .saved }?.key == "late")
            try await later.value
        }
    }

    // MARK: Faults

    private static let failures = [DiskFaults.Failure.noSpace, .device, .readOnly, .denied]

    @Test(arguments: failures) func aFullDiskIsToldAndLeavesNothingStale(failure: DiskFaults.Failure) throws {
        let directory = try TemporaryDirectory()
        let faults = DiskFaults()
        let cities = try Cache<City>(name: "cities", directory: directory.url, faults: faults)
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
        let cities = try Cache<City>(name: "cities", directory: directory.url, faults: faults, memory: .none)
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

    @Test func aQueueOfSavesMeetsTheFaultsInTheBackground() async throws {
        let directory = try TemporaryDirectory()
        let (faults, recorder) = (DiskFaults(), EventRecorder())
        let disk = DiskSettings(writing: .behind(limit: .mebibytes(1)))
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            faults: faults,
            disk: disk,
            observer: recorder
        )
        faults.fail(.write, with: .noSpace)
        try await cities.save(city, forKey: "1")
        await #expect(throws: CacheError.self) { try await cities.flush() }
        #expect(recorder.failures.count == 1)
        #expect((recorder.failures.first as? CacheError)?.errorNumber == ENOSPC)
    }
}
