import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// The cost of a value in memory, as determined by the program.
@Suite struct CostTests {
    /// A picture that takes more memory than its archive.
    private struct Picture: Codable, Encoded, Equatable {
        var name: String
        var byteCount: Int
    }

    private static let limit = 1_000

    private func open(
        in directory: URL?,
        _ memory: MemorySettings = MemorySettings(byteLimit: .bytes(limit)),
        values: ValueSharing = .automatic,
        clock: TestClock = TestClock(),
        cost: (@Sendable (Picture) -> ByteCount)? = { .bytes($0.byteCount) }
    ) throws -> Cache<Picture> {
        try Cache(
            name: "pictures",
            directory: directory,
            settings: CacheSettings(
                memory: memory,
                disk: directory == nil ? nil : DiskSettings(),
                valueSharing: values,
                cost: cost,
                clock: clock
            )
        )
    }

    /// Random operations with random costs, negative ones and absurd ones among them; a second thread looks all the
    /// time.
    @Test(arguments: seeds(0..<12)) func theLimitHoldsAtEveryInstant(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let directory = TestDirectory()
        let clock = TestClock()
        let pictures = try open(in: seed % 3 == 0 ? nil : directory.url, clock: clock)
        let watcher = SizeWatcher(pictures)
        let keys = (0..<12).map { "picture\($0)" }
        let costs = [-1, .min, .max, 0, Self.limit, Self.limit + 1]
        for step in 0..<400 {
            let place: Comment = "seed \(seed), step \(step)"
            guard let key = keys.randomElement(using: &random) else { return }
            let byteCount =
                Int.random(in: 0..<8, using: &random) == 0
                ? costs.randomElement(using: &random) ?? 0 : Int.random(in: 1..<400, using: &random)
            let picture = Picture(name: "\(step)", byteCount: byteCount)
            do {
                switch Int.random(in: 0..<12, using: &random) {
                case 0..<3:
                    try await pictures.save(picture, forKey: key, expiration: .after(.seconds(20)), tags: ["a"])
                case 3: _ = try await pictures.fetch(forKey: key)
                case 4: _ = try await pictures.fetch(forKey: key) { picture }
                case 5:
                    let stale = Expiration.after(.seconds(5)).servingStaleOnError(for: .seconds(1_000))
                    _ = try await pictures.fetch(forKey: key, expiration: stale) { former in
                        former == nil ? .new(picture) : .unchanged()
                    }
                case 6: try await pictures.modify(forKey: key) { $0 = picture }
                case 7: try await pictures.remove(forKey: key)
                case 8: pictures.trimMemory(to: .bytes(Int.random(in: 0..<Self.limit, using: &random)))
                case 9: clock.advance(by: 3)
                case 10: try await pictures.extend(forKey: key, expiration: .after(.seconds(30)))
                default: _ = try await pictures.fetch(forKeys: keys)
                }
            } catch let error as CacheError where error.code == .tooLarge {
                #expect(pictures.directory == nil, place)
            }
            var sum = 0
            for key in keys {
                let entry = try pictures.memory.table.entry(forKey: EntryKey(key)) as? ValueEntry<Picture>
                sum += max(0, entry?.value.byteCount ?? 0)
            }
            #expect(pictures.memorySize.bytes <= Self.limit, place)
            if pictures.directory == nil {
                // After a move of its deadline, an entry is missing in the tier but present in the store.
                #expect(pictures.memorySize.bytes >= sum, place)
            } else {
                #expect(pictures.memorySize.bytes == sum, place)
            }
        }
        let largest = watcher.stop()
        #expect(largest <= Self.limit, "seed \(seed)")
        #expect(largest > 0, "seed \(seed)")
    }

