import ArchiveStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// Many values by one call: decoded on all processors where they are Sendable.
@Suite struct ManyValuesTests {
    private struct Refused: Error {}

    /// Not every number can be archived.
    private struct Part: Codable, Encoded, Equatable, Sendable {
        var number: Int

        func encode(to encoder: any Encoder) throws {
            if number.isMultiple(of: 97) { throw Refused() }
            try number.encode(to: encoder)
        }

        init(_ number: Int) { self.number = number }
        init(from decoder: any Decoder) throws { number = try Int(from: decoder) }
    }

    /// Random batches, with values that cannot be archived and keys that come twice, beside a dictionary.
    @Test(arguments: [.packed, .files, nil] as [DiskSettings.Layout?], seeds(0..<3))
    func manyValuesAreSavedAndFetchedLikeEachOfThem(layout: DiskSettings.Layout?, seed: Int) async throws {
        let directory = TestDirectory(inMemory: true)
        var random = SeededGenerator(seed: seed)
        let parts = try Cache<Part>(
            name: "parts",
            directory: directory.url,
            settings: CacheSettings(
                memory: MemorySettings(countLimit: 100),
                disk: layout.map { DiskSettings(layout: $0) }
            )
        )
        // Without a disk, memory's limit is the cache's.
        let keyCount = layout == nil ? 90 : 900
        var model: [Int: Part] = [:]
        for step in 0..<6 {
            let place: Comment = "seed \(seed), step \(step)"
            let entries = (0..<Int.random(in: 1..<1_500, using: &random)).map { _ in
                (Int.random(in: 0..<keyCount, using: &random), Part(.random(in: 1..<1_000, using: &random)))
            }
            let refused = entries.filter { $0.1.number.isMultiple(of: 97) }
            let suspends = Bool.random(using: &random)
            do throws(CacheError) {
                try await save(entries, in: parts, suspends: suspends)
                #expect(refused.isEmpty, place)
            } catch {
                #expect(error.code == .encodingFailed, place)
                #expect(error.key == refused.first.map { "\($0.0)" }, place)
                if refused.count > 2 {
                    #expect(error.message.contains("\(refused.count - 1) other entries failed"), place)
                }
            }
            for (key, part) in entries { model[key] = part.number.isMultiple(of: 97) ? nil : part }
            if layout != nil { parts.trimMemory(toCount: 40) }
            let asked = (0..<keyCount).shuffled(using: &random)
            let found = suspends ? try await parts.fetch(forKeys: asked) : try fetch(asked, in: parts)
            #expect(found == model, place)
        }
    }

    private func save(_ entries: [(Int, Part)], in parts: Cache<Part>, suspends: Bool) async throws(CacheError) {
        if suspends { return try await parts.save(contentsOf: entries) }
        try blocking(entries, in: parts)
    }

    private func blocking(_ entries: [(Int, Part)], in parts: Cache<Part>) throws(CacheError) {
        try parts.save(contentsOf: entries)
    }

    private func fetch(_ keys: [Int], in parts: Cache<Part>) throws -> [Int: Part] {
        try parts.fetch(forKeys: keys)
    }

    // MARK: Threads

    /// The threads on which values are coded. Each coding waits until there are as many as are expected.
    private struct Meeting {
        private static let threads = Mutex<Set<ObjectIdentifier>>([])
        private static let expected = Mutex(0)

        /// How many threads coded values in `body`.
        static func count(expecting count: Int, _ body: () throws -> Void) rethrows -> Int {
            threads.withLock { $0 = [] }
            expected.withLock { $0 = count }
            try body()
            return threads.withLock(\.count)
        }

        static func join() {
            threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
            try? wait(until: threads.withLock(\.count) >= expected.withLock(\.self), within: .seconds(20))
        }
    }

    private struct Visitor: Codable, Encoded, Sendable {
        var number: Int

        init(_ number: Int) { self.number = number }

        func encode(to encoder: any Encoder) throws {
            Meeting.join()
            try number.encode(to: encoder)
        }

        init(from decoder: any Decoder) throws {
            Meeting.join()
            number = try Int(from: decoder)
        }
    }

    /// The same, but not Sendable.
    private struct Resident: Codable, Encoded {
        private final class Home { var number = 1 }

        private let home = Home()

        init(_ number: Int) { home.number = number }
        func encode(to encoder: any Encoder) throws { try Visitor(home.number).encode(to: encoder) }
        init(from decoder: any Decoder) throws { home.number = try Visitor(from: decoder).number }
    }

    @Test func sendableValuesAreDecodedOnAllProcessorsAndOthersOnTheCallersThread() throws {
        let count = 200
        let directory = TestDirectory(inMemory: true)
        let visitors = try Cache<Visitor>(
            name: "visitors",
            directory: directory.url,
            settings: CacheSettings(memory: .none)
        )
        let residents = try Cache<Resident>(
            name: "residents",
            directory: directory.url,
            settings: CacheSettings(memory: .none, valueSharing: .decodedEachTime)
        )
        let threads = Processors.count > 1 ? 2 : 1
        try visitors.save(contentsOf: (0..<count).lazy.map { ($0, Visitor($0)) })
        var found = 0
        let decoding = try Meeting.count(expecting: threads) {
            found = try visitors.fetch(forKeys: 0..<count).count
        }
        #expect(found == count)
        #expect(decoding >= threads)
        let alone = try Meeting.count(expecting: 1) {
            try residents.save(contentsOf: (0..<count).lazy.map { ($0, Resident($0)) })
            found = try residents.fetch(forKeys: 0..<count).count
        }
        #expect(found == count)
        #expect(alone == 1)
    }
}
