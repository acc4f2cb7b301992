import KeyedArchive
import TypedCache

/// The entries of one kind: on disk, and those that are still on their way to it.
///
/// Entries are objects, so that code that is generic over them hands on references, and copies no values.
///
/// Unchecked casts: `waiting` belongs to this table alone, which puts nothing in but records of its own type.
final class RecordTable<Record: AnyObject & Encoded & Equatable & Sendable>: Sendable
where Record.Wrapper.Value == Record {
    let cache: Cache<Record>
    private let waiting = WaitingChanges()
    /// Reads an entry that the record's own decoding refuses; `nil`: it counts as missing.
    private let rescue: @Sendable (CacheError, String) throws(CacheError) -> Record?

    init(
        _ cache: Cache<Record>,
        rescue: @escaping @Sendable (CacheError, String) throws(CacheError) -> Record? = {
            _,
            _ throws(CacheError) in nil
        }
    ) {
        self.cache = cache
        self.rescue = rescue
    }

    private static func record(_ entry: WaitingChanges.Entry) -> Record { unsafeDowncast(entry, to: Record.self) }

    // MARK: Reading

    /// The entry that waits to be written, or that it is to be removed; `nil` if nothing waits.
    func waitingEntry(_ key: String) -> Record?? {
        guard let entry = waiting[key] else { return nil }
        return .some(entry.map(Self.record))
    }

    /// The entry, as far as memory knows it without the disk; `nil` if the disk has to be read.
    func known(_ key: String) throws(ModelCacheError) -> Record?? {
        if let entry = waitingEntry(key) { return .some(entry) }
        let found = try wrappingCacheErrors { () throws(CacheError) in try cache.fetchFromMemory(forKey: key) }
        guard let record = found else { return nil }
        return .some(record)
    }

    /// The entries for some keys, as far as memory knows them without the disk.
    struct Known: Sendable {
        /// In the order of the keys.
        var entries: [Record?]
        /// The places of the keys for which the disk has to be read.
        var unknown: [Int]
    }

    func known(_ keys: PreparedKeys) throws(ModelCacheError) -> Known {
        // Before memory, which has a changed entry before it leaves the changes.
        let changes = waiting.entries(for: keys)
        let (entries, missing) = try wrappingCacheErrors { () throws(CacheError) in
            try cache.fetchFromMemory(forKeys: keys)
        }
        guard let changes else { return Known(entries: entries, unknown: missing) }
        var known = Known(entries: entries, unknown: missing.filter { changes[$0] == nil })
        for (index, entry) in changes { known.entries[index] = entry.map(Self.record) }
        return known
    }

    /// Calls `body` with the entries for some keys, in their order, as long as memory has them and none waits to be
    /// written.
    ///
    /// - Returns: whether those were all.
    func forEachInMemory(_ keys: PreparedKeys, _ body: (Record) -> Void) throws(ModelCacheError) -> Bool {
        guard waiting.isEmpty else { return false }
        return try wrappingCacheErrors { () throws(CacheError) in try cache.forEachInMemory(keys, body) }
    }

    /// The entry for a key; `nil` if there is none. Blocks on disk I/O.
    func read(_ key: String) throws(ModelCacheError) -> Record? {
        if let known = try known(key) { return known }
        return try wrappingCacheErrors { () throws(CacheError) in
            do throws(CacheError) {
                return try cache.fetch(forKey: key)
            } catch {
                guard error.code == .decodingFailed || error.code == .typeMismatch else { throw error }
                return try rescue(error, key)
            }
        }
    }

    // MARK: Writing

    /// Puts an entry in the place of the present one; `nil` removes it. ``write(_:)`` brings it to disk.
    ///
    /// - Returns: the change, to be written.
    func change(_ key: String, to record: Record?, tags: Set<String> = []) -> [WaitingChanges.Due] {
        waiting.add([(key, record, tags)])
    }

    /// Changes several entries, in this order. All else is as for one.
    func change(_ records: [(key: String, record: Record?, tags: Set<String>)]) -> [WaitingChanges.Due] {
        waiting.add(records.map { ($0.key, $0.record, $0.tags) })
    }

    /// Writes changes to disk, also those that were changed again meanwhile: later changes of other entries may rely on
    /// them being there. In their order, but for removals, which come last. Blocks on disk I/O.
    ///
    /// - Returns: the first failure. Entries that the disk refuses stay in memory.
    func write(_ due: [WaitingChanges.Due]) -> CacheError? {
        if writeTogether(due) {
            waiting.end(due)
            return nil
        }
        var failure: CacheError?
        // The error of many names one of them; to know of each, each is written by itself.
        for change in due {
            do throws(CacheError) {
                try write(change)
                waiting.end([change])
            } catch {
                waiting.refuse(change)
                failure = failure ?? error
            }
        }
        return failure
    }

    private func writeTogether(_ due: [WaitingChanges.Due]) -> Bool {
        do throws(CacheError) {
            try cache.save(
                contentsOf: due.lazy.compactMap { change in
                    change.entry.map { (key: change.key, value: Self.record($0), tags: change.tags) }
                }
            )
            try cache.remove(forKeys: due.lazy.filter { $0.entry == nil }.map(\.key))
            return true
        } catch {
            return false
        }
    }

    private func write(_ change: WaitingChanges.Due) throws(CacheError) {
        if let entry = change.entry {
            try cache.save(Self.record(entry), forKey: change.key, tags: change.tags)
        } else {
            try cache.remove(forKey: change.key)
        }
    }

    /// How many entries wait or are refused, for tests of bounds.
    var changeCount: Int { waiting.count }
}
