import Foundation

/// Removes dead records on a full volume, where no entry may be dropped: decides which segments are worth it.
struct SpaceCompactor: Sendable {
    private let root: Directory
    private let reader: RecordReader
    private let reserve: ReserveFile
    /// Dead bytes in allocated blocks, of all segments after each was last reclaimed to free space.
    private var compactedByteCount = 0
    /// Free bytes, the reserve included, and dead bytes when the last attempt to drop a segment found no room.
    private var failure: (room: Int, dead: Int)?

    init(root: Directory, reader: RecordReader, reserve: ReserveFile) {
        self.root = root
        self.reader = reader
        self.reserve = reserve
    }

    /// Dead bytes in the blocks of each segment, beyond the header, the seal, the floor and the begun block that every
    /// segment needs. Reads the status of each file.
    private mutating func deadByteCounts(in log: SegmentLog) throws(StoreError) -> [UInt32: Int] {
        let used = reader.index.byteCountsBySegment()
        // Records that seem to be dead may be live in a part of the index that could not be loaded.
        try reader.status.checkIndex()
        var dead: [UInt32: Int] = [:]
        for number in log.chain.allByteCounts.keys.sorted() {
            // Segments are not opened for that: there may be more of them than files can be open.
            let path = reader.segments.path(number)
            let status = try attempt("looking for a segment", path) { () throws(SystemError) in
                try root.status(Segment.fileName(number))
            }
            guard let status else { continue }
            let needed = used[number, default: 0] + log.headerByteCount + 2 * Record.largestFieldsByteCount
            // Not the margin after the end.
            let taken = min(status.allocatedByteCount, status.byteCount, 1 << 33)
            dead[number] = max(0, taken - needed - Segment.blockByteCount)
        }
        // There are fewer dead bytes if segments were dropped in the meantime.
        compactedByteCount = min(compactedByteCount, dead.values.reduce(0, +))
        return dead
    }

    // MARK: Segments

    /// The most segments to drop: each once, or none if too little became dead since the last time. So the bytes
    /// rewritten stay in proportion to the bytes saved, or are few.
    mutating func segmentCountToCompact(in log: SegmentLog) throws(StoreError) -> Int {
        let dead = try deadByteCounts(in: log).values.reduce(0, +)
        if let failure, dead < failure.dead + Segment.blockByteCount,
            try reserve.freeByteCountWithReserve() <= failure.room
        {
            return 0
        }
        let much = (log.chain.byteCount - Self.fewBytes) / Self.smallestDeadPart
        guard dead - compactedByteCount > max(Self.fewDeadBytes, much) else { return 0 }
        return log.chain.byteCounts.count + 1
    }

    /// One in this many bytes must be dead, not counting the first `fewBytes`, which are rewritten in a moment.
    private static let smallestDeadPart = 64
    private static let fewBytes = 16 << 20
    /// Dead bytes that may remain after all segments were rewritten.
    private static let fewDeadBytes = 1 << 14

    /// Drops the first segment and keeps its live entries. Takes the reserve for that.
    ///
    /// - Returns: Whether there was anything to drop.
    mutating func compactFirst(
        of log: inout SegmentLog,
        by reclaimer: inout Reclaimer,
        with space: SpaceReserve,
        evictions: inout Evictions
    ) throws(StoreError) -> Bool {
        let room = try reserve.freeByteCountWithReserve()
        let length = try reserve.byteCount()
        if length > 0 { try reserve.take() }
        defer { space.restore(length, in: log) }
        do throws(StoreError) {
            return try reclaimer.reclaimFirst(keeping: .all, now: nil, from: &log, evictions: &evictions)
        } catch {
            if error.isOutOfSpace { failure = (room, try deadByteCounts(in: log).values.reduce(0, +)) }
            throw error
        }
    }

    /// Ends a compaction: all segments have been dropped once, and the bytes still dead stay: headers, seals, and the
    /// like.
    mutating func endCompaction(of log: SegmentLog) throws(StoreError) {
        failure = nil
        compactedByteCount = try deadByteCounts(in: log).values.reduce(0, +)
    }

    /// The last segment that has more in it than entries, or is encrypted with a former key; `nil` if there is none.
    func lastSegmentToCompact(in log: SegmentLog) throws(StoreError) -> UInt32? {
        let used = reader.index.byteCountsBySegment()
        let byteCounts = log.chain.isSealed ? log.chain.byteCounts : log.chain.allByteCounts
        for (number, byteCount) in byteCounts.sorted(by: { $0.key > $1.key }) {
            let segment = try reader.segments.segment(number)
            if let header = segment?.header, header.key != reader.segments.keys?.current.identifier ?? 0 {
                return number
            }
            let header = segment?.headerByteCount ?? 0
            // A seal, and the floor that the last given-up segment left.
            if byteCount > header + used[number, default: 0] + 2 * Record.largestFieldsByteCount { return number }
        }
        return nil
    }
}
