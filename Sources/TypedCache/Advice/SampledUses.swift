import Foundation

/// The keys in the sample, and the counts of their uses since the profile was last saved.
struct SampledUses {
    var distances: ReuseDistances
    var miniatures: MiniatureCaches
    var profile: UseProfile
    /// The cache's statistics at the last save.
    private(set) var known = CacheStatistics()
    var savedAt = ContinuousClock.now

    init(distances: ReuseDistances, miniatures: MiniatureCaches, profile: UseProfile) {
        self.distances = distances
        self.miniatures = miniatures
        self.profile = profile
    }

    mutating func remove(_ hash: UInt64) {
        distances.remove(hash)
        miniatures.remove(hash)
    }

    mutating func removeAll() {
        distances.removeAll()
        miniatures.removeAll()
    }

    var threshold: UInt64 { max(distances.rate.threshold, miniatures.rate.threshold) }

    mutating func use(_ hash: UInt64, byteCount: Int?) {
        if distances.rate.samples(hash) { profile.count(hash, byteCount, in: &distances) }
        if miniatures.rate.samples(hash) { miniatures.use(hash, byteCount: byteCount, counting: &profile.sizes) }
    }

    mutating func save(_ hash: UInt64, byteCount: Int) {
        if distances.rate.samples(hash) { distances.use(hash, byteCount: byteCount) }
        if miniatures.rate.samples(hash) { miniatures.save(hash, byteCount: byteCount, counting: &profile.sizes) }
    }

    /// Takes the counts since the last time; `nil` if there was no use.
    mutating func take(at now: Date, _ statistics: CacheStatistics, byteLimit: Int?) -> UseProfile? {
        let since = statistics - known
        let uses = since.hits + since.misses + since.joins
        guard uses > 0 else { return nil }
        var taken = profile
        taken.updatedAt = max(now, taken.startedAt)
        taken.adjust(toUses: Double(uses))
        taken.memoryHits = Double(since.memoryHits)
        taken.byteLimit = byteLimit
        taken.keyCount = Double(distances.count) / distances.rate.share
        taken.byteCount = Double(distances.byteCount) / distances.rate.share
        profile = UseProfile(startedAt: now)
        known = statistics
        savedAt = .now
        return taken
    }

    /// Undoes ``take(at:_:byteLimit:)``, whose counts could not be saved.
    mutating func putBack(_ taken: UseProfile, _ former: CacheStatistics) {
        var joined = taken
        joined.add(profile)
        profile = joined
        known = former
    }
}
