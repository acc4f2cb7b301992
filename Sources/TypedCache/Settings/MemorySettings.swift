import ArchiveStore

/// How much a cache keeps in memory. Both limits hold at all times.
public struct MemorySettings: Sendable, Hashable {
    /// The most bytes, counted as the entries' archives before compression, or as the cache's `cost` says; `nil`: no
    /// limit. An entry above it is not kept in memory.
    public var byteLimit: ByteCount?
    /// The most entries; `nil`: no limit. Less than zero counts as zero.
    public var countLimit: Int?
    /// Whether the cache counts the uses of a sample of its keys, so that `typed-cache advise` can estimate the hits
    /// of other sizes of memory; `false` by default.
    ///
    /// The counts of all processes are added to a file of 7 KiB in the cache's directory, once a minute and when the
    /// cache is closed or dropped. They say nothing about single keys, and fade by half every week. Takes up to 1 MiB of
    /// memory, and some nanoseconds for each fetch from memory in the mean: a fetch of a key in the sample takes
    /// microseconds, the sample has at most 3,000 keys, and after 16,384 of their uses within 16 seconds counting pauses
    /// for the rest of these. Has no effect on a cache in memory alone.
    public var profilesUse: Bool

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - byteLimit: the most bytes; 64 MiB by default, `nil` for no limit.
    ///   - countLimit: the most entries; `nil` for no limit.
    ///   - profilesUse: whether uses of keys are counted for advice on the size.
    public init(byteLimit: ByteCount? = .mebibytes(64), countLimit: Int? = nil, profilesUse: Bool = false) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
        self.profilesUse = profilesUse
    }

    /// Nothing is kept in memory: every fetch reads the disk.
    public static let none = MemorySettings(byteLimit: .zero, countLimit: 0)

    static let unlimited = MemorySettings(byteLimit: nil, countLimit: nil)

    /// A store with these limits, for a cache in memory alone.
    var store: MemoryStore { MemoryStore(byteLimit: byteLimit?.bytes, countLimit: countLimit.map { max(0, $0) }) }
}
