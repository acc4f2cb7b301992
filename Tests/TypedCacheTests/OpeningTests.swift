import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Opening a cache with and without waiting for the disk.
@Suite struct OpeningTests {
    private let directory = TestDirectory()

    @Test func theAsynchronousTwinOpensTheSameCache() async throws {
        let clock = TestClock()
        let cities = try await Cache<City>.open(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(
                memory: MemorySettings(countLimit: 1),
                disk: DiskSettings(layout: .files),
                expiration: .after(.seconds(1)),
                clock: clock
            )
        )
        try await cities.save(City(name: "a", population: 1), forKey: "a")
        try await cities.save(City(name: "b", population: 1), forKey: "b")
        #expect(cities.memory.withLock { $0.count } == 1)
        #expect(cities.directory?.lastPathComponent == "cities")
        #expect(cities.sharesValues)
        let again = try Cache<City>(name: "cities", directory: directory.url, settings: CacheSettings(clock: clock))
        #expect(try await again.fetch(forKey: "a")?.name == "a")
        clock.advance(by: 1)
        #expect(try await again.fetch(forKey: "a") == nil)
    }

    /// Such a URL names a place on another machine or in a bundle.
    @Test(arguments: ["https://example.com/caches", "data:,caches", "caches"])
    func theDirectoryIsAURLOfAFile(text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: CacheError.self) { try Cache<City>(name: "cities", directory: url) }
        #expect(error?.code == .invalidDirectory)
        #expect(error?.description.contains("\(text) is not a file URL") == true)
    }

    #if !canImport(Darwin)
        @Test(arguments: [
            (["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x"), (["XDG_CACHE_HOME": "x", "HOME": "/h"], "/h/.cache"),
            (["HOME": "/h"], "/h/.cache"), (["HOME": "h"], nil), ([:], nil),
        ])
        func theStandardDirectoryFollowsTheEnvironment(environment: [String: String], path: String?) {
            let own = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
            let found = CacheDirectory.caches(environment: environment)
            #expect(found.path() == (path ?? own.path()) + "/")
        }
    #endif

    /// Either of the two may be first: the one with the automatic layout takes the existing layout.
    @Test func anyLayoutGoesWithTheOneThatAnotherOpeningHasMade() throws {
        for round in 0..<50 {
            let name = "cities\(round)"
            let failures = Recorder<CacheError>()
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                let layout: DiskSettings.Layout = number == 0 ? .files : .automatic
                do throws(CacheError) {
                    let cities = try Cache<City>(
                        name: name,
                        directory: directory.url,
                        settings: CacheSettings(disk: DiskSettings(layout: layout))
                    )
                    try cities.save(City(name: "\(number)", population: number), forKey: "\(number)")
                } catch {
                    // The one that has a layout may find the other layout.
                    if number == 1 || error.code != .invalidDirectory { failures.add(error) }
                }
            }
            #expect(failures.all.isEmpty)
            let cities = try Cache<City>(name: name, directory: directory.url)
            #expect(try cities.fetch(forKey: "1")?.population == 1)
        }
    }

    @Test func itThrowsWhatTheInitializerThrows() async throws {
        func code(_ name: String, _ directory: URL) async -> CacheError.Code? {
            do throws(CacheError) {
                _ = try await Cache<City>.open(name: name, directory: directory)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await code("a/b", directory.url) == .invalidName)
        let file = directory.url.appending(path: "file")
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        try Data([1]).write(to: file)
        #expect(await code("cities", file) != nil)
        #expect(await code("cities", directory.url) == nil)
    }

    /// The disk's work is done on a queue of the package's own, for the threads of Swift's tasks are few.
    @Test @MainActor func otherTasksRunMeanwhile() async throws {
        final class Object: Codable, Encoded { var text = "" }
        let objects = try await Cache<Object>.open(name: "objects", directory: directory.url)
        #expect(!objects.sharesValues)
        let memory = try await Cache<Object>.open(
            name: "objects",
            settings: CacheSettings(disk: nil, valueSharing: .shared)
        )
        #expect(memory.sharesValues && memory.directory == nil)
    }
}
