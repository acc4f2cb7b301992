import Foundation

/// The log as its writer changes it: records are appended to the last segment, segments begun, dropped and removed.
///
/// Only the last segment, the tail, is appended to. The index follows from the records of all segments in their order;
/// the last record of a key decides. Segments are dropped from the front only, so that no record older than a removal
/// is left when the removal goes.
struct SegmentLog: Sendable {
    let folder: StoreFolder
    let settings: StoreSettings
    let tail: LogTail
    let reader: RecordReader
    let commits: GroupCommit
    let snapshot: SnapshotFile
    var chain: SegmentChain
    var index: LogIndex
    var counts = LogCounts()
    /// The record appended or followed last, which the next one describes; `nil` at the log's start.
    var previous: PreviousRecord?
    /// Whether little of the volume is free. Then entries are appended only if blocks for more records follow them in the file,
    /// the margin: removals, floors and seals have room there on a full volume.
    var keepsMargin = false
    /// How long segments become at most where the reserve is short: it must have room for the entries of each.
    var longestMovable = Int.max
    /// See ``BootIdentity``.
    let boot: UInt64
    /// The tail's number when slots without records were last removed; 0 if they never were.
    var cleanedSegment: UInt32 = 0

    init(
        folder: StoreFolder,
        settings: StoreSettings,
        tail: LogTail,
        reader: RecordReader,
        commits: GroupCommit,
        start: LogStart
    ) {
        self.folder = folder
        self.settings = settings
        self.tail = tail
        self.reader = reader
        self.commits = commits
        snapshot = SnapshotFile(in: folder, isLimited: settings.isLimited, keys: reader.segments.keys)
        chain = SegmentChain(
            segments: reader.segments,
            tail: tail,
            status: reader.status,
            orphanedSegments: start.orphanedSegments
        )
        for (number, byteCount) in start.byteCounts { chain.setByteCount(byteCount, of: number) }
        index = LogIndex(reader.index)
        boot = BootIdentity.current(for: folder.root)
        previous = start.previous
    }

    var segments: SegmentTable { reader.segments }
    /// Whether there are entries that were saved under `.power`, by whichever process.
    var isDurable: Bool { settings.isDurable || tail.current?.segment.header?.isDurable == true }
    var status: LogStatus { reader.status }

    // MARK: Lengths

    /// The length up to which segments grow, unless one record is longer. It is a part of the bytes that all segments
    /// may take, so that giving one up loses little, and short enough to be read without a pause.
    var segmentByteCount: Int { min(wantedSegmentByteCount, longestMovable) }

    /// As above, where the reserve is long enough.
    var wantedSegmentByteCount: Int {
        guard let limit = settings.byteLimit else {
            // The first segment is short, so that the entries after it soon have a dictionary.
            let first = Self.firstSegmentByteCount
            let least = chain.byteCount <= first ? first : settings.leastSegmentByteCount
            return min(max(chain.byteCount / Self.segmentsPerTotal, least), Self.largestSegmentByteCount)
        }
        // With room for a few heads: if a store with another limit began the segment, the dictionary may be long.
        let least = headerByteCount + Record.largestFieldsByteCount * 4
        return min(max(limit / Self.segmentsPerLimit, least), Self.largestSegmentByteCount)
    }

    static let largestSegmentByteCount = 4 << 20
    private static let firstSegmentByteCount = 1 << 17
    private static let segmentsPerLimit = 32
    private static let segmentsPerTotal = 4

    /// The header length of a segment with the current dictionary.
    var headerByteCount: Int { SegmentHeader.byteCount(with: tail.dictionary, isSealed: reader.isSealed) }

    /// Whether records are appended to the tail at all. Not to one of an earlier start of the system, of which bytes may be
    /// missing; nor under `.power` to one whose header does not say so; nor to one that is encrypted with a former key.
    var isTailOpen: Bool {
        guard let tail = tail.current, !chain.isSealed, !chain.isUnclean, let header = tail.segment.header else {
            return false
        }
        return header.boot == boot && (header.isDurable || !settings.isDurable)
            && header.key == segments.keys?.current.identifier ?? 0
    }

    /// Whether records of `byteCount` bytes are appended to the tail.
    func tailTakes(_ byteCount: Int) -> Bool {
        guard isTailOpen, let tail = tail.current else { return false }
        return tail.isEmpty || tail.end + byteCount <= segmentByteCount
    }

    /// How many bytes records may have together so that they go to the segment that the next record goes to.
    var roomForBatch: Int {
        guard isTailOpen, let tail = tail.current else { return segmentByteCount - headerByteCount }
        return segmentByteCount - tail.end
    }

    /// By how many bytes the segments grow if records of `byteCount` bytes are appended.
    func growth(toAppend byteCount: Int) -> Int {
        if tailTakes(byteCount) { return byteCount }
        return byteCount + Record.largestFieldsByteCount + headerByteCount
    }

    // MARK: Appending

    /// Appends a record, whole or not at all.
    ///
    /// - Precondition: no other process changes the log.
    mutating func append(_ draft: inout RecordDraft) throws(StoreError) -> RecordPlace {
        let tail = try tail(for: draft.byteCount, usesMargin: !draft.isEntry)
        let place = setPlace(of: &draft, in: tail.segment, at: tail.end, after: previous)
        try write(draft.content, to: tail, usesMargin: !draft.isEntry)
        previous = PreviousRecord(byteCount: draft.byteCount, hash: draft.hash)
        counts.addAppendedRecord()
        return place
    }

