import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// One cache on disk.
struct DiskCacheAccess: CacheAccess {
    private let cache: Cache<StoredRecord>

    init(_ cache: Cache<StoredRecord>) { self.cache = cache }

    func entries() throws -> [CacheEntry] {
        var entries: [CacheEntry] = []
        try forEachEntry { entry in
            guard !entry.isExpired else { return }
            entries.append(
                CacheEntry(
                    key: entry.key,
                    storedAt: entry.storedAt,
                    expiresAt: entry.expiresAt,
                    size: entry.storedByteCount
                )
            )
        } damaged: {
        }
        return entries
    }

    func statistics() throws -> CacheStatistics {
        var statistics = CacheStatistics()
        try forEachEntry { entry in
            statistics.byteCount += entry.storedByteCount
            if entry.isExpired {
                statistics.expiredCount += 1
                return
            }
            statistics.entryCount += 1
            statistics.archiveByteCount += entry.archiveByteCount
            statistics.oldest = min(statistics.oldest ?? entry.storedAt, entry.storedAt)
            statistics.newest = max(statistics.newest ?? entry.storedAt, entry.storedAt)
        } damaged: {
            statistics.damagedCount += 1
        }
        return statistics
    }

    func remove(_ key: String) throws -> Bool { try cache.remove(forKey: key) }

    func trim(to size: SizeLimit) throws -> (expiredCount: Int, evictedCount: Int) {
        (try cache.removeExpired(), try cache.trimDisk(toBytes: size.bytes))
    }

    func removeAll() throws -> Int {
        var count = 0
        try forEachEntry { _ in
            count += 1
        } damaged: {
            count += 1
        }
        try cache.removeAll()
        return count
    }

    var partCount: Int { cache.partCount }

    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
        try cache.entries(inPart: part)
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        try cache.peek(forKey: key, pieces: body)
    }

    func remove(_ entry: EntryInformation) throws -> Bool { try cache.remove(entry) }

    func removeDamaged() throws -> Int { try cache.removeDamagedEntries() }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        try cache.save(archive: archive, forKey: key, attributes: attributes, replaces: replaces)
    }

    func compact() throws -> CompactSummary {
        let before = cache.byteCountOfFiles()
        let expired = try cache.removeExpired()
        _ = try cache.compact()
        return CompactSummary(expiredCount: expired, bytesBefore: before, bytesAfter: cache.byteCountOfFiles())
    }

    /// Gives every readable entry to `body`, and calls `damaged` for each damaged one.
    private func forEachEntry(
        _ body: (CacheEntryInformation) -> Void,
        damaged: () -> Void
    ) throws {
        var failure: CacheError?
        try cache.forEachEntry { result in
            switch result {
            case .success(let entry): body(entry)
            case .failure(let error) where error.code == .corrupted: damaged()
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
