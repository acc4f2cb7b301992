import Foundation

extension Encoded where Self: Sendable, Wrapper.Value == Self {
    /// Opens a cache of this type's values, as `Cache(name:directory:settings:)` does.
    ///
    /// For libraries. A program that calls the initializer has the runtime find the types `Cache<Value>` and
    /// `CacheSettings<Value>` by their names, which looks through all conformances of the process five times.
    package static func openCache(
        name: String,
        directory: URL?,
        memory: MemorySettings,
        disk: DiskSettings?,
        expiration: Expiration,
        clock: any CacheClock,
        observer: (any CacheObserver)?
    ) throws(CacheError) -> Cache<Self> {
        try Cache(
            name: name,
            directory: directory,
            settings: CacheSettings(
                memory: memory,
                disk: disk,
                expiration: expiration,
                clock: clock,
                observer: observer
            )
        )
    }
}
