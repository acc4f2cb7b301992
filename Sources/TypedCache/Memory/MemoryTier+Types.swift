extension MemoryTier {
    /// A write that has begun, and the entry that memory had.
    struct BegunWrite {
        let start: Start
        let former: MemoryEntry?
        /// Whether memory alone had it.
        let wasUnsaved: Bool
    }

    /// The change of a key's tombstone: the mark of a key for which the disk may still have an entry that must not be
    /// used.
    enum Tombstone {
        case add
        case remove
        case keep
    }

    /// The entries that left memory, to be released outside of any lock.
    struct Dropped {
        /// Given up to make room.
        var evicted: [MemoryEntry] = []
        /// Replaced, removed, or never kept.
        var others: [MemoryEntry] = []

        mutating func add(_ more: Dropped) {
            // Mostly there are none, and to append none takes as long as to end a write.
            if !more.evicted.isEmpty { evicted += more.evicted }
            if !more.others.isEmpty { others += more.others }
        }
    }

    /// An entry that may be out of date.
    struct Doubt {
        let entry: MemoryEntry
        /// Until when it may be served while the store does not answer; `nil` where the store says that.
        let servedUntil: ContinuousClock.Instant?
    }
}
