import ArchiveStore
import Foundation

/// Entries of a part of a store.
struct PartListing: Sendable {
    let entries: [EntryInformation]
    /// Why further entries of the part could not be read; `nil` if all could.
    let failure: CacheError?
}

extension CacheCore {
    /// The entries of a part of the store that have not expired. Blocks on disk I/O.
    func freshEntries(inPart part: Int) -> PartListing {
        let moving = memory.movingTimings
        return entries(inPart: part) { freshness(of: $0, moving: moving) == .fresh }
    }

    /// Entries of a part of the store, expired ones included. Blocks on disk I/O.
    ///
    /// - Parameter known: keys that are left out.
    func entries(
        inPart part: Int,
        except known: Set<EntryKey> = [],
        where isIncluded: (EntryInformation) -> Bool = { _ in true }
    ) -> PartListing {
        var failure: StoreError?
        var entries: [EntryInformation] = []
        guard usage.isUsable else { return PartListing(entries: [], failure: self.failure(usage.failure)) }
        memory.drainSiblings(nil)
        do throws(StoreError) {
            for result in try store.entries(inPart: part) {
                switch result {
                case .success(let entry):
                    let isLeftOut = (try? EntryKey(entry.key)).map { key in
                        known.contains(key) || memory.tombstones.contains(key)
                    }
                    if isLeftOut != true, isIncluded(entry) { entries.append(entry) }
                case .failure(let error) where error.code == .corrupted || error.code == .unsupportedVersion: break
                case .failure(let error): failure = failure ?? error
                }
            }
        } catch {
            failure = error
        }
        return PartListing(entries: entries, failure: failure.map { self.failure($0) })
    }

    /// How many entries can be used. Blocks on disk I/O.
    func countEntries() throws(CacheError) -> Int {
        var count = 0
        for part in 0..<store.partCount {
            let listing = freshEntries(inPart: part)
            if let failure = listing.failure { throw failure }
            count += listing.entries.count
        }
        return count
    }

    /// Waits until the store's deferred writes are done.
    func flush() throws(CacheError) {
        try wrapping { () throws(StoreError) in try store.flush() }
    }
}