    @Test(arguments: [true, false]) func aValueIsAskedOnceWhenItComesIntoMemory(onDisk: Bool) async throws {
        let directory = TestDirectory()
        let clock = TestClock()
        let asked = Mutex<[String]>([])
        let pictures = try open(in: onDisk ? directory.url : nil, clock: clock) { picture in
            asked.withLock { $0.append(picture.name) }
            return .bytes(picture.byteCount)
        }
        func names(_ work: () async throws -> Void) async throws -> [String] {
            asked.withLock { $0 = [] }
            try await work()
            return asked.withLock { $0 }
        }
        let stale = Expiration.after(.seconds(10)).servingStaleOnError(for: .seconds(100))
        let saved = try await names {
            try pictures.save(Picture(name: "a", byteCount: 1), forKey: "a", expiration: stale)
        }
        #expect(saved == ["a"])
        let hits = try await names {
            _ = try await pictures.fetch(forKey: "a")
            _ = try await pictures.fetch(forKey: "a") { Picture(name: "b", byteCount: 1) }
        }
        #expect(hits == [])
        let modified = try await names { try pictures.modify(forKey: "a") { $0?.name = "c" } }
        #expect(modified == ["c"])
        let loaded = try await names {
            _ = try await pictures.fetch(forKey: "b") { Picture(name: "d", byteCount: 1) }
        }
        #expect(loaded == ["d"])
        // Memory forgets it, the disk does not.
        try await pictures.extend(forKey: "a", expiration: stale)
        let read = try await names { _ = try pictures.fetch(forKey: "a") }
        #expect(read == ["c"])
        clock.advance(by: 11)
        let unchanged = try await names {
            _ = try await pictures.fetch(forKey: "a", expiration: stale) { _ in .unchanged() }
        }
        #expect(unchanged == ["c"])
        #expect(try await pictures.fetch(forKey: "a")?.name == "c")
    }

    /// A lock that was held would be waited for without end.
    @Test(arguments: [true, false]) func noLockIsHeldMeanwhile(onDisk: Bool) async throws {
        let directory = TestDirectory()
        let cache = Mutex<Cache<Picture>?>(nil)
        let looks = Atomic<Int>(0)
        let pictures = try open(in: onDisk ? directory.url : nil) { picture in
            let pictures = cache.withLock { $0 }
            looks.add(pictures?.statistics == nil ? 0 : 1, ordering: .relaxed)
            pictures?.trimMemory(to: .bytes(pictures?.memorySize.bytes ?? 0))
            return .bytes(picture.byteCount)
        }
        cache.withLock { $0 = pictures }
        defer { cache.withLock { $0 = nil } }
        try await pictures.save(Picture(name: "a", byteCount: 5), forKey: "a")
        try await pictures.extend(forKey: "a", expiration: .never)
        _ = try await pictures.fetch(forKey: "a")
        try await pictures.modify(forKey: "a") { $0?.byteCount = 6 }
        _ = try await pictures.fetch(forKey: "b") { Picture(name: "b", byteCount: 7) }
        #expect(looks.load(ordering: .relaxed) == 4)
        #expect(pictures.memorySize == .bytes(13))
    }

