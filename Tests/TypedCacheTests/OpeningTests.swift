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
            memory: MemorySettings(countLimit: 1),
            disk: DiskSettings(layout: .files),
            expiration: .after(.seconds(1)),
            clock: clock
        )
        try await cities.save(City(name: "a", population: 1), forKey: "a")
        try await cities.save(City(name: "b", population: 1), forKey: "b")
        #expect(cities.memory.withLock { $0.count } == 1)
        #expect(cities.directory?.lastPathComponent == "cities")
        #expect(cities.sharesValues)
        let again = try Cache<City>(name: "cities", directory: directory.url, clock: clock)
        #expect(try await again.fetch(forKey: "a")?.name == "a")
        clock.advance(by: 1)
        #expect(try await again.fetch(forKey: "a") == nil)
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
        let memory = try await Cache<Object>.open(name: "objects", disk: nil, values: .shared)
        #expect(memory.sharesValues && memory.directory == nil)
    }
}
