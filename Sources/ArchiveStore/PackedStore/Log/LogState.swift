/// Everything of a log that its writer changes: guarded by the writer's lock of ``LogLock``.
struct LogState: Sendable {
    var log: SegmentLog
    var follower: LogFollower
    var reclaimer: Reclaimer
    var compactor: SpaceCompactor
    var reserve: SpaceReserve
}

extension LogState {
    /// Appends a removal. On a full volume without room in the margin, drops segments for it: dead records of any, or the first
    /// entries of a store with limits; or takes a part of the reserve.
    ///
    /// - Parameter evictions: Gets the entries that were evicted.
    mutating func appendRemoval(
        _ removal: inout RecordDraft,
        evictions: inout Evictions
    ) throws(StoreError) {
        var attempts = 0
        while true {
            do throws(StoreError) {
                _ = try log.append(&removal)
                return
            } catch {
                guard error.isOutOfSpace, attempts < Self.mostAttempts else { throw error }
                attempts += 1
                guard try makeRoomForRemoval(evictions: &evictions) else { throw error }
            }
        }
    }

    private static var mostAttempts: Int { 64 }

    private mutating func makeRoomForRemoval(evictions: inout Evictions) throws(StoreError) -> Bool {
        if log.settings.isLimited {
            return try reclaimer.reclaimFirst(
                keeping: .used(byteCount: 0),
                now: nil,
                from: &log,
                evictions: &evictions
            )
        }
        var isDone = false
        bestEffort("the reserve may have room") { () throws(StoreError) in
            guard try compactor.segmentCountToCompact(in: log) > 0 else { return }
            isDone = try compactFirst(evictions: &evictions)
        }
        if isDone { return true }
        return try reserve.giveBackPart(in: log)
    }

    /// Drops the first segment and keeps its live entries, with the room of the reserve; returns whether there was one.
    mutating func compactFirst(evictions: inout Evictions) throws(StoreError) -> Bool {
        try reserve.prepare(&log)
        return try compactor.compactFirst(of: &log, by: &reclaimer, with: reserve, evictions: &evictions)
    }
}
