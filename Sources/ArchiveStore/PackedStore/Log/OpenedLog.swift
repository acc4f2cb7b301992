import Sealing

/// A log that was followed to its end: from its snapshot, or from its first segment.
struct OpenedLog {
    let tail: LogTail
    let reader: RecordReader
    let commits: GroupCommit
    private(set) var log: SegmentLog
    private(set) var follower: LogFollower

    /// - Parameters:
    ///   - usesSnapshot: Whether the index may come from a snapshot; otherwise all records are read.
    ///   - keys: The keys that its files are encrypted with; `nil`: they are not encrypted.
    ///   - owedRemovals: The store's.
    ///   - hashing: Returns a key's digest.
    ///   - onDamage: Runs when a part of the snapshot turns out to be damaged.
    ///   - told: Up to where the store's user knows all changes; `nil`: of none.
    init(
        in folder: StoreFolder,
        settings: StoreSettings,
        keys: SealingKeys?,
        owedRemovals: OwedRemovals,
        usesSnapshot: Bool,
        onDamage: @escaping @Sendable () -> Void,
        told: LogPosition?,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) throws(StoreError) {
        let segments = SegmentTable(root: folder.root, path: folder.path, keys: keys)
        let status = LogStatus(path: folder.path)
        let start = try LogStart(
            in: folder,
            segments: segments,
            snapshotFile: SnapshotFile(in: folder, isLimited: settings.isLimited, keys: keys),
            usesSnapshot: usesSnapshot
        )
        status.firstLiveSegment = start.firstLiveSegment
        segments.addSpares(start.dictionaries)
        let index: PackedIndex
        if let snapshot = start.snapshot {
            var source = PackedIndex.Source { part in
                if let table = snapshot.table(part: part, firstLiveSegment: status.firstLiveSegment) {
                    return table
                }
                // A caller that misses an entry gets the error, and opens the log again, without the index.
                onDamage()
                status.failLoading(status.stale())
                return IndexTable()
            } look: { digest in
                snapshot.look(for: digest, firstLiveSegment: status.firstLiveSegment)
            } list: { part in
                snapshot.slots(inPart: part, firstLiveSegment: status.firstLiveSegment)
            }
            source.count = snapshot.count
            index = PackedIndex(source: source)
        } else {
            index = PackedIndex()
        }
        tail = LogTail(start.tail)
        reader = RecordReader(
            segments: segments,
            index: index,
            status: status,
            archiveByteLimit: settings.archiveByteLimit,
            hashing: hashing
        )
        commits = GroupCommit(
            folder: folder,
            segments: segments,
            tail: tail,
            owedRemovals: owedRemovals,
            isDurable: settings.isDurable
        )
        log = SegmentLog(
            folder: folder,
            settings: settings,
            tail: tail,
            reader: reader,
            commits: commits,
            start: start
        )
        follower = LogFollower(
            tail: tail,
            reader: reader,
            snapshotPosition: start.snapshot?.position
        )
        try follower.open(&log)
        if let told, told == LogPosition(of: tail, log.chain) {
            log.index.forgetChanges()
        } else {
            // Entries cached in memory before may be of another log.
            log.index.noteAnyChange()
        }
    }
}
