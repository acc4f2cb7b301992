/// The counts and the sizes of a cache at one moment.
package struct CacheFigures: Sendable, Hashable {
    package var statistics = CacheStatistics()
    package var memory = TierFigures()
    /// Of a cache in memory alone, nothing is known here.
    package var disk = TierFigures()

    package init() {}
}

/// The size of a tier, and its limits.
package struct TierFigures: Sendable, Hashable {
    /// `nil` if it is not known.
    package var entryCount: Int?
    /// `nil` if it is not known.
    package var byteCount: Int?
    /// `nil` if there is no limit.
    package var entryLimit: Int?
    /// `nil` if there is no limit.
    package var byteLimit: Int?

    package init() {}

    /// The limits alone.
    init(_ settings: MemorySettings) {
        entryLimit = settings.countLimit.map { max(0, $0) }
        byteLimit = settings.byteLimit?.bytes
    }

    /// The limits alone.
    init(_ settings: DiskSettings) {
        entryLimit = settings.countLimit.map { max(0, $0) }
        byteLimit = settings.byteLimit?.bytes
    }
}

extension TierFigures {
    /// The sums; unknown where one is, without a limit where one has none.
    func joined(with other: TierFigures) -> TierFigures {
        func sum(_ path: KeyPath<TierFigures, Int?>) -> Int? {
            guard let one = self[keyPath: path], let other = other[keyPath: path] else { return nil }
            let (sum, overflow) = one.addingReportingOverflow(other)
            return overflow ? .max : sum
        }
        var joined = TierFigures()
        joined.entryCount = sum(\.entryCount)
        joined.byteCount = sum(\.byteCount)
        joined.entryLimit = sum(\.entryLimit)
        joined.byteLimit = sum(\.byteLimit)
        return joined
    }
}
