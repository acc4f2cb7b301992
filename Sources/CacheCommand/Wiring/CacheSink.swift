import KeyedArchive
import TypedCache

/// Saves records in a cache on disk, so that an app which fetches their type finds them.
struct CacheSink: RecordSink {
    private let cache: Cache<StoredRecord>
    private let type: ArchivedClass?
    private let expiration: Expiration

    init(_ cache: Cache<StoredRecord>, type: ArchivedClass?, expiration: Expiration) {
        self.cache = cache
        self.type = type
        self.expiration = expiration
    }

    func save(_ record: Record, forKey key: String) throws {
        do throws(CacheError) {
            try cache.save(StoredRecord(record: record, type: type), forKey: key, expiration: expiration)
        } catch {
            switch error.code {
            case .encodingFailed, .tooLarge: throw RejectedRecord(reason: error.message)
            default: throw error
            }
        }
    }
}
