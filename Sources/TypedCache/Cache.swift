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
/// a cache in several places: they agree. Several processes may use it at once; what one has in memory does not
/// notice what another one writes, so use ``MemoryLimit/none`` where others write too.
///
/// All calls are synchronous and may be made from any thread; a hit in memory does no I/O. Values of classes
/// are decoded anew for each fetch, so that no caller can change what another one gets.
public final class Cache<Value: Encoded> where Value.Wrapper.Value == Value {
    /// The key of a cache of one object: ``save(object:expiration:)`` and ``fetchObject()``.
    public static var objectKey: String { "$object" }

    /// The cache's name.
    public let name: String
    /// The directory that the cache has for its own.
    public let directory: URL

    let store: any ArchiveStore
    let clock: any CacheClock
    let defaultExpiration: Expiration
    let reporter: (@Sendable (CacheError) -> Void)?
    let memory: SharedMemory

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
    ///   - expiration: how long entries may be used that are saved without an expiration; `.never` by default.
    ///   - clock: where the time comes from.
    ///   - reporter: is told of damaged entries that were taken out of the way, and of expired ones that could
    ///     not be; called on the thread of the fetch that found them.
    /// - Throws: ``CacheError`` with code `.invalidName`, `.invalidDirectory` if the directory holds something
    ///   else, `.unsupportedVersion` if a newer version made it, `.io` if the file system fails. Nothing was
    ///   touched then.
    public convenience init(
        name: String,
        directory: URL? = nil,
        memory: MemoryLimit = MemoryLimit(),
        expiration: Expiration = .never,
        clock: some CacheClock = SystemClock(),
        reporter: (@Sendable (CacheError) -> Void)? = nil
    ) throws(CacheError) {
        let (own, store) = try CacheDirectory.open(name, in: directory ?? CacheDirectory.standard(), create: true)
        self.init(
            name: name,
            directory: own,
            store: store,
            memory: memory,
            expiration: expiration,
            clock: clock,
            reporter: reporter
        )
    }

    init(
        name: String,
        directory: URL,
        store: any ArchiveStore,
        memory: MemoryLimit,
        expiration: Expiration,
        clock: any CacheClock,
        reporter: (@Sendable (CacheError) -> Void)?
    ) {
        self.name = name
        self.directory = directory
        self.store = store
        self.memory = SharedMemory(limit: memory, directory: directory.standardizedFileURL.path)
        self.clock = clock
        defaultExpiration = expiration
        self.reporter = reporter
    }

    /// What this cache has done since it was opened.
    public var statistics: CacheStatistics { memory.statistics }

    /// Whether memory holds values themselves, not archives of them.
    var sharesValues: Bool { !(Value.self is AnyClass) }

    func report(_ error: StoreError) {
        reporter?(CacheError(error))
    }

    /// Whether a deadline has passed. Reads no clock where nothing expires.
    func hasPassed(_ deadline: TimeInterval) -> Bool {
        deadline != .infinity && clock.now.timeIntervalSinceReferenceDate >= deadline
    }
}

// The store and the clock are Sendable, all else is guarded by the mutex; values cross threads, so they must
// be Sendable too.
extension Cache: Sendable where Value: Sendable {}
