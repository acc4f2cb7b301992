import ArchiveStore
import Foundation
import KeyedArchive

/// A cache on disk, seen by a tool that does not know the type of its values: keys, attributes and archives.
///
/// Shares the directory with the caches of this and other processes as a ``Cache`` does: the same locks, write path,
/// statistics and errors. Keeps no entry in memory, and removes expired entries only when told to.
package final class CacheInspector: Sendable {
    let core: CacheCore
    package var name: String { core.name }
    /// `nil` for a cache on a server.
    private let directory: URL?

    /// Opens a cache that is there already, or makes it if `create` says so. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - root: the directory that holds the cache's own; `nil` for the one of the program named `program`.
    ///   - disk: the limits and the layout; those of new caches by default.
    /// - Throws: as the initializer of ``Cache``; `.io` with `ENOENT` if there is no such cache.
    package init(
        name: String,
        root: URL?,
        program: String,
        create: Bool,
        disk: DiskSettings = DiskSettings()
    ) throws(CacheError) {
        try CacheDirectory.check(name: program)
        let root = root ?? CacheDirectory.standard(forProgram: program)
        let (own, store) = try CacheDirectory.open(name, in: root, create: create, disk: disk)
        directory = own
        core = CacheCore(
            name: name,
            directory: own,
            store: store,
            memory: .none,
            disk: disk,
            sweeps: false,
            clock: SystemClock(),
            observer: nil
        )
    }

    /// Looks at a cache on a server.
    ///
    /// - Throws: `.invalidName`.
    package init(name: String, store: any RemoteStore) throws(CacheError) {
        try CacheDirectory.check(name: name)
        directory = nil
        core = CacheCore(
            name: name,
            directory: nil,
            store: store,
            memory: .none,
            disk: DiskSettings(),
            sweeps: false,
            clock: SystemClock(),
            observer: nil
        )
    }

    deinit { bestEffort("every save is on disk") { () throws(CacheError) in try close() } }

    /// Waits for the store's work in the background, which would keep the store open, and leaves an index.
    package func close() throws(CacheError) { try core.close() }

    func entryKey(_ key: String) throws(CacheError) -> EntryKey {
        do throws(CacheError) {
            return try EntryKey(key)
        } catch {
            throw error.named(cache: core.name)
        }
    }
}

// Reading. None of it counts as a fetch, moves an idle deadline or takes a damaged entry away, unless it says so.
extension CacheInspector {
    /// Gives every entry to `body`, expired or not, or why it cannot be read. Blocks on disk I/O.
    package func forEachEntry(_ body: (Result<EntryInformation, CacheError>) -> Void) throws(CacheError) {
        try core.wrapping { () throws(StoreError) in
            try core.store.forEachEntry { entry in
                body(entry.mapError { core.failure($0) })
                return true
            }
        }
    }

    /// In how many parts ``entries(inPart:)`` gives the entries.
    package var partCount: Int { core.store.partCount }

    /// The entries of one part, expired or not, or why one cannot be read. Blocks on disk I/O.
    package func entries(inPart part: Int) throws(CacheError) -> [Result<EntryInformation, CacheError>] {
        try core.wrapping { () throws(StoreError) in
            try core.store.entries(inPart: part).map { entry in entry.mapError { core.failure($0) } }
        }
    }

