import BenchmarkKit
import Foundation
import Synchronization
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
            settings: CacheSettings(
                memory: MemorySettings(byteLimit: .mebibytes(1_024), countLimit: KeyRequests.keyCount)
            )
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

/// A small value.
struct Place: Codable, Encoded, Sendable {
    let number: Int
    let latitude: Double
    let longitude: Double

    init(number: Int) {
        self.number = number
        latitude = 47.3 + Double(number % 1_000) / 137
        longitude = 6.1 + Double(number % 997) / 113
    }
}

/// The least that a cache in memory can be: a dictionary behind a lock, without limits.
final class LockedDictionary<Value: Sendable>: Sendable {
    private let table: Mutex<[String: Value]>

    init(_ values: [String: Value]) {
        table = Mutex(values)
    }

    func value(forKey key: String) -> Value? {
        table.withLock { $0[key] }
    }

    func insert(_ value: Value, forKey key: String) {
        table.withLock { $0[key] = value }
    }
}

/// `NSCache`, with strings as keys and values in boxes, as Swift code must use it.
///
/// `@unchecked Sendable`: `NSCache` guards itself, as its documentation says.
final class FoundationCache<Value: Sendable>: @unchecked Sendable {
    private final class Box {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let cache = NSCache<NSString, Box>()

    /// - Parameter capacity: the most entries, or 0 for no limit.
    init(capacity: Int = 0) {
        cache.countLimit = capacity
    }

    func value(forKey key: String) -> Value? {
        cache.object(forKey: key as NSString)?.value
    }

    func insert(_ value: Value, forKey key: String) {
        cache.setObject(Box(value), forKey: key as NSString)
    }
}
