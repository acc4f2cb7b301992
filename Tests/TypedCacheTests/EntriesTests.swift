import ArchiveStore
import Foundation
import StoreTrials
import TestSupport
import Testing

@testable import TypedCache

/// Listing a cache: every entry is listed once, and no more of them are read than the caller takes.
@Suite struct EntriesTests {
    private let directory = TestDirectory()
    private let clock = TestClock()

    private func city(_ name: some CustomStringConvertible) -> City { City(name: "\(name)", population: 1) }

    private func fill(_ cities: Cache<City>, _ keys: [String]) throws {
        for key in keys { try cities.save(city(key), forKey: key) }
    }

    private let names = (0..<60).map { "city\($0)" }

    @Test func onlyWhatIsIteratedIsRead() async throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store)
        try fill(cities, names)
        var entries = try cities.entries()
        let keys = try cities.keys()
        #expect(store.counts.parts.isEmpty)

        let found = try entries.next()
        let first = try #require(found)
        let read = store.counts.parts
        #expect(read == Array(0..<read.count) && read.count < 200)
        var seen = [first.key]
        while let entry = try entries.next() { seen.append(entry.key) }
        #expect(seen.sorted() == names.sorted())
        #expect(store.counts.parts == Array(0..<store.partCount))
        #expect(try entries.next() == nil)

        // Asynchronously the same, from the beginning.
        var asynchronous = keys.makeAsyncIterator()
        #expect(try await asynchronous.next() == first.key)
        #expect(store.counts.parts.count == store.partCount + read.count)
        var rest: [String] = [first.key]
        while let key = try await asynchronous.next() { rest.append(key) }
        #expect(rest == seen)
        #expect(store.counts.parts.count == 2 * store.partCount)
        #expect(store.counts.fetches == 0)
    }

    @Test func savesAndRemovalsDuringAnIterationDisturbNoOther() throws {
        let cities = try Cache<City>(name: "cache", directory: directory.url)
        let other = try Cache<City>(name: "cache", directory: directory.url)
        let touched = names.prefix(20)
        try fill(cities, names)
        for source in [cities, other] {
            var seen: [String] = []
            var keys = try source.keys()
            while let key = try keys.next() {
                seen.append(key)
                let turn = seen.count
                if turn <= 20 {
                    try cities.remove(forKey: touched[turn - 1])
                    try other.save(city("new"), forKey: "new \(turn)")
                    _ = try cities.fetch(forKey: key)
                    try other.save(city("again"), forKey: touched[(turn + 9) % 20])
                }
            }
            #expect(Set(seen).count == seen.count)
            #expect(Set(seen).isSuperset(of: names.dropFirst(20)))
            #expect(Set(seen).isSubset(of: names + (1...20).map { "new \($0)" }))
            try fill(cities, names)
        }
    }

    @Test func savesAndRemovalsDuringAnAsynchronousIterationDisturbNoOther() async throws {
        let cities = try Cache<City>(name: "cache", directory: directory.url)
        try fill(cities, names)
        var seen: [String] = []
        for try await entry in try cities.entries() {
            seen.append(entry.key)
            try await cities.save(city("new"), forKey: "new \(seen.count % 20)")
            try await cities.remove(forKey: names[seen.count % 20])
        }
        #expect(Set(seen).count == seen.count)
        #expect(Set(seen).isSuperset(of: names.dropFirst(20)))
        // Everything at once, in the middle of an iteration.
        var iterator = try cities.keys().makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        try await cities.removeAll()
        while let key = try await iterator.next() { seen.append(key) }
        #expect(try cities.keys().all().isEmpty)
    }

    @Test func anEntrySaysWhatWasSaved() throws {
        let cities = try Cache<City>(name: "cache", directory: directory.url, settings: CacheSettings(clock: clock))
        let value = city(String(repeating: "Lavāsān ", count: 100))
        try cities.save(value, forKey: "a/b\u{0}😀", expiration: .after(.seconds(60)), tags: ["one", "ワン"])
        let stored = try directory.lastEntry("cache").bytes
        let archive = try #require(try cities.core.store.peek(forKey: "a/b\u{0}😀")).archive
        let saved = clock.now
        clock.advance(by: 10)
        let entry = try #require(try cities.entries().all().first { _ in true })
        #expect(entry.key == "a/b\u{0}😀")
        #expect(entry.storedAt == saved && entry.expiresAt == saved + 60)
        #expect(entry.tags == ["one", "ワン"])
        #expect(entry.archiveSize.bytes == archive.count && archive.count > 800)
        #expect(entry.size.bytes == stored.count && entry.size.bytes < archive.count)

        try cities.save(value, forKey: "plain")
        let plain = try #require(try cities.entries().all().first { $0.key == "plain" })
        #expect(plain.storedAt == clock.now && plain.expiresAt == nil && plain.tags.isEmpty)
    }

    // MARK: Unreadable parts

    @Test func aPartThatCannotBeReadIsAnErrorAndTheRestCanBeListed() async throws {
        let store = try WatchedStore(directory)
        let cities = Cache<City>(over: store)
        try fill(cities, names)
        var first = try cities.keys()
        let lost = try #require(try first.next())
        let part = store.counts.parts.count - 1
        let lostCount = try store.base.entries(inPart: part).count
        store.interfere {
            $0.list = { listed throws(StoreError) in
                if listed == part { throw WatchedStore.failure }
            }
        }
        #expect(code { try cities.keys().all() } == .io)
        await #expect(throws: CacheError.self) { for try await _ in try cities.entries() {} }

        var seen: [String] = []
        var failures = 0
        var keys = try cities.keys()
        while true {
            do {
                guard let key = try keys.next() else { break }
                seen.append(key)
            } catch {
                failures += 1
            }
        }
        #expect(failures == 1)
        #expect(seen.count == names.count - lostCount && !seen.contains(lost))
        await #expect(throws: CacheError.self) { try await cities.count() }
        #expect(code { try cities.count() } == .io)
    }

    @Test func anEntryThatCannotBeReadHidesNoOther() throws {
        let store = WatchedStore(ReferenceStore())
        let cities = Cache<City>(over: store)
        try fill(cities, names)
        // All are in one part.
        #expect(store.partCount == 1)
        store.interfere {
            $0.listed = { listing in
                listing.map { result in
                    result.flatMap { $0.key == "city7" ? .failure(WatchedStore.failure) : .success($0) }
                }
            }
        }
        var keys = try cities.keys()
        #expect(code { try keys.next() } == .io)
        #expect(try Set(keys.all()) == Set(names).subtracting(["city7"]))
        #expect(code { try cities.count() } == .io)
    }

    @Test func damagedEntriesAreLeftOutAndLeftAlone() throws {
        let reports = Recorder<CacheError>()
        let cities = try Cache<City>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(observer: FailureObserver { reports.add($0) })
        )
        try fill(cities, names)
        try directory.damageEntry("cache")
        #expect(try cities.keys().all().count == names.count - 1)
        #expect(try cities.count() == names.count - 1)
        #expect(reports.all.isEmpty)
        #expect(try directory.entryCount("cache") == names.count)
    }
}
