import ArchiveStore

/// How much a cache keeps in memory. Both limits hold at all times.
public struct MemorySettings: Sendable, Hashable {
    /// The most bytes, counted as the entries' archives before compression, or as the cache's `cost` says; `nil`: no
    /// limit. An entry above it is not kept in memory.
    public var byteLimit: ByteCount?
    /// The most entries; `nil`: no limit. Less than zero counts as zero.
    public var countLimit: Int?

    /// - Parameters:
    ///   - byteLimit: the most bytes; 64 MiB by default, `nil` for no limit.
    ///   - countLimit: the most entries; `nil` for no limit.
    public init(byteLimit: ByteCount? = .mebibytes(64), countLimit: Int? = nil) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// Nothing is kept in memory: every fetch reads the disk.
    public static let none = MemorySettings(byteLimit: .zero, countLimit: 0)

    static let unlimited = MemorySettings(byteLimit: nil, countLimit: nil)

    /// A store with these limits, for a cache in memory alone.
    var store: MemoryStore { MemoryStore(byteLimit: byteLimit?.bytes, countLimit: countLimit.map { max(0, $0) }) }
}
