import Foundation

/// Where a log that is being opened is followed from: the position of its snapshot, or the first segment.
struct LogStart {
    /// The snapshot that the index comes from.
    private(set) var snapshot: IndexSnapshot?
    /// A snapshot that the index does not come from.
    private(set) var otherSnapshot: IndexSnapshot?
    /// Whether the snapshot is of a log that continued differently, and must not be taken for this log's later.
    private(set) var snapshotIsForeign = false
    private(set) var tail: LogTail.Position?
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

        let snapshot = try snapshotFile.open()
        if usesSnapshot, let snapshot, snapshot.position.segment >= first, snapshot.position.segment <= last,
            let segment = try segments.segment(snapshot.position.segment),
            try segments.byteCount(of: segment) >= Int(snapshot.position.offset)
        {
            self.snapshot = snapshot
            tail = LogTail.Position(segment: segment, end: Int(snapshot.position.offset))
            previous = snapshot.previous
            byteCounts = latest.byteCounts.filter { $0.key < segment.number }
        } else if let segment = try segments.segment(first) {
            snapshotIsForeign = !usesSnapshot || snapshot.map { $0.position.segment >= first } ?? false
            otherSnapshot = snapshot
            tail = LogTail.Position(segment: segment, end: segment.headerByteCount ?? 0)
        }
    }
}
