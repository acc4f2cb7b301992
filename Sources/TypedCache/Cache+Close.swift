extension Cache {
    /// Waits until all that was deferred is on disk, then gives back every file and lock of the cache.
    ///
    /// For an app that the system suspends, and ends if it holds a lock then, or a program that is about to remove or
    /// move the directory. A cache that is dropped gives everything back by itself, but does not say when. Calls that
    /// are under way end first, or throw `.closed`; a producer that runs goes on, and its value is not saved. Every later call throws that, fetches from memory included, but for
    /// another `close()`, which does nothing. Other caches of the same directory stay as they are.
    ///
    /// Blocks on disk I/O. Must not be called by what the cache calls: an observer, or a change.
    ///
    /// - Throws: ``CacheError``: as ``flush()``, and the cache is closed then, too; `.forked` in a child process, which
    ///   leaves the parent's cache as it is.
    public func close() throws(CacheError) {
        if usage.isUsable { core.queues.drain() }
        try core.close()
    }

    /// Waits until all that was deferred is on disk, then gives back every file and lock of the cache.
    ///
    /// Suspends meanwhile. All else is as for the synchronous twin.
    public nonisolated(nonsending) func close() async throws(CacheError) {
        let core = core
        guard usage.isUsable else { return try core.close() }
        await core.queues.drained()
        try await core.queues.run { Swift.Result { () throws(CacheError) in try core.close() } }.get()
    }
}
