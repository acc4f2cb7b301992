import Dispatch
import KeyedArchive
import Synchronization
import TypedCache

/// The entries of one kind: on disk, and those that are still on their way to it.
final class RecordTable<Record: Encoded & Equatable & Sendable>: Sendable
where Record.Wrapper.Value == Record {
    /// An entry that was changed and is not on disk yet.
    private struct Change: Sendable {
        /// `nil`: removed.
        let record: Record?
        let tags: Set<String>
        let number: UInt64
        /// Whether the disk refused it: it stays here then, as long as there is room.
        var isRefused = false
    }

    private struct State {
        var changes: [String: Change] = [:]
        var refused: [String] = []
        var last: UInt64 = 0
    }

    /// The most entries that are kept in memory alone because the disk refuses them.
    private static var refusedLimit: Int { 1_024 }

    let cache: Cache<Record>
    private let state = Mutex(State())
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

    /// The entry, as far as memory knows it without the disk; `nil` if the disk has to be read.
    func known(_ key: String) throws(ModelCacheError) -> Record?? {
        // Most often nothing waits, and no key has to be looked for.
        if let change = state.withLock({ $0.changes.isEmpty ? nil : $0.changes[key] }) {
            return .some(change.record)
        }
        let found = try wrappingCacheErrors { () throws(CacheError) in try cache.fetchFromMemory(forKey: key) }
        guard let record = found else { return nil }
        return .some(record)
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

    /// Puts an entry in the place of the present one; `nil` removes it. ``write(_:)`` brings it to disk.
    ///
    /// - Returns: the change, to be written.
    func change(_ key: String, to record: Record?, tags: Set<String> = []) -> Due {
        state.withLock { state in
            state.last += 1
            let change = Change(record: record, tags: tags, number: state.last)
            let former = state.changes.updateValue(change, forKey: key)
            if former?.isRefused == true { state.refused.removeAll { $0 == key } }
            return Due(key: key, number: state.last, record: record, tags: tags)
        }
    }

    /// A change that is to be written.
    struct Due: Sendable {
        let key: String
        fileprivate let number: UInt64
        fileprivate let record: Record?
        fileprivate let tags: Set<String>
    }

    /// Writes changes to disk, also those that were changed again meanwhile: later changes of other entries may rely on
    /// them being there. Blocks on disk I/O.
    ///
    /// - Returns: the first failure. What the disk refuses stays in memory.
    func write(_ due: [Due]) -> CacheError? {
        var failure: CacheError?
        for (tags, entries) in Dictionary(grouping: due, by: \.tags) {
            if writeTogether(entries, tags) {
                for entry in entries { end(entry.key, entry.number) }
                continue
            }
            // The error of many names one of them; to know of each, each is written by itself.
            for entry in entries {
                do throws(CacheError) {
                    try write(entry)
                    end(entry.key, entry.number)
                } catch {
                    refuse(entry.key, entry.number)
                    failure = failure ?? error
                }
            }
        }
        return failure
    }

    private func writeTogether(_ entries: [Due], _ tags: Set<String>) -> Bool {
        do throws(CacheError) {
            let saved = entries.lazy.compactMap { due in due.record.map { (due.key, $0) } }
            try cache.save(contentsOf: saved, tags: tags)
            try cache.remove(forKeys: entries.lazy.filter { $0.record == nil }.map(\.key))
            return true
        } catch {
            return false
        }
    }

    private func write(_ due: Due) throws(CacheError) {
        if let record = due.record {
            try cache.save(record, forKey: due.key, tags: due.tags)
        } else {
            try cache.remove(forKey: due.key)
        }
    }

    private func end(_ key: String, _ number: UInt64) {
        let ended = state.withLock { state -> Change? in
            guard state.changes[key]?.number == number else { return nil }
            return state.changes.removeValue(forKey: key)
        }
        _ = ended
    }

    /// Keeps an entry that the disk refuses. A removal that it refuses is kept as well: the entry stays away.
    private func refuse(_ key: String, _ number: UInt64) {
        let dropped = state.withLock { state -> [Change] in
            guard state.changes[key]?.number == number else { return [] }
            state.changes[key]?.isRefused = true
            state.refused.append(key)
            guard state.refused.count > Self.refusedLimit else { return [] }
            let oldest = state.refused.removeFirst()
            return state.changes.removeValue(forKey: oldest).map { [$0] } ?? []
        }
        _ = dropped
    }

    /// The most entries that wait or are refused, for tests of bounds.
    var changeCount: Int { state.withLock { $0.changes.count } }
}
