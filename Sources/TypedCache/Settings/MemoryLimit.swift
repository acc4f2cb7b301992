/// How much a cache keeps in memory. Both limits hold at all times.
public struct MemoryLimit: Sendable, Hashable {
    /// The most entries.
    public let count: Int
    /// The most bytes, by the size of the entries' archives.
    public let cost: ByteCount

    /// - Parameters:
    ///   - count: the most entries; by default as many as `cost` allows.
    ///   - cost: the most bytes, counted as the entries' archives before compression; 64 MiB by default. An
    ///     entry above it is not kept in memory.
    public init(count: Int = .max, cost: ByteCount = .mebibytes(64)) {
        self.count = max(0, count)
        self.cost = cost
    }

    /// Nothing is kept in memory: every fetch reads the disk.
    public static let none = MemoryLimit(count: 0, cost: .bytes(0))
}
