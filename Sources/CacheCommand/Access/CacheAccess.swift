/// One cache on disk, seen without knowing the types in it.
///
/// Every call may block on disk I/O and throws what the cache throws.
package protocol CacheAccess {
    /// The entries that have not expired, in any order.
    func entries() throws -> [CacheEntry]

    /// What is saved for `key`; `nil` if nothing is or it has expired.
    func value(forKey key: String) throws -> RecordValue?

    func statistics() throws -> CacheStatistics

    /// Removes the entry for `key`; `false` if there is none.
    func remove(_ key: String) throws -> Bool

    /// Removes expired entries, then the least useful others until the cache takes no more than `size`.
    func trim(to size: SizeLimit) throws -> (expiredCount: Int, evictedCount: Int)

    /// Removes every entry and returns how many there were.
    func removeAll() throws -> Int
}
