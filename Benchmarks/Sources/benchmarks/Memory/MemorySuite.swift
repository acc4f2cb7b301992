import BenchmarkKit
import Foundation
import TypedCache
import Workloads

/// Caches in memory: hits, hits with some saves among them, and inserting where there is no room.
struct MemorySuite: Suite {
    static let name = "memory"
    static let summary = "hits, saves and evictions in memory, beside NSCache and dictionaries"

    /// How many entries fit where not all do.
    private static let capacity = 10_000

    func run(_ context: Context) throws {
        let contestants = try MemoryContestants(context)
        for requests in [KeyRequests.zipf(0.99, seed: 1), KeyRequests.uniform(seed: 2)] {
            try contestants.fill(requests.keys)
            for threads in [1, 2] {
                try compareHits(contestants, requests: requests, threads: threads, in: context)
                try compareMix(contestants, requests: requests, threads: threads, in: context)
            }
        }
        try compareEvictions(context)
    }

    private func parameters(_ requests: KeyRequests, _ threads: Int) -> [String: String] {
        ["distribution": requests.distribution, "threads": "\(threads)"]
    }

    private func compareHits(
        _ contestants: MemoryContestants,
        requests: KeyRequests,
        threads: Int,
        in context: Context
    ) throws {
        let (cache, dictionary) = (contestants.cache, contestants.dictionary)
        let (recency, foundation) = (contestants.recency, contestants.foundation)
        let before = cache.statistics
        try context.compare(
            work: "hit one of 100,000 keys",
            parameters: parameters(requests, threads),
            subjects: [
                .parallel("Cache", isOurs: true, threads: threads) { try cache.fetch(forKey: requests[$0].key) },
                .parallel("Mutex<Dictionary>", threads: threads) { dictionary.value(forKey: requests[$0].key) },
                .parallel("locked LRU list", threads: threads) { recency.value(forKey: requests[$0].key) },
                .parallel("NSCache", threads: threads) { foundation.value(forKey: requests[$0].key) },
                // Included in the time of each of them: without it, they would be further apart.
                .parallel("reading the key alone", threads: threads) { requests[$0].key.utf8.first },
            ]
        )
        let after = cache.statistics
        guard after.diskHits == before.diskHits, after.misses == before.misses else {
            throw BenchmarkError("fetches that should have hit memory did not")
        }
    }

    private func compareMix(
        _ contestants: MemoryContestants,
        requests: KeyRequests,
        threads: Int,
        in context: Context
    ) throws {
        let (cache, dictionary) = (contestants.cache, contestants.dictionary)
        let (recency, foundation) = (contestants.recency, contestants.foundation)
        try context.compare(
            work: "9 fetches to 1 save, 100,000 keys",
            parameters: parameters(requests, threads),
            subjects: [
                .parallel("Cache (saves to disk too: tmpfs)", isOurs: true, threads: threads) { index -> Place? in
                    let (key, number) = requests[index]
                    guard index % 10 == 9 else { return try cache.fetch(forKey: key) }
                    try cache.save(Place(number: number), forKey: key)
                    return nil
                },
                .parallel("Mutex<Dictionary>", threads: threads) { index -> Place? in
                    let (key, number) = requests[index]
                    guard index % 10 == 9 else { return dictionary.value(forKey: key) }
                    dictionary.insert(Place(number: number), forKey: key)
                    return nil
                },
                .parallel("locked LRU list", threads: threads) { index -> Place? in
                    let (key, number) = requests[index]
                    guard index % 10 == 9 else { return recency.value(forKey: key) }
                    recency.insert(Place(number: number), forKey: key)
                    return nil
                },
                .parallel("NSCache", threads: threads) { index -> Place? in
                    let (key, number) = requests[index]
                    guard index % 10 == 9 else { return foundation.value(forKey: key) }
                    foundation.insert(Place(number: number), forKey: key)
                    return nil
                },
            ]
        )
    }

    /// Keys in turn, ten times as many as fit: none is there any longer when it comes again.
    private func compareEvictions(_ context: Context) throws {
        let keys = KeyRequests.uniform(seed: 3).keys
        let folder = try context.makeFolder("evictions", inMemory: true)
        let cache = try Cache<Place>(
            name: "evictions",
            directory: folder,
            settings: CacheSettings(memory: MemorySettings(countLimit: Self.capacity))
        )
        let recency = RecencyCache<Place>(capacity: Self.capacity)
        let foundation = FoundationCache<Place>(capacity: Self.capacity)
        try context.compare(
            work: "insert where 10,000 entries are the limit",
            subjects: [
                Subject("Cache (saves to disk too: tmpfs)", isOurs: true) { index in
                    try cache.save(Place(number: index), forKey: keys[index % keys.count])
                },
                Subject("locked LRU list") { index in
                    recency.insert(Place(number: index), forKey: keys[index % keys.count])
                },
                Subject("NSCache") { index in
                    foundation.insert(Place(number: index), forKey: keys[index % keys.count])
                },
            ]
        )
    }
}
