import ArchiveStore
import Foundation
import KeyedArchive
import Synchronization

/// A typed, persistent cache: values in memory and on disk, found again by every later launch.
///
/// ```swift
/// let cache = try Cache<Coordinate>(name: "coordinateCache")
/// try cache.save(coordinate, forKey: "home", expiration: .after(.seconds(3600)))
/// let home = try cache.fetch(forKey: "home")    // nil: absent or expired
/// ```
///
/// A `save` that returned is fetched by this and every later process, until the entry expires, is removed or
/// is saved over. A process killed at any instant leaves each key with its whole old or whole new value. A
/// save that fails leaves nothing behind under its key: the old value is gone, never taken for the new one.
///
/// Entries are files, each a zlib-compressed keyed archive, in a directory of the cache's own. A program may open
/// a cache in several places: they agree. Several processes may use it at once; what one has in memory notices
/// what another one writes only if ``DiskSettings/followsOtherProcesses`` says so.
///
/// Each call that may block on the disk has an asynchronous twin of the same name, which suspends instead; a hit in
/// memory neither blocks nor suspends. All calls may be made from any thread.
///
/// Where `Value` is Sendable, memory hands out one value to all fetches. Other values are decoded for each fetch, so that
/// no caller can change what another caller gets. ``sharesValues`` tells which kind a cache is, and ``ValueSharing``
/// chooses it.
public final class Cache<Value: Encoded> where Value.Wrapper.Value == Value {
    /// The key of a cache of one object: `save(object:)` and `fetchObject()`.
    public static var objectKey: String { "$object" }

    /// The cache's name.
    public let name: String
    /// The directory that the cache has for its own.
    public let directory: URL

    let core: CacheCore
    // What a hit in memory needs, at hand.
    let memory: SharedMemory
    let listeners: Listeners
    let followsOthers: Bool
    /// Whether memory hands out one value to all fetches; otherwise each fetch decodes a new one, which takes 50 to 75
    /// times as long. See ``ValueSharing``.
    public let sharesValues: Bool
    let defaultExpiration: Expiration

    /// Opens a cache, or makes it.
    ///
    /// Does disk I/O: opens the directory `directory/name`, and makes it if it is missing.
    ///
    /// - Parameters:
    ///   - name: one path component of 1 to 200 UTF-8 bytes without `/`, `\`, `:`, invisible characters or a
    ///     leading dot.
    ///   - directory: what holds the cache's directory; by default the user's cache directory with a folder
    ///     named after the program.
    ///   - memory: how much is kept in memory; 64 MiB by default.
    ///   - disk: how much is kept on disk, and what a save guarantees; no limit, and the end of the process by
    ///     default.
    ///   - values: whether memory hands out one value to all fetches; where the type allows it by default.
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
        disk: DiskSettings = DiskSettings(),
        values: ValueSharing = .automatic,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        try self.init(name, directory, memory, disk, values, expiration, clock, observer, isSendable: false)
    }

    /// The one way in which programs open a cache.
    ///
    /// - Parameter isSendable: whether values are known to be Sendable.
    private convenience init(
        _ name: String,
        _ directory: URL?,
        _ memory: MemorySettings,
        _ disk: DiskSettings,
        _ values: ValueSharing,
        _ expiration: Expiration,
        _ clock: any CacheClock,
        _ observer: (any CacheObserver)?,
        isSendable: Bool
    ) throws(CacheError) {
        let (own, store) = try CacheDirectory.open(
            name,
            in: directory ?? CacheDirectory.standard(),
            create: true,
            disk: disk
        )
        self.init(
            name: name,
            directory: own,
            store: store,
            memory: memory,
            disk: disk,
            sharesValues: values.isChosen(for: Value.self, isSendable: isSendable),
            sweeps: true,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
    }

    /// - Parameter sweeps: whether expired entries are removed in the background, once a minute.
    init(
        name: String,
        directory: URL,
        store: any ArchiveStore,
        memory: MemorySettings,
        disk: DiskSettings = DiskSettings(),
        sharesValues: Bool,
        sweeps: Bool = false,
        expiration: Expiration,
        clock: any CacheClock,
        observer: (any CacheObserver)? = nil
    ) {
        self.name = name
        self.directory = directory
        self.sharesValues = sharesValues
        core = CacheCore(
            name: name,
            directory: directory,
            store: store,
            memory: memory,
            disk: disk,
            sweeps: sweeps,
            clock: clock,
            observer: observer
        )
        self.memory = core.memory
        listeners = core.listeners
        followsOthers = disk.followsOtherProcesses
        defaultExpiration = expiration
    }

    /// What this cache has done since it was opened.
    public var statistics: CacheStatistics { memory.statistics }

    /// What this cache does from now on, as it does it: a stream of its own for each one who asks.
    ///
    /// Events that nobody has taken wait, 4,096 at most; then the oldest ones are dropped. Costs next to nothing while
    /// no stream is there.
    public var events: AsyncStream<CacheEvent> { listeners.stream() }
}

extension Cache where Value: Sendable {
    /// Opens a cache of values that are known to be Sendable, or makes it.
    ///
    /// All else is as for the initializer for values of which that is not known. There are two because no type says at
    /// run time whether it is Sendable, only the code that opens the cache may know.
    public convenience init(
        name: String,
        directory: URL? = nil,
        memory: MemorySettings = MemorySettings(),
        disk: DiskSettings = DiskSettings(),
        values: ValueSharing = .automatic,
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil
    ) throws(CacheError) {
        try self.init(name, directory, memory, disk, values, expiration, clock, observer, isSendable: true)
    }
}

// All that a cache has is Sendable; values cross threads, so they must be so too.
extension Cache: Sendable where Value: Sendable {}
