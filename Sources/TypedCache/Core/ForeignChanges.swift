import ArchiveStore
import Synchronization

/// Keeps memory free of entries that other processes have changed, for a cache that was asked to follow them.
final class ForeignChanges: Sendable {
    private let store: any ArchiveStore
    private let memory: SharedMemory
    private let expected = RankedMutex(ExpectedKeys(), rank: CacheLocks.foreignChanges)
    /// The store's mark when memory had followed at last; no mark at first.
    private let followed = Atomic<UInt64>(.max)

    init(of store: any ArchiveStore, in memory: SharedMemory) {
        self.store = store
        self.memory = memory
    }

    /// Whether memory has followed all changes that the store knows. Takes no lock where the store has marks.
    var isUpToDate: Bool {
        guard let mark = store.changeMark else { return false }
        return mark == followed.load(ordering: .acquiring)
    }

    /// What memory has lost by following.
    struct Lost {
        /// The entries that left memory.
        var dropped = MemoryTier.Dropped()
        /// The keys of entries that were changed.
        var keys: [EntryKey] = []
        /// How many entries may have been changed besides.
        var doubtfulCount = 0
    }

    /// Has memory forget the entries that other processes have changed.
    ///
    /// One thread at a time: the store reports a change once, so a thread that is told of no change must find the
    /// entries forgotten that another thread was told of.
    func follow() throws(StoreError) -> Lost {
        try expected.withLock { expected throws(StoreError) in
            var lost = Lost()
            // Before the question: a change that comes after it is asked for again.
            let mark = store.changeMark
            switch try store.changesByOthers() {
            case .keys(let changed): forget(expected.take(changed), &lost)
            case .keysAndDoubts(let changed, let doubtful):
                forget(expected.take(changed), &lost)
                for key in expected.keys(doubtful) {
                    if let entry = memory.withLock({ $0.makeDoubtful(key) }) { lost.dropped.others.append(entry) }
                }
            case .doubts: (lost.doubtfulCount, lost.dropped) = memory.withLock { $0.makeAllDoubtful() }
            case .everything:
                expected.removeAll()
                lost.dropped = memory.withLock { $0.invalidateAll() }
                lost.doubtfulCount = lost.dropped.others.count
            }
            if let mark { followed.store(mark, ordering: .releasing) }
            return lost
        }
    }

    private func forget(_ keys: [EntryKey], _ lost: inout Lost) {
        for key in keys {
            guard let entry = memory.withLock({ $0.invalidate(key, tombstone: .keep) }) else { continue }
            lost.dropped.others.append(entry)
            lost.keys.append(key)
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

    func keys(_ digests: [KeyDigest]) -> [EntryKey] { digests.flatMap { keys[$0] ?? [] } }

    mutating func removeAll() { keys = [:] }
}
