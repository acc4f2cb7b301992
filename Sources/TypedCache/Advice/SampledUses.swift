import Foundation

/// The keys in the sample, and the counts of their uses since the profile was last saved.
struct SampledUses {
    /// The counts since the profile was last saved.
    struct Counts {
        var profile: UseProfile
        /// The cache's statistics at the beginning.
        var known: CacheStatistics
        /// The fetches, of all keys, in the windows that have ended.
        var watchedUses = 0.0
    }

    private var distances: ReuseDistances
    private var miniatures: MiniatureCaches
    private var counts: Counts
    private static let usesBetweenResizing = 64
    private var usesUntilResizing = usesBetweenResizing
    private var window = SamplingWindow()
    /// The cache's statistics when the window began, or when its fetches were last added; `nil` as long as they are not
    /// known.
    private var knownAtWindow: CacheStatistics? = CacheStatistics()
    var savedAt = ContinuousClock.now

    init(distances: ReuseDistances, miniatures: MiniatureCaches, startedAt: Date) {
        self.distances = distances
        self.miniatures = miniatures
        counts = Counts(profile: UseProfile(startedAt: startedAt), known: CacheStatistics())
    }

    mutating func remove(_ hash: UInt64) {
        distances.remove(hash)
        miniatures.remove(hash)
    }

    mutating func removeAll() {
        distances.removeAll()
        miniatures.removeAll()
    }

    /// Hashes up to it are sampled; none are in a pause.
    var threshold: UInt64 { window.isOpen ? distances.rate.threshold : 0 }

    /// Counts a fetch.
    ///
    /// - Parameter byteCount: of the key's value; `nil` if there is none: then the key is removed.
    mutating func use(_ hash: UInt64, byteCount: Int?) {
        guard distances.rate.samples(hash) else { return }
        let distance = byteCount == nil ? nil : distances.distance(hash)
        counts.profile.distances.add(distance, weight: 1 / distances.rate.share)
        miniatures.use(
            hash,
            distance: distance,
            byteCount: byteCount,
            rate: distances.rate,
            counting: &counts.profile.sizes
        )
        if let byteCount { distances.use(hash, byteCount: byteCount) } else { distances.remove(hash) }
        usesUntilResizing -= 1
        if usesUntilResizing < 0 {
            miniatures.resize(by: distances)
            usesUntilResizing = Self.usesBetweenResizing
        }
    }

    mutating func save(_ hash: UInt64, byteCount: Int) {
        guard distances.rate.samples(hash) else { return }
        miniatures.save(hash, byteCount: byteCount, rate: distances.rate, counting: &counts.profile.sizes)
        distances.use(hash, byteCount: byteCount)
    }

    // MARK: Windows

    /// Counts a change of the sample; returns how long the pause is that is due now, or `nil` for none.
    mutating func pauseDue(at now: ContinuousClock.Instant) -> Duration? { window.count(at: now) }

    /// Ends the window with these statistics.
    mutating func endWindow(_ statistics: CacheStatistics) {
        watch(until: statistics)
        window.pause()
    }

    private mutating func watch(until statistics: CacheStatistics) {
        guard let known = knownAtWindow else { return }
        counts.watchedUses += Double((statistics - known).profiledFetches)
        knownAtWindow = statistics
    }

    mutating func beginWindow(at now: ContinuousClock.Instant) {
        knownAtWindow = nil
        window = SamplingWindow(startedAt: now)
    }

    /// Whether the window has begun without the cache's statistics.
    var needsStatistics: Bool { window.isOpen && knownAtWindow == nil }

    /// Has the window begin with these statistics.
    mutating func watch(from statistics: CacheStatistics) {
        if knownAtWindow == nil { knownAtWindow = statistics }
    }

    // MARK: Saving

    /// Takes the counts since the last time; `nil` if there was no fetch.
    mutating func take(at now: Date, _ statistics: CacheStatistics) -> Counts? {
        guard (statistics - counts.known).profiledFetches > 0 else { return nil }
        if window.isOpen { watch(until: statistics) }
        let taken = counts
        counts = Counts(profile: UseProfile(startedAt: now), known: statistics)
        savedAt = .now
        return taken
    }

    /// The profile of counts that were taken, corrected.
    func profile(_ taken: Counts, at now: Date, _ statistics: CacheStatistics, byteLimit: Int?) -> UseProfile {
        let since = statistics - taken.known
        var profile = taken.profile
        profile.updatedAt = max(now, profile.startedAt)
        profile.adjust(toUses: taken.watchedUses)
        profile.scale(toUses: Double(since.profiledFetches))
        profile.memoryHits = Double(since.memoryHits)
        profile.byteLimit = byteLimit
        profile.keyCount = Double(distances.count) / distances.rate.share
        profile.byteCount = Double(distances.byteCount) / distances.rate.share
        return profile
    }

    /// Undoes ``take(at:_:)``, whose counts could not be saved.
    mutating func putBack(_ taken: Counts) {
        var joined = taken
        joined.profile.add(counts.profile)
        joined.watchedUses += counts.watchedUses
        counts = joined
    }
}
