import ArchiveStore
import TypedCache

// For tools that work on a tier's caches without knowing the types in them. All of it blocks.
extension SharedTier {
    /// Looks at one cache.
    ///
    /// - Throws: `.invalidName`; `.locked` if the keys of encrypted values cannot be had.
    package func inspector(cache: String, schema: UInt32) throws(CacheError) -> CacheInspector {
        let store = store(cache: cache, schema: schema)
        do throws(StoreError) {
            try store.sealing?.askForKeys()
        } catch {
            throw CacheError(error)
        }
        return try CacheInspector(name: cache, store: store)
    }

    /// Reads the server's clock now, and not only after the first heartbeat: a tool may save right after it has
    /// connected.
    ///
    /// - Throws: `.unreachable`, with the reason.
    package func readClock() throws(CacheError) {
        do throws(StoreError) {
            try engine.read(offset)
        } catch {
            throw CacheError(error)
        }
    }

    /// How many entries a cache has of each schema, expired ones included. Values of other programs in their places
    /// are counted, too.
    package func entryCounts(cache: String) throws(CacheError) -> [UInt32: Int] {
        do throws(StoreError) {
            return try store(cache: cache, schema: 0).entryCounts()
        } catch {
            throw CacheError(error)
        }
    }

    /// Whether a cache has ever been used here, and was not lost since. Makes nothing.
    package func holdsCache(named name: String) throws(CacheError) -> Bool {
        do throws(StoreError) {
            return try store(cache: name, schema: 0).hasGeneration()
        } catch {
            throw CacheError(error)
        }
    }
}
