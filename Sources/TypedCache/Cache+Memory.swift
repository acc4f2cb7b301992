extension Cache {
    /// How many bytes the entries in memory count for together, as in ``MemorySettings``.
    ///
    /// Never above ``MemorySettings/byteLimit``. Does no disk I/O.
    public var memorySize: ByteCount { .bytes(core.memoryCost) }

    /// How many bytes the entries on disk take together, as ``DiskSettings/byteLimit`` counts them; `nil` if it is not
    /// known without reading the disk.
    ///
    /// Of a packed cache: its segments, with the removed entries in them whose room was not dropped yet. Of a cache of
    /// files: the entries' files, which are counted only where the cache has a limit, from its first save on. Of a
    /// shared cache: the copies that it keeps on this disk. `nil` as well for a cache without a disk. Changes by other
    /// processes count once this process has learned of them. Does no disk I/O, and may wait for a save of this process.
    public var diskSize: ByteCount? { core.knownDiskSize.map { .bytes($0.byteCount) } }

    /// Evicts the least useful entries in memory, until those that are left take no more than `limit`.
    ///
    /// They stay on disk, and are counted in ``CacheStatistics/memoryEvictions``. Values that memory alone has are
    /// gone: those that the disk refused, and all of a cache that has no disk. The limits of memory stay as they are:
    /// it fills again as entries are saved and fetched. Does no disk I/O, and may be called on any thread that may use
    /// the cache.
    ///
    /// On Apple platforms this happens by itself where the system asks for memory: to half of the bytes at a warning,
    /// to nothing where it is critical. On Linux the system does not ask, so a server calls this where it notices that
    /// memory gets scarce, by `memory.events` of its control group, say, or by `/proc/pressure/memory`:
    ///
    /// ```swift
    /// cache.trimMemory(to: .mebibytes(16))
    /// ```
    ///
    /// - Parameter limit: the most bytes, counted as in ``MemorySettings``.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(to limit: ByteCount) { core.trim(toCount: .max, cost: limit.bytes) }

    /// Evicts the least useful entries in memory, until no more than so many are left.
    ///
    /// All else is as for ``trimMemory(to:)``.
    ///
    /// - Parameter count: the most entries; less than zero counts as zero.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(toCount count: Int) { core.trim(toCount: count, cost: .max) }
}
