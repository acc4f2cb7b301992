/// Counts the events of a cache, and tells its listeners. All hits and misses of fetches are recorded here.
struct Recorder: Sendable {
    let memory: SharedMemory
    let listeners: Listeners

    func record(_ occurrence: Occurrence, _ key: EntryKey?, cause: (any Error)? = nil) {
        memory.withLock { $0.statistics.count(occurrence) }
        listeners.tell(occurrence, key, cause: cause)
    }

    /// Counts the time of a producer's run, which is no event.
    func countLoadTime(_ time: Duration) { memory.withLock { $0.statistics.loadTime += time } }

    /// Records saves of keys, in their order; those in `replaced` replaced an entry of memory.
    func recordSaves(of keys: [EntryKey], replacing replaced: Set<EntryKey>) {
        memory.withLock { memory in
            memory.statistics.count(.saved, times: keys.count)
            memory.statistics.count(.replaced, times: replaced.count)
        }
        guard listeners.isActive else { return }
        var replaced = replaced
        for key in keys {
            // A key may be saved several times, but memory had its entry once.
            if replaced.remove(key) != nil { listeners.tell(.replaced, key) }
            listeners.tell(.saved, key)
        }
    }

    // MARK: The answers of fetches

    /// Records a hit in memory. The table has counted it if the entry never expires, under the lock that found it.
    @inline(__always) func memoryHit(_ entry: MemoryEntry) {
        if entry.deadline != .infinity { memory.table.countHit(entry.key) }
        if listeners.isActive { listeners.tell(.memoryHit, entry.key) }
    }

    func diskHit(_ key: EntryKey) { record(.diskHit, key) }
    func miss(_ key: EntryKey) { record(.missed, key) }
    /// Records a fetch that waits for the load that another one began.
    func join(_ key: EntryKey) { record(.joined, key) }
    /// Records an expired value that a fetch returns.
    func stale(_ key: EntryKey) { record(.servedStale, key) }
}
