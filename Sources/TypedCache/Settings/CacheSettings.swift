import ArchiveStore

/// The limits of a cache, and how long its entries live.
///
/// ```swift
/// var settings = CacheSettings<City>(expiration: .after(.hours(6)))
/// settings.memory.countLimit = 1_000
/// settings.disk?.byteLimit = .mebibytes(50)
/// let cities = try Cache(name: "cities", settings: settings)
/// ```
///
/// Each property has a default that suits most caches. A cache has the settings it was opened with: two objects of one
/// directory may differ.
public struct CacheSettings<Value>: Sendable {
    /// The limits of memory: 64 MiB by default.
    public var memory: MemorySettings
    /// The limits of the disk, and the durability of a save. By default there is no limit, and saves survive the end of
    /// the process.
    ///
    /// `nil`: the cache is in memory alone, touches no file, and ends with its object; two of them are separate, even
    /// with one name. Its limits are those of ``memory``: a save that costs more than the limit of bytes is refused with
    /// `.tooLarge`. It keeps the archive of each value, beside the value where values are shared.
    ///
    /// Has no effect on a cache whose entries are on a server.
    public var disk: DiskSettings?
    /// Whether memory hands out one value to all fetches; `.automatic` by default: where the type allows it.
    public var valueSharing: ValueSharing
    /// The bytes that a value counts for in the limit of ``memory``; by default, with `nil`, as many as its archive has
    /// before compression.
    ///
    /// Called once for each value that is saved, loaded or read from disk, on the thread that does so and without a
    /// lock; never for a hit in memory. Should be fast, and must not use the cache. Ignored where values are decoded for
    /// each fetch: memory has their archives then, and they count.
    public var cost: (@Sendable (Value) -> ByteCount)?
    /// The expiration of entries that are saved without their own; `.never` by default.
    public var expiration: Expiration
    /// The source of the time: the system's clock by default. The entries of a server have the server's time, by which
    /// all machines agree.
    public var clock: any CacheClock
    /// Receives every event of the cache, also failures that no call can throw; `nil` by default.
    public var observer: (any CacheObserver)?
    /// Gives the store that stands in the place of the one on disk.
    package var replacingStore: @Sendable (any ArchiveStore) -> any ArchiveStore = { $0 }

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - memory: the limits of memory.
    ///   - disk: the limits of the disk, and the durability of a save; `nil` for a cache in memory alone.
    ///   - valueSharing: whether memory hands out one value to all fetches.
    ///   - cost: the bytes that a value counts for in the limit of memory.
    ///   - expiration: the expiration of entries that are saved without their own.
    ///   - clock: the source of the time.
    ///   - observer: receives every event of the cache.
    public init(
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings? = DiskSettings(),
        valueSharing: ValueSharing = .automatic,
        cost: (@Sendable (Value) -> ByteCount)? = nil,
        expiration: Expiration = .never,
        clock: any CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) {
        self.memory = memory
        self.disk = disk
        self.valueSharing = valueSharing
        self.cost = cost
        self.expiration = expiration
        self.clock = clock
        self.observer = observer
    }
}
