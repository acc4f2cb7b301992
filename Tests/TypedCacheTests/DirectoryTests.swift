import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// A cache with a directory that is deleted or replaced while it is open, or is of another version.
@Suite struct DirectoryTests {
    private let directory = TestDirectory()
    private let clock = TestClock()

    private func cache<Value: Encoded & Sendable>(
        _ type: Value.Type = City.self,
        memory: MemorySettings = MemorySettings()
    ) throws -> Cache<Value> where Value.Wrapper.Value == Value {
        try Cache(name: "cache", directory: directory.url, settings: CacheSettings(memory: memory, clock: clock))
    }

    private func city(_ name: String) -> City { City(name: name, population: 1) }

    // MARK: Directories

    @Test(
        "Directory deleted under a running cache: recreated, tiers agree",
        arguments: [MemorySettings(), .none]
    )
    func aDeletedDirectoryIsMadeAgain(memory: MemorySettings) async throws {
        let cities = try cache(memory: memory)
        for isParentDeleted in [false, true] {
            for key in ["x", "y"] { try await cities.save(city("old"), forKey: key) }
            cities.trimMemory(toCount: 0)
            let root = isParentDeleted ? directory.url : directory.url.appending(path: "cache")
            try FileManager.default.removeItem(at: root)
            // A directory that is gone may be noticed a little later.
            try await Task.sleep(for: .milliseconds(50))
            #expect(try await cities.fetch(forKey: "x") == nil)
            #expect(try await !cities.contains(forKey: "x"))
            #expect(try await cities.count() == 0)
            #expect(try await !cities.remove(forKey: "y"))
            #expect(try await cities.removeExpired() == 0)
            try await cities.removeAll()
            try await cities.save(city("new"), forKey: "x")
            try await cities.modify(forKey: "z") { $0 = city("modified") }
            for cities in [cities, try cache(memory: .none)] {
                #expect(try await cities.fetch(forKey: "x")?.name == "new")
                #expect(try await cities.fetch(forKey: "y") == nil)
                #expect(try await cities.fetch(forKey: "z")?.name == "modified")
                #expect(try cities.keys().all().sorted() == ["x", "z"])
            }
            try await cities.removeAll()
        }
    }

