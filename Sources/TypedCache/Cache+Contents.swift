import ArchiveStore
import Foundation
import Synchronization

extension Cache {
    /// Whether a value is saved for `key` that has not expired.
    ///
    /// May block on disk I/O; nothing is decoded.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.unsupportedVersion`, or `.io`.
    public func contains(_ key: some CacheKey) throws(CacheError) -> Bool {
        let key = try EntryKey(key.cacheKey)
        if let known = memory.table.entry(forKey: key), !hasPassed(known.deadline) { return true }
        if isBarred(key) { return false }
        do throws(StoreError) {
            guard let entry = try store.information(forKey: key.text) else { return false }
            return !dropIfExpired(entry)
        } catch {
            try ignoreDamage(error)
            return false
        }
    }

    /// Removes the entry for `key`, in memory and on disk.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Returns: whether there was an entry, expired or not.
    /// - Throws: ``CacheError`` with code `.invalidKey`, or `.io`: then it is not used by this process any more,
    ///   but is still on disk.
    @discardableResult
    public func remove(forKey key: some CacheKey) throws(CacheError) -> Bool {
        try remove(EntryKey(key.cacheKey))
    }

    func remove(_ key: EntryKey) throws(CacheError) -> Bool {
        let begun = memory.withLock { $0.beginWrite(key) }
        do throws(StoreError) {
            let isRemoved = try store.remove(forKey: key.text)
            let dropped = memory.withLock { $0.endWrite(key, begun.ticket) }
            _ = consume dropped
            memory.tellOthers(changed: key)
            return isRemoved
        } catch {
            let dropped = memory.withLock { $0.endWrite(key, begun.ticket, leavesStale: true) }
            _ = consume dropped
            memory.tellOthers(changed: key, leavesStale: true)
            throw CacheError(error)
        }
    }

    /// Removes every entry that is there when the call starts, in memory and on disk.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Throws: ``CacheError`` with code `.io`; entries may be left then.
    /// - Complexity: O(*n*) in the number of entries.
    public func removeAll() throws(CacheError) {
        forgetAll()
        // What was read while the disk was being cleared must not stay either.
        defer { forgetAll() }
        do throws(StoreError) {
            try store.removeAll()
        } catch {
            throw CacheError(error)
        }
        memory.withLock { $0.unbarAll() }
    }

    private func forgetAll() {
        let dropped = memory.withLock { $0.removeAll() }
        _ = consume dropped
        memory.tellOthersAllRemoved()
    }

    /// The keys of all entries that have not expired, in no order.
    ///
    /// Blocks on disk I/O. Damaged entries are left out.
    ///
    /// - Throws: ``CacheError`` with code `.io`.
    /// - Complexity: O(*n*) in the bytes of all entries, for their checksums are checked.
    public var keys: [String] {
        get throws(CacheError) {
            var keys: [String] = []
            try forEachUsableEntry { keys.append($0.key) }
            return keys
        }
    }

    /// How many entries there are that have not expired.
    ///
    /// Blocks on disk I/O. Damaged entries are not counted.
    ///
    /// - Throws: ``CacheError`` with code `.io`.
    /// - Complexity: O(*n*) in the bytes of all entries, for their checksums are checked.
    public var count: Int {
        get throws(CacheError) {
            var count = 0
            try forEachUsableEntry { _ in count += 1 }
            return count
        }
    }

    private func forEachUsableEntry(_ body: (EntryInformation) -> Void) throws(CacheError) {
        let now = clock.now
        var failure: StoreError?
        do throws(StoreError) {
            try store.forEachEntry { result in
                switch result {
                case .success(let entry):
                    let isUsable = entry.expiresAt.map { $0 > now } ?? true
                    if isUsable, (try? EntryKey(entry.key)).map(isBarred) != true { body(entry) }
                case .failure(let error) where error.code == .corrupted || error.code == .unsupportedVersion: break
                case .failure(let error): failure = error
                }
                return failure == nil
            }
        } catch {
            failure = error
        }
        if let failure { throw CacheError(failure) }
    }

    private func isBarred(_ key: EntryKey) -> Bool { memory.withLock { $0.isBarred(key) } }
}
