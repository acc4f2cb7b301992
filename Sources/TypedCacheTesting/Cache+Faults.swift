import Foundation
import TypedCache

extension Cache {
    /// Opens a cache over a disk that fails as `faults` says, or makes it.
    ///
    /// Does disk I/O. Opening itself does not fail by `faults`.
    ///
    /// - Parameters:
    ///   - name: the cache's name.
    ///   - directory: the directory that holds the cache's own: that of a ``TemporaryDirectory``, say.
    ///   - faults: says which calls of the disk fail; may be changed later.
    ///   - memory: how much is kept in memory.
    ///   - disk: how much is kept on disk, and how durable a save is.
    ///   - values: whether memory hands out one value to all fetches.
    ///   - expiration: how long entries may be used that are saved without an expiration.
    ///   - clock: where the time comes from.
    ///   - observer: is told everything that the cache does.
    /// - Throws: `CacheError` as opening a cache does.
    public convenience init(
        name: String,
        directory: URL,
        faults: DiskFaults,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings = DiskSettings(),
        values: ValueSharing = .automatic,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        try self.init(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            expiration: expiration,
            clock: clock,
            observer: observer
        ) { FaultyStore($0, faults) }
    }
}

extension Cache where Value: Sendable {
    /// Opens a cache of values that are known to be Sendable, over a disk that fails as `faults` says, or makes it. All
    /// else is as for other values.
    public convenience init(
        name: String,
        directory: URL,
        faults: DiskFaults,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings = DiskSettings(),
        values: ValueSharing = .automatic,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        try self.init(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            // As a program's cache of this type is.
            values: values == .automatic ? .shared : values,
            expiration: expiration,
            clock: clock,
            observer: observer
        ) { FaultyStore($0, faults) }
    }
}