    @Test("Directory deleted under a running cache: once the store has noticed, memory has forgotten")
    func whatADeletedDirectoryHeldIsForgotten() async throws {
        let cities = try cache(City.self)
        let neighbor = try cache(City.self)
        for key in ["x", "y"] { try await cities.save(city("old"), forKey: key) }
        #expect(try await neighbor.fetch(forKey: "y") != nil)
        try FileManager.default.removeItem(at: directory.url.appending(path: "cache"))
        try await cities.save(city("new"), forKey: "z")
        for cities in [cities, neighbor] {
            #expect(try await cities.fetch(forKey: "y") == nil)
            #expect(try await cities.fetch(forKey: "z")?.name == "new")
            #expect(try cities.keys().all() == ["z"])
            // Its neighbor may notice a little later.
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test("A file in the directory's place: thrown, tiers agree")
    func aFileInPlaceOfTheDirectoryIsAnError() async throws {
        let cities = try cache(City.self)
        try await cities.save(city("old"), forKey: "x")
        let root = directory.url.appending(path: "cache")
        try FileManager.default.removeItem(at: root)
        try Data("mine".utf8).write(to: root)
        await #expect(throws: CacheError.self) { try await cities.save(city("new"), forKey: "x") }
        // The value that could not be saved is not used, and neither is the value that it was to replace.
        #expect((try? await cities.fetch(forKey: "x")) == nil)
        #expect(try Data(contentsOf: root) == Data("mine".utf8))
        try FileManager.default.removeItem(at: root)
        try await cities.save(city("newer"), forKey: "x")
        for cities in [cities, try cache(City.self)] {
            #expect(try await cities.fetch(forKey: "x")?.name == "newer")
        }
    }

    // MARK: Versions

    @Test("A renamed class: misses, no crash, no wipe")
    func aRenamedClassIsAnErrorAndStays() async throws {
        try await cache(City.self).save(city("x"), forKey: "x", tags: ["t"])
        let before = try directory.entryCount("cache")
        let villages = try cache(Village.self)
        for _ in 0..<2 {
            let error = await #expect(throws: CacheError.self) { try await villages.fetch(forKey: "x") }
            #expect(error?.code == .typeMismatch)
        }
        #expect(try await villages.contains(forKey: "x"))
        #expect(try await villages.count() == 1)
        #expect(villages.statistics.corruptions == 0)
        #expect(try directory.entryCount("cache") == before)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
        // A later save is of the new type.
        try await villages.save(Village(name: "y", population: 2), forKey: "x")
        #expect(try await cache(Village.self).fetch(forKey: "x")?.name == "y")
    }

    @Test("An entry of another version: an older one is read, a newer one is left alone")
    func entriesOfOtherVersions() async throws {
        let disk = DiskSettings(layout: .files)
        let cities = try Cache<City>(name: "cache", directory: directory.url, settings: CacheSettings(disk: disk))
        try await cities.save(city("plain"), forKey: "plain")
        try await cities.save(city("tagged"), forKey: "tagged", tags: ["t"])
        let files = try directory.entryFiles("cache").map { ($0, try [UInt8](Data(contentsOf: $0))) }
        let versions = files.map { $0.1[$0.1.count - 9] }
        // Both versions that there were so far are read.
        #expect(versions.sorted() == [1, 2])
        #expect(try await cache(City.self).fetch(forKeys: ["plain", "tagged"]).count == 2)
        for (file, bytes) in files where bytes[bytes.count - 9] == 2 {
            var newer = bytes
            // 3 is that of encrypted entries.
            newer[newer.count - 9] = 4
            let checksum = newer.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(8))) }
            newer.replaceSubrange(
                newer.count - 8..<newer.count - 4,
                with: withUnsafeBytes(of: checksum.bigEndian, Array.init)
            )
            try Data(newer).write(to: file)
            let cold = try cache(City.self)
            for _ in 0..<2 {
                let error = await #expect(throws: CacheError.self) { try await cold.fetch(forKey: "tagged") }
                #expect(error?.code == .unsupportedVersion)
                #expect(code { try cold.contains(forKey: "tagged") } == .unsupportedVersion)
            }
            #expect(try cold.keys().all() == ["plain"])
            #expect(try [UInt8](Data(contentsOf: file)) == newer)
            #expect(cold.statistics.corruptions == 0)
        }
    }

    @Test("A directory of another version: refused, nothing is touched", arguments: ["4", "17", "0", "x", ""])
    func aDirectoryOfAnotherVersionIsRefused(version: String) async throws {
        try await cache(City.self).save(city("x"), forKey: "x")
        let marker = directory.url.appending(path: "cache/format")
        let text = try String(contentsOf: marker, encoding: .utf8)
        let latest = text.contains("packed") ? "1" : "2"
        let other = text.replacing(latest, with: version)
        #expect(other != text)
        try Data(other.utf8).write(to: marker)
        let before = try namesOnDisk()
        let isNewer = (Int(version) ?? 0) > 2
        #expect(code { try cache(City.self) } == (isNewer ? .unsupportedVersion : .invalidDirectory))
        #expect(try namesOnDisk() == before)
        try Data(text.utf8).write(to: marker)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
    }

    /// All but the index that the cache before leaves when it goes, which may be a moment after its last use.
    private func namesOnDisk() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
            .filter { !$0.hasSuffix("/index") && !$0.contains("/.drafts") }
            .sorted()
    }

    @Test("A directory of the older format: taken over, with all that is in it")
    func aDirectoryOfTheOlderFormatIsTakenOver() async throws {
        let disk = DiskSettings(layout: .files)
        try await Cache<City>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(disk: disk)
        ).save(city("x"), forKey: "x")
        let marker = directory.url.appending(path: "cache/format")
        let text = try String(contentsOf: marker, encoding: .utf8)
        try Data(text.replacing("2", with: "1").utf8).write(to: marker)
        #expect(try await cache(City.self).fetch(forKey: "x")?.name == "x")
        #expect(try String(contentsOf: marker, encoding: .utf8) == text)
    }
}
