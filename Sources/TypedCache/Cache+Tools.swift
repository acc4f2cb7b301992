import ArchiveStore
import Foundation
import Synchronization

// For tools that look into a cache without knowing the types in it.

extension Cache {
    /// Opens a cache that is there already, or makes it if `create` says so.
    ///
    /// - Parameter root: the directory that holds the cache's own; `nil` for the one of the program named `program`.
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

    /// Sees whether ``save(_:forKey:expiration:tags:)`` would take a value, limits of size aside: archives it and
    /// checks the archive in the same way. No disk I/O.
    ///
    /// - Throws: `.invalidKey`, `.invalidExpiration`, `.invalidTag`, `.encodingFailed`.
    package static func check(
        _ value: Value,
        forKey key: some CacheKey,
        expiration: Expiration,
        tags: Set<String>
    ) throws(CacheError) {
        let key = try EntryKey(key.cacheKey)
        var attributes = try expiration.attributes(savedAt: .now)
        attributes.tags = try EntryTags.check(tags)
        _ = try newEntry(value, forKey: key, attributes, as: MemoryForm(sharesValues: false, cost: nil))
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

/// An entry's key, dates and sizes, which are known without decoding its value.
package struct CacheEntryInformation: Sendable {
    package let key: String
    package let storedAt: Date
    /// `nil` means never.
    package let expiresAt: Date?
    package let isExpired: Bool
    /// The archive's length before compression, in bytes.
    package let archiveByteCount: Int
    /// The space that the entry takes on disk, in bytes.
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

/// Reads a file that may hold an entry, for tools.
package enum CacheEntryFile {
    /// The archive in an entry's file; `nil` if the bytes are no entry.
    ///
    /// - Throws: `.corrupted` if it is a damaged entry, `.unsupportedVersion` if a newer version wrote it.
    package static func archive(in data: Data, path: String) throws(CacheError) -> Data? {
        guard EntryReader.isEntry(Array(data.prefix(2))) else { return nil }
        do throws(StoreError) {
            return Data(try EntryReader.archive(in: Array(data), path: path))
        } catch {
            throw CacheError(error)
        }
    }
}

/// Finds the caches in a directory, for tools.
package enum CacheListing {
    /// How many names are looked at: messages tell a few.
    private static let mostNames = 1_000

    /// The names of the caches in `directory`, in order; none if it cannot be read. Blocks on disk I/O.
    package static func names(in directory: URL) -> [String] {
        folders(in: directory).filter { name in
            StoreKind(directory: directory.appending(path: name).path(percentEncoded: false)) != nil
        }
    }

    /// The names of the folders in `directory` that may be those of caches or apps, in order.
    package static func folders(in directory: URL) -> [String] {
        let path = directory.path(percentEncoded: false)
        guard let names = FileManager.default.enumerator(atPath: path) else { return [] }
        var folders: [String] = []
        while folders.count < mostNames, let name = names.nextObject() as? String {
            names.skipDescendants()
            if names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory, !name.hasPrefix(".") {
                folders.append(name)
            }
        }
        return folders.sorted()
    }
}
