/// Decides how long the reserve of a store is: see ``ReserveFile``.
struct SpaceReserve: Sendable {
    private let file: ReserveFile
    private let isLimited: Bool
    /// The tail's number when the reserve was last checked.
    private var checkedSegment: UInt32 = 0

    /// No reserve is kept where this many times its length is free.
    private static let plenty = 32
    /// The length from which on a reserve, or a change of it, is of use.
    private static let leastByteCount = 1 << 16

    init(file: ReserveFile, isLimited: Bool) {
        self.file = file
        self.isLimited = isLimited
    }

    /// Makes the reserve where little is free, and removes it where much is; once for each segment that is begun.
    mutating func adjust(at place: RecordPlace, in log: SegmentLog) {
        guard place.segment != checkedSegment else { return }
        checkedSegment = place.segment
        bestEffort("the next segment tries again") { () throws(StoreError) in
            let former = try file.byteCount()
            guard let wanted = try wantedByteCount(former: former, in: log) else {
                // The reserve was left by a store without limits, or when less was free.
                if try file.goal() > 0 { try file.remove() }
                return
            }
            // Only in steps as large as removals take: a few blocks are not worth it.
            if wanted >= former + Self.leastByteCount { try file.make(wanted) }
        }
    }

    /// Makes the reserve again that was taken to give up a segment. The segment's file is closed by now.
    ///
    /// - Parameter former: how long it was.
    func restore(_ former: Int, in log: SegmentLog) {
        if isLimited { return }
        bestEffort("the next segment that is begun, or given up, makes the reserve") { () throws(StoreError) in
            guard let wanted = try wantedByteCount(former: former, in: log), try wanted > file.byteCount() else {
                return
            }
            try file.make(wanted)
        }
    }

    /// Appends a removal; on a full volume, with the room of a part of the reserve.
    func append(_ removal: inout RecordDraft, to log: inout SegmentLog) throws(StoreError) {
        do throws(StoreError) {
            _ = try log.append(&removal)
        } catch {
            guard error.isOutOfSpace, try giveBackPart(in: log) else { throw error }
            _ = try log.append(&removal)
        }
    }

    /// Gives back a part of the reserve, unless the rest would be too short to be of use; returns whether it did.
    private func giveBackPart(in log: SegmentLog) throws(StoreError) -> Bool {
        let rest = try file.byteCount() - Self.leastByteCount
        guard rest >= 2 * Self.leastByteCount + overhead(in: log) else { return false }
        return try file.shorten(to: rest)
    }

    /// The wanted length of the reserve; `nil` if none is needed.
    ///
    /// It grows only where twice as much is free as the longer one takes: otherwise freed room would go to the reserve,
    /// not to entries. It gets back the room that removals took or that was missing when it was made, but no more than
    /// half of the free room at once.
    ///
    /// - Parameter former: how long it was before its room was used.
    private func wantedByteCount(former: Int, in log: SegmentLog) throws(StoreError) -> Int? {
        let needed = neededByteCount(in: log)
        let free = try file.freeByteCountWithReserve()
        if isLimited || free / Self.plenty > needed { return nil }
        if free / 2 > needed { return max(needed, former) }
        let goal = try file.goal()
        return min(free, max(former, min(goal > 0 ? goal : needed, (former + free) / 2)))
    }

    /// Bytes for the entries of a segment, and the start of another one.
    private func neededByteCount(in log: SegmentLog) -> Int {
        let largest = min(log.chain.byteCounts.values.max() ?? 0, SegmentLog.largestSegmentByteCount)
        return max(largest, log.segmentByteCount) + overhead(in: log)
    }

    /// The header of another segment, a seal, a floor, and blocks that are begun.
    private func overhead(in log: SegmentLog) -> Int { log.headerByteCount + 4 * Segment.blockByteCount }
}
