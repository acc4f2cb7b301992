import Foundation
import KeyedArchive
import TypedCache

/// The type, expiration and tags that every record is saved with.
struct RecordContent: Sendable {
    /// The class that records have in their archives; `nil` makes them dictionaries.
    let type: ArchivedClass?
    let expiration: Expiration
    let tags: Set<String>

    func stored(_ record: Record) -> StoredRecord { StoredRecord(record: record, type: type) }
}

/// Saves records in a cache on disk, so that an app which fetches their type finds them.
struct CacheSink: RecordSink {
    let cache: Cache<StoredRecord>
    let content: RecordContent

    var threadCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    func contains(_ key: String) throws -> Bool { try cache.contains(forKey: key) }

    func save(_ record: Record, forKey key: String) throws {
        do throws(CacheError) {
            let stored = content.stored(record)
            try cache.save(stored, forKey: key, expiration: content.expiration, tags: content.tags)
        } catch {
            throw RejectedRecord.error(error)
        }
    }
}

/// Checks records as ``CacheSink`` does, and saves nothing.
struct CheckingSink: RecordSink {
    let content: RecordContent

    var threadCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    func contains(_ key: String) -> Bool { false }

    func save(_ record: Record, forKey key: String) throws {
        do throws(CacheError) {
            let stored = content.stored(record)
            try Cache.check(stored, forKey: key, expiration: content.expiration, tags: content.tags)
        } catch {
            throw RejectedRecord.error(error)
        }
    }
}

extension RejectedRecord {
    /// The rejection of one record; the error itself if the next record would meet it as well.
    fileprivate static func error(_ error: CacheError) -> any Error {
        guard error.code == .encodingFailed || error.code == .tooLarge else { return error }
        return RejectedRecord(reason: error.message)
    }
}
