import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Laws that hold for every store.
@Suite struct StoreLawTests {
    static let keys: [String] = [
        "a", "A", "..", ".", "/", "a/b", "../../etc/passwd", "nul\0inside", "\0", " ", "🦁", "👩‍👩‍👧‍👦", "é",
        "e\u{301}",
        "CON", "name.", "%2F", "key\n", String(repeating: "k", count: 1024),
        String(repeating: "k", count: 1023),
        String(repeating: "🦁", count: 256),
    ]

    @Test(arguments: StoreUnderTest.allCases, isLongRun ? seeds(0..<50) : 0..<1)
    func behavesLikeADictionary(_ kind: StoreUnderTest, seed: Int) throws {
        try kind.withPlace { open in
            try checkStore(opening: open, seed: seed)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func givesBackEveryKeyApart(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            for (index, key) in Self.keys.enumerated() {
                try store.save([UInt8(index)], forKey: key, storedAt: .now, expiresAt: nil)
            }
            let reopened = try open()
            for (index, key) in Self.keys.enumerated() {
                let stored = try #require(try reopened.fetch(forKey: key))
                #expect(stored.archive == [UInt8(index)])
                #expect(Array(stored.information.key.utf8) == Array(key.utf8))
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases, ["", String(repeating: "k", count: 1025)])
    func refusesKeysOfOtherLengths(_ kind: StoreUnderTest, key: String) throws {
        try kind.withPlace { open in
            let store = try open()
            let calls: [() throws -> Void] = [
                { try store.save([1], forKey: key, storedAt: .now, expiresAt: nil) },
                { _ = try store.fetch(forKey: key) },
                { _ = try store.peek(forKey: key) },
                { _ = try store.information(forKey: key) },
                { try store.remove(forKey: key) },
            ]
            for call in calls {
                let error = #expect(throws: StoreError.self, performing: call)
                #expect(error?.code == .invalidArgument)
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func removesOnlyTheVeryEntry(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            let date = Date(timeIntervalSinceReferenceDate: 1)
            try store.save([1], forKey: "key", storedAt: date, expiresAt: nil)
            let old = try #require(try store.information(forKey: "key"))
            try store.save([2], forKey: "key", storedAt: date, expiresAt: nil)
            #expect(try !store.remove(old))
            #expect(try store.fetch(forKey: "key")?.archive == [2])
            let new = try #require(try store.information(forKey: "key"))
            #expect(try store.remove(new))
            #expect(try !store.remove(new))
            #expect(try store.fetch(forKey: "key") == nil)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func letsTheBodyStopAndRemove(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            for index in 0..<40 {
                try store.save([1], forKey: "key \(index)", storedAt: .now, expiresAt: nil)
            }
            var seen = 0
            try store.forEachEntry { _ in
                seen += 1
                return seen < 7
            }
            #expect(seen == 7)

            var failures: [any Error] = []
            try store.forEachEntry { entry in
                do { try store.remove(entry.get()) } catch { failures.append(error) }
                return true
            }
            #expect(failures.isEmpty)
            seen = 0
            // Entries that moved into a removed one's place may have been missed the first time.
            for _ in 0..<40 {
                try store.forEachEntry { entry in
                    do { try store.remove(entry.get()) } catch { failures.append(error) }
                    return true
                }
            }
            try store.forEachEntry { _ in
                seen += 1
                return true
            }
            #expect(seen == 0)
        }
    }

    /// The parts together have each entry once, with its archive or none, and no longer archive than asked for.
    @Test(arguments: StoreUnderTest.allCases)
    func listsEntriesWithTheirArchives(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            var saved: [String: [UInt8]] = [:]
            for (index, archive) in AlikeArchives.make(count: 600, seed: 4).enumerated() {
                let key = "key \(index)"
                saved[key] = index % 50 == 0 ? [] : archive
                try store.save(saved[key] ?? [], forKey: key, storedAt: .now, expiresAt: nil)
            }
            for limit in [0, 600, 1 << 20] {
                var listed: Set<String> = []
                var withArchives = 0
                for part in 0..<store.partCount {
                    let none: [(Result<EntryInformation, StoreError>, [UInt8]?)] = []
                    let entries = try store.reduceEntries(inPart: part, archivesUpTo: limit, into: none) {
                        $0.append(($1, $2))
                        return true
                    }
                    for (information, archive) in entries {
                        let information = try information.get()
                        #expect(listed.insert(information.key).inserted)
                        #expect(information.archiveByteCount == saved[information.key]?.count)
                        guard let archive else { continue }
                        #expect(archive == saved[information.key])
                        #expect(archive.count <= limit)
                        withArchives += 1
                    }
                }
                #expect(listed == Set(saved.keys))
                if store is PackedStore, limit == 1 << 20 { #expect(withArchives == 588) }
            }
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func showsOnlyWholeArchivesToManyThreads(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let stores = try (0..<3).map { _ in try open() }
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                var random = SeededGenerator(seed: thread)
                for _ in 0..<150 {
                    let store = stores[Int.random(in: 0..<3, using: &random)]
                    let key = Int.random(in: 0..<5, using: &random)
                    do {
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0...2:
                            let byte = UInt8.random(in: 0...255, using: &random)
                            let count = Int.random(in: 1...3000, using: &random)
                            let archive = [UInt8(key)] + [UInt8](repeating: byte, count: count)
                            try store.save(archive, forKey: "key \(key)", storedAt: .now, expiresAt: nil)
                        case 3:
                            try store.remove(forKey: "key \(key)")
                        default:
                            guard let archive = try store.fetch(forKey: "key \(key)")?.archive else { break }
                            if archive.first != UInt8(key) || Set(archive.dropFirst()).count != 1 {
                                faults.add("a value of another key, or a torn one")
                            }
                        }
                    } catch {
                        faults.add("\(error)")
                    }
                }
            }
            #expect(faults.all == [])
        }
    }

    /// Each thread has a store and a key of its own, so it knows at any time which value it must find.
    @Test(arguments: StoreUnderTest.allCases)
    func keepsWhatEachThreadSaved(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let stores = try (0..<4).map { _ in try open() }
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                let key = String(repeating: "k", count: 2 * thread + 1)
                let store = stores[thread]
                do {
                    for round in 0..<150 {
                        let archive = [UInt8(thread), UInt8(round)]
                        try store.save(archive, forKey: key, storedAt: .now, expiresAt: nil)
                        if try store.fetch(forKey: key)?.archive != archive { faults.add("\(key) was lost") }
                        guard round % 3 == 0 else { continue }
                        if try !store.remove(forKey: key) { faults.add("\(key) was removed by others") }
                        if try store.fetch(forKey: key) != nil { faults.add("\(key) came back") }
                    }
                } catch {
                    faults.add("\(error)")
                }
            }
            #expect(faults.all == [])
        }
    }
}
