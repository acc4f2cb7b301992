import ArchiveStore
import Foundation
import KeyedArchive
import SharedCache
import TypedCache

/// One cache on a server.
///
/// Entries are listed as the server names them, and read and saved some hundred at a time.
struct SharedCacheAccess: CacheAccess {
    let tier: SharedTier
    let inspector: CacheInspector
    private let place: SharedPlace

    /// Connects, so that a server that cannot be used is known before anything is done.
    ///
    /// - Parameters:
    ///   - keys: where the keys are of values that are encrypted; `nil`: they are not.
    ///   - creates: whether a cache that is not there is no error.
    /// - Throws: `ArgumentError` for a URL that cannot be used; `.server`, `.noSharedCache`, `.unusableName`, `.unusableKeys`,
    ///   `.locked`.
    init(_ name: String, at place: SharedPlace, keys: KeyPlace?, creates: Bool) throws {
        self.place = place
        var settings = SharedSettings()
        if let keys { settings.encryption = try keys.encryption() }
        do throws(CacheError) {
            tier = try SharedTier(place.urlForTool, settings)
        } catch {
            throw error.code == .invalidServer
                ? ArgumentError(fact: .unusableServer(error.message, origin: place.origin))
                : CommandFailure.server(place, error)
        }
        do throws(CacheError) {
            inspector = try tier.inspector(cache: name, schema: place.schema)
        } catch {
            let selection = CacheSelection(name: name, location: .shared(place), keys: keys)
            if error.code == .locked { throw CommandFailure.locked(selection, error) }
            guard error.code == .invalidName else { throw error }
            throw CommandFailure.unusableName(selection, rule: error.message)
        }
        do throws(CacheError) {
            try tier.readClock()
            if creates { return }
            guard try !tier.holdsCache(named: name) else { return }
        } catch {
            throw CommandFailure.server(place, error)
        }
        throw CommandFailure.noSharedCache(name: name, place)
    }

    func close() throws {
        try inspector.close()
        tier.close()
    }

    // MARK: Counting

    func statistics() throws -> StatisticsReport {
        var statistics = StatisticsReport()
        statistics.foreignCount = 0
        let now = Date.now
        try forEachListed(until: nil) { entry, _ in
            do throws(CacheError) {
                let entry = try entry.get()
                statistics.add(entry, isExpired: entry.isExpired(at: now))
            } catch {
                switch error.code {
                case .corrupted: statistics.damagedCount += 1
                case .foreign: statistics.foreignCount = statistics.foreignCount.map { $0 + 1 }
                default: throw error
                }
            }
            return true
        }
        statistics.otherSchemas = try tier.entryCounts(cache: inspector.name).filter { $0.key != place.schema }
        return statistics
    }

    // MARK: Reading

    var partCount: Int { 1 }
    var entriesAtOnce: Int { 128 }

    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
        var entries: [Result<EntryInformation, CacheError>] = []
        try inspector.forEachValue { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    func forEachListed(
        until interruption: (any Interruption)?,
        _ body: (Result<EntryInformation, CacheError>, _ part: Int) throws -> Bool
    ) throws {
        var failure: (any Error)?
        try inspector.forEachValue { entry in
            do {
                return try interruption?.signal == nil && body(entry, 0)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        try inspector.peek(forKey: key, pieces: body)
    }

    func peek(_ keys: [String]) -> [Result<StoredArchive?, CacheError>] { inspector.peek(forKeys: keys) }

    // MARK: Saving and removing

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        try inspector.save(archive: archive, forKey: key, attributes: attributes, replaces: replaces)
    }

    func save(_ archives: [NewArchive], replaces: Bool) -> [Result<Bool, CacheError>] {
        inspector.save(archives, replaces: replaces)
    }

    func remove(_ key: String) throws -> Bool { try inspector.remove(forKey: key) }

    func remove(_ entry: EntryInformation) throws -> Bool { try inspector.remove(entry) }

    func removeDamaged() throws -> Int { try inspector.removeDamagedEntries() }

    func removeAll(mustCount: Bool) throws -> ClearSummary? {
        // Those of all schemas go.
        let count = mustCount ? try tier.entryCounts(cache: inspector.name).values.reduce(0, +) : nil
        try inspector.removeAll()
        return count.map { ClearSummary(entryCount: $0, byteCount: nil) }
    }

    // MARK: Of this machine's caches alone

    func overview() throws -> CacheOverview { throw CommandFailure.notOnServers }
    func useProfile() throws -> UseProfile? { nil }
    func trim(to size: SizeLimit, counting summary: inout TrimSummary) throws {
        throw CommandFailure.notOnServers
    }
    func compact(counting summary: inout CompactSummary?) throws { throw CommandFailure.notOnServers }
}

/// Saves records on a server.
struct SharedSink: RecordSink {
    private let access: SharedCacheAccess
    private let sink: CacheSink

    init(_ access: SharedCacheAccess, _ content: RecordContent) {
        self.access = access
        sink = CacheSink(inspector: access.inspector, content: content)
    }

    var threadCount: Int { max(2, sink.threadCount) }
    // A thread waits for the server once for all of them.
    var recordsAtOnce: Int { 512 }

    func contains(_ key: String) throws -> Bool { try sink.contains(key) }
    func contains(_ keys: [String]) throws -> [Bool] { try sink.contains(keys) }
    func save(_ record: SourceRecord, forKey key: String) throws { try sink.save(record, forKey: key) }
    func save(_ records: [KeyedRecord]) -> [Result<Void, any Error>?] { sink.save(records) }
    func close() throws { try access.close() }
}
