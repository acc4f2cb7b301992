import ArchiveStore
import Foundation

extension CacheCore {
    /// What can be used of a part of the store, and why some of it cannot be read. Blocks on disk I/O.
    private func entries(inPart part: Int) -> (entries: [CacheEntry], failure: CacheError?) {
        var failure: StoreError?
        var entries: [CacheEntry] = []
        if !usage.isUsable { return ([], CacheError(usage.failure)) }
        memory.settleOthers(nil)
        let moving = memory.movingTimings
        do throws(StoreError) {
            for result in try store.entries(inPart: part) {
                switch result {
                case .success(let entry):
                    let isBarred = (try? EntryKey(entry.key)).map { key in memory.withLock { $0.isBarred(key) } }
                    guard isFresh(onDisk: entry, moving: moving), isBarred != true else { continue }
                    entries.append(CacheEntry(entry))
                case .failure(let error) where error.code == .corrupted || error.code == .unsupportedVersion: break
                case .failure(let error): failure = failure ?? error
                }
            }
        } catch {
            failure = error
        }
        return (entries, failure.map { CacheError($0) })
    }

    /// What can be used of a part of the store; what cannot be read is reported. Blocks on disk I/O.
    func reportingEntries(inPart part: Int) -> [CacheEntry] {
        let (entries, failure) = entries(inPart: part)
        if let failure {
            record(.failed, nil, failure)
            reporter?(failure)
        }
        return entries
    }

    /// How many entries can be used. Blocks on disk I/O.
    func countEntries() throws(CacheError) -> Int {
        var count = 0
        for part in 0..<store.partCount {
            let (entries, failure) = entries(inPart: part)
            if let failure { throw failure }
            count += entries.count
        }
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
