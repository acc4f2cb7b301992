import Foundation
import KeyedArchive
import TypedCache

/// Saves records in a cache on disk, so that an app which fetches their type finds them.
struct CacheSink: RecordSink {
    private let cache: Cache<StoredRecord>
    private let type: ArchivedClass?
    private let expiration: Expiration
    private let tags: Set<String>

    init(_ cache: Cache<StoredRecord>, type: ArchivedClass?, expiration: Expiration, tags: Set<String>) {
        self.cache = cache
        self.type = type
        self.expiration = expiration
        self.tags = tags
    }

    var threadCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    func contains(_ key: String) throws -> Bool { try cache.contains(forKey: key) }

    func save(_ record: Record, forKey key: String) throws {
        do throws(CacheError) {
            let stored = StoredRecord(record: record, type: type)
            try cache.save(stored, forKey: key, expiration: expiration, tags: tags)
        } catch {
            switch error.code {
            case .encodingFailed, .tooLarge: throw RejectedRecord(reason: error.message)
            default: throw error
            }
        }
    }
}
