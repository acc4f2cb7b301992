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

    func contains(_ key: EntryKey) -> Bool { begun[key] != nil }

    mutating func add(_ key: EntryKey, _ write: MemoryTier.BegunWrite) { begun[key] = write }

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
