/// Removing entries and dead records at a caller's wish.
extension SpaceManager {
    private static var mostRounds: Int { 16 }

    /// Evicts the oldest entries that were not fetched since the clock last passed them, and removes dead records, until
    /// the segments have no more than so many bytes.
    func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        guard try self.byteCount() > byteCount else { return }
        let index = reader.index
        var evictions = Evictions()
        defer { evictions.evicted.forEach(removed) }
        let (size, headerByteCount) = try lock.withWriterLock { ($0.log.segmentByteCount, $0.log.headerByteCount) }
        let segmentOverhead = headerByteCount + 2 * Record.largestFieldsByteCount
        var room = byteCount - segmentOverhead * (byteCount / size + 2)
        for _ in 0..<Self.mostRounds {
            while try lock.withExclusiveLog({ state throws(StoreError) in
                try evictSome(downTo: room, in: &state, evictions: &evictions)
            }) {}
            _ = try compactEvicting(evictions: &evictions)
            let total = try self.byteCount()
            if total <= byteCount || index.total.count == 0 { break }
            // Other callers save in the meantime, or there are more segments than needed.
            room = min(room, index.total.byteCount) - max(total - byteCount, segmentOverhead)
        }
    }

    /// Evicts some entries, but not all at once, so that other callers need not wait for all of them. Returns whether
    /// more have to go until the records of all entries have no more than `room` bytes.
    private func evictSome(
        downTo room: Int,
        in state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        let index = reader.index
        for _ in 0..<64 {
            guard index.total.count > 0, index.total.byteCount > max(0, room) else { return false }
            guard let victim = try state.reclaimer.clock.next(in: &state.log) else { return false }
            if !budget.fits(victim.removalByteCount, in: state.log) {
                let isReclaimed = try state.reclaimer.reclaimFirst(
                    keeping: .used(byteCount: 0),
                    now: nil,
                    from: &state.log,
                    evictions: &evictions
                )
                guard isReclaimed else { return false }
                continue
            }
            try evict(victim, in: &state, evictions: &evictions)
        }
        return true
    }

    // MARK: Dead records

    /// Writes segments again, up to the last one that has more in it than entries; returns how many bytes that gave
    /// back.
    func compact() throws(StoreError) -> Int {
        // Entries that are damaged cannot be rewritten.
        var evictions = Evictions()
        defer { user.tell(evictions) }
        return try compact(evictions: &evictions) { _, _ in false }
    }

    /// As above, but where there is no room to write all entries again, evicts some.
    private func compactEvicting(evictions: inout Evictions) throws(StoreError) -> Int {
        try compact(evictions: &evictions, withoutRoom: evictFirst)
    }

    /// Drops the first segment with those of its entries that there is no room to write again.
    func evictFirst(_ state: inout LogState, _ evictions: inout Evictions) throws(StoreError) -> Bool {
        try state.reclaimer.reclaimFirst(
            keeping: .some(byteCount: max(0, budget.freeByteCount(of: state.log))),
            now: nil,
            from: &state.log,
            evictions: &evictions
        )
    }

    private func compact(
        evictions: inout Evictions,
        withoutRoom evict: (inout LogState, inout Evictions) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int {
        let (before, last) = try lock.withWriterLock { state throws(StoreError) in
            (state.log.chain.byteCount, try state.compactor.lastSegmentToCompact(in: state.log))
        }
        guard let last else { return 0 }
        while try compactFirst(upTo: last, evictions: &evictions, withoutRoom: evict) {}
        // Other callers may have saved more bytes in the meantime than compacting gave back.
        return max(0, before - (try byteCount()))
    }

    /// Writes the first segment again; returns whether there was one up to `last`.
    func compactFirst(
        upTo last: UInt32,
        evictions: inout Evictions,
        withoutRoom evict: (inout LogState, inout Evictions) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try lock.withExclusiveLog { state throws(StoreError) in
                guard let first = state.log.chain.first, first <= last else { return false }
                // While both copies exist, they must not exceed the limit.
                if state.log.chain.byteCount(of: first) > budget.freeByteCount(of: state.log) {
                    return try evict(&state, &evictions)
                }
                return try state.reclaimer.reclaimFirst(
                    keeping: .all,
                    now: nil,
                    from: &state.log,
                    evictions: &evictions
                )
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
            return try withCompactionLock { () throws(StoreError) in
                try compactFirstForSpace(evictions: &evictions)
            }
        }
    }
}
