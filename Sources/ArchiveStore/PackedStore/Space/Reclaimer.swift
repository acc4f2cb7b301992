import Foundation

/// Drops the first segment of a log: the entries to keep are rewritten at the end, and the file is removed.
struct Reclaimer: Sendable {
    private let reader: RecordReader
    private let tail: LogTail
    private let commits: GroupCommit
    private let budget: SpaceBudget
    var clock: EvictionClock
    /// The bytes of entries in use that may be written again: as many as were saved since. So entries in use stay together, and
    /// where all are in use, no more is written twice than is saved.
    private var allowance: Allowance
    /// The bytes of saves that were added to the allowance.
    private var allowedByteCount = 0

    init(reader: RecordReader, tail: LogTail, commits: GroupCommit, budget: SpaceBudget) {
        self.reader = reader
        self.tail = tail
        self.commits = commits
        self.budget = budget
        clock = EvictionClock(reader: reader)
        allowance = Allowance(most: budget.carriedAheadByteLimit)
    }

    private var segments: SegmentTable { reader.segments }

    /// Drops segments until records of `byteCount` bytes can be appended, or there is nothing to drop.
    ///
    /// - Parameter now: as in ``reclaimFirst(keeping:now:from:evictions:)``.
    mutating func reclaim(
        _ byteCount: Int,
        now: Double?,
        from log: inout SegmentLog,
        evictions: inout Evictions
    ) throws(StoreError) {
        while !budget.fits(byteCount, in: log) {
            guard try log.chain.hasMoreThanFloors() else { return }
            let policy = CarryOverPolicy.used(byteCount: budget.carriedByteLimit(of: log))
            guard try reclaimFirst(keeping: policy, now: now, from: &log, evictions: &evictions) else { return }
        }
    }

    /// Drops the first segment: the entries to keep are rewritten at the end, and the file is removed.
    ///
    /// Takes time in proportion to the bytes of one segment. Because it is the first one, no older entry can come back
    /// when the removals in it go.
    ///
    /// - Parameters:
    ///   - now: in seconds since 2001-01-01 UTC. Entries that have expired by then go; none for `nil`.
    ///   - evictions: gets the entries that are evicted, even if the file cannot be removed then.
    /// - Returns: whether there was anything to evict; not for `.all` where there is no room for all of it.
    mutating func reclaimFirst(
        keeping policy: CarryOverPolicy,
        now: Double?,
        from log: inout SegmentLog,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        guard let tail = tail.current else { return false }
        let number = log.chain.first ?? tail.segment.number
        if number == tail.segment.number {
            if tail.isEmpty { return false }
            if log.chain.isSealed { log.chain.setByteCount(tail.end, of: number) }
            try log.beginSegment(dictionary: tail.segment.dictionary)
        }
        self.tail.hide()
        let policy = allowed(policy, in: log)
        var plan = ReclaimPlan(policy, room: budget.roomToCarry(in: log))
        do throws(StoreError) {
            if let segment = try segments.segment(number) {
                try decide(on: segment, byteCount: log.chain.byteCounts[number] ?? 0, in: &plan, now: now)
            } else {
                log.index.removeSegment(number)
            }
        } catch {
            // A segment that is not a file has no entry. One that cannot be read now may be readable later.
            guard error.code == .corrupted else { throw error }
        }
        // Records that seem to be dead may be live in a part of the index that could not be loaded.
        try reader.status.checkIndex()
        if plan.isTooLarge { return false }
        try carry(plan, in: &log)
        if case .used = policy { allowance.spend(plan.keptByteCount) }
        // Other processes see the entries gone from now on. This process's memory must drop them too, before callbacks
        // run.
        for slot in plan.dropped { log.index.remove(slot) }
        evictions += plan.evictions
        try remove(number, from: &log)
        return true
    }

    private mutating func allowed(_ policy: CarryOverPolicy, in log: SegmentLog) -> CarryOverPolicy {
        guard case .used(let byteCount) = policy else { return policy }
        let saved = log.counts.appendedByteCount - log.counts.carriedByteCount
        allowance.add(saved - allowedByteCount)
        allowedByteCount = saved
        return .used(byteCount: min(byteCount, allowance.rest))
    }

    private mutating func remove(_ number: UInt32, from log: inout SegmentLog) throws(StoreError) {
        // Appended before the file goes, so that all processes see the segment go at once.
        var isTold = false
        bestEffort("other processes notice that the file is gone") { () throws(StoreError) in
            try log.appendFloor(number + 1)
            isTold = true
        }
        try log.chain.removeFile(of: number, givingBackBlocks: log.keepsMargin || !isTold)
        log.chain.raiseFirstLiveSegment(to: number + 1)
        log.removeLostSlots()
        if !isTold {
            bestEffort("the file has given no room for it either") { () throws(StoreError) in
                try log.appendFloor(number + 1)
            }
        }
        bestEffort("a snapshot that stays takes room, and does no other harm") { () throws(StoreError) in
            try log.snapshot.removeIfUseless(firstLiveSegment: log.chain.firstLiveSegment)
        }
        clock.leaveSegments(upTo: number)
    }

