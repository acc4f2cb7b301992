extension Cache {
    /// How many bytes the entries in memory count for together, as in ``MemorySettings``.
    ///
    /// Never above ``MemorySettings/byteLimit``. Does no disk I/O.
    public var memorySize: ByteCount { .bytes(core.memoryCost) }

    /// How many bytes the entries on disk take together, as ``DiskSettings/byteLimit`` counts them; `nil` if it is not
    /// known without reading the disk.
    ///
    /// For a packed cache: its segments, including removed entries whose space is not freed yet. For a cache of
    /// files: the entries' files, counted only if the cache has a limit, from its first save on. For a shared cache:
    /// the copies that it keeps on this disk. Also `nil` for a cache without a disk. Changes by other processes count
    /// once this process has learned of them. Does no disk I/O, and may wait for a save of this process.
    public var diskSize: ByteCount? { core.knownDiskSize.map { .bytes($0.byteCount) } }

    /// Evicts the least useful entries in memory until the rest take at most `limit`.
    ///
    /// They stay on disk, and ``CacheStatistics/memoryEvictions`` counts them. Values that are only in memory are
    /// lost: values that the disk refused, and all values of a cache without a disk. The limits of memory do not
    /// change, so it fills again as entries are saved and fetched. Does no disk I/O, and may be called on any thread
    /// that may use the cache.
    ///
    /// On Apple platforms the cache does this itself when the system asks for memory: to half of the bytes at a
    /// warning, to zero when memory is critical. Linux does not ask, so a server calls this when memory gets scarce,
    /// as `memory.events` of its control group or `/proc/pressure/memory` shows:
    ///
    /// ```swift
    /// cache.trimMemory(to: .mebibytes(16))
    /// ```
    ///
    /// - Parameter limit: the most bytes, counted as in ``MemorySettings``.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(to limit: ByteCount) { core.trim(toCount: .max, cost: limit.bytes) }

    /// Evicts the least useful entries in memory until at most `count` are left.
    ///
    /// All else is as for ``trimMemory(to:)``.
    ///
    /// - Parameter count: the most entries; less than zero counts as zero.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(toCount count: Int) { core.trim(toCount: count, cost: .max) }
}