    /// Appends records one after another with one write, all of them or none.
    ///
    /// - Parameter areNew: whether they are saves of entries, and not moved entries or records about entries, which may take the
    ///   margin.
    /// - Returns: the place of each.
    /// - Precondition: no other process changes the log.
    mutating func append(
        _ drafts: inout [RecordDraft],
        areNew: Bool = false
    ) throws(StoreError) -> [RecordPlace] {
        let byteCount = drafts.reduce(0) { $0 + $1.byteCount }
        guard byteCount > 0 else { return [] }
        let tail = try tail(for: byteCount, usesMargin: !areNew)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        var places: [RecordPlace] = []
        places.reserveCapacity(drafts.count)
        var previous = previous
        for position in drafts.indices {
            let offset = tail.end + bytes.count
            let place = setPlace(
                of: &drafts[position],
                in: tail.segment,
                at: offset,
                after: previous
            )
            places.append(place)
            drafts[position].content.forEachPiece { bytes += $0 }
            previous = PreviousRecord(byteCount: drafts[position].byteCount, hash: drafts[position].hash)
        }
        try write(FileContent(bytes), to: tail, usesMargin: !areNew)
        self.previous = previous
        if areNew {
            counts.addAppendedRecords(drafts.count)
        } else {
            counts.addAppendedBatch(of: drafts.count)
        }
        return places
    }

    func setPlace(
        of draft: inout RecordDraft,
        in segment: Segment,
        at offset: Int,
        after previous: PreviousRecord?
    ) -> RecordPlace {
        let place = RecordPlace(segment: segment.number, offset: UInt32(offset))
        let layer = folder.root.layer
        draft.setPlace(place, in: segment.form, previous: previous) { .random(layer) }
        return place
    }

    /// - Parameter usesMargin: Whether the records may take the margin.
    mutating func write(
        _ content: FileContent,
        to tail: LogTail.Position,
        usesMargin: Bool
    ) throws(StoreError) {
        self.tail.hide()
        do throws(SystemError) {
            if keepsMargin {
                try allocate(tail.end..<tail.end + content.count, of: tail.segment, usesMargin: usesMargin)
            }
            try tail.segment.file.write(content, at: tail.end)
        } catch {
            if error.isFull { keepsMargin = true }
            // Other processes may have read the bytes. So they are not overwritten, and the next record begins a
            // segment.
            let size = try? tail.segment.file.byteCount()
            chain.isUnclean = size != tail.end
            throw failure(error, in: tail.segment, "appending to a segment")
        }
        counts.addAppendedBytes(content.count)
        self.tail.extend(to: tail.end + content.count)
    }

    /// Has the file blocks for a range, and for the margin after it.
    private func allocate(
        _ range: Range<Int>,
        of segment: Segment,
        usesMargin: Bool
    ) throws(SystemError) {
        do throws(SystemError) {
            try segment.file.allocateAhead(range.lowerBound..<range.upperBound + marginByteCount)
        } catch {
            guard error.isFull, usesMargin else { throw error }
            try segment.file.allocateAhead(range)
        }
    }

    /// Room for more than a thousand removals; less in segments that are short because of a limit.
    var marginByteCount: Int { min(1 << 16, max(segmentByteCount, Segment.blockByteCount)) }

    /// The error of a change to the tail, which may have been opened when writing was not allowed.
    func failure(_ error: SystemError, in tail: Segment, _ action: String) -> StoreError {
        let path = segments.path(tail.number)
        guard error.number == EBADF || error.number == EINVAL else {
            return StoreError(error, path: path, action: action)
        }
        // If writing is allowed by now, the segment is reopened.
        status.markBroken()
        guard let refusal = folder.root.refusalToWrite(Segment.fileName(tail.number)) else { return status.stale() }
        return StoreError(refusal, path: path, action: action)
    }

    // MARK: Following

    /// Notes a record that was found after the last known one.
    mutating func noteFollowed(_ record: Record, hash: UInt64) {
        previous = PreviousRecord(byteCount: record.byteCount, hash: hash)
        counts.addFollowedRecord()
    }

    /// Where the log stands, for a snapshot; `nil` after a seal: nothing may be appended there, but a process that
    /// began at this position would do so.
    mutating func takeSnapshotPosition() -> IndexSnapshot.Position? {
        guard let tail = tail.current, !chain.isSealed, let header = tail.segment.header else { return nil }
        counts.noteSnapshot()
        let place = RecordPlace(segment: tail.segment.number, offset: UInt32(tail.end))
        return .init(place: place, previous: previous, segmentIdentity: header.identity)
    }

    // MARK: Removing

    /// Whether files are left that ``removeLeftovers()`` removes.
    var hasLeftovers: Bool { chain.hasOrphanedSegments }

    /// Removes the files that a killed process left of given-up segments.
    mutating func removeLeftovers() throws(StoreError) { try chain.removeOrphanedSegments() }

    /// Appends a floor, which tells other processes at once that all segments before one are gone. They notice without it a
    /// moment later: the next header says so, and the files are missing.
    mutating func appendFloor(_ number: UInt32) throws(StoreError) {
        var floor = RecordDraft.floor(number, isSealed: reader.isSealed)
        _ = try append(&floor)
    }

    // MARK: Entries

    /// The entry of a key; `nil` if there is none.
    ///
    /// - Throws: `.corrupted` with the place, if a record that may be the entry is damaged.
    mutating func find(
        _ key: StoreKey,
        _ digest: KeyDigest,
        extent: RecordReader.Extent
    ) throws(StoreError) -> LocatedRecord? {
        while true {
            let (found, gone) = try reader.lookUp(key, digest, extent: extent)
            guard let gone else { return found }
            // The segment's file was deleted, or the entry was removed in place.
            index.remove(gone)
        }
    }
}