    // MARK: Writing entries again

    /// Appends the entries that a plan keeps, with one write.
    private func carry(_ plan: ReclaimPlan, in log: inout SegmentLog) throws(StoreError) {
        var drafts = plan.drafts
        let places = try log.append(&drafts)
        for ((slot, draft), place) in zip(zip(plan.kept, drafts), places) {
            reader.index.replace(slot.place, with: slot.moved(to: place, byteCount: draft.byteCount))
            log.counts.addCarriedBytes(draft.byteCount)
        }
        // The records that replace the old ones must survive a power failure, too.
        if waitsForDevice(log) { try commits.synchronizeAlways() }
    }

    /// Whether the moved entries of a segment must be on the device before the segment is removed. Only a store with limits, in
    /// which nothing was saved under `.power`, may lose entries that were moved in a power failure.
    private func waitsForDevice(_ log: SegmentLog) -> Bool { log.isDurable || !log.settings.isLimited }

}

// MARK: - The fate of each entry

extension Reclaimer {
    /// Decides on each entry of a segment.
    private func decide(
        on segment: Segment,
        byteCount: Int,
        in plan: inout ReclaimPlan,
        now: Double?
    ) throws(StoreError) {
        do {
            var scanner = SegmentScanner(segment, to: byteCount)
            var isWhole = true
            while let step = try scanner.next() {
                guard case .record(let record, let place) = step else {
                    isWhole = false
                    continue
                }
                guard record.kind == .entry else { continue }
                guard let slot = reader.slot(of: record, at: place) else { continue }
                // No fetch returns the entry, so it is not kept.
                if reader.isTooLong(record.byteCount) {
                    plan.evict(slot, information(record))
                    continue
                }
                let bytes = try scanner.bytes(of: record, at: place)
                // The file was cut short.
                guard bytes.count == record.byteCount else {
                    isWhole = false
                    continue
                }
                try decide(on: slot, record: record, bytes: bytes, in: &plan, now: now)
            }
            if isWhole, scanner.offset == byteCount { return }
        } catch let error as SystemError {
            let failure = StoreError(error, path: segments.path(segment.number), action: "dropping a segment")
            guard plan.dropsEntries(unreadableFor: failure) else { throw failure }
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown")
        }
        try decideOneByOne(on: segment, in: &plan, now: now)
    }

    /// Decides on the entries of a damaged segment that the scan of its records did not find.
    private func decideOneByOne(
        on segment: Segment,
        in plan: inout ReclaimPlan,
        now: Double?
    ) throws(StoreError) {
        let known = Set(plan.kept.map(\.place)).union(plan.dropped.map(\.place))
        var rest: [IndexSlot] = []
        reader.index.forEachPart { table in
            table.forEachSlot { if $0.place.segment == segment.number { rest.append($0) } }
        }
        for slot in rest where !known.contains(slot.place) {
            do throws(StoreError) {
                guard let found = try reader.read(slot, .whole),
                    reader.slot(of: found.record, at: slot.place) != nil
                else { continue }
                try decide(on: slot, record: found.record, bytes: found.bytes, in: &plan, now: now)
            } catch {
                let isDamaged = error.code == .corrupted || error.code == .tooLarge
                guard isDamaged || plan.dropsEntries(unreadableFor: error) else { throw error }
                plan.dropDamaged(slot)
            }
        }
    }

    private func information(_ record: Record) -> EntryInformation {
        reader.information(record, key: String(decoding: record.key, as: UTF8.self))
    }

    private func decide(
        on slot: IndexSlot,
        record: Record,
        bytes: [UInt8],
        in plan: inout ReclaimPlan,
        now: Double?
    ) throws(StoreError) {
        let entry = information(record)
        if let now, record.attributes.freshness(at: Date(timeIntervalSinceReferenceDate: now)) == .useless {
            return plan.expire(slot, entry)
        }
        // Compressed again, it may be longer than it was.
        if plan.keeps(slot, byteCount: 0),
            let draft = try reader.draft(moving: record, bytes: bytes, from: slot, to: tail.dictionary)
        {
            if plan.keeps(slot, byteCount: draft.byteCount) { return plan.keep(slot, as: draft) }
            plan.noteLackOfRoom()
        }
        plan.evict(slot, entry)
    }
}
