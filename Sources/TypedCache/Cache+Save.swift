import ArchiveStore
import Foundation
import KeyedArchive
import Synchronization

extension Cache {
    /// Saves the object of a cache of one object: an entry under ``objectKey``.
    ///
    /// - Parameters and errors: as for ``save(_:forKey:expiration:)``.
    public func save(object: Value, expiration: Expiration? = nil) throws(CacheError) {
        try save(object, forKey: Self.objectKey, expiration: expiration)
    }

    /// Saves a value for `key`, in place of what was there.
    ///
    /// Blocks on disk I/O: once this returns, the value is in a file, and every later fetch by any process
    /// finds it.
    ///
    /// - Parameters:
    ///   - value: the value; archived before this returns, on the caller's thread.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long the entry may be used; `nil` for the cache's own default.
    /// - Throws: ``CacheError`` with code `.invalidKey` or `.invalidExpiration`, and then nothing was done;
    ///   `.encodingFailed` if the value cannot be archived, `.tooLarge` if its archive is above 1 GiB, `.io`
    ///   if the file system fails. Then what was saved for `key` before is gone too.
    /// - Complexity: O(*n*) in the value's archive.
    public func save(
        _ value: Value,
        forKey key: some CacheKey,
        expiration: Expiration? = nil
    ) throws(CacheError) {
        let key = try EntryKey(key.cacheKey)
        let now = clock.now
        let deadline = try (expiration ?? defaultExpiration).deadline(savedAt: now)
        let archive: [UInt8]
        do throws(ArchiveError) {
            let archived = try KeyedArchiver.archive(value.encoder)
            // What cannot be fetched again is not saved.
            if archived.mayBeRefused { try Value.Wrapper.check(archived.bytes) }
            archive = archived.bytes
        } catch {
            removeAfterFailure(key)
            throw CacheError(encoding: error)
        }
        if deadline <= now.timeIntervalSinceReferenceDate {
            _ = try remove(key)
            return
        }
        try write(archive, value, key, savedAt: now, deadline)
    }

    private func write(
        _ archive: [UInt8],
        _ value: Value,
        _ key: EntryKey,
        savedAt now: Date,
        _ deadline: TimeInterval
    ) throws(CacheError) {
        let begun = memory.withLock { $0.beginWrite(key) }
        do throws(StoreError) {
            try store.save(
                archive,
                forKey: key.text,
                storedAt: now,
                expiresAt: deadline == .infinity ? nil : Date(timeIntervalSinceReferenceDate: deadline)
            )
        } catch {
            // What was there must not be taken for what was to be saved.
            let isGone = removed(key)
            let dropped = memory.withLock { $0.endWrite(key, begun.ticket, leavesStale: !isGone) }
            _ = consume dropped
            memory.tellOthers(changed: key, leavesStale: !isGone)
            throw CacheError(error)
        }
        let entry = memoryEntry(value, key, archive, deadline)
        let dropped = memory.withLock { memory in
            memory.statistics.saves += 1
            return memory.endWrite(key, begun.ticket, keeping: entry, cost: archive.count)
        }
        _ = consume dropped
        memory.tellOthers(changed: key)
    }

    /// What memory holds of a value.
    func memoryEntry(
        _ value: Value,
        _ key: EntryKey,
        _ archive: [UInt8],
        _ deadline: TimeInterval
    ) -> MemoryEntry {
        sharesValues
            ? ValueEntry(value, key: key, deadline: deadline)
            : ArchiveEntry(archive, key: key, deadline: deadline)
    }

    /// Removes what a failed save was to replace.
    private func removeAfterFailure(_ key: EntryKey) {
        let begun = memory.withLock { $0.beginWrite(key) }
        let isGone = removed(key)
        let dropped = memory.withLock { $0.endWrite(key, begun.ticket, leavesStale: !isGone) }
        _ = consume dropped
        memory.tellOthers(changed: key, leavesStale: !isGone)
    }

    private func removed(_ key: EntryKey) -> Bool {
        do throws(StoreError) {
            try store.remove(forKey: key.text)
            return true
        } catch {
            report(error)
            return false
        }
    }
}
