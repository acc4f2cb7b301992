extension Cache {
    /// How many bytes the entries in memory count for together, as in ``MemorySettings``.
    ///
    /// Never above ``MemorySettings/byteLimit``. Does no disk I/O.
    public var memorySize: ByteCount { .bytes(core.memoryCost) }

    /// Gives up the least useful entries in memory, until those that are left take no more than `limit`.
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
    /// cache.trimMemory(toBytes: .mebibytes(16))
    /// ```
    ///
    /// - Parameter limit: the most bytes, counted as in ``MemorySettings``.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(toBytes limit: ByteCount) { core.trim(toCount: .max, cost: limit.bytes) }

    /// Gives up the least useful entries in memory, until no more than so many are left.
    ///
    /// All else is as for ``trimMemory(toBytes:)``.
    ///
    /// - Parameter count: the most entries; less than zero counts as zero.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(toCount count: Int) { core.trim(toCount: count, cost: .max) }
}