    /// Gives the entries of one part to `body`, until that returns `false`; with their archives, as far as reading the
    /// entries takes no more work, and they have no more than `byteCount` bytes. Blocks on disk I/O.
    ///
    /// - Parameter initial: the state before the first entry; the store may begin again with it.
    package func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, CacheError>, _ archive: [UInt8]?) -> Bool
    ) throws(CacheError) -> State {
        try core.wrapping { () throws(StoreError) in
            try core.store.reduceEntries(inPart: part, archivesUpTo: byteCount, into: initial) {
                body(&$0, $1.mapError { core.failure($0) }, $2)
            }
        }
    }

    /// Whether there is an entry for `key` that has not expired. Takes a damaged or useless one away. May block on disk
    /// I/O.
    ///
    /// - Throws: `.invalidKey`, `.unsupportedVersion`, `.io`.
    package func contains(forKey key: String) throws(CacheError) -> Bool {
        try core.freshInformation(entryKey(key)) != nil
    }

    /// Reads an entry, expired or not, and gives its archive to `body` in pieces, until that returns `false`. Blocks on
    /// disk I/O.
    ///
    /// - Returns: `nil` if there is no entry.
    /// - Throws: `.corrupted` for a damaged entry, which stays where it is, `.unsupportedVersion`, `.tooLarge`, `.io`;
    ///   some pieces may have been given before.
    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(CacheError) -> EntryInformation? {
        let key = try entryKey(key)
        return try core.wrapping(key) { () throws(StoreError) in try core.store.peek(forKey: key.text, pieces: body)
        }
    }

    /// How the cache keeps its entries.
    package var layout: DiskSettings.Layout { core.store is FileStore ? .files : .packed }

    /// How many entries there are, expired and damaged ones included, and their bytes, as far as that is known without
    /// reading them. Blocks on disk I/O.
    ///
    /// - Complexity: O(*n*); in a packed cache, of the index alone, one part of it in memory at a time.
    package func entrySizes() throws(CacheError) -> (count: Int, byteCount: Int) {
        try core.wrapping { () throws(StoreError) in
            if let store = core.store as? PackedStore {
                let statistics = try store.statistics()
                return (statistics.entryCount, statistics.entryByteCount)
            }
            var (count, byteCount) = (0, 0)
            try core.store.forEachEntry { entry in
                count += 1
                if case .success(let entry) = entry { byteCount += entry.storedByteCount }
                return true
            }
            return (count, byteCount)
        }
    }

    /// When an entry was last saved or removed, as far as the times of files and folders tell; `nil` if they cannot be
    /// read. Blocks on disk I/O.
    package func lastChange() -> Date? { directory.flatMap(Self.lastChange) }

    /// When an entry of the cache with this directory was last saved or removed, as ``lastChange()`` tells it.
    package static func lastChange(in directory: URL) -> Date? {
        let files = FileManager.default.enumerator(atPath: directory.path(percentEncoded: false))
        var latest: Date?
        while let name = files?.nextObject() as? String {
            // Folders have the times of changes in them; the others are written without any.
            files?.skipDescendants()
            // A look may leave an index, by way of a draft.
            let written = ["index", "reserve", ".drafts", PublishedFile.directoryName, ProfileFile.directoryName]
            if written.contains(name) { continue }
            guard let date = files?.fileAttributes?[.modificationDate] as? Date else { continue }
            latest = max(latest ?? date, date)
        }
        return latest
    }

    /// The bytes of each segment of a packed cache; none for one with a file for each entry. Blocks on disk I/O.
    package func segments() throws(CacheError) -> [SegmentUse] {
        try core.wrapping { () throws(StoreError) in try (core.store as? PackedStore)?.segments() ?? [] }
    }

    /// The profile of uses that a cache with ``MemorySettings/profilesUse`` keeps; `nil` if there is none. Blocks on
    /// disk I/O.
    ///
    /// - Throws: `.corrupted`, `.unsupportedVersion`, `.io`.
    package func useProfile() throws(CacheError) -> UseProfile? {
        guard let directory else { return nil }
        return try core.naming { () throws(CacheError) in
            try UseSampler.profile(inDirectory: directory.path(percentEncoded: false))
        }
    }

    /// The bytes of all files in the cache's directory, also of files without entries; 0 on a server.
    ///
    /// - Complexity: O(*n*) in the number of files.
    package func byteCountOfFiles() -> Int {
        directory.map { StoreFiles.byteCount(inDirectory: $0.path(percentEncoded: false)) } ?? 0
    }
}

// Saving.
extension CacheInspector {
    /// How many entries the cache's objects in this process have seen evicted for the limits on disk.
    package var evictedCount: Int { core.recorder.memory.statistics.diskEvictions }

    /// Saves archives under their keys, in their order, with the same expiration and tags; the disk is locked and waited
    /// for once for all of them. Blocks on disk I/O.
    ///
    /// - Parameter entries: keys, and archives or the reasons why there are none. Of two for one key, the later one
    ///   counts.
    /// - Returns: the failure of each, in their order; `nil` for a success. If the last one of a key failed, the
    ///   entry that the key had before stays.
    /// - Throws: `.closed`; then nothing was done.
    package func save(
        contentsOf entries: [(key: String, archive: Result<[UInt8], ArchiveError>)],
        expiration: Expiration,
        tags: Set<String>
    ) throws(CacheError) -> [CacheError?] {
        let attributes = Result { () throws(CacheError) in
            try Self.attributes(expiration, tags: tags, savedAt: core.clock.now)
        }
        var failures = [CacheError?](repeating: nil, count: entries.count)
        var members: [BatchMember] = []
        // The place of each member among the entries.
        var places: [Int] = []
        for (place, entry) in entries.enumerated() {
            do throws(CacheError) {
                let key = try entryKey(entry.key)
                members.append(Self.member(entry.archive, forKey: key, attributes))
                places.append(place)
            } catch {
                failures[place] = error
            }
        }
        for (place, failure) in zip(places, try core.write(members, keepsFormer: true)) {
            failures[place] = failure
        }
        return failures
    }

    private static func member(
        _ archive: Result<[UInt8], ArchiveError>,
        forKey key: EntryKey,
        _ attributes: Result<EntryAttributes, CacheError>
    ) -> BatchMember {
        do throws(CacheError) {
            let attributes = try attributes.get()
            let bytes = try encoding { () throws(ArchiveError) in try archive.get() }
            let entry = memoryEntry(bytes, forKey: key, attributes)
            return .new(NewEntry(archive: bytes, attributes: attributes, entry: entry))
        } catch {
            return .failed(key, error)
        }
    }

