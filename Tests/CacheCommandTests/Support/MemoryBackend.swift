import ArchiveStore
import Foundation
import KeyedArchive

import struct TypedCache.CacheError
import struct TypedCache.DiskSettings
import struct TypedCache.PublishedCache
import struct TypedCache.UseProfile

@testable import CacheCommand

/// A cache in memory.
///
/// `@unchecked Sendable`: members that several threads use are guarded by the lock, or set before.
final class MemoryBackend: CacheBackend, CacheAccess, RecordSink, @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var saved: [(key: String, record: Record)] = []
    private(set) var openCount = 0
    /// Runs before each save.
    var beforeSave: (String) throws -> Void = { _ in }
    let threadCount: Int
    private let lock = NSLock()

    init(threadCount: Int = 1) { self.threadCount = threadCount }

    var records: [String: Record] {
        Dictionary(saved.map { ($0.key, $0.record) }) { $1 }
    }

    func open(_ selection: CacheSelection) throws -> any CacheAccess {
        openCount += 1
        return self
    }

    func openOrCreate(_ selection: CacheSelection, disk: DiskSettings) throws -> any CacheAccess {
        try open(selection)
    }

    func sink(for selection: CacheSelection, disk: DiskSettings, content: RecordContent) throws -> any RecordSink {
        openCount += 1
        return self
    }

    func checkingSink(for content: RecordContent) -> any RecordSink { DiscardingSink() }

    func save(_ record: SourceRecord, forKey key: String) throws {
        try beforeSave(key)
        lock.withLock { saved.append((key, record.record)) }
    }

    func contains(_ key: String) -> Bool { lock.withLock { records[key] != nil } }

    func trim(to size: SizeLimit, counting summary: inout TrimSummary) {
        let former = saved.count
        saved = saved.suffix(size.bytes.bytes / 1_536)
        summary = TrimSummary(expiredCount: 0, evictedCount: former - saved.count)
    }

    func statistics() -> StatisticsReport {
        let stored = saved.isEmpty ? nil : Date(timeIntervalSince1970: 0)
        return StatisticsReport(
            entryCount: saved.count,
            byteCount: 1_536 * saved.count,
            freshByteCount: 1_536 * saved.count,
            archiveByteCount: 2_048 * saved.count,
            expiredCount: 0,
            oldest: stored,
            newest: stored
        )
    }

    func useProfile() -> UseProfile? { nil }

    func remove(_ key: String) -> Bool {
        defer { saved.removeAll { $0.key == key } }
        return records[key] != nil
    }

    func removeAll(mustCount: Bool) -> ClearSummary? {
        defer { saved = [] }
        return ClearSummary(entryCount: saved.count, byteCount: 1_536 * saved.count)
    }

    func overview() -> CacheOverview {
        CacheOverview(
            layout: .packed,
            entryCount: saved.count,
            byteCount: 1_536 * saved.count,
            lastChange: Date(timeIntervalSince1970: 0)
        )
    }

    func published(_ selection: CacheSelection) -> (caches: [PublishedCache], faults: [CacheError]) { ([], []) }
    func layout(of selection: CacheSelection) -> DiskSettings.Layout? { nil }
    func mayHave(_ selection: CacheSelection) -> Bool { true }
    func names(at location: CacheLocation) -> [String] { ["memory"] }
    func apps() -> [String] { ["app"] }

    // MARK: Whole entries

    var partCount: Int { 1 }

    func entries(inPart part: Int) -> [Result<EntryInformation, CacheError>] {
        saved.map { key, _ in
            let far = Date(timeIntervalSince1970: 4_102_444_800)
            let attributes = EntryAttributes(
                storedAt: Date(timeIntervalSince1970: 0),
                expiresAt: key == "a" ? nil : far
            )
            return .success(
                EntryInformation(
                    key: key,
                    attributes: attributes,
                    archiveByteCount: 2_048,
                    storedByteCount: 1_536,
                    identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
                )
            )
        }
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        guard let record = records[key] else { return nil }
        guard
            case .success(let archive) = Result(catching: { try ArchivedRecord.archive(.fields(record), as: nil) })
        else {
            return nil
        }
        _ = body(archive)
        return EntryInformation(
            key: key,
            attributes: EntryAttributes(storedAt: Date(timeIntervalSince1970: 0)),
            archiveByteCount: archive.count,
            storedByteCount: archive.count,
            identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
    }
    func remove(_ entry: EntryInformation) -> Bool { false }
    func removeDamaged() -> Int { 0 }
    func save(_ archive: [UInt8], forKey key: String, attributes: EntryAttributes, replaces: Bool) -> Bool { false }

    func compact(counting summary: inout CompactSummary?) {
        summary = CompactSummary(expiredCount: 2, bytesBefore: 4_096, bytesAfter: 1_536 * saved.count)
    }
}

/// Takes every record and saves none.
struct DiscardingSink: RecordSink {
    func save(_ record: SourceRecord, forKey key: String) {}
    func contains(_ key: String) -> Bool { false }
}
