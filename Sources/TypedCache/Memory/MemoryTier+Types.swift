extension MemoryTier {
    /// A write that has begun, and the entry that memory had.
    struct BegunWrite {
        let start: Start
        let former: MemoryEntry?
        /// Whether memory alone had it.
        let wasUnsaved: Bool
    }

    /// The change of a key's tombstone, see ``Tombstones``.
    enum Tombstone {
        /// The key has one for a failure with this number.
        case added(failure: Int)
        /// The key has none for a failure with this number or a lower one.
        case removed(last: Int)
        case keep

        /// For a failure just now.
        static var add: Self { .added(failure: Tombstones.countFailure()) }
        /// For all failures so far: all from before a write, where it ends one.
        static var remove: Self { .removed(last: .max) }

        /// The same as the end of a write: one for a failure since it began stays.
        func ending(_ write: Start) -> Self {
            if case .removed(let last) = self { .removed(last: min(last, write.lastFailure)) } else { self }
        }
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
