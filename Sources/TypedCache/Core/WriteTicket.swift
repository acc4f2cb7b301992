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
    private var isEnded = false

    init(_ key: EntryKey, _ begun: MemoryTier.BegunWrite, core: CacheCore) {
        self.key = key
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
        _ tombstone: MemoryTier.Tombstone,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil
    ) {
        isEnded = true
        core.endWrite(key, since: start, tombstone, keeping: entry, unsaved: unsaved)
    }

    deinit {
        if !isEnded { core.endWrite(key, since: start, .keep) }
    }
}

/// Changes of many keys' entries that have begun, each of which is ended once: by ``end(_:_:keeping:)``, or with the
/// batch, and then memory keeps nothing.
struct WriteBatch: ~Copyable {
    private let core: CacheCore
    private var begun: [EntryKey: MemoryTier.BegunWrite] = [:]

    init(core: CacheCore) { self.core = core }

    /// The number of changes that have not ended.
    var count: Int { begun.count }

    func contains(_ key: EntryKey) -> Bool { begun[key] != nil }

    mutating func add(_ key: EntryKey, _ write: MemoryTier.BegunWrite) { begun[key] = write }

    mutating func reserveCapacity(_ count: Int) { begun.reserveCapacity(count) }

    /// The end of one change: see ``end(_:_:keeping:)``.
    struct End {
        let key: EntryKey
        let tombstone: MemoryTier.Tombstone
        let entry: MemoryEntry?
    }

    /// Ends changes of some keys, all of them under one lock. Of several ends of a key, the first one counts.
    ///
    /// - Returns: the keys for which memory had an entry.
    mutating func end(_ ends: [End]) -> Set<EntryKey> {
        var formers: Set<EntryKey> = []
        var writes: [(start: MemoryTier.Start, end: End)] = []
        writes.reserveCapacity(ends.count)
        for end in ends {
            guard let write = begun.removeValue(forKey: end.key) else { continue }
            if write.former != nil { formers.insert(end.key) }
            writes.append((write.start, end))
        }
        core.endWrites(writes)
        return formers
    }

    /// Ends the change of a key, and returns what memory had for it; `nil` if it was ended before.
    @discardableResult
    mutating func end(
        _ key: EntryKey,
        _ tombstone: MemoryTier.Tombstone,
        keeping entry: MemoryEntry? = nil
    ) -> MemoryTier.BegunWrite? {
        guard let write = begun.removeValue(forKey: key) else { return nil }
        core.endWrite(key, since: write.start, tombstone, keeping: entry)
        return write
    }

    deinit {
        for (key, write) in begun { core.endWrite(key, since: write.start, .keep) }
    }
}
