import ArchiveStore
import Foundation

// There are two of each, because no type says at run time whether it is Sendable: only the code that opens a cache may
// know.

extension Cache {
    /// Opens a cache, or makes it.
    ///
    /// Does disk I/O: opens the directory `directory/name`, and makes it if it is missing.
    ///
    /// - Parameters:
    ///   - name: one path component of 1 to 200 UTF-8 bytes without `/`, `\`, `:`, invisible characters or a
    ///     leading dot.
    ///   - directory: the directory that holds the cache's own; by default a folder named after the program, in the
    ///     user's cache directory.
    ///   - memory: how much is kept in memory; 64 MiB by default.
    ///   - disk: how much is kept on disk, and how durable a save is; by default without a limit, and saves survive
    ///     the end of the process. `nil`: the cache is in memory alone, touches no file, and ends with this object;
    ///     two of them are separate, even with one name. Its limits are those of `memory`: a save that costs more than
    ///     the limit of bytes is refused with `.tooLarge`. It keeps the archive of each value, beside the value where
    ///     values are shared.
    ///   - values: whether memory hands out one value to all fetches; where the type allows it by default.
    ///   - cost: the bytes that a value counts for in the limit of `memory`; by default as many as its archive has
    ///     before compression. Is called once for each value that is saved, loaded or read from disk, on the thread
    ///     that does so, without any lock, never for a hit in memory; should be fast, and must not use the cache.
    ///     Ignored where values are decoded for each fetch: memory has their archives then, and they count.
    ///   - expiration: how long entries may be used that are saved without an expiration; `.never` by default.
    ///   - clock: where the time comes from.
    ///   - observer: is told everything that the cache does, failures that no call can throw included.
    /// - Throws: ``CacheError`` with code `.invalidName`, `.invalidDirectory` if the directory holds something
    ///   else, `.unsupportedVersion` if a newer version made it, `.io` if the file system fails. Nothing was
    ///   touched then.
    public convenience init(
        name: String,
        directory: URL? = nil,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings? = DiskSettings(),
        values: ValueSharing = .automatic,
        cost: (@Sendable (Value) -> ByteCount)? = nil,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        let opening = CacheOpening<Value>(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            cost: cost,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
        try self.init(opening, at: opening.place(), isSendable: false)
    }

    /// Opens a cache, or makes it.
    ///
    /// Suspends while the disk is read and written, on a thread of the cache's own. All else is as for the initializer.
    ///
    /// ```swift
    /// let pictures = try await Cache<Data>.open(name: "pictures")
    /// ```
    public nonisolated(nonsending) static func open(
        name: String,
        directory: URL? = nil,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings? = DiskSettings(),
        values: ValueSharing = .automatic,
        cost: (@Sendable (Value) -> ByteCount)? = nil,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) async throws(CacheError) -> Cache {
        let opening = CacheOpening<Value>(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            cost: cost,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
        return try await Cache(opening, at: opening.placeInBackground(), isSendable: false)
    }

    /// Opens a cache that reads and writes its disk through another store, or makes it. Does disk I/O.
    ///
    /// - Parameter wrap: gives the store that stands in the place of the one on disk.
    /// - Throws: as the public initializer.
    package convenience init(
        name: String,
        directory: URL,
        memory: MemorySettings,
        disk: DiskSettings,
        values: ValueSharing,
        expiration: Expiration,
        clock: some CacheClock,
        observer: (any CacheObserver)?,
        through wrap: (any ArchiveStore) -> any ArchiveStore
    ) throws(CacheError) {
        let (own, store) = try CacheDirectory.open(name, in: directory, create: true, disk: disk, through: wrap)
        let opening = CacheOpening<Value>(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            cost: nil,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
        self.init(opening, at: (own, store), isSendable: false)
    }

    /// Opens a cache whose entries another store has than one on disk, and which follows the changes by others there.
    ///
    /// - Parameters:
    ///   - place: stands for a directory: the caches of one place agree.
    ///   - isSendable: whether values are known to be Sendable.
    /// - Throws: ``CacheError`` with code `.invalidName`.
    package convenience init(
        name: String,
        store: any ArchiveStore,
        place: String,
        memory: MemorySettings,
        values: ValueSharing,
        isSendable: Bool,
        cost: (@Sendable (Value) -> ByteCount)?,
        expiration: Expiration,
        clock: any CacheClock,
        observer: (any CacheObserver)?
    ) throws(CacheError) {
        do throws(CacheError) {
            try CacheDirectory.check(name: name)
        } catch {
            throw error.named(cache: name)
        }
        self.init(
            name: name,
            directory: nil,
            store: store,
            memory: memory,
            disk: DiskSettings(followsOtherProcesses: true),
            values: values.treatment(of: Value.self, isSendable: isSendable),
            cost: cost,
            expiration: expiration,
            clock: clock,
            observer: observer,
            memoryPlace: place
        )
    }

    private convenience init(
        _ opening: CacheOpening<Value>,
        at place: CacheOpening<Value>.Place,
        isSendable: Bool
    ) {
        self.init(
            name: opening.name,
            directory: place.directory,
            store: place.store,
            // Without a disk, the store has the limits, and memory holds the same entries.
            memory: opening.disk == nil ? .unlimited : opening.memory,
            disk: opening.disk ?? DiskSettings(),
            values: opening.values.treatment(of: Value.self, isSendable: isSendable),
            cost: opening.cost,
            sweeps: true,
            expiration: opening.expiration,
            clock: opening.clock,
            observer: opening.observer
        )
    }
}

extension Cache where Value: Sendable {
    /// Opens a cache of values that are known to be Sendable, or makes it. All else is as for other values.
    public convenience init(
        name: String,
        directory: URL? = nil,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings? = DiskSettings(),
        values: ValueSharing = .automatic,
        cost: (@Sendable (Value) -> ByteCount)? = nil,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        let opening = CacheOpening<Value>(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            cost: cost,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
        try self.init(opening, at: opening.place(), isSendable: true)
    }

    /// Opens a cache of values that are known to be Sendable, or makes it.
    ///
    /// Suspends while the disk is read and written. All else is as for other values.
    public nonisolated(nonsending) static func open(
        name: String,
        directory: URL? = nil,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings? = DiskSettings(),
        values: ValueSharing = .automatic,
        cost: (@Sendable (Value) -> ByteCount)? = nil,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) async throws(CacheError) -> Cache {
        let opening = CacheOpening<Value>(
            name: name,
            directory: directory,
            memory: memory,
            disk: disk,
            values: values,
            cost: cost,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
        return try await Cache(opening, at: opening.placeInBackground(), isSendable: true)
    }
}

/// The arguments of an opening.
private struct CacheOpening<Value>: Sendable {
    let name: String
    let directory: URL?
    let memory: MemorySettings
    let disk: DiskSettings?
    let values: ValueSharing
    let cost: (@Sendable (Value) -> ByteCount)?
    let expiration: Expiration
    let clock: any CacheClock
    let observer: (any CacheObserver)?

    /// Where entries are: in a directory, or in memory alone.
    typealias Place = (directory: URL?, store: any ArchiveStore)

    /// Opens the store. Blocks on disk I/O.
    func place() throws(CacheError) -> Place {
        do throws(CacheError) {
            guard let disk else {
                try CacheDirectory.check(name: name)
                return (nil, memory.store)
            }
            return try CacheDirectory.open(
                name,
                in: directory ?? CacheDirectory.standard(),
                create: true,
                disk: disk
            )
        } catch {
            throw error.named(cache: name)
        }
    }

    /// Opens the store, and suspends the task.
    nonisolated(nonsending) func placeInBackground() async throws(CacheError) -> Place {
        let opening = self
        return try await DiskQueues(label: name, usage: StoreUsage()).runThrowing { () throws(CacheError) in
            try opening.place()
        }
    }
}
