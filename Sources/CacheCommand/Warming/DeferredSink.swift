import ArchiveStore
import Synchronization

/// Saves records in a cache that is made when the first one is saved: a source without records leaves no cache.
final class DeferredSink: RecordSink {
    private let sink = Mutex<Result<any RecordSink, any Error>?>(nil)
    private let make: @Sendable () throws -> any RecordSink

    init(_ make: @escaping @Sendable () throws -> any RecordSink) { self.make = make }

    var threadCount: Int { Processors.count }

    private var made: (any RecordSink)? { try? sink.withLock { $0 }?.get() }

    func contains(_ key: String) throws -> Bool { try made?.contains(key) ?? false }

    func save(_ record: SourceRecord, forKey key: String) throws {
        for result in save([KeyedRecord(key: key, record: record)]) { try result?.get() }
    }

    func save(_ records: [KeyedRecord]) -> [Result<Void, any Error>?] {
        let sink = sink.withLock { sink in
            let made = sink ?? Result(catching: make)
            sink = made
            return made
        }
        switch sink {
        case .success(let sink): return sink.save(records)
        case .failure(let error): return records.map { _ in .failure(error) }
        }
    }

    var evictedCount: Int { made?.evictedCount ?? 0 }

    func close() throws { try made?.close() }
}
