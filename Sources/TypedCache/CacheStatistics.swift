/// What a cache has done since it was opened.
public struct CacheStatistics: Sendable, Hashable {
    /// Fetches answered from memory.
    public internal(set) var memoryHits = 0
    /// Fetches answered from disk.
    public internal(set) var diskHits = 0
    /// Fetches that found nothing, or nothing that may be used.
    public internal(set) var misses = 0
    /// Entries saved.
    public internal(set) var saves = 0
    /// Entries found expired, and removed.
    public internal(set) var expirations = 0
    /// Entries that memory gave up to make room; they stay on disk.
    public internal(set) var evictions = 0
    /// Entries found damaged, and taken out of the way.
    public internal(set) var corruptions = 0
}
