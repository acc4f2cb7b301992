import Foundation

/// Making room for a save, where the volume is full, or has to have something free.
extension SpaceManager {
    /// Runs `body` to change the log after making room for `byteCount` bytes; if the volume turns out to be full, again
    /// after each way of making more.
    func withSpace<Result: Sendable>(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        evictions: inout Evictions,
        _ body: (inout LogState, inout Evictions) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if settings.isLimited { try keepVolumeFree(for: byteCount, now: now, evictions: &evictions) }
        var failure: StoreError
        do throws(StoreError) {
            return try withRoom(for: byteCount, digest, now: now, evictions: &evictions, body)
        } catch {
            guard error.isOutOfSpace else { throw error }
            failure = error
        }
        for means in SpaceMeans.allCases {
            var isMore = true
            for _ in 0..<Self.mostTries where isMore {
                // One caller at a time: the others find the room that it made, or that it is not enough.
                isMore = try withCompactionLock { () throws(StoreError) in
                    try makeSpace(by: means, for: byteCount, now: now, evictions: &evictions)
                }
                do throws(StoreError) {
                    return try lock.withExclusiveLog { state throws(StoreError) in try body(&state, &evictions) }
                } catch {
                    guard error.isOutOfSpace else { throw error }
                    failure = error
                }
            }
        }
        throw failure
    }

    /// Runs `body` after making room within the limits. Other callers, and upkeep, may take that room: then it is made again, a few
    /// times, before `body` makes it without asking which entries are in use.
    private func withRoom<Result: Sendable>(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        evictions: inout Evictions,
        _ body: (inout LogState, inout Evictions) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var rest = settings.isLimited ? Self.mostTries : 0
        while true {
            if settings.isLimited { try makeRoom(for: byteCount, digest, now: now, evictions: &evictions) }
            let result = try lock.withExclusiveLog { state throws(StoreError) -> Result? in
                guard rest == 0 || budget.fits(byteCount, in: state.log) else { return nil }
                return try body(&state, &evictions)
            }
            if let result { return result }
            rest -= 1
        }
    }

    /// How often room is made for one save in the same way, since other callers may take it.
    private static var mostTries: Int { 4 }

    /// The bytes to free beyond the needed ones where the volume turns out to be full.
    private static var spareByteCount: Int { 1 << 16 }

    /// How room is made where the volume is full, in this order.
    private enum SpaceMeans: CaseIterable {
        /// Segments are dropped, and their live entries rewritten.
        case segments
        /// Entries are evicted.
        case entries
    }

    /// Makes room in one way; returns whether there may be more to be had in this way.
    private func makeSpace(
        by means: SpaceMeans,
        for byteCount: Int,
        now: Double,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        let byteCount = byteCount * 2 + Self.spareByteCount
        var isMore = false
        switch means {
        case .segments:
            bestEffort("a failure does not keep the other ways from being tried") { () throws(StoreError) in
                isMore = try compactForSpace(freeing: byteCount, evictions: &evictions)
            }
        case .entries:
            guard settings.isLimited else { return false }
            isMore = try evict(freeing: byteCount, now: now, evictions: &evictions)
        }
        return isMore
    }

    /// Drops one segment after another and keeps all entries, until `byteCount` bytes more are free, or all dead
    /// records are gone.
    ///
    /// - Returns: whether it ended before all was gone.
    private func compactForSpace(
        freeing byteCount: Int,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        let count = try lock.withWriterLock { state throws(StoreError) in
            try state.compactor.segmentCountToCompact(in: state.log)
        }
        guard count > 0 else { return false }
        let goal = try reserve.freeByteCount() + byteCount
        for _ in 0..<count {
            // Other callers get their turn in between.
            guard try compactFirstForSpace(evictions: &evictions) else { break }
            if try reserve.freeByteCount() >= goal { return true }
        }
        try lock.withWriterLock { state throws(StoreError) in try state.compactor.endCompaction(of: state.log) }
        return false
    }

    /// Drops the first segment and keeps all entries, with the room of the reserve; returns whether there was one.
    func compactFirstForSpace(evictions: inout Evictions) throws(StoreError) -> Bool {
        try lock.withExclusiveLog { state throws(StoreError) in try state.compactFirst(evictions: &evictions) }
    }

    /// Evicts entries until enough of the volume stays free with `byteCount` bytes more.
    ///
    /// - Throws: `.io` with `ENOSPC` if nothing is left to evict.
    private func keepVolumeFree(
        for byteCount: Int,
        now: Double,
        evictions: inout Evictions
    ) throws(StoreError) {
        guard settings.minimumFreeByteCount > 0 else { return }
        func shortage() throws(StoreError) -> Int {
            let (needed, overflow) = settings.minimumFreeByteCount.addingReportingOverflow(byteCount)
            return (overflow ? .max : needed) - (try reserve.freeByteCount())
        }
        while case let shortage = try shortage(), shortage > 0 {
            guard try evict(freeing: shortage, now: now, evictions: &evictions) else {
                throw .volumeKeptFree(settings.minimumFreeByteCount, path: reader.segments.directoryPath)
            }
        }
    }

    /// Whether the volume has room for `byteCount` bytes more, so that no entry need be evicted for them.
    func volumeHasRoom(for byteCount: Int) throws(StoreError) -> Bool {
        guard settings.isLimited, settings.minimumFreeByteCount > 0 else { return true }
        return try reserve.freeByteCount() - byteCount >= settings.minimumFreeByteCount
    }

    /// Drops segments of `byteCount` bytes together; returns whether any entries went with them.
    private func evict(freeing byteCount: Int, now: Double, evictions: inout Evictions) throws(StoreError) -> Bool {
        let index = reader.index
        let former = index.total
        guard former.count > 0 else { return false }
        try lock.withExclusiveLog { state throws(StoreError) in
            let enough = max(state.log.chain.byteCount - byteCount, 0)
            while state.log.chain.byteCount > enough, try state.log.chain.hasMoreThanFloors(),
                try state.reclaimer.reclaimFirst(
                    keeping: .used(byteCount: 0),
                    now: now,
                    from: &state.log,
                    evictions: &evictions
                )
            {}
        }
        return index.total.count < former.count
    }
}
