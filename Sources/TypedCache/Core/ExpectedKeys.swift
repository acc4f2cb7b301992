import ArchiveStore

/// The keys in memory, or on their way there, by the digests that stand for them in a store's list of changes. A value
/// without I/O or locks.
struct ExpectedKeys {
    /// The entries that memory has lost by following changes.
    struct Lost {
        /// The entries that left memory.
        var dropped = MemoryTier.Dropped()
        /// The keys of entries that were changed.
        var keys: [EntryKey] = []
        /// How many entries may have been changed besides.
        var doubtfulCount = 0
    }

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

    /// Has memory forget the entries that other processes have changed, and doubt entries that they may have changed.
    mutating func follow(_ changes: ChangesByOthers, in memory: inout MemoryTier) -> Lost {
        var lost = Lost()
        switch changes {
        case .keys(let changed): forget(changed, in: &memory, &lost)
        case .keysAndDoubts(let changed, let doubtful):
            forget(changed, in: &memory, &lost)
            for key in doubtful.flatMap({ keys[$0] ?? [] }) {
                if let entry = memory.makeDoubtful(key) { lost.dropped.others.append(entry) }
            }
        case .doubts: (lost.doubtfulCount, lost.dropped) = memory.makeAllDoubtful()
        case .everything:
            keys = [:]
            lost.dropped = memory.invalidateAll()
            lost.doubtfulCount = lost.dropped.others.count
        }
        return lost
    }

    private mutating func forget(_ digests: [KeyDigest], in memory: inout MemoryTier, _ lost: inout Lost) {
        for key in digests.flatMap({ keys.removeValue(forKey: $0) ?? [] }) {
            guard let entry = memory.invalidate(key) else { continue }
            lost.dropped.others.append(entry)
            lost.keys.append(key)
        }
    }
}
