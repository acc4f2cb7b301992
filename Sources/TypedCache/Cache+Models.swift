import ArchiveStore

// For layers above a cache that keep state of their own beside its entries.

extension Cache {
    /// Returns the value that memory has for `key`, and `nil` if it has none or that has expired. Does no disk I/O.
    ///
    /// Counts as a hit, or as nothing.
    ///
    /// - Throws: as ``fetch(forKey:)``.
    package func fetchFromMemory(forKey key: String) throws(CacheError) -> Value? {
        let key = try entryKey(key)
        guard let found = try find(key), isHit(found) else { return nil }
        return try value(of: found)
    }

    /// Returns the archive of the entry for `key`, expired or not, without decoding it; `nil` if there is none. Blocks on
    /// disk I/O.
    ///
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.unsupportedVersion`, or `.io`.
    package func archive(forKey key: String) throws(CacheError) -> [UInt8]? {
        try core.readKept(entryKey(key))?.archive
    }
}

extension CacheError {
    /// A call of a layer above that was closed.
    package static var closed: CacheError { CacheError(.closed, "the cache was closed") }
}
