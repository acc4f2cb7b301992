import ArchiveStore
import Synchronization

/// Keeps memory free of entries that other processes have changed, for a cache that was asked to follow them.
final class ForeignChanges: Sendable {
    private let store: any ArchiveStore
    private let memory: SharedMemory
    private let expected = RankedMutex(ExpectedKeys(), rank: CacheLocks.foreignChanges)

    init(of store: any ArchiveStore, in memory: SharedMemory) {
        self.store = store
        self.memory = memory
    }

    /// Has memory forget the entries that other processes have changed.
    ///
    /// One thread at a time: the store reports a change once, so a thread that is told of no change must find the
    /// entries forgotten that another thread was told of.
    ///
    /// - Returns: the entries that left memory.
    func follow() throws(StoreError) -> MemoryTier.Dropped {
        try expected.withLock { expected throws(StoreError) in
            var dropped = MemoryTier.Dropped()
            switch try store.changesByOthers() {
            case .keys(let digests):
                for key in expected.take(digests) {
                    if let entry = memory.withLock({ $0.invalidate(key, tombstone: .keep) }) {
                        dropped.others.append(entry)
                    }
                }
            case .everything:
                expected.removeAll()
                dropped = memory.withLock { $0.invalidateAll() }
            }
            return dropped
        }
    }

    /// Remembers that memory may soon have an entry for a key that other processes may change.
    ///
    /// Called after an operation on the key has begun, and before it looks at the disk: so a thread that is told of a
    /// change that the operation has not seen keeps the operation from leaving an entry in memory.
    func expect(_ key: EntryKey) {
        let digest = store.digest(of: key.text)
        expected.withLock { expected in
            expected.insert(digest, key) { memory.isKnown($0) }
        }
    }
}

/// The keys in memory, or on their way there, by the digests that stand for them in a store's list of changes.
private struct ExpectedKeys {
    // Several keys may share a digest, if that is half of a hash.
    private var keys: [KeyDigest: Set<EntryKey>] = [:]
    private var most = 1_024

    mutating func insert(_ digest: KeyDigest, _ key: EntryKey, isNeeded: (EntryKey) -> Bool) {
        if keys.count >= most {
            keys = keys.mapValues { $0.filter(isNeeded) }.filter { !$0.value.isEmpty }
            most = max(1_024, 2 * keys.count)
        }
        keys[digest, default: []].insert(key)
    }

    mutating func take(_ digests: [KeyDigest]) -> [EntryKey] {
        digests.flatMap { keys.removeValue(forKey: $0) ?? [] }
    }

    mutating func removeAll() { keys = [:] }
}
