import ArchiveStore
import KeyedArchive
import TypedCache

/// Where records go.
protocol RecordSink: Sendable {
    /// Saves `record` for `key`; once this returns, it is saved.
    ///
    /// - Throws: ``RejectedRecord`` if this record cannot be taken and the next one might; any other error ends
    ///   the work.
    func save(_ record: SourceRecord, forKey key: String) throws

    /// Saves records for their keys, in their order.
    ///
    /// - Returns: the result of each: a failure is a ``RejectedRecord``, or another error that ends the work. `nil` for
    ///   those that such an error left unsaved.
    func save(_ records: [KeyedRecord]) -> [Result<Void, any Error>?]

    /// Whether there is an entry for `key` already that has not expired.
    func contains(_ key: String) throws -> Bool

    /// As ``contains(_:)`` for several keys.
    func contains(_ keys: [String]) throws -> [Bool]

    /// How many records are best saved by one call.
    var recordsAtOnce: Int { get }

    /// On how many threads at once records are saved: more than 1 only if all of this may be called on any thread.
    var threadCount: Int { get }

    /// How many entries had to go so far, so that the cache keeps to its limit.
    var evictedCount: Int { get }

    /// Ends the saving: waits for work in the background, and leaves the cache so that the next process is quick to
    /// open it. Every save is there without it.
    func close() throws
}

extension RecordSink {
    var threadCount: Int { 1 }

    var recordsAtOnce: Int { 128 }

    func contains(_ keys: [String]) throws -> [Bool] { try keys.map { try contains($0) } }

    var evictedCount: Int { 0 }

    func close() {}

    /// One record after another.
    func save(_ records: [KeyedRecord]) -> [Result<Void, any Error>?] {
        var results: [Result<Void, any Error>?] = []
        var hasFailed = false
        for record in records {
            let result: Result<Void, any Error>? =
                hasFailed ? nil : Result { try save(record.record, forKey: record.key) }
            if case .failure(let error) = result { hasFailed = !(error is RejectedRecord) }
            results.append(result)
        }
        return results
    }
}

/// A record and the key that it is saved for.
struct KeyedRecord: Sendable {
    let key: String
    let record: SourceRecord
}

/// Says that a cache does not take one record, though it may take others.
struct RejectedRecord: Error, Sendable, Equatable {
    /// Why, in one sentence without its period and without the record's values.
    let reason: String

    /// The rejection of one record; the error itself if the next record would meet it as well.
    fileprivate static func error(_ error: CacheError) -> any Error {
        guard error.code == .encodingFailed || error.code == .tooLarge else { return error }
        return RejectedRecord(reason: error.message)
    }
}

/// The type, expiration and tags that every record is saved with.
struct RecordContent: Sendable {
    /// The class that records have in their archives; `nil` makes them dictionaries.
    let type: ArchivedClass?
    let expiration: Expiration
    let tags: Set<String>

    /// - Throws: `.unusableType` if records cannot be saved as that type.
    init(typeName: String?, timeToLive: TimeToLive?, tag: String?) throws(CommandFailure) {
        if let typeName, ArchivedClass.isIntrinsic(typeName) || !(1...1_024).contains(typeName.utf8.count) {
            throw .unusableType(typeName)
        }
        type = typeName.map { ArchivedClass(name: $0) }
        expiration = timeToLive.map { .after($0.duration) } ?? .never
        tags = tag.map { [$0] } ?? []
    }

    /// Has `body` take a record's archive, which is made when `body` asks for it.
    ///
    /// - Throws: ``RejectedRecord`` for a failure that the next record need not meet; any other error of `body`.
    fileprivate func archiving(
        _ record: SourceRecord,
        _ body: (_ archive: () throws(ArchiveError) -> [UInt8]) throws(CacheError) -> Void
    ) throws {
        do throws(CacheError) {
            try body { () throws(ArchiveError) in try ArchivedRecord.archive(record, as: type) }
        } catch {
            throw RejectedRecord.error(error)
        }
    }
}

/// Saves records in a cache on disk, so that an app which fetches their type finds them.
struct CacheSink: RecordSink {
    let inspector: CacheInspector
    let content: RecordContent

    var threadCount: Int { Processors.count }

    func contains(_ key: String) throws -> Bool { try inspector.contains(forKey: key) }

    func contains(_ keys: [String]) throws -> [Bool] { try inspector.contains(forKeys: keys) }

    var evictedCount: Int { inspector.evictedCount }

    func close() throws { try inspector.close() }

    func save(_ record: SourceRecord, forKey key: String) throws {
        for result in save([KeyedRecord(key: key, record: record)]) { try result?.get() }
    }
}

extension CacheSink {
    /// Archives all records, then has the cache save them by one call.
    func save(_ records: [KeyedRecord]) -> [Result<Void, any Error>?] {
        let entries = records.map { record in
            let archive = Result { () throws(ArchiveError) in
                try ArchivedRecord.archive(record.record, as: content.type)
            }
            return (key: record.key, archive: archive)
        }
        do throws(CacheError) {
            return try inspector.save(
                contentsOf: entries,
                expiration: content.expiration,
                tags: content.tags
            ).map { failure in
                guard let failure else { return .success(()) }
                return .failure(RejectedRecord.error(failure))
            }
        } catch {
            return records.indices.map { $0 == 0 ? .failure(error) : nil }
        }
    }
}

/// Checks records as ``CacheSink`` does, and saves nothing.
struct CheckingSink: RecordSink {
    let content: RecordContent

    var threadCount: Int { Processors.count }

    func contains(_ key: String) -> Bool { false }

    func save(_ record: SourceRecord, forKey key: String) throws {
        try content.archiving(record) { archive throws(CacheError) in
            try CacheInspector.check(
                forKey: key,
                expiration: content.expiration,
                tags: content.tags,
                archive: archive
            )
        }
    }
}
