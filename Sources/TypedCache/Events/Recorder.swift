/// Counts the events of a cache, and tells its listeners. All hits and misses of fetches are recorded here.
struct Recorder: Sendable {
    let memory: SharedMemory
    let listeners: Listeners
    let gate: HitGate
    /// `nil` where uses are not profiled.
    let sampler: UseSampler?

    func record(_ occurrence: Occurrence, _ key: EntryKey?, cause: (any Error)? = nil) {
        memory.withLock { $0.statistics.count(occurrence) }
        if let sampler { Self.count(occurrence, key, in: sampler) }
        listeners.tell(occurrence, key, cause: cause)
    }

    /// Counts the time of a producer's run, which is not an event.
    func countLoadTime(_ time: Duration) { memory.withLock { $0.statistics.loadTime += time } }

    /// Counts the occurrences that end an entry, and fetches without a value, as the profile of uses needs them.
    private static func count(_ occurrence: Occurrence, _ key: EntryKey?, in sampler: UseSampler) {
        switch (occurrence, key) {
        case (.missed, let key?), (.joined, let key?): sampler.use(key.hash, cost: nil)
        case (.expired, let key?), (.removed, let key?), (.diskEvicted, let key?), (.corrupted, let key?):
            sampler.remove(key.hash)
        case (.removedAll, _): sampler.removeAll()
        default: break
        }
    }

    /// Records the save of an entry.
    func save(_ new: NewEntry) {
        sampler?.save(new.key.hash, cost: new.entry.cost)
        record(.saved, new.key)
    }

    /// Records saves of entries, in their order. The keys in `replaced` had an entry in memory; each counts once.
    func recordSaves(of entries: [MemoryEntry], replacing replaced: [EntryKey]) {
        if let sampler {
            for entry in entries { sampler.save(entry.key.hash, cost: entry.cost) }
        }
        memory.withLock { memory in
            memory.statistics.count(.saved, times: entries.count)
            memory.statistics.count(.replaced, times: replaced.count)
        }
        guard listeners.isActive else { return }
        var replaced = Set(replaced)
        for entry in entries {
            // A key may be saved several times, but memory had its entry once.
            if replaced.remove(entry.key) != nil { listeners.tell(.replaced, entry.key) }
            listeners.tell(.saved, entry.key)
        }
    }

    // MARK: The answers of fetches

    /// Records a hit in memory. The table has counted it if the entry never expires, under the lock that found it.
    @inline(__always) func memoryHit(_ entry: MemoryEntry) {
        if entry.deadline != .infinity { memory.table.countHit(entry.key) }
        if gate.stops(entry.key.hash) { show(entry) }
    }

    /// Records a hit in memory that the table has not seen, because the entry was to be compared first.
    func comparedHit(_ entry: MemoryEntry) {
        memory.table.countHit(entry.key)
        if gate.stops(entry.key.hash) { show(entry) }
    }

    /// Shows a hit in memory, which is counted, to the profile and the listeners.
    @inline(never) func show(_ entry: MemoryEntry) {
        sampler?.use(entry.key.hash, cost: entry.cost)
        listeners.tell(.memoryHit, entry.key)
    }

    /// Records a hit on disk.
    ///
    /// - Parameters:
    ///   - cost: the cost of the value in memory.
    ///   - isCopy: whether this machine's disk gave it in place of a server.
    func diskHit(_ key: EntryKey, cost: Int, isCopy: Bool) {
        sampler?.use(key.hash, cost: cost)
        countStoreHits(1)
        listeners.tell(.diskHit, key, isOfCopy: isCopy)
    }

    /// Counts hits in the store: where that keeps its entries in memory, they are memory's, as their events tell.
    private func countStoreHits(_ count: Int) {
        if listeners.storeTier == .memory {
            memory.table.countHits(count)
        } else {
            memory.withLock { $0.statistics.count(.diskHit, times: count) }
        }
    }

    /// Records hits on disk, with the entries that were made of them.
    func recordDiskHits(_ reads: [(read: DiskRead, entry: MemoryEntry)]) {
        if let sampler {
            for (_, entry) in reads { sampler.use(entry.key.hash, cost: entry.cost) }
        }
        countStoreHits(reads.count)
        guard listeners.isActive else { return }
        for (read, entry) in reads { listeners.tell(.diskHit, entry.key, isOfCopy: read.stored.isCopy) }
    }

    func miss(_ key: EntryKey) { record(.missed, key) }
    /// Records a fetch that waits for the load that another one began.
    func join(_ key: EntryKey) { record(.joined, key) }
    /// Records an expired value that a fetch returns.
    func stale(_ key: EntryKey) { record(.servedStale, key) }
}
