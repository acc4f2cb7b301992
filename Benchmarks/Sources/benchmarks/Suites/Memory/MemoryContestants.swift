import BenchmarkKit
import TypedCache

/// Caches that hold the same values under the same keys, all of them.
struct MemoryContestants {
    let cache: Cache<Place>
    let dictionary = LockedDictionary<Place>([:])
    let recency = RecencyCache<Place>(capacity: KeyRequests.keyCount)
    let foundation = FoundationCache<Place>()

    init(_ context: Context) throws {
        cache = try Cache(
            name: "hits",
            directory: context.makeFolder("memory", inMemory: true),
            memory: MemorySettings(byteLimit: .mebibytes(1_024), countLimit: KeyRequests.keyCount)
        )
    }

    func fill(_ keys: [String]) throws {
        for (number, key) in keys.enumerated() {
            let place = Place(number: number)
            try cache.save(place, forKey: key)
            dictionary.insert(place, forKey: key)
            recency.insert(place, forKey: key)
            foundation.insert(place, forKey: key)
        }
    }
}
