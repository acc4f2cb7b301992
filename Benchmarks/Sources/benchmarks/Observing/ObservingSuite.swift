import BenchmarkKit
import Foundation
import TypedCache
import Workloads

/// The additional cost of a hit in memory in a cache that is watched: by a profile of its uses, by published
/// statistics, by metrics.
struct ObservingSuite: Suite {
    static let name = "observing"
    static let summary = "what profiles of uses, published statistics and metrics add to a hit in memory"

    func run(_ context: Context) throws {
        for (keyCount, label) in [(500, "500"), (KeyRequests.keyCount, "100,000")] {
            try compareHits(keyCount: keyCount, label: label, in: context)
        }
    }

    private func compareHits(keyCount: Int, label: String, in context: Context) throws {
        let requests = KeyRequests.uniform(seed: 2)
        let keys = Array(requests.keys.prefix(keyCount))
        // Strings of their own, in the order in which they are asked for.
        let asked = (0..<Self.requestCount).map { index in
            String(decoding: Array(keys[requests[index].number % keyCount].utf8), as: UTF8.self)
        }
        func hit(_ cache: Cache<Place>, _ index: Int) throws -> Place? {
            try cache.fetch(forKey: asked[index & (Self.requestCount - 1)])
        }
        /// Fills a cache and uses it; returns the bytes that it has allocated.
        func fill(_ cache: Cache<Place>, since before: Int?) throws -> Int? {
            try cache.save(contentsOf: keys.enumerated().map { ($1, Place(number: $0)) })
            for index in asked.indices { blackHole(try hit(cache, index)) }
            guard let before, let after = ProcessMemory.allocatedByteCount else { return nil }
            return after - before
        }
        var allocated = ProcessMemory.allocatedByteCount
        let plain = try cache("plain-\(keyCount)", in: context)
        let plainByteCount = try fill(plain, since: allocated)
        allocated = ProcessMemory.allocatedByteCount
        let profiled = try cache("profiled-\(keyCount)", profilesUse: true, in: context)
        let profiledByteCount = try fill(profiled, since: allocated)
        let published = try cache("published-\(keyCount)", publishesStatistics: true, in: context)
        let metrics = CacheMetrics()
        let measured = try cache("measured-\(keyCount)", observer: metrics, in: context)
        metrics.add(measured)
        for cache in [published, measured] { _ = try fill(cache, since: nil) }
        let parameters = ["keys": label]
        if let plainByteCount, let profiledByteCount {
            context.value(
                work: "memory of a profile",
                parameters: parameters,
                subject: "profile of uses",
                isOurs: true,
                unit: "KiB",
                samples: [Double(profiledByteCount - plainByteCount) / 1_024]
            )
        }
        try context.compare(
            work: "hit in a cache that is watched",
            parameters: parameters,
            subjects: [
                Subject("Cache", isOurs: true) { try hit(plain, $0) },
                Subject("with a profile of its uses") { try hit(profiled, $0) },
                Subject("with published statistics") { try hit(published, $0) },
                Subject("with metrics") { try hit(measured, $0) },
            ]
        )
        context.progress("mean cost of a profile")
        context.value(
            work: "added to a hit, in the mean over windows and pauses",
            parameters: parameters,
            subject: "profile of uses",
            isOurs: true,
            unit: "ns",
            samples: try added(by: { try hit(profiled, $0) }, to: { try hit(plain, $0) })
        )
        guard [plain, profiled, published, measured].allSatisfy({ $0.statistics.misses == 0 }) else {
            throw BenchmarkError("fetches that should have hit memory did not")
        }
    }

    /// A power of two.
    private static let requestCount = 1 << 17

    private func cache(
        _ name: String,
        profilesUse: Bool = false,
        publishesStatistics: Bool = false,
        observer: (any CacheObserver)? = nil,
        in context: Context
    ) throws -> Cache<Place> {
        try Cache(
            name: name,
            directory: context.makeFolder(name, inMemory: true),
            settings: CacheSettings(
                memory: MemorySettings(byteLimit: .mebibytes(1_024), profilesUse: profilesUse),
                disk: DiskSettings(publishesStatistics: publishesStatistics),
                observer: observer
            )
        )
    }

    /// By how many nanoseconds an operation takes longer than another one in the mean: twice, each over a whole span of
    /// windows and pauses. The other one has a sixth of the time, in turns, since pauses go on in the meantime.
    private func added(by operation: (Int) throws -> Place?, to other: (Int) throws -> Place?) throws -> [Double] {
        var samples: [Double] = []
        var index = 0
        for _ in 0..<2 {
            var times = [0.0, 0.0]
            var counts = [0.0, 0.0]
            let begin = ContinuousClock.now
            while ContinuousClock.now - begin < .seconds(17) {
                for turn in 0...1 {
                    let start = ContinuousClock.now
                    var time = Duration.zero
                    while time < .milliseconds(turn == 0 ? 50 : 10) {
                        for _ in 0..<1_000 {
                            blackHole(turn == 0 ? try operation(index) : try other(index))
                            index += 1
                        }
                        counts[turn] += 1_000
                        time = ContinuousClock.now - start
                    }
                    times[turn] += time / .nanoseconds(1)
                }
            }
            samples.append(times[0] / counts[0] - times[1] / counts[1])
        }
        return samples
    }
}
