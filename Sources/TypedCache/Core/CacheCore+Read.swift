import ArchiveStore
import Foundation

extension CacheCore {
    /// Reads an entry that may be used; records a hit or a miss no more than an error. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - useless: the entry that memory has for the key, and that cannot be used; `nil` if there is none.
    ///   - allowsStale: whether an entry may be given that has expired but is within a stale window.
    /// - Returns: `nil` if there is no such entry.
    func read(
        _ key: EntryKey,
        useless: MemoryEntry? = nil,
        allowsStale: Bool = false
    ) throws(CacheError) -> DiskRead? {
        guard let begun = try beginRead(key, useless: useless) else { return nil }
        let stored = Result { () throws(StoreError) in
            try listeners.observing(.read) { () throws(StoreError) in try store.fetch(forKey: key.text) }
        }
        return try finish(begun, stored, allowsStale: allowsStale)
    }

    /// Reads entries as ``read(_:useless:allowsStale:)`` does, and suspends the task.
    nonisolated(nonsending) func read(
        _ keys: [(key: EntryKey, useless: MemoryEntry?)],
        allowsStale: Bool,
        mayBeOlder: Bool = true
    ) async -> [Result<DiskRead?, CacheError>] {
        guard let remote else {
            return await queues.run(keys.count == 1 ? keys[0].key : nil) { [self] in
                readTogether(keys, allowsStale: allowsStale)
            }
        }
        var batch = beginReads(keys)
        if batch.reads.isEmpty { return batch.results }
        let stored = await listeners.observing(.read) {
            await remote.fetch(
                forKeys: batch.reads.map { $0.begun.key.text },
                isUrgent: allowsStale,
                mayBeOlder: mayBeOlder
            )
        }
        for (read, stored) in zip(batch.reads, stored) {
            let begun = read.begun
            if case .success(let entry?) = stored, freshness(of: entry.information) == .useless {
                // It is removed, which blocks.
                batch.results[read.place] = await queues.run(begun.key) { [self] in
                    Result { () throws(CacheError) in try finish(begun, stored, allowsStale: allowsStale) }
                }
            } else {
                batch.results[read.place] = Result { () throws(CacheError) in
                    try finish(begun, stored, allowsStale: allowsStale)
                }
            }
        }
        return batch.results
    }

    /// Reads entries as ``read(_:useless:allowsStale:)`` does, but asks the store once for all of them. Blocks on disk I/O.
    func readTogether(
        _ keys: [(key: EntryKey, useless: MemoryEntry?)],
        allowsStale: Bool = false
    ) -> [Result<DiskRead?, CacheError>] {
        var batch = beginReads(keys)
        if batch.reads.isEmpty { return batch.results }
        let stored = listeners.observing(.read) { store.fetch(forKeys: batch.reads.map { $0.begun.key.text }) }
        for (read, stored) in zip(batch.reads, stored) {
            batch.results[read.place] = Result { () throws(CacheError) in
                try finish(read.begun, stored, allowsStale: allowsStale)
            }
        }
        return batch.results
    }

    /// A reading of one of several keys, and the key's place among them.
    private struct PlacedRead: Sendable {
        let place: Int
        let begun: BegunRead
    }

    /// The readings of several keys, and the results of all of them: `nil` until the key's reading is finished.
    private typealias ReadBatch = (reads: [PlacedRead], results: [Result<DiskRead?, CacheError>])

    /// Begins a reading for each key whose entry may be read. Takes memory's lock once.
    ///
    /// - Returns: no readings, and `.closed` or `.forked` for each key, if the cache cannot be used.
    private func beginReads(_ keys: [(key: EntryKey, useless: MemoryEntry?)]) -> ReadBatch {
        do throws(CacheError) {
            try checkUsable()
        } catch {
            return ([], keys.map { _ in .failure(error) })
        }
        let (starts, dropped) = memory.withLock { memory -> ([MemoryTier.Start], [MemoryEntry]) in
            var dropped: [MemoryEntry] = []
            var starts: [MemoryTier.Start] = []
            starts.reserveCapacity(keys.count)
            for (key, useless) in keys {
                if let entry = useless.flatMap({ memory.removeUseless($0) }) { dropped.append(entry) }
                starts.append(memory.beginRead(key))
            }
            return (starts, dropped)
        }
        _ = consume dropped
        memory.drainSiblings(keys.lazy.map(\.key))
        let barred =
            memory.tombstones.isEmpty ? [] : keys.indices.filter { memory.tombstones.contains(keys[$0].key) }
        for place in barred { endRead(keys[place].key, starts[place]) }
        let isBarred = Set(barred)
        var reads: [PlacedRead] = []
        reads.reserveCapacity(keys.count)
        for place in keys.indices where isBarred.isEmpty || !isBarred.contains(place) {
            let key = keys[place].key
            foreignChanges?.expect(key)
            let begun = BegunRead(key: key, start: starts[place], moving: memory.movingTimings(key))
            reads.append(PlacedRead(place: place, begun: begun))
        }
        return (reads, [Result<DiskRead?, CacheError>](repeating: .success(nil), count: keys.count))
    }

