import Foundation

/// Where a log that is being opened is followed from: the position of its snapshot, or the first segment.
struct LogStart {
    /// The snapshot that the index comes from.
    private(set) var snapshot: IndexSnapshot?
    /// A snapshot with a position in a segment that does not exist any more.
    private(set) var laterSnapshot: IndexSnapshot?
    /// Whether the snapshot is of a log that continued differently, and must not be taken for this log's later.
    private(set) var snapshotIsForeign = false
    private(set) var tail: LogTail.Position?
    /// Whether the tail ends before the snapshot's position, so that nothing may be appended to it.
    private(set) var isSealed = false
    private(set) var previous: PreviousRecord?
    private(set) var firstLiveSegment: UInt32 = 0
    /// Files of segments before the first one that still exist.
    private(set) var orphanedSegments: [UInt32] = []
    /// The bytes of the segments before the tail.
    private(set) var byteCounts: [UInt32: Int] = [:]

    init(
        in folder: StoreFolder,
        segments: SegmentTable,
        snapshotFile: SnapshotFile,
        usesSnapshot: Bool
    ) throws(StoreError) {
        guard let latest = try segments.latestNumbers() else {
            // The numbers of segments begin at 1 again: a snapshot of the segments that are gone would be taken for later
            // than the new ones.
            snapshotIsForeign = try snapshotFile.exists()
            return
        }
        let (first, last) = (latest.first, latest.last)
        firstLiveSegment = first
        orphanedSegments = latest.orphans

        let snapshot = usesSnapshot ? try snapshotFile.open() : nil
        if let snapshot, snapshot.position.segment >= first, snapshot.position.segment <= last,
            let segment = try segments.segment(snapshot.position.segment)
        {
            let size = try segments.byteCount(of: segment)
            self.snapshot = snapshot
            // Records that were cut off stay in the index: they read as damaged, not as their former versions. The log
            // continues in another segment, so that no new record takes their place.
            isSealed = size < Int(snapshot.position.offset)
            let end = min(size, Int(snapshot.position.offset))
            tail = LogTail.Position(segment: segment, end: end)
            previous = snapshot.previous
            byteCounts = latest.byteCounts.filter { $0.key < segment.number }
        } else if let segment = try segments.segment(first) {
            snapshotIsForeign = snapshot.map { $0.position.segment > last } ?? !usesSnapshot
            if let snapshot, snapshot.position.segment > last {
                // Was its segment begun after the listing?
                guard try segments.numbers().last == last else { throw LogStatus.stale(folder.path) }
                laterSnapshot = snapshot
            }
            tail = LogTail.Position(segment: segment, end: segment.headerByteCount ?? 0)
        }
    }
}
