/// Decides how long the reserve of a store is: see ``ReserveFile``.
struct SpaceReserve: Sendable {
    private let file: ReserveFile
    private let isLimited: Bool
    /// Where the log ended when the free space was last looked at.
    private var checked = RecordPlace(segment: 0, offset: 0)

    /// No reserve is kept where this many times its length is free.
    private static let plenty = 32
    /// The length from which on a reserve, or a change of it, is of use.
    private static let leastByteCount = 1 << 16

    init(file: ReserveFile, isLimited: Bool) {
        self.file = file
        self.isLimited = isLimited
    }

    /// Looks at the free space, once for each segment and each ``leastByteCount``. Where little is free, makes the reserve and has
    /// the log keep its margin; where much is, removes both.
    mutating func adjust(at place: RecordPlace, in log: inout SegmentLog) {
        let isNear = place.segment == checked.segment && place.offset < checked.offset + UInt32(Self.leastByteCount)
        if isNear { return }
        checked = place
        bestEffort("the next look tries again") { () throws(StoreError) in
            let free = try file.freeByteCountWithReserve()
            log.keepsMargin = free / Self.plenty <= neededByteCount(in: log)
            let former = try file.byteCount()
            guard let wanted = try wantedByteCount(former: former, in: log) else {
                log.longestMovable = .max
                // The reserve was left by a store without limits, or when less was free.
                if try file.goal() > 0 { try file.remove() }
                return
            }
            // Only in steps as large as removals take: a few blocks are not worth it.
            if wanted >= former + Self.leastByteCount { try file.make(wanted) }
            try limitSegments(of: &log)
        }
    }

    /// Has a log know how long segments may become, before some are moved by a process that may not have saved.
    func prepare(_ log: inout SegmentLog) throws(StoreError) {
        guard !isLimited, try file.goal() > 0 else { return }
        log.keepsMargin = true
        try limitSegments(of: &log)
    }

    /// Has segments that are begun be no longer than the reserve can move.
    private func limitSegments(of log: inout SegmentLog) throws(StoreError) {
        let room = try file.byteCount() - overhead(in: log)
        log.longestMovable = max(Self.leastByteCount, room / Self.growth * (Self.growth - 1))
    }

    /// Entries that are moved become longer by less than one in so many bytes.
    private static let growth = 16

    /// Makes the reserve again that was taken to drop a segment. The segment's file is closed by now.
    ///
    /// - Parameter former: how long it was.
    func restore(_ former: Int, in log: SegmentLog) {
        if isLimited { return }
        bestEffort("the next segment that is begun, or dropped, makes the reserve") { () throws(StoreError) in
            guard let wanted = try wantedByteCount(former: former, in: log), try wanted > file.byteCount() else {
                return
            }
            try file.make(wanted)
        }
    }

    /// Gives back a part of the reserve, unless the rest would be too short to be of use; returns whether it did.
    func giveBackPart(in log: SegmentLog) throws(StoreError) -> Bool {
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

    /// Bytes for the entries of a segment, which may become longer, and the start of another one.
    private func neededByteCount(in log: SegmentLog) -> Int {
        let largest = min(log.chain.byteCounts.values.max() ?? 0, SegmentLog.largestSegmentByteCount)
        let moved = max(largest, log.wantedSegmentByteCount)
        return moved + moved / (Self.growth - 1) + overhead(in: log)
    }

    /// The header of another segment, a seal, a floor, blocks that are begun, and the margin.
    private func overhead(in log: SegmentLog) -> Int {
        log.headerByteCount + 4 * Segment.blockByteCount + log.marginByteCount
    }
}
