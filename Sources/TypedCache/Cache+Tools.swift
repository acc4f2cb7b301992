import ArchiveStore
import Foundation
import Synchronization

// What tools need that look into a cache without knowing the types in it.

extension Cache {
    /// Opens a cache that is there already, or makes it if `create` says so.
    ///
    /// - Parameter root: what holds the cache's directory; `nil` for the one of the program named `program`.
    /// - Throws: as the public initializer; `.io` with `ENOENT` if there is no such cache.
    package convenience init(
        name: String,
        root: URL?,
        program: String,
        create: Bool,
        memory: MemorySettings,
        disk: DiskSettings = DiskSettings()
    ) throws(CacheError) {
        try CacheDirectory.check(name: program)
        let root = root ?? CacheDirectory.standard(forProgram: program)
        let (own, store) = try CacheDirectory.open(name, in: root, create: create, disk: disk)
        self.init(
            name: name,
            directory: own,
            store: store,
            memory: memory,
            disk: disk,
            sharesValues: false,
            expiration: .never,
            clock: SystemClock()
        )
    }

    /// The archive of an entry, undecoded; `nil` if there is none or it has expired.
    ///
    /// - Throws: as ``fetch(forKey:)``, and `.corrupted` for a damaged entry, which is out of the way then.
    package func archive(forKey key: some CacheKey) throws(CacheError) -> [UInt8]? {
        let key = try entryKey(key)
        do throws(StoreError) {
            guard let stored = try core.store.fetch(forKey: key.text) else { return nil }
            let isFresh = stored.information.expiresAt.map { core.clock.now < $0 } ?? true
            return core.dropIfUseless(stored.information, key) || !isFresh ? nil : stored.archive
        } catch {
            throw core.failure(error, key)
        }
    }

    /// Gives every entry to `body`, expired or not, or why it cannot be read.
    package func forEachEntry(
        _ body: (Result<CacheEntryInformation, CacheError>) -> Void
    ) throws(CacheError) {
        let now = core.clock.now
        do throws(StoreError) {
            try core.store.forEachEntry { result in
                body(result.map { CacheEntryInformation($0, now: now) }.mapError { core.failure($0) })
                return true
            }
        } catch {
            throw core.failure(error)
        }
    }
}

/// What is known of an entry without decoding it.
package struct CacheEntryInformation: Sendable {
    package let key: String
    package let storedAt: Date
    /// `nil` means never.
    package let expiresAt: Date?
    package let isExpired: Bool
    /// The archive's length before compression, in bytes.
    package let archiveByteCount: Int
    /// What the entry takes on disk, in bytes.
    package let storedByteCount: Int

    fileprivate init(_ entry: EntryInformation, now: Date) {
        key = entry.key
        storedAt = entry.storedAt
        expiresAt = entry.expiresAt
        isExpired = entry.expiresAt.map { $0 <= now } ?? false
        archiveByteCount = entry.archiveByteCount
        storedByteCount = entry.storedByteCount
    }
}

/// Reads what may be an entry's file, for tools.
package enum CacheEntryFile {
    /// The archive in an entry's file; `nil` if the bytes are no entry.
    ///
    /// - Throws: `.corrupted` if it is a damaged entry, `.unsupportedVersion` if a newer version wrote it.
    package static func archive(in bytes: [UInt8], path: String) throws(CacheError) -> [UInt8]? {
        guard EntryReader.isEntry(bytes) else { return nil }
        do throws(StoreError) {
            return try EntryReader.archive(in: bytes, path: path)
        } catch {
            throw CacheError(error)
        }
    }
}