    /// A reading that has begun, and that must be finished.
    private struct BegunRead: Sendable {
        let key: EntryKey
        let start: MemoryTier.Start
        /// The timings of idle deadlines that are being moved.
        let moving: [EntryTiming]
    }

    /// - Returns: `nil` if the key has no entry that may be read.
    private func beginRead(_ key: EntryKey, useless: MemoryEntry?) throws(CacheError) -> BegunRead? {
        try checkUsable()
        let (start, dropped) = memory.withLock { memory -> (MemoryTier.Start, MemoryEntry?) in
            let dropped = useless.flatMap { memory.removeUseless($0) }
            return (memory.beginRead(key), dropped)
        }
        _ = consume dropped
        // After the beginning, so that a save which another cache defers from here on keeps this read's entry out of memory;
        // and before the look for a tombstone, which a deferred save that fails may leave.
        memory.drainSiblings(key)
        if memory.tombstones.contains(key) {
            endRead(key, start)
            return nil
        }
        foreignChanges?.expect(key)
        return BegunRead(key: key, start: start, moving: memory.movingTimings(key))
    }

    private func finish(
        _ begun: BegunRead,
        _ result: Result<StoredArchive?, StoreError>,
        allowsStale: Bool
    ) throws(CacheError) -> DiskRead? {
        let (key, start, moving) = (begun.key, begun.start, begun.moving)
        let stored: StoredArchive?
        do throws(StoreError) {
            stored = try result.get()
        } catch {
            endRead(key, start)
            try ignoreDamage(error, key)
            return nil
        }
        guard let stored else {
            endRead(key, start, isMissing: true)
            return nil
        }
        let freshness = freshness(of: stored.information, key, moving: moving)
        if freshness == .useless { removeUseless(stored.information, key, since: start) }
        guard freshness == .fresh || allowsStale && freshness != .useless else {
            endRead(key, start, isMissing: true)
            return nil
        }
        return DiskRead(
            key,
            stored,
            freshness: freshness,
            timing: moving.first { $0.isOf(stored.information) },
            core: self,
            start: start
        )
    }

    private func endRead(_ key: EntryKey, _ start: MemoryTier.Start, isMissing: Bool = false) {
        release(memory.withLock { $0.endRead(key, start, isMissing: isMissing) })
    }

    /// The information of a fresh entry on disk; `nil` if there is none. Blocks on disk I/O.
    func freshInformation(_ key: EntryKey) throws(CacheError) -> EntryInformation? {
        try checkUsable()
        let start = memory.withLock { $0.beginRead(key) }
        defer { endRead(key, start) }
        memory.drainSiblings(key)
        if memory.tombstones.contains(key) { return nil }
        do throws(StoreError) {
            let moving = memory.movingTimings(key)
            guard let entry = try store.information(forKey: key.text) else { return nil }
            let freshness = freshness(of: entry, key, moving: moving)
            if freshness == .useless { removeUseless(entry, key, since: start) }
            return freshness == .fresh ? entry : nil
        } catch {
            try ignoreDamage(error, key)
            return nil
        }
    }

    /// Reads the entry on disk for a key, expired or not; `nil` if there is none that may be read. Counts as no fetch.
    /// Blocks on disk I/O.
    func readForChange(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        try checkUsable()
        memory.drainSiblings(key)
        if memory.tombstones.contains(key) { return nil }
        do throws(StoreError) {
            return try store.fetch(forKey: key.text)
        } catch {
            try ignoreDamage(error, key)
            return nil
        }
    }

    /// Reads an entry that is fresh or within a stale window; counts as no fetch. Blocks on disk I/O.
    func readServable(_ key: EntryKey) throws(CacheError) -> StoredArchive? {
        try readForChange(key).flatMap { freshness(of: $0.information).isServable ? $0 : nil }
    }

    /// Removes an entry that is of no use any longer, unless it was saved over in the meantime: it must not come back from
    /// memory or disk when the clock is set back.
    ///
    /// - Parameter start: the beginning of the read that has found it, and that goes on.
    private func removeUseless(_ entry: EntryInformation, _ key: EntryKey, since start: MemoryTier.Start) {
        do throws(StoreError) {
            if try store.remove(entry) {
                drop(key)
                recorder.record(.expired, key)
            }
        } catch {
            // A value that was saved in the meantime is another one, and is not to be hidden.
            let tombstone = tombstone(after: error)
            let tombstones = memory.tombstones
            let (isCurrent, dropped) = memory.withLock { memory -> (Bool, MemoryEntry?) in
                guard memory.isCurrent(key, start) else { return (false, nil) }
                tombstones.change(key, tombstone)
                return (true, memory.invalidate(key))
            }
            _ = consume dropped
            if isCurrent { memory.notifySiblings(changed: key) }
            report(error, as: .failed, of: key)
        }
    }

    /// Records and reports a damaged entry, which the store has taken away; throws every other error.
    func ignoreDamage(_ error: StoreError, _ key: EntryKey) throws(CacheError) {
        guard error.code == .corrupted || error.code == .foreign else { throw failure(error, key) }
        drop(key)
        report(error, as: .corrupted, of: key)
    }
}
