import ArchiveStore

extension MemoryTier {
    /// A write that has begun, and the entry that memory had.
    struct BegunWrite {
        let start: Start
        let former: MemoryEntry?
        /// Whether memory alone had it.
        let wasUnsaved: Bool
    }

    /// The entries of a key that a change on disk applies to. An entry that memory alone has, because the disk refused it,
    /// is later than the one on disk.
    enum Reach {
        /// Any entry.
        case all
        /// The entry on disk, and one with this tag that memory alone has.
        case tagged(String)
        /// The entry on disk alone.
        case disk

        func includes(unsaved entry: EntryInformation) -> Bool {
            switch self {
            case .all: true
            case .tagged(let tag): entry.attributes.has(tag: tag)
            case .disk: false
            }
        }
    }

    /// The entries that left memory, to be released outside of any lock.
    struct Dropped {
        /// Evicted to make room.
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
