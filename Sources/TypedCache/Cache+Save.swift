import ArchiveStore
import Foundation

extension Cache {
    /// Saves a value for `key`, in place of the entry that it had.
    ///
    /// Blocks on disk I/O: once this returns, the value is in a file, and every later fetch by any process
    /// finds it; unless the cache writes behind.
    ///
    /// - Parameters:
    ///   - value: the value; archived before this returns, on the caller's thread.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long the entry may be used; `nil` for the cache's own default.
    ///   - tags: groups that the entry belongs to, for `removeAll(tagged:)`: up to 10 of 1 to 256 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`, and then nothing was done; `.invalidExpiration` or `.invalidTag`,
    ///   `.encodingFailed` if the value cannot be archived, `.tooLarge` if its archive is above 1 GiB or its entry above
    ///   the cache's limit on disk, `.io` if the file system fails. Then the entry that `key` had before is gone too:
    ///   its value is out of date.
    /// - Complexity: O(*n*) in the value's archive.
    public func save(
        _ value: Value,
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) throws(CacheError) {
        let key = try entryKey(key)
        let new: NewEntry
        do throws(CacheError) {
            let attributes = try attributes(expiration, tags: tags, of: key)
            new = try Self.newEntry(value, forKey: key, attributes, as: form)
        } catch {
            core.failWrite(key)
            throw error.named(cache: name, key: key.text)
        }
        try core.write(new)
    }

    /// Saves a value for `key`, in place of the entry that it had.
    ///
    /// Archives the value on the caller's thread, then suspends until it is saved; for a very large value, the main
    /// actor calls this from a function marked `@concurrent`, or a detached task. Saves and removals of one key are
    /// done in the order in which they were called. All else is as for the synchronous twin.
    public nonisolated(nonsending) func save(
        _ value: Value,
        forKey key: some CacheKey,
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) async throws(CacheError) {
        let key = try entryKey(key)
        let new: NewEntry
        let core = core
        do throws(CacheError) {
            let attributes = try attributes(expiration, tags: tags, of: key)
            new = try Self.newEntry(value, forKey: key, attributes, as: form)
        } catch {
            await core.queues.run(key) { core.failWrite(key) }
            throw error.named(cache: name, key: key.text)
        }
        try await core.save(new)
    }

    /// Saves the object of a cache of one object: an entry under ``objectKey``.
    ///
    /// - Parameters and errors: as for a save with a key.
    public func save(object: Value, expiration: Expiration? = nil) throws(CacheError) {
        try save(object, forKey: Self.objectKey, expiration: expiration)
    }

    /// Saves the object of a cache of one object: an entry under ``objectKey``.
    ///
    /// Suspends until it is saved. All else is as for the synchronous twin.
    public nonisolated(nonsending) func save(
        object: Value,
        expiration: Expiration? = nil
    ) async throws(CacheError) {
        try await save(object, forKey: Self.objectKey, expiration: expiration)
    }
}
