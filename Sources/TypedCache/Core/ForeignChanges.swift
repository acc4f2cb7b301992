import ArchiveStore
import Synchronization

/// Keeps memory free of entries that other processes have changed, for a cache that was asked to follow them.
final class ForeignChanges: Sendable {
    private let store: any ArchiveStore
    private let memory: SharedMemory
    private let expected = RankedMutex(ExpectedKeys(), rank: CacheLocks.foreignChanges)
    /// The store's mark when memory had followed at last; no mark at first.
    private let followed = Atomic<UInt64>(.max)
    /// Entries that left memory while a thread follows, because the store was lost; `nil` while none follows. No value is
    /// released under a lock.
    private let lost = RankedMutex<MemoryTier.Dropped?>(nil, rank: CacheLocks.lost)

    init(of store: any ArchiveStore, in memory: SharedMemory) {
        self.store = store
        self.memory = memory
    }

    /// Whether memory has followed all changes that the store knows. Takes no lock where the store has marks.
    var isUpToDate: Bool {
        guard let mark = store.changeMark else { return false }
        return mark == followed.load(ordering: .acquiring)
    }

    /// Has memory forget the entries that other processes have changed.
    ///
    /// One thread at a time: the store reports a change once, so a thread that is told of no change must find the
    /// entries forgotten that another thread was told of.
    func follow() throws(StoreError) -> ExpectedKeys.Lost {
        try expected.withLock { expected throws(StoreError) in
            lost.withLock { if $0 == nil { $0 = MemoryTier.Dropped() } }
            // Before the question: a change that comes after it is asked for again.
            let mark = store.changeMark
            let changes = try store.changesByOthers()
            let lost =
                if case .keys(let changed) = changes, changed.isEmpty { ExpectedKeys.Lost() } else {
                    memory.withLock { expected.follow(changes, in: &$0) }
                }
            if let mark { followed.store(mark, ordering: .releasing) }
            return lost
        }
    }

    /// Takes the entries that left memory because the store was lost; to be called after each ``follow()``, outside of all
    /// locks.
    func takeLost() -> MemoryTier.Dropped {
        lost.withLock { lost in
            defer { lost = nil }
            return lost ?? MemoryTier.Dropped()
        }
    }

    /// Keeps entries that left memory until ``takeLost()``, if a thread follows; returns whether it does.
    func keep(_ dropped: MemoryTier.Dropped) -> Bool {
        lost.withLock { lost in
            lost?.add(dropped)
            return lost != nil
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
