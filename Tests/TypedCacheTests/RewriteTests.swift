import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// Another form of a value that was read, in the place of the entry.
@Suite struct RewriteTests {
    private let directory = TestDirectory()
    private let clock = TestClock()
    private let old = City(name: "old", population: 1)
    private let rewritten = City(name: "rewritten", population: 2)

    private func cache(over store: WatchedStore? = nil) throws -> Cache<City> {
        Cache(over: try store ?? WatchedStore(directory), clock: clock)
    }

    @Test func itHasTheExpirationOfTheEntryThatWasRead() throws {
        let cities = try cache()
        try cities.save(old, forKey: "1", expiration: .after(.seconds(60)), tags: ["old"])
        clock.advance(by: 20)
        let entry = try #require(try cities.undecodedEntry(forKey: "1"))
        try cities.rewrite(entry, as: rewritten, tags: ["new"])
        #expect(try cities.fetch(forKey: "1") == rewritten)
        #expect(try cities.entry(forKey: "1")?.tags == ["new"])
        clock.advance(by: 39)
        #expect(try cities.fetch(forKey: "1") == rewritten)
        clock.advance(by: 2)
        #expect(try cities.fetch(forKey: "1") == nil)
    }

    @Test func itTakesNoNewerPlace() throws {
        let cities = try cache()
        for isRemoved in [false, true] {
            try cities.save(old, forKey: "1")
            let entry = try #require(try cities.undecodedEntry(forKey: "1"))
            let newer = City(name: "newer", population: 3)
            if isRemoved { try cities.remove(forKey: "1") } else { try cities.save(newer, forKey: "1") }
            try cities.rewrite(entry, as: rewritten, tags: [])
            cities.trimMemory(toCount: 0)
            #expect(try cities.fetch(forKey: "1") == (isRemoved ? nil : newer))
        }
    }

    @Test func theEntryStaysWhereTheDiskRefusesIt() throws {
        let store = try WatchedStore(directory)
        let cities = try cache(over: store)
        try cities.save(old, forKey: "1")
        let entry = try #require(try cities.undecodedEntry(forKey: "1"))
        store.interfere { $0.save = { _ throws(StoreError) in throw WatchedStore.failure } }
        #expect(throws: CacheError.self) { try cities.rewrite(entry, as: rewritten, tags: []) }
        #expect(throws: CacheError.self) { try cities.rewrite(entry, as: rewritten, tags: [""]) }
        store.interfere { $0.save = nil }
        #expect(try cities.fetch(forKey: "1") == old)
    }
}
