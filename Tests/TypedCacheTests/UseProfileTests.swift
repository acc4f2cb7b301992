import ArchiveStore
import Eviction
import Foundation
import TestSupport
import Testing

@testable import TypedCache

/// The sampled uses of a cache: the counts, the file, and the advice that follows.
@Suite struct UseProfileTests {
    private struct Request {
        let key: Int
        let byteCount: Int
    }

    /// Keys with a few that are fetched often, each with its own size.
    private static func requests(_ count: Int, keys: Int, seed: Int) -> [Request] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let key = Int(pow(Double.random(in: 0..<1, using: &random), 3) * Double(keys))
            return Request(key: key, byteCount: 1 + key * 37 % 100)
        }
    }

    private static func hash(_ key: Int) -> UInt64 {
        var random = SeededGenerator(seed: key)
        return random.next()
    }

    // MARK: Distances

    @Test(
        "A distance is the bytes of all keys that were used since, the key's own included",
        arguments: seeds(0..<20)
    )
    func distancesAreThoseOfAStack(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var order = ReuseDistances(mostKeys: 40)
        // The last one used comes last.
        var model: [Request] = []
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<40, using: &random)
            let place = model.firstIndex { $0.key == key }
            let expected = place.map { Double(model[$0...].reduce(0) { $0 + $1.byteCount }) }
            #expect(order.distance(Self.hash(key)) == expected)
            if let place { model.remove(at: place) }
            if Int.random(in: 0..<10, using: &random) == 0 {
                order.remove(Self.hash(key))
            } else {
                let byteCount = Int.random(in: 1...1_000, using: &random)
                order.use(Self.hash(key), byteCount: byteCount)
                model.append(Request(key: key, byteCount: byteCount))
            }
            #expect(order.count == model.count)
            #expect(order.byteCount == model.reduce(0) { $0 + $1.byteCount })
        }
        #expect(order.rate.steps == 0)
    }

    @Test("Every distance is in the range of its index")
    func rangesHoldTheirDistances() {
        var random = SeededGenerator(seed: 1)
        for exponent in 0..<46 {
            let distance = Double.random(in: 1..<2, using: &random) * pow(2, Double(exponent))
            let range = DistanceScale.range(DistanceScale.index(distance))
            #expect(range.contains(distance.rounded()), "\(distance) in \(range)")
        }
        for index in 1..<DistanceScale.count {
            #expect(DistanceScale.range(index - 1).upperBound == DistanceScale.range(index).lowerBound)
        }
        #expect(DistanceScale.index(.infinity) == DistanceScale.count - 1)
    }

    // MARK: Miniature caches

    @Test("With all keys sampled, each size has about the hits of the policy itself", arguments: seeds(0..<5))
    func wholeSampleIsExact(seed: Int) throws {
        let requests = Self.requests(4_000, keys: 300, seed: seed)
        var sampled = Self.sample(ofKeys: 300, simulated: 300)
        for request in requests { sampled.use(Self.hash(request.key), byteCount: request.byteCount) }
        let profile = Self.profile(of: &sampled, fetches: requests.count)
        let known = try #require(profile.simulatedSizes)
        #expect(known.count >= 11)
        // A cache that is added takes the entries of the next smaller one in about their order.
        let errors = try known.map { size in
            let byteCount = SizeScale.byteCount(size)
            let share = try #require(profile.hitRatio(byteCount))
            let expected = Self.replay(requests, limit: Int(byteCount.rounded()))
            return abs(share - Double(expected) / Double(requests.count))
        }
        #expect(errors.allSatisfy { $0 <= 0.02 }, "\(errors)")
        #expect(errors.reduce(0, +) / Double(errors.count) <= 0.005, "\(errors)")
    }

    private final class Entry: EvictionEntry, @unchecked Sendable {
        let key: Int

        init(_ key: Int) {
            self.key = key
            super.init()
        }

        override var hash: UInt64 { UseProfileTests.hash(key) }
    }

    private static func replay(_ requests: [Request], limit: Int) -> Int {
        var policy = ShortestReuse(count: .max, cost: limit)
        var there: [Int: Entry] = [:]
        var hits = 0
        for request in requests {
            if let entry = there[request.key] {
                hits += 1
                entry.use()
                continue
            }
            let entry = Entry(request.key)
            there[request.key] = entry
            var removed: [EvictionEntry] = []
            policy.insert(entry, cost: request.byteCount, removed: &removed)
            for case let victim as Entry in removed { there[victim.key] = nil }
        }
        return hits
    }

    @Test(
        "Neither number of keys goes above its limit, whatever is asked for, saved and removed",
        arguments: seeds(0..<5)
    )
    func samplesAreBounded(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let largest = Bool.random(using: &random) ? Double.infinity : 5_000
        var order = ReuseDistances(mostKeys: 64, largestSize: largest)
        var caches = MiniatureCaches(mostEntries: 32, largestSize: largest)
        var counts = [SizeCount](repeating: SizeCount(), count: SizeScale.count)
        for number in 0..<6_000 {
            let hash = random.next() >> (number.isMultiple(of: 3) ? 8 : 0)
            let byteCount = 1 << Int.random(in: 0..<41, using: &random)
            guard order.rate.samples(hash) else { continue }
            let distance = order.distance(hash)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: caches.remove(hash)
            case 1: caches.use(hash, distance: nil, byteCount: nil, rate: order.rate, counting: &counts)
            case 2: caches.save(hash, byteCount: byteCount, rate: order.rate, counting: &counts)
            case 3: caches.resize(by: order)
            default:
                caches.use(hash, distance: distance, byteCount: byteCount, rate: order.rate, counting: &counts)
            }
            order.use(hash, byteCount: byteCount)
            #expect(order.count <= 64)
            #expect(caches.entryCounts.count <= MiniatureCaches.mostSizes)
            #expect(caches.entryCounts.allSatisfy { $0 <= 32 })
        }
        #expect(counts.allSatisfy { $0.uses >= 0 && $0.gain.isFinite })
        #expect(order.rate.steps > 0 || largest.isFinite)
        caches.removeAll()
        order.removeAll()
        #expect(caches.entryCounts.allSatisfy { $0 == 0 } && order.byteCount == 0)
    }

    // MARK: Samples

    private static let startedAt = Date(timeIntervalSinceReferenceDate: 8e8)

    private static func sample(
        ofKeys keys: Int = UseSampler.mostOrderedKeys,
        simulated: Int = UseSampler.mostSimulatedEntries
    ) -> SampledUses {
        SampledUses(
            distances: ReuseDistances(mostKeys: keys),
            miniatures: MiniatureCaches(mostEntries: simulated),
            startedAt: startedAt
        )
    }

    /// The profile of a sample, of a cache that was asked so often.
    private static func profile(of sampled: inout SampledUses, fetches: Int) -> UseProfile {
        var statistics = CacheStatistics()
        statistics.misses = fetches
        guard let taken = sampled.take(at: startedAt, statistics) else { return UseProfile(startedAt: startedAt) }
        return sampled.profile(taken, at: startedAt, statistics, byteLimit: nil)
    }

    // MARK: Windows

    @Test("However fast uses come, a span has no more than its window's, and a slow cache has no pause")
    func windowsBoundTheWork() {
        var random = SeededGenerator(seed: 1)
        for nanoseconds in [0, 10, 1_000, 100_000, 1_200_000] {
            var now = ContinuousClock.now
            let begin = now
            var window = SamplingWindow(startedAt: now)
            var (counted, pauses) = (0, 0)
            for _ in 0..<200_000 {
                now += .nanoseconds(nanoseconds == 0 ? 0 : Int.random(in: 1...2 * nanoseconds, using: &random))
                counted += 1
                guard let pause = window.count(at: now) else { continue }
                pauses += 1
                window.pause()
                #expect(!window.isOpen && pause <= SamplingWindow.leastSpan)
                now += pause
                window = SamplingWindow(startedAt: now)
            }
            let spans = (now - begin) / SamplingWindow.leastSpan
            #expect(Double(counted) <= (spans + 1) * Double(SamplingWindow.uses))
            // Uses that are a millisecond apart fill no window in its span.
            #expect((pauses == 0) == (nanoseconds > 1_000_000), "\(nanoseconds) ns: \(pauses) pauses")
        }
    }

    @Test("What is used in a pause is estimated from the windows before and after it", arguments: seeds(0..<5))
    func pausesAreEstimated(seed: Int) throws {
        let requests = Self.requests(60_000, keys: 400, seed: seed)
        var whole = Self.sample()
        for request in requests { whole.use(Self.hash(request.key), byteCount: request.byteCount) }
        let expected = Self.profile(of: &whole, fetches: requests.count)

        var sampled = Self.sample()
        var statistics = CacheStatistics()
        for (number, request) in requests.enumerated() {
            // A window of 5,000 uses, and a pause of 10,000.
            if number % 15_000 == 0 {
                sampled.beginWindow(at: .now)
                #expect(sampled.needsStatistics)
                sampled.watch(from: statistics)
            }
            if sampled.threshold > 0 { sampled.use(Self.hash(request.key), byteCount: request.byteCount) }
            statistics.misses += 1
            if number % 15_000 == 4_999 { sampled.endWindow(statistics) }
        }
        let counts = sampled.take(at: Self.startedAt, statistics)
        let taken = try #require(counts)
        #expect(taken.watchedUses == 20_000)
        let profile = sampled.profile(taken, at: Self.startedAt, statistics, byteLimit: nil)
        #expect(profile.uses == 60_000)
        let sizes = try #require(expected.simulatedSizes)
        for size in sizes.map(SizeScale.byteCount) {
            let known = try #require(expected.point(size))
            let point = try #require(profile.point(size))
            #expect(abs(point.hitRatio - known.hitRatio) < 0.03)
            #expect(abs(point.leastRecentlyUsed - known.leastRecentlyUsed) < 0.03)
        }
    }

    @Test("Counts that could not be saved are there the next time", arguments: seeds(0..<5))
    func countsArePutBack(seed: Int) throws {
        let requests = Self.requests(4_000, keys: 200, seed: seed)
        var (whole, halved) = (Self.sample(), Self.sample())
        var statistics = CacheStatistics()
        for (number, request) in requests.enumerated() {
            whole.use(Self.hash(request.key), byteCount: request.byteCount)
            halved.use(Self.hash(request.key), byteCount: request.byteCount)
            statistics.misses += 1
            if number == 1_500 {
                let taken = halved.take(at: Self.startedAt, statistics)
                halved.putBack(try #require(taken))
            }
        }
        let expected = Self.profile(of: &whole, fetches: requests.count)
        let profile = Self.profile(of: &halved, fetches: requests.count)
        #expect(profile.uses == expected.uses)
        for size in try #require(expected.simulatedSizes).map(SizeScale.byteCount) {
            let (known, point) = (try #require(expected.point(size)), try #require(profile.point(size)))
            #expect(abs(point.hitRatio - known.hitRatio) < 1e-9)
            #expect(abs(point.leastRecentlyUsed - known.leastRecentlyUsed) < 1e-9)
        }
    }

    // MARK: Bytes

    private static func profile(seed: Int) -> UseProfile {
        var sampled = sample(ofKeys: 1_000, simulated: 1_000)
        let requests = requests(5_000, keys: 500, seed: seed)
        for request in requests { sampled.use(hash(request.key), byteCount: request.byteCount) }
        var profile = profile(of: &sampled, fetches: requests.count)
        profile.byteLimit = 3_000
        return profile
    }

    @Test("A profile is read as it was written, and no changed byte is taken for one")
    func bytesAreChecked() throws {
        let profile = Self.profile(seed: 1)
        let bytes = profile.bytes
        #expect(bytes.count == UseProfile.byteLength)
        #expect(try UseProfile(bytes) == profile)
        for position in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[position] ^= 0x10
            #expect(throws: CacheError.self) { try UseProfile(changed) }
        }
        for count in [0, 3, 7, 8, 100, bytes.count - 1] {
            #expect(throws: CacheError.self) { try UseProfile(Array(bytes.prefix(count))) }
        }
        #expect(throws: CacheError.self) { try UseProfile(bytes + [0]) }
    }

    @Test(
        "Numbers that no profile has are refused, with the right checksum too",
        arguments: [Double.nan, .infinity, -1, 1e300]
    )
    func numbersAreChecked(number: Double) {
        var profile = Self.profile(seed: 2)
        profile.uses = number
        var bytes = profile.bytes
        // The writer keeps to the limits itself.
        for (offset, byte) in withUnsafeBytes(of: number.bitPattern.bigEndian, Array.init).enumerated() {
            bytes[32 + offset] = byte
        }
        let checksum = bytes.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(4))) }
        bytes.replaceSubrange((bytes.count - 4)..., with: withUnsafeBytes(of: checksum.bigEndian, Array.init))
        #expect(throws: CacheError.self) { try UseProfile(bytes) }
    }

    @Test("Counts add up, and older ones fade by half each week")
    func countsFade() {
        var profile = Self.profile(seed: 3)
        var later = profile
        later.updatedAt += UseProfile.halfLife
        let ratio = profile.hitRatio(3_000)
        profile.add(later)
        #expect(profile.uses == 7_500)
        #expect(abs((profile.hitRatio(3_000) ?? 0) - (ratio ?? 1)) < 1e-9)
        // A clock that was set back fades nothing.
        var earlier = later
        earlier.updatedAt -= 100 * UseProfile.halfLife
        profile.add(earlier)
        #expect(profile.uses == 12_500)
    }

    // MARK: Beside a cache

    private static func open(
        _ directory: URL,
        clock: TestClock = TestClock(),
        memory: MemorySettings = MemorySettings(profilesUse: true)
    ) throws -> Cache<String> {
        try Cache(name: "c", directory: directory, settings: CacheSettings(memory: memory, clock: clock))
    }

    private static func profile(_ directory: URL) throws -> UseProfile? {
        try UseSampler.profile(inDirectory: directory.appending(path: "c").path)
    }

    private static func use(_ cache: Cache<String>, _ requests: [Request]) throws {
        for request in requests {
            if try cache.fetch(forKey: request.key) == nil {
                try cache.save(String(repeating: "x", count: request.byteCount), forKey: request.key)
            }
        }
    }

    @Test("Runs add up in a file, which tells the hits that memory has had")
    func runsAddUp() throws {
        let directory = TestDirectory()
        let requests = Self.requests(1_500, keys: 200, seed: 4)
        for run in 1...2 {
            let cache = try Self.open(directory.url)
            try Self.use(cache, requests)
            let statistics = cache.statistics
            try cache.close()
            let profile = try #require(try Self.profile(directory.url))
            #expect(profile.uses == Double(run * requests.count))
            #expect(profile.byteLimit == 64 << 20)
            let advice = try #require(SizeAdvice(profile))
            let present = try #require(advice.present)
            if run == 1 {
                #expect(abs(present.hitRatio - Double(statistics.memoryHits) / 1_500) < 0.001)
                #expect(abs(present.leastRecentlyUsed - present.hitRatio) < 0.001)
                #expect(abs(profile.measuredHitRatio - present.hitRatio) < 0.001)
            }
            #expect(try #require(advice.knee).byteCount <= 64 << 20)
        }
    }

    @Test("Fetches of a pause are told by the statistics, so the profile stands for them too")
    func pausedCache() throws {
        let directory = TestDirectory()
        let cache = try Self.open(directory.url)
        let requests = Self.requests(SamplingWindow.uses + 8_000, keys: 50, seed: 8)
        try Self.use(cache, requests)
        let statistics = cache.statistics
        try cache.close()
        let profile = try #require(try Self.profile(directory.url))
        #expect(profile.uses == Double(requests.count))
        #expect(profile.memoryHits == Double(statistics.memoryHits))
        let advice = try #require(SizeAdvice(profile))
        let present = try #require(advice.present)
        #expect(abs(present.hitRatio - profile.measuredHitRatio) < 0.01)
    }

    private final class Note: Codable, Encoded, Sendable {}

    @Test("Looking for many keys in memory at once counts as looking for each")
    func manyAtOnce() throws {
        var profiles: [UseProfile?] = []
        for isTogether in [true, false] {
            let directory = TestDirectory()
            let memory = MemorySettings(profilesUse: true)
            let cache = try Cache<Note>(
                name: "c",
                directory: directory.url,
                settings: CacheSettings(memory: memory)
            )
            let texts = (0..<20).map { "note \($0)" }
            for text in texts { try cache.save(Note(), forKey: text) }
            let keys = try PreparedKeys(texts)
            for _ in 0..<5 {
                if isTogether {
                    try cache.forEachFetchedFromMemory(keys) { #expect($0 != nil) }
                    #expect(try cache.forEachInMemory(keys, in: keys.indices) { _ in })
                } else {
                    for text in texts + texts { #expect(try cache.fetchFromMemory(forKey: text) != nil) }
                }
            }
            try cache.close()
            profiles.append(try Self.profile(directory.url))
        }
        let (together, alone) = (try #require(profiles[0]), try #require(profiles[1]))
        #expect(alone.uses == 200)
        #expect(together.uses == alone.uses)
        #expect(together.distances.uses == alone.distances.uses)
    }

    @Test("A cache that is dropped leaves its profile; one that was not asked for leaves none")
    func dropped() throws {
        let (asked, unasked) = (TestDirectory(), TestDirectory())
        try Self.use(Self.open(asked.url), Self.requests(100, keys: 10, seed: 5))
        #expect(try Self.profile(asked.url)?.uses == 100)
        try Self.use(Self.open(unasked.url, memory: MemorySettings()), Self.requests(100, keys: 10, seed: 5))
        #expect(try Self.profile(unasked.url) == nil)
    }

    @Test("A file of any bytes gives way, but not one of a later version, and no link is followed")
    func foreignFiles() throws {
        let directory = TestDirectory()
        let requests = Self.requests(100, keys: 10, seed: 6)
        try Self.use(Self.open(directory.url), requests)
        let folder = directory.url.appending(path: "c/.profile")
        let file = folder.appending(path: "uses")
        try Data("no profile".utf8).write(to: file)
        #expect(throws: CacheError.self) { try Self.profile(directory.url) }
        try Self.use(Self.open(directory.url), requests)
        #expect(try Self.profile(directory.url)?.uses == 100)
        var later = try Data(contentsOf: file)
        later[5] = 3
        try later.write(to: file)
        try Self.use(Self.open(directory.url), requests)
        #expect(try Data(contentsOf: file) == later)
        // A link in its place is replaced, and its target stays.
        let target = directory.url.appending(path: "target")
        try Data("mine".utf8).write(to: target)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        try Self.use(Self.open(directory.url), requests)
        #expect(try Data(contentsOf: target) == Data("mine".utf8))
    }

    @Test("Several caches and threads count into one file")
    func sharedFile() async throws {
        let directory = TestDirectory()
        let requests = Self.requests(400, keys: 50, seed: 7)
        let url = directory.url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try Self.use(Self.open(url), requests) } }
            try await group.waitForAll()
        }
        #expect(try Self.profile(url)?.uses == 1_600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: url.appending(path: "c/.profile").path) == ["uses"]
        )
    }

    // MARK: Accuracy

    private static var traces: [URL] {
        guard let path = ProcessInfo.processInfo.environment["TYPED_CACHE_TRACES"] else { return [] }
        let files = try? FileManager.default.contentsOfDirectory(
            at: URL(filePath: path),
            includingPropertiesForKeys: nil
        )
        return (files ?? []).filter { $0.pathExtension == "u32z" }.sorted { $0.path < $1.path }
    }

    private static let requestCounts = [
        "lirs_multi3": 30_241, "lirs_sprite": 133_996, "lirs_loop": 505_500, "cache2k_web12": 95_607,
        "corda_vaultservice": 135_702, "twitter_cluster52_1m": 1_000_000,
    ]

    /// At sizes from a 64th of all keys to all, the mean difference between the profile's shares and a replay of the
    /// whole trace.
    @Test(
        "The shares are those of a full replay within 1.5 points on average for each trace",
        .enabled(if: isLongRun && !traces.isEmpty, "reads the traces that TYPED_CACHE_TRACES names, in long runs")
    )
    func accuracy() throws {
        var errors: [Double] = []
        for trace in Self.traces {
            guard let count = Self.requestCounts[trace.deletingPathExtension().lastPathComponent] else { continue }
            let file = try Data(contentsOf: trace)
            let bytes = try Zlib.inflate([UInt8](file), expecting: 4 * count, limit: 1 << 30)
            let requests: [Request] = stride(from: 0, to: bytes.count, by: 4).map { at in
                var key = 0
                for byte in bytes[at..<at + 4].reversed() { key = key << 8 | Int(byte) }
                return Request(key: key, byteCount: 1)
            }
            let keyCount = (requests.map(\.key).max() ?? 0) + 1
            let sizes = (Int(2 * log2(Double(keyCount) / 64))...Int(2 * log2(Double(keyCount))) + 1).map { half in
                pow(2, Double(half) / 2)
            }
            let expected = sizes.map { Double(Self.replay(requests, limit: Int($0))) / Double(requests.count) }
            var errorsHere: [Double] = []
            // Which keys are in the sample is chance.
            for seed in 1...3 {
                var sampled = Self.sample()
                for request in requests {
                    sampled.use(Self.hash(request.key + seed * 1_000_003), byteCount: 1)
                }
                let profile = Self.profile(of: &sampled, fetches: requests.count)
                for (size, expected) in zip(sizes, expected) {
                    guard let share = profile.hitRatio(size) else { continue }
                    errorsHere.append(abs(share - expected))
                }
            }
            let mean = errorsHere.reduce(0, +) / Double(errorsHere.count)
            #expect(mean < 0.015, "\(trace.lastPathComponent): \(mean)")
            errors.append(mean)
        }
        #expect(errors.reduce(0, +) / Double(errors.count) < 0.01)
    }
}
