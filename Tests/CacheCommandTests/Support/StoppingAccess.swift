import ArchiveStore
import KeyedArchive

import struct TypedCache.CacheError
import struct TypedCache.DiskSettings
import struct TypedCache.PublishedCache
import struct TypedCache.UseProfile

@testable import CacheCommand

/// A cache that tells after how many entries were read whole, and may fail after some were saved or removed.
///
/// `@unchecked Sendable`: its `threadCount` is 1, so that one thread at a time calls it.
final class StoppingAccess: CacheAccess, @unchecked Sendable {
    private let base: any CacheAccess
    private let didPeek: (Int) -> Void
    private let willSave: (Int) throws(CacheError) -> Void
    private let willRemove: (Int) throws(CacheError) -> Void
    private var removeCount = 0
    private var count = 0
    private var saveCount = 0

    init(
        _ base: any CacheAccess,
        didPeek: @escaping (Int) -> Void = { _ in },
        willSave: @escaping (Int) throws(CacheError) -> Void = { _ throws(CacheError) in },
        willRemove: @escaping (Int) throws(CacheError) -> Void = { _ throws(CacheError) in }
    ) {
        self.base = base
        self.didPeek = didPeek
        self.willSave = willSave
        self.willRemove = willRemove
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        count += 1
        defer { didPeek(count) }
        return try base.peek(key, pieces: body)
    }

    func useProfile() throws -> UseProfile? { try base.useProfile() }
    var partCount: Int { base.partCount }
    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
        try base.entries(inPart: part)
    }
    func remove(_ entry: EntryInformation) throws -> Bool {
        try willRemove(removeCount)
        removeCount += 1
        return try base.remove(entry)
    }
    func removeDamaged() throws -> Int { try base.removeDamaged() }
    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        try willSave(saveCount)
        saveCount += 1
        return try base.save(archive, forKey: key, attributes: attributes, replaces: replaces)
    }
    func compact(counting summary: inout CompactSummary?) throws { try base.compact(counting: &summary) }
    func overview() throws -> CacheOverview { try base.overview() }
    func statistics() throws -> StatisticsReport { try base.statistics() }
    func remove(_ key: String) throws -> Bool { try base.remove(key) }
    func trim(to size: SizeLimit, counting summary: inout TrimSummary) throws {
        try base.trim(to: size, counting: &summary)
    }
    func removeAll(mustCount: Bool) throws -> ClearSummary? { try base.removeAll(mustCount: mustCount) }
}

/// Opens one cache, for any selection.
struct StoppingBackend: CacheBackend {
    let access: any CacheAccess

    func open(_ selection: CacheSelection) -> any CacheAccess { access }
    func openOrCreate(_ selection: CacheSelection, disk: DiskSettings) -> any CacheAccess { access }
    func sink(for selection: CacheSelection, disk: DiskSettings, content: RecordContent) -> any RecordSink {
        DiscardingSink()
    }
    func checkingSink(for content: RecordContent) -> any RecordSink { DiscardingSink() }
    func published(_ selection: CacheSelection) -> (caches: [PublishedCache], faults: [CacheError]) { ([], []) }
    func layout(of selection: CacheSelection) -> DiskSettings.Layout? { nil }
    func mayHave(_ selection: CacheSelection) -> Bool { true }
    func names(at location: CacheLocation) -> [String] { [] }
    func apps() -> [String] { [] }
}
