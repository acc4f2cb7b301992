import Foundation

/// Where a log that is being opened is followed from: the position of its snapshot, or the first segment.
struct LogStart {
    /// The snapshot that the index comes from.
    private(set) var snapshot: IndexSnapshot?
    /// Copies of dictionaries, which a snapshot has whether the index comes from it or not.
    private(set) var dictionaries: [StoredDictionary] = []
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
        guard let latest = try segments.latestNumbers() else { return }
        let first = latest.first
        // The last segment tells which log this is: one that was put before it does not count.
        if segments.keys != nil { _ = try segments.segment(latest.last) }

        let snapshot = try snapshotFile.open()
        dictionaries = snapshot?.dictionaries ?? []
        if usesSnapshot, let snapshot, snapshot.position.segment >= first,
            snapshot.position.segment <= latest.last,
            let segment = try segments.segment(snapshot.position.segment),
            // Otherwise it is of another log. Where the header is damaged, that is not known.
            segment.header.map({ $0.identity == snapshot.segmentIdentity }) ?? true
        {
            self.snapshot = snapshot
            tail = LogTail.Position(segment: segment, end: Int(snapshot.position.offset))
            previous = snapshot.previous
            byteCounts = latest.byteCounts.filter { $0.key < segment.number }
        } else if let segment = try segments.segment(first) {
            tail = LogTail.Position(segment: segment, end: segment.headerByteCount ?? 0)
        } else {
            // Other processes have dropped it since, or the folder was emptied: the log is followed from the segments that
            // are there by then.
            return
        }
        firstLiveSegment = first
        orphanedSegments = latest.orphans
    }
}
