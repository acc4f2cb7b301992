import ArchiveStore
import Foundation

extension CacheCore {
    /// What can be used of a part of the store. Blocks on disk I/O.
    func entries(inPart part: Int) throws(CacheError) -> [CacheEntry] {
        let now = clock.now
        var failure: StoreError?
        var entries: [CacheEntry] = []
        do throws(StoreError) {
            for result in try store.entries(inPart: part) {
                switch result {
                case .success(let entry):
                    let isFresh = entry.expiresAt.map { now < $0 } ?? true
                    let isBarred = (try? EntryKey(entry.key)).map { key in memory.withLock { $0.isBarred(key) } }
                    if isFresh, isBarred != true { entries.append(CacheEntry(entry)) }
                case .failure(let error) where error.code == .corrupted || error.code == .unsupportedVersion: break
                case .failure(let error): failure = failure ?? error
                }
            }
        } catch {
            failure = error
        }
        if let failure { throw CacheError(failure) }
        return entries
    }

    /// As ``entries(inPart:)``, but what cannot be read is reported.
    func reportingEntries(inPart part: Int) -> [CacheEntry] {
        do throws(CacheError) {
            return try entries(inPart: part)
        } catch {
            record(.failed, nil, error)
            reporter?(error)
            return []
        }
    }

    /// How many entries can be used. Blocks on disk I/O.
    func countEntries() throws(CacheError) -> Int {
        var count = 0
        for part in 0..<store.partCount { count += try entries(inPart: part).count }
        return count
    }

    /// Waits for what the store has deferred.
    func flush() throws(CacheError) {
        do throws(StoreError) {
            try store.flush()
        } catch {
            throw CacheError(error)
        }
    }
}