    private static func memoryEntry(
        _ archive: [UInt8],
        forKey key: EntryKey,
        _ attributes: EntryAttributes
    ) -> MemoryEntry {
        ArchiveEntry(
            archive,
            key: key,
            cost: archive.count,
            deadline: attributes.memoryDeadline,
            timing: .of(attributes)
        )
    }

    /// Sees whether ``save(forKey:expiration:tags:archive:)`` would take an archive, limits of size aside. No disk I/O.
    ///
    /// - Throws: `.invalidKey`, `.invalidExpiration`, `.invalidTag`, `.encodingFailed`.
    package static func check(
        forKey key: String,
        expiration: Expiration,
        tags: Set<String>,
        archive: () throws(ArchiveError) -> [UInt8]
    ) throws(CacheError) {
        _ = try EntryKey(key)
        _ = try attributes(expiration, tags: tags, savedAt: .now)
        _ = try encoding(archive)
    }

    private static func encoding(_ archive: () throws(ArchiveError) -> [UInt8]) throws(CacheError) -> [UInt8] {
        do throws(ArchiveError) {
            return try archive()
        } catch {
            throw CacheError(encoding: error)
        }
    }

    private static func attributes(
        _ expiration: Expiration,
        tags: Set<String>,
        savedAt date: Date
    ) throws(CacheError) -> EntryAttributes {
        var attributes = try expiration.attributes(savedAt: date)
        attributes.tags = try EntryTags.check(tags)
        return attributes
    }

    /// Saves an archive as it is, with its attributes. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - attributes: their tags in any order.
    ///   - replaces: whether an entry that has not expired is replaced.
    /// - Returns: whether it was saved.
    /// - Throws: `.invalidKey`, `.invalidTag`, `.tooLarge`, `.io`; the entry that the key had before is then still
    ///   there.
    package func save(
        archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        let key = try entryKey(key)
        let attributes = try Self.checked(attributes)
        let now = core.clock.now
        let isWanted = { (former: EntryInformation?) in former?.attributes.freshness(at: now) != .fresh }
        let saved = try core.wrapping(key) { () throws(StoreError) in
            try core.store.save(archive, forKey: key.text, attributes: attributes, if: replaces ? nil : isWanted)
        }
        guard saved != nil else { return false }
        core.invalidate(key)
        return true
    }

    /// Attributes as a cache takes them: with their tags in order, each once.
    ///
    /// - Throws: `.invalidTag`.
    package static func checked(_ attributes: EntryAttributes) throws(CacheError) -> EntryAttributes {
        var attributes = attributes
        attributes.tags = try EntryTags.check(attributes.tags)
        return attributes
    }
}

// Removing. All of it blocks on disk I/O.
extension CacheInspector {
    /// Removes the entry for `key`, and says whether there was one, expired or not.
    ///
    /// - Throws: `.invalidKey`, `.io`.
    package func remove(forKey key: String) throws(CacheError) -> Bool { try core.remove(entryKey(key)) }

    /// Removes this very entry if it is still there, and says so.
    package func remove(_ entry: EntryInformation) throws(CacheError) -> Bool {
        try core.remove(EntryKey(entry.key), ifStill: entry)
    }

    /// Removes every entry that is there when the call starts.
    package func removeAll() throws(CacheError) { try core.removeAll() }

    /// Removes every entry that has expired and is in no stale window any longer, and returns their number.
    package func removeExpired() throws(CacheError) -> Int { try core.removeExpired() }

    /// Removes every damaged entry, and returns their number.
    package func removeDamagedEntries() throws(CacheError) -> Int {
        try core.wrapping { () throws(StoreError) in try core.store.removeDamagedEntries() }
    }

    /// Evicts the least useful entries until those that are left take no more than `limit`, and returns the number of
    /// entries evicted.
    package func trim(to limit: ByteCount) throws(CacheError) -> Int {
        try core.trimDisk(toByteCount: limit.bytes)
    }

    /// Gives back the space of entries that were removed or saved over, and returns how many bytes that was.
    package func compact() throws(CacheError) -> Int {
        try core.wrapping { () throws(StoreError) in
            if let directory {
                try PublishedFile.removeLeftovers(inDirectory: directory.path(percentEncoded: false))
            }
            return try core.store.compact()
        }
    }

    /// Encrypts the entries with the current key that have a former one.
    ///
    /// - Parameter goesOn: is called now and then with the progress; rekeying ends where it returns `false`.
    package func rekey(while goesOn: (Rekeying) -> Bool) throws(CacheError) -> Rekeyed {
        try core.rekey(while: goesOn)
    }
}
