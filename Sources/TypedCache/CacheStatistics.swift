/// The number of events of each kind since a cache was opened.
public struct CacheStatistics: Sendable, Hashable {
    /// Fetches answered from memory with a fresh value.
    public internal(set) var memoryHits: Int
    /// Fetches answered from disk with a fresh value.
    public internal(set) var diskHits: Int
    /// Fetches that may load, answered with a value that had expired, within one of its stale windows.
    public internal(set) var staleHits: Int
    /// Fetches that found nothing, or nothing that may be used.
    public internal(set) var misses: Int
    /// Fetches that found nothing, or nothing that may be used, and waited for a producer that another fetch had
    /// started.
    public internal(set) var joins: Int
    /// Values that producers returned.
    public internal(set) var loads: Int
    /// Expired values that a producer found unchanged.
    public internal(set) var revalidations: Int
    /// The total time of all producers' runs, including runs that threw. One run may load several values.
    public internal(set) var loadTime: Duration
    /// Producers that threw.
    public internal(set) var loadFailures: Int
    /// Entries saved.
    public internal(set) var saves: Int
    /// Entries found expired, and removed.
    public internal(set) var expirations: Int
    /// Entries that memory evicted to make room; they stay on disk, where there is one.
    public internal(set) var memoryEvictions: Int
    /// Entries that were evicted on disk to make room.
    public internal(set) var diskEvictions: Int
    /// Entries removed by a call, by key, by tag or by a condition, and those removed because a save for their key
    /// failed.
    public internal(set) var removals: Int
    /// Entries in memory that another value for their key replaced.
    public internal(set) var replacements: Int
    /// How often all entries were removed.
    public internal(set) var clearances: Int
    /// Entries found damaged, and taken out of the way.
    public internal(set) var corruptions: Int
    /// Entries in memory that another process or machine was found to have changed; and how often all entries may have
    /// been changed.
    public internal(set) var invalidations: Int
    /// Entries in memory that another machine may have changed unheard, and that were compared with the server's and
    /// found to be the same.
    public internal(set) var verifications: Int
    /// Failures that no call could throw.
    public internal(set) var failures: Int

    /// Makes statistics as ``Cache/statistics`` returns them: for tests, and for types that replace a cache.
    ///
    /// Each count is of the property with its name, and zero where it is left out.
    public init(
        memoryHits: Int = 0,
        diskHits: Int = 0,
        staleHits: Int = 0,
        misses: Int = 0,
        joins: Int = 0,
        loads: Int = 0,
        revalidations: Int = 0,
        loadTime: Duration = .zero,
        loadFailures: Int = 0,
        saves: Int = 0,
        expirations: Int = 0,
        memoryEvictions: Int = 0,
        diskEvictions: Int = 0,
        removals: Int = 0,
        replacements: Int = 0,
        clearances: Int = 0,
        corruptions: Int = 0,
        invalidations: Int = 0,
        verifications: Int = 0,
        failures: Int = 0
    ) {
        self.memoryHits = memoryHits
        self.diskHits = diskHits
        self.staleHits = staleHits
        self.misses = misses
        self.joins = joins
        self.loads = loads
        self.revalidations = revalidations
        self.loadTime = loadTime
        self.loadFailures = loadFailures
        self.saves = saves
        self.expirations = expirations
        self.memoryEvictions = memoryEvictions
        self.diskEvictions = diskEvictions
        self.removals = removals
        self.replacements = replacements
        self.clearances = clearances
        self.corruptions = corruptions
        self.invalidations = invalidations
        self.verifications = verifications
        self.failures = failures
    }

    /// Fetches answered from memory or disk with a fresh value.
    public var hits: Int { memoryHits + diskHits }
    /// All fetches, except fetches that an expired value answered, which the profile of uses leaves out.
    var profiledFetches: Int { hits + misses + joins }
    /// The share of fetches that were answered from memory or disk with a fresh value, 0 to 1; 0 where there were none.
    ///
    /// Each fetch is a hit, a stale hit, a miss, or one that joined: 100 fetches of a missing key at once are one miss
    /// and 99 joins, and no hit.
    public var hitRatio: Double {
        let fetches = hits + staleHits + misses + joins
        return fetches == 0 ? 0 : Double(hits) / Double(fetches)
    }

    mutating func count(_ occurrence: Occurrence, times: Int = 1) {
        switch occurrence {
        case .saved: saves += times
        case .memoryHit: memoryHits += times
        case .diskHit: diskHits += times
        case .servedStale: staleHits += times
        case .missed: misses += times
        case .joined: joins += times
        case .loaded: loads += times
        case .revalidated: revalidations += times
        case .loadFailed: loadFailures += times
        case .expired: expirations += times
        case .memoryEvicted: memoryEvictions += times
        case .diskEvicted: diskEvictions += times
        case .removed: removals += times
        case .replaced: replacements += times
        case .removedAll: clearances += times
        case .corrupted: corruptions += times
        case .invalidated: invalidations += times
        case .verified: verifications += times
        case .failed: failures += times
        }
    }
}

extension CacheStatistics {
    /// The events between two moments: the counts of the later one, less those of the earlier one.
    ///
    /// ```swift
    /// let before = cache.statistics
    /// try await work()
    /// print(cache.statistics - before)
    /// ```
    public static func - (later: CacheStatistics, earlier: CacheStatistics) -> CacheStatistics {
        var difference = later
        difference.memoryHits -= earlier.memoryHits
        difference.diskHits -= earlier.diskHits
        difference.staleHits -= earlier.staleHits
        difference.misses -= earlier.misses
        difference.joins -= earlier.joins
        difference.loads -= earlier.loads
        difference.revalidations -= earlier.revalidations
        difference.loadTime -= earlier.loadTime
        difference.loadFailures -= earlier.loadFailures
        difference.saves -= earlier.saves
        difference.expirations -= earlier.expirations
        difference.memoryEvictions -= earlier.memoryEvictions
        difference.diskEvictions -= earlier.diskEvictions
        difference.removals -= earlier.removals
        difference.replacements -= earlier.replacements
        difference.clearances -= earlier.clearances
        difference.corruptions -= earlier.corruptions
        difference.invalidations -= earlier.invalidations
        difference.verifications -= earlier.verifications
        difference.failures -= earlier.failures
        return difference
    }
}

extension CacheStatistics {
    /// Adds the events that another cache has counted.
    mutating func add(_ other: CacheStatistics) {
        let negative = CacheStatistics() - other
        self = self - negative
    }
}

extension CacheStatistics: CustomStringConvertible {
    /// One line for a log: the share of hits, and all counts that are not zero.
    public var description: String {
        let counts = [
            ("memory hits", memoryHits), ("disk hits", diskHits), ("stale hits", staleHits), ("misses", misses),
            ("joins", joins), ("loads", loads), ("revalidations", revalidations), ("failed loads", loadFailures),
            ("saves", saves), ("expirations", expirations),
            ("memory evictions", memoryEvictions), ("disk evictions", diskEvictions), ("removals", removals),
            ("replacements", replacements), ("clearances", clearances), ("corruptions", corruptions),
            ("invalidations", invalidations), ("verifications", verifications), ("failures", failures),
        ]
        let parts = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let percent = Int((hitRatio * 1_000).rounded())
        return (["\(percent / 10).\(percent % 10) % hits"] + parts).joined(separator: ", ")
    }
}
