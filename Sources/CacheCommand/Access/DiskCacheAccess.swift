import ArchiveStore
import Foundation
import TypedCache

/// One cache on disk, by way of the library's inspector.
struct DiskCacheAccess: CacheAccess {
    let inspector: CacheInspector

    func entries() throws -> [EntryRow] {
        var entries: [EntryRow] = []
        try forEachEntry { entry, isExpired in
            if !isExpired { entries.append(EntryRow(entry)) }
        } damaged: {
        }
        return entries
    }

    func statistics() throws -> StatisticsReport {
        var statistics = StatisticsReport()
        try forEachEntry { entry, isExpired in
            statistics.byteCount += entry.storedByteCount
            if isExpired {
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

    func remove(_ key: String) throws -> Bool { try inspector.remove(forKey: key) }

    func trim(to size: SizeLimit) throws -> (expiredCount: Int, evictedCount: Int) {
        (try inspector.removeExpired(), try inspector.trim(toBytes: size.bytes))
    }

    func removeAll() throws -> Int {
        var count = 0
        try forEachEntry { _, _ in
            count += 1
        } damaged: {
            count += 1
        }
        try inspector.removeAll()
        return count
    }

    var partCount: Int { inspector.partCount }

    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
        try inspector.entries(inPart: part)
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        try inspector.peek(forKey: key, pieces: body)
    }

    func remove(_ entry: EntryInformation) throws -> Bool { try inspector.remove(entry) }

    func removeDamaged() throws -> Int { try inspector.removeDamagedEntries() }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        try inspector.save(archive: archive, forKey: key, attributes: attributes, replaces: replaces)
    }

    func compact() throws -> CompactSummary {
        let before = inspector.byteCountOfFiles()
        let expired = try inspector.removeExpired()
        _ = try inspector.compact()
        return CompactSummary(expiredCount: expired, bytesBefore: before, bytesAfter: inspector.byteCountOfFiles())
    }

    /// Gives every readable entry to `body`, and calls `damaged` for each damaged one.
    private func forEachEntry(
        _ body: (EntryInformation, _ isExpired: Bool) -> Void,
        damaged: () -> Void
    ) throws {
        let now = Date.now
        var failure: CacheError?
        try inspector.forEachEntry { result in
            switch result {
            case .success(let entry): body(entry, entry.isExpired(at: now))
            case .failure(let error) where error.code == .corrupted: damaged()
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
