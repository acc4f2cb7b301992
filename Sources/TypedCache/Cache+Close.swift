extension Cache {
    /// Waits until all deferred writes are on disk, then gives back every file and lock of the cache.
    ///
    /// For an app that the system is about to suspend, and would end if it still held a lock then, or for a program
    /// that is about to remove or move the directory. A cache that is dropped gives everything back by itself, but the
    /// program does not learn when. Calls that are under way end first, or throw `.closed`; a producer that runs goes
    /// on, and its value is not saved. Every later call throws `.closed`, fetches from memory included, except another
    /// `close()`, which does nothing. All streams of ``events`` end, after the events of closing. Other caches of the same
    /// directory stay as they are.
    ///
    /// Blocks on disk I/O. Must not be called by code that the cache calls: an observer, or the `change` of a
    /// `modify`.
    ///
    /// - Throws: ``CacheError``: as ``flush()``, and the cache is closed then, too; `.forked` in a child process, which
    ///   leaves the parent's cache as it is.
    public func close() throws(CacheError) {
        if usage.isUsable { core.queues.drain() }
        try core.close()
    }

    /// Waits until all deferred writes are on disk, then gives back every file and lock of the cache.
    ///
    /// Suspends the task. All else is as for the synchronous twin.
    public nonisolated(nonsending) func close() async throws(CacheError) {
        let core = core
        guard usage.isUsable else { return try core.close() }
        await core.queues.drained()
        try await core.queues.run { Swift.Result { () throws(CacheError) in try core.close() } }.get()
    }
}
