import KeyedArchive

/// Opens the caches and archives that the command works on.
package protocol CacheBackend {
    /// Opens a cache to look into it or to trim it; creates nothing.
    func open(_ selection: CacheSelection) throws -> any CacheAccess

    /// Opens a cache to save whole entries in it; creates it if need be.
    func openOrCreate(_ selection: CacheSelection) throws -> any CacheAccess

    /// Opens a cache to fill it; creates it if need be.
    func sink(for options: WarmOptions) throws -> any RecordSink

    /// Takes and refuses the records that ``sink(for:)`` would, limits of size aside, and saves none; touches no cache.
    func checkingSink(for options: WarmOptions) throws -> any RecordSink

    /// Reads the keyed archive or cache entry file at `path`.
    func dump(_ path: String) throws -> ArchiveOutline
}
