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
/// Entries are keyed archives, compressed, in files in a directory of the cache's own. A program may open a cache in
/// several places: these objects agree. Several processes may use it at once; the memory of one process notices
/// changes by another process only if ``DiskSettings/followsOtherProcesses`` says so.
///
/// Each call that may block on the disk has an asynchronous twin of the same name, which suspends instead; a listing
/// is a cursor that does both, see ``CacheCursor``. A hit in memory neither blocks nor suspends. All calls may be made
/// from any thread.
///
/// A cache belongs to the process that opened it: in a child process that was forked, every call throws
/// ``CacheError`` with code `.forked`, and the child opens the cache itself. After ``close()``, every call throws
/// `.closed`.
///
/// Where `Value` is Sendable, memory hands out one value to all fetches. Other values are decoded for each fetch, so
/// that no caller can change the value that another caller gets. ``sharesValues`` tells whether a cache shares its
/// values, and ``ValueSharing`` chooses it.
public final class Cache<Value: Encoded> where Value.Wrapper.Value == Value {
    /// The key of a cache of one object: `save(object:)` and `fetchObject()`.
    public static var objectKey: String { "$object" }

    /// The cache's name.
    public let name: String
    /// The directory that the cache has for its own; `nil` for a cache in memory alone.
    public let directory: URL?

    let core: CacheCore
    // The fields that a hit in memory reads, kept here as well as in `core` or the settings.
    let memory: SharedMemory
    let recorder: Recorder
    let usage: StoreUsage
    let followsOthers: Bool
    /// Whether memory hands out one value to all fetches; otherwise each fetch decodes a new one, which takes 50 to 75
    /// times as long. See ``ValueSharing``.
    public var sharesValues: Bool { form.sharesValues }
    let form: MemoryForm<Value>
    /// Whether values may be archived and decoded on other threads than their caller's.
    let valuesAreSendable: Bool
    let defaultExpiration: Expiration

    /// - Parameters:
    ///   - isSendable: whether values are known to be Sendable.
    ///   - sweeps: whether expired entries are removed in the background, once a minute.
    ///   - memoryPlace: see ``CacheCore``.
    init(
        name: String,
        directory: URL?,
        store: any ArchiveStore,
        settings: CacheSettings<Value>,
        isSendable: Bool,
        sweeps: Bool = false,
        memoryPlace: String? = nil
    ) {
        let values = settings.valueSharing.treatment(of: Value.self, isSendable: isSendable)
        let disk = settings.disk ?? DiskSettings()
        self.name = name
        self.directory = directory
        form = MemoryForm(sharesValues: values.areShared, cost: settings.cost)
        valuesAreSendable = values.areSendable
        core = CacheCore(
            name: name,
            directory: directory,
            store: store,
            // Without a disk, the store has the limits, and memory holds the same entries.
            memory: settings.disk == nil ? .unlimited : settings.memory,
            disk: disk,
            sweeps: sweeps,
            clock: settings.clock,
            observer: settings.observer,
            memoryPlace: memoryPlace
        )
        self.memory = core.memory
        recorder = core.recorder
        usage = core.usage
        followsOthers = disk.followsOtherProcesses
        defaultExpiration = settings.expiration
    }

    /// The number of events of each kind since this cache was opened.
    public var statistics: CacheStatistics { memory.statistics }

    /// The events of this cache from now on, as they happen: a new stream each time this is read.
    ///
    /// A stream holds up to 4,096 events that its reader has not taken; then the oldest ones are dropped. It ends when the
    /// cache is closed, after the events of closing, or is dropped; one that is asked for later ends at once. Costs next
    /// to nothing while there is no stream.
    public var events: AsyncStream<CacheEvent> { core.listeners.stream() }
}

// All that a cache has is Sendable; values cross threads, so they must be so too.
extension Cache: Sendable where Value: Sendable {}
