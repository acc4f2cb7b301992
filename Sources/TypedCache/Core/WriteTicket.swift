import ArchiveStore

/// A change of a key's entry that has begun. It is ended once: by ``end(_:keeping:unsaved:)``, which takes the ticket,
/// or with the ticket, and then memory keeps nothing.
struct WriteTicket: ~Copyable {
    let key: EntryKey
    /// Whether memory had an entry.
    let hadFormer: Bool
    /// Whether memory alone had it, because the disk had refused it.
    let wasUnsaved: Bool
    let start: MemoryTier.Start
    private let core: CacheCore
    /// The entries that it changes, unless it saves one.
    private let reach: MemoryTier.Reach
    private var isEnded = false

    init(_ key: EntryKey, _ begun: MemoryTier.BegunWrite, reach: MemoryTier.Reach, core: CacheCore) {
        self.key = key
        self.reach = reach
        hadFormer = begun.former != nil
        wasUnsaved = begun.wasUnsaved
        start = begun.start
        self.core = core
    }

    /// Ends the change.
    ///
    /// - Parameters:
    ///   - tombstone: whether the key has a tombstone from now on.
    ///   - entry: the entry that memory is to keep; `nil` for none.
    ///   - unsaved: the entry's information, if the disk has refused the entry.
    consuming func end(
        _ tombstone: Tombstones.Change,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil
    ) {
        isEnded = true
        let isSaved = entry != nil && unsaved == nil
        core.endWrite(
            key,
            since: start,
            tombstone,
            keeping: entry,
            unsaved: unsaved,
            reach: isSaved ? .all : reach
        )
    }

    deinit {
        if !isEnded { core.endWrite(key, since: start, .keep, reach: reach) }
    }
}

/// Changes of many keys' entries that have begun, each of which is ended once: by ``end(_:_:keeping:)``, or with the
/// batch, and then memory keeps nothing.
///
/// A change is known by its place in the batch, so that no key is looked for.
struct WriteBatch: ~Copyable {
    private let core: CacheCore
    /// The entries that it changes.
    private let reach: MemoryTier.Reach
    private var keys: [EntryKey]
    /// The changes, at the places of their keys; `nil` where one has ended, or none began.
    private var begun: [MemoryTier.BegunWrite?]

    init(core: CacheCore, _ keys: [EntryKey], _ begun: [MemoryTier.BegunWrite?]) {
        self.core = core
        self.keys = keys
        self.begun = begun
        reach = .all
    }

    /// No changes yet.
    init(core: CacheCore, reach: MemoryTier.Reach) {
        self.core = core
        self.reach = reach
        keys = []
        begun = []
    }

    /// Adds a change of a key that the batch has no change of, after the others.
    mutating func add(_ key: EntryKey, _ write: MemoryTier.BegunWrite) {
        keys.append(key)
        begun.append(write)
    }

    /// The end of one change: see ``end(_:_:keeping:)``.
    struct End {
        let place: Int
        let tombstone: Tombstones.Change
        let entry: MemoryEntry?
    }

    /// Ends some of the changes that have not ended, all of them under one lock.
    ///
    /// - Returns: the keys for which memory had an entry.
    mutating func end(_ ends: [End]) -> [EntryKey] {
        core.endWrites(ends, of: keys, begun)
        var formers: [EntryKey] = []
        for end in ends {
            if begun[end.place]?.former != nil { formers.append(keys[end.place]) }
            begun[end.place] = nil
        }
        return formers
    }

    /// Ends the change at a place, and returns its beginning, with memory's former entry; `nil` if the change has ended
    /// before.
    @discardableResult
    mutating func end(
        _ place: Int,
        _ tombstone: Tombstones.Change,
        keeping entry: MemoryEntry? = nil
    ) -> MemoryTier.BegunWrite? {
        guard let write = begun[place].take() else { return nil }
        core.endWrite(keys[place], since: write.start, tombstone, keeping: entry)
        return write
    }

    deinit {
        for (key, write) in zip(keys, begun) {
            if let write { core.endWrite(key, since: write.start, .keep, reach: reach) }
        }
    }
}
