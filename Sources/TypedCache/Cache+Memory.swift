extension Cache {
    /// Gives up the least useful entries in memory, until those that are left cost no more than so much.
    ///
    /// They stay on disk, and are counted in ``CacheStatistics/memoryEvictions``. The limits of memory stay as they are:
    /// it fills again with what is asked for. Does no disk I/O, and may be called on any thread that may use the
    /// cache.
    ///
    /// On Apple platforms this happens by itself where the system asks for memory: to half of the cost at a warning,
    /// to nothing where it is critical. On Linux nothing asks, so a server calls this where it notices that memory
    /// gets scarce, by what its control group says in `memory.events`, say, or by `/proc/pressure/memory`:
    ///
    /// ```swift
    /// cache.trim(toCost: .mebibytes(16))
    /// ```
    ///
    /// - Parameter cost: the most bytes, counted as in ``MemoryLimit``.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trim(toCost cost: ByteCount) { core.trim(toCount: .max, cost: cost.bytes) }

    /// Gives up the least useful entries in memory, until no more than so many are left.
    ///
    /// They stay on disk; all else is as for ``trim(toCost:)``.
    ///
    /// - Parameter count: the most entries; less than zero counts as zero.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trim(toCount count: Int) { core.trim(toCount: count, cost: .max) }
}