    @Test(arguments: [true, false]) func evictionFollowsCosts(onDisk: Bool) throws {
        let directory = TestDirectory()
        let pictures = try open(in: onDisk ? directory.url : nil)
        for number in 0..<10 {
            try pictures.save(Picture(name: "\(number)", byteCount: 100), forKey: "\(number)")
        }
        #expect(pictures.memorySize == .bytes(1_000))
        #expect(pictures.statistics.memoryEvictions == 0)
        try pictures.save(Picture(name: "large", byteCount: 450), forKey: "large")
        #expect(pictures.statistics.memoryEvictions == 5)
        #expect(pictures.memorySize == .bytes(950))
        try pictures.save(Picture(name: "free", byteCount: -7), forKey: "free")
        #expect(pictures.memorySize == .bytes(950))
        pictures.trimMemory(to: .bytes(500))
        #expect(pictures.memorySize <= .bytes(500))
        // Free or not, nothing is left where the system asks for all.
        pictures.core.relieve(isCritical: true)
        let keys = (0..<10).map { "\($0)" } + ["large", "free"]
        for key in keys { #expect(try pictures.memory.table.entry(forKey: EntryKey(key)) == nil) }
    }

    @Test func anEntryAboveTheWholeLimitIsNotKept() async throws {
        let directory = TestDirectory()
        let pictures = try open(in: directory.url)
        try await pictures.save(Picture(name: "small", byteCount: 10), forKey: "small")
        for byteCount in [Self.limit + 1, .max] {
            try await pictures.save(Picture(name: "huge", byteCount: byteCount), forKey: "huge")
            #expect(pictures.memorySize == .bytes(10))
            #expect(try await pictures.fetch(forKey: "huge")?.byteCount == byteCount)
        }
        #expect(pictures.statistics.diskHits == 2)
        #expect(pictures.statistics.memoryEvictions == 0)
        #expect(try await pictures.fetch(forKey: "small") != nil)
        #expect(pictures.statistics.memoryHits == 1)

        // Without a disk there is nowhere else to keep it.
        let alone = try open(in: nil)
        try await alone.save(Picture(name: "huge", byteCount: 10), forKey: "huge")
        let refusal = code { try alone.save(Picture(name: "huge", byteCount: .max), forKey: "huge") }
        #expect(refusal == .tooLarge)
        #expect(try await alone.fetch(forKey: "huge") == nil)
        // A loaded value has its caller, and is not kept.
        for load in 1...2 {
            let loaded = try await alone.fetch(forKey: "huge") { Picture(name: "\(load)", byteCount: .max) }
            #expect(loaded.name == "\(load)")
            #expect(alone.memorySize == .zero)
        }
    }

    @Test func anyCostsGoWithoutALimit() throws {
        let directory = TestDirectory()
        let pictures = try open(in: directory.url, MemorySettings(byteLimit: nil))
        for number in 0..<5 {
            try pictures.save(Picture(name: "\(number)", byteCount: .max), forKey: "\(number)")
            #expect(pictures.memorySize.bytes == .max)
        }
    }

    /// Memory then holds archives, so their length is the cost.
    @Test(arguments: [true, false]) func valuesThatAreNotSharedCostTheirArchive(onDisk: Bool) throws {
        let directory = TestDirectory()
        let asked = Atomic<Int>(0)
        let pictures = try open(
            in: onDisk ? directory.url : nil,
            MemorySettings(),
            values: .decodedEachTime
        ) { _ in
            asked.add(1, ordering: .relaxed)
            return .gibibytes(1)
        }
        try pictures.save(Picture(name: "a", byteCount: 5), forKey: "a")
        #expect(try pictures.entry(forKey: "a")?.archiveSize == pictures.memorySize)
        #expect(pictures.memorySize > .zero)
        #expect(asked.load(ordering: .relaxed) == 0)
    }

    @Test func aValueCostsItsArchiveByDefault() throws {
        let directory = TestDirectory()
        let pictures = try open(in: directory.url, MemorySettings(), cost: nil)
        try pictures.save(Picture(name: "a", byteCount: 5), forKey: "a")
        #expect(try pictures.entry(forKey: "a")?.archiveSize == pictures.memorySize)
    }
}

/// Looks all the time at how much memory has, on a thread of its own.
private final class SizeWatcher: Sendable {
    private let isDone = Atomic<Bool>(false)
    private let largest = Mutex(0)
    private let end = DispatchSemaphore(value: 0)

    init<Value>(_ cache: Cache<Value>) where Value: Sendable {
        Thread.detachNewThread { [self] in
            while !isDone.load(ordering: .relaxed) {
                let size = cache.memorySize.bytes
                largest.withLock { $0 = max($0, size) }
                usleep(1_000)
            }
            end.signal()
        }
    }

    /// Returns the largest size that was seen.
    func stop() -> Int {
        isDone.store(true, ordering: .relaxed)
        end.wait()
        return largest.withLock { $0 }
    }
}
