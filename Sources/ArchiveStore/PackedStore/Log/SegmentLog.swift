import Foundation

/// The log as its writer changes it: records are appended to the last segment, segments begun, given up and removed.
///
/// Only the last segment, the tail, is appended to. The index follows from the records of all segments in their order;
/// the last record of a key decides. Segments are given up from the front only, so that no record older than a removal
/// is left when the removal goes.
struct SegmentLog: Sendable {
    let folder: StoreFolder
    let settings: StoreSettings
    let tail: LogTail
    let reader: RecordReader
    let commits: GroupCommit
    let owedRemovals: OwedRemovals
    let snapshot: SnapshotFile
    var chain: SegmentChain
    var index: LogIndex
    var counts = LogCounts()
    /// Whether the snapshot is of a log that continued differently, and must not be taken for this log's later.
    var snapshotIsForeign: Bool
    /// The record appended or followed last, which the next one describes; `nil` at the log's start.
    var previous: PreviousRecord?
    /// Hashes of keys whose latest records are missing at the end of the log, and which have no loss record yet.
    var lostHashes: [UInt64] = []
    /// The segment of a floor for which there was no room yet, and whether the floor hides entries: without it other
    /// processes return some that are gone here.
    private var owedFloor: (segment: UInt32, hidesEntries: Bool)? {
        didSet { status.owesFloor = owedFloor?.hidesEntries == true }
    }
    /// The tail's number when slots without records were last removed; 0 if they never were.
    var cleanedSegment: UInt32 = 0

    init(
        folder: StoreFolder,
        settings: StoreSettings,
        tail: LogTail,
        reader: RecordReader,
        commits: GroupCommit,
        owedRemovals: OwedRemovals,
        start: LogStart
    ) {
        self.folder = folder
        self.settings = settings
        self.tail = tail
        self.reader = reader
        self.commits = commits
        self.owedRemovals = owedRemovals
        snapshot = SnapshotFile(in: folder, isLimited: settings.isLimited)
        chain = SegmentChain(
            segments: reader.segments,
            tail: tail,
            status: reader.status,
            orphanedSegments: start.orphanedSegments
        )
        for (number, byteCount) in start.byteCounts { chain.setByteCount(byteCount, of: number) }
        index = LogIndex(reader.index)
        snapshotIsForeign = start.snapshotIsForeign
        previous = start.previous
    }

    var segments: SegmentTable { reader.segments }
    var status: LogStatus { reader.status }

    // MARK: Lengths

    /// The length up to which segments grow, unless one record is longer. It is a part of the bytes that all segments
    /// may take, so that giving one up loses little, and short enough to be read without a pause.
    var segmentByteCount: Int {
        guard let limit = settings.byteLimit else {
            return min(max(chain.byteCount / Self.segmentsPerTotal, 1 << 17), Self.largestSegmentByteCount)
        }
        // With room for a few heads: if a store with another limit began the segment, the dictionary may be long.
        let least = headerByteCount + Record.largestFieldsByteCount * 4
        return min(max(limit / Self.segmentsPerLimit, least), Self.largestSegmentByteCount)
    }

    static let largestSegmentByteCount = 4 << 20
    private static let segmentsPerLimit = 32
    private static let segmentsPerTotal = 4

    /// The header length of a segment with the current dictionary.
    var headerByteCount: Int { SegmentHeader.byteCount(with: tail.dictionary) }

    /// Whether records of `byteCount` bytes are appended to the tail.
    private func tailTakes(_ byteCount: Int) -> Bool {
        guard let tail = tail.current, !chain.isSealed else { return false }
        return tail.isEmpty || tail.end + byteCount <= segmentByteCount
    }

    /// How many bytes records may have together so that they go to the segment that the next record goes to.
    var roomForBatch: Int {
        guard let tail = tail.current, !chain.isSealed else { return segmentByteCount - headerByteCount }
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
        try appendOwedRecords(before: draft.byteCount)
        let tail = try tail(for: draft.byteCount)
        let place = setPlace(of: &draft, in: tail.segment, at: tail.end, after: previous)
        try write(draft.content, to: tail)
        previous = PreviousRecord(byteCount: draft.byteCount, hash: draft.hash)
        counts.addAppendedRecord()
        return place
    }

    /// Appends records one after another with one write, all of them or none.
    ///
    /// - Parameter areNew: whether they are saves of entries, and not moved entries or records about entries.
    /// - Returns: the place of each.
    /// - Precondition: no other process changes the log.
    mutating func append(
        _ drafts: inout [RecordDraft],
        areNew: Bool = false
    ) throws(StoreError) -> [RecordPlace] {
        let byteCount = drafts.reduce(0) { $0 + $1.byteCount }
        guard byteCount > 0 else { return [] }
        try appendOwedRecords(before: byteCount)
        let tail = try tail(for: byteCount)
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
        try write(FileContent(bytes), to: tail)
        self.previous = previous
        if areNew {
            counts.addAppendedRecords(drafts.count)
        } else {
            counts.addAppendedBatch(of: drafts.count)
        }
        return places
    }

    /// Appends the records for which there was no room until now.
    ///
    /// - Parameter byteCount: the bytes of the record to append then, which has the room within the limit before removals.
    mutating func appendOwedRecords(before byteCount: Int = 0) throws(StoreError) {
        try appendLosses()
        try appendOwedFloorIfThereIsRoom()
        try appendUntoldRemovals(before: byteCount)
    }

    private func setPlace(
        of draft: inout RecordDraft,
        in segment: Segment,
        at offset: Int,
        after previous: PreviousRecord?
    ) -> RecordPlace {
        let place = RecordPlace(segment: segment.number, offset: UInt32(offset))
        let isFirst = offset == segment.headerByteCount ?? 0
        draft.setPlace(place, isFirst: isFirst, previous: previous)
        return place
    }

    private mutating func write(_ content: FileContent, to tail: LogTail.Position) throws(StoreError) {
        self.tail.hide()
        do {
            try tail.segment.file.write(content, at: tail.end)
        } catch {
            bestEffort("the next process that appends cuts the partial record, which takes space until then") {
                () throws(SystemError) in
                try tail.segment.file.truncate(to: tail.end)
            }
            throw failure(error, in: tail.segment, "appending to a segment")
        }
        counts.addAppendedBytes(content.count)
        self.tail.extend(to: tail.end + content.count)
    }

    /// Cuts off the bytes behind the last record.
    func cutPartialRecord() throws(StoreError) {
        guard let tail = tail.current else { return }
        try checkSnapshot()
        do {
            try tail.segment.file.truncate(to: tail.end)
        } catch {
            throw failure(error, in: tail.segment, "cutting a segment")
        }
    }

    /// The error of a change to the tail, which may have been opened when writing was not allowed.
    private func failure(_ error: SystemError, in tail: Segment, _ action: String) -> StoreError {
        let path = segments.path(tail.number)
        guard error.number == EBADF || error.number == EINVAL else {
            return StoreError(error, path: path, action: action)
        }
        // If writing is allowed by now, the segment is opened anew.
        status.markBroken()
        guard let refusal = folder.root.refusalToWrite(Segment.fileName(tail.number)) else { return status.stale() }
        return StoreError(refusal, path: path, action: action)
    }

    // MARK: Following

    /// Notes a record that was found behind the last known one.
    mutating func noteFollowed(_ record: Record, hash: UInt64) {
        previous = PreviousRecord(byteCount: record.byteCount, hash: hash)
        counts.addFollowedRecord()
    }

    /// Whether a record found behind the last known one describes that one.
    func isNext(_ record: Record) -> Bool {
        guard let previous else { return true }
        return record.comesAfter(byteCount: previous.byteCount) && record.previousHash == previous.hash
    }

    /// Where the log stands, for a snapshot; `nil` behind a seal: nothing may be appended there, but a process that
    /// began at this position would do so.
    mutating func takeSnapshotPosition() -> IndexSnapshot.Position? {
        guard let tail = tail.current, !chain.isSealed else { return nil }
        counts.noteSnapshot()
        let place = RecordPlace(segment: tail.segment.number, offset: UInt32(tail.end))
        return .init(place: place, previous: previous)
    }

    /// Has the log opened anew if there is a snapshot of a place behind its end: the snapshot knows of records that are
    /// missing, and is not of this log any more once other records follow.
    private func checkSnapshot() throws(StoreError) {
        if snapshotIsForeign { return }
        var known: IndexSnapshot?
        bestEffort("as without a snapshot, records that are missing are not known") { () throws(StoreError) in
            known = try snapshot.open()
        }
        if let known, known.position > tail.end { throw status.stale() }
    }

    // MARK: Segments

    /// The segment to append `byteCount` more bytes to; a new one if the tail has no room.
    private mutating func tail(for byteCount: Int) throws(StoreError) -> LogTail.Position {
        if tailTakes(byteCount), let tail = tail.current { return tail }
        return try beginSegment(dictionary: tail.dictionary)
    }

    /// Ends the tail, and begins another one.
    ///
    /// The next segment is written as a draft before the tail gets its seal, and gets its name after that. So a process
    /// that finds a seal does not wait long for the next segment, and none appends to a segment that is not the last.
    @discardableResult
    mutating func beginSegment(dictionary: PresetDictionary?) throws(StoreError) -> LogTail.Position {
        let former = tail.current
        let number = (former?.segment.number ?? chain.firstLiveSegment) + 1
        guard number <= Segment.largestNumber else { throw try removeAllSegments() }
        try checkSnapshot()
        let fileName = Segment.fileName(number)
        let session = try folder.session()
        let header = SegmentHeader.bytes(
            number: number,
            begunAt: Date.now.timeIntervalSinceReferenceDate,
            dictionary: dictionary
        )
        let draft = try session.write(header, synchronized: settings.isDurable).name
        do throws(StoreError) {
            if let former {
                // The process that sealed it may have died before it began the next one.
                if chain.isSealed, chain.byteCounts[former.segment.number] == nil {
                    chain.setByteCount(former.end, of: former.segment.number)
                } else if !chain.isSealed {
                    try seal(former)
                }
            }
            try attempt("beginning a segment", segments.path(number)) { () throws(SystemError) in
                try session.directory.rename(draft, to: fileName, in: folder.root)
            }
            try commits.synchronizeNames()
        } catch {
            session.discard(draft)
            throw error
        }
        guard let segment = try segments.segment(number) else { throw status.stale() }
        chain.isSealed = false
        if chain.firstLiveSegment == 0 { chain.raiseFirstLiveSegment(to: number) }
        tail.set(segment, end: segment.headerByteCount ?? 0)
        return LogTail.Position(segment: segment, end: segment.headerByteCount ?? 0)
    }

    private mutating func seal(_ tail: LogTail.Position) throws(StoreError) {
        var seal = RecordDraft.seal
        _ = setPlace(of: &seal, in: tail.segment, at: tail.end, after: previous)
        try write(seal.content, to: tail)
        previous = PreviousRecord(byteCount: seal.byteCount, hash: 0)
        chain.setByteCount(tail.end + seal.byteCount, of: tail.segment.number)
        chain.isSealed = true
        try commits.synchronize(tail.segment, upTo: tail.end + seal.byteCount)
    }

    /// Removes all segments, so that numbers begin at 1 again in another log: all 28-bit numbers are used up.
    ///
    /// - Returns: the error that makes the store open that log.
    private mutating func removeAllSegments() throws(StoreError) -> StoreError {
        chain.addOrphanedSegments(try segments.numbers().sorted(by: >))
        // It would be taken for later than the other log.
        snapshotIsForeign = true
        try removeLeftovers()
        return status.stale()
    }

    // MARK: Removing

    /// Whether files are left that ``removeLeftovers()`` removes.
    var hasLeftovers: Bool { chain.hasOrphanedSegments || snapshotIsForeign }

    /// Removes the files that a killed process left of given-up segments, and a snapshot that is not of this log.
    mutating func removeLeftovers() throws(StoreError) {
        if snapshotIsForeign {
            try snapshot.remove()
            snapshotIsForeign = false
        }
        try chain.removeOrphanedSegments()
    }

    /// Appends a floor, which tells other processes that all segments before one are given up. Where there is no room for
    /// it, it is appended before the next record.
    ///
    /// - Parameter hidesEntries: whether there are entries in those segments.
    mutating func appendFloor(_ number: UInt32, hidesEntries: Bool) throws(StoreError) {
        let hidesEntries = hidesEntries || owedFloor?.hidesEntries == true
        owedFloor = (number, hidesEntries)
        if hidesEntries { owedRemovals.setFloor(number) }
        try appendOwedFloorIfThereIsRoom()
    }

    /// Owes the floor that a log before this one has left, when this one is opened.
    ///
    /// Only a floor that hides nothing here: if there are entries in the segments before it, another log took the place of
    /// the one that it is of.
    mutating func takeOwedFloor() {
        let floor = owedRemovals.floor
        guard floor > (owedFloor?.segment ?? 0), floor <= chain.firstLiveSegment, let number = tail.number,
            floor <= number
        else { return }
        owedFloor = (floor, hidesEntries: true)
    }

    /// Notes a floor that was found damaged, and is appended before the next record.
    mutating func addFloor(_ number: UInt32) {
        // Another process that opens the log finds it as well.
        owedFloor = (number, hidesEntries: false)
    }

    /// Whether there was no room yet for a floor.
    var owesFloor: Bool { owedFloor != nil }

    /// Appends the floor for which there was no room until now.
    mutating func appendOwedFloor() throws(StoreError) {
        guard let owed = owedFloor else { return }
        owedFloor = nil
        var floor = RecordDraft.floor(owed.segment)
        do throws(StoreError) {
            _ = try append(&floor)
        } catch {
            owedFloor = owed
            throw error
        }
        if owed.hidesEntries { owedRemovals.setFloor(0) }
    }

    private mutating func appendOwedFloorIfThereIsRoom() throws(StoreError) {
        do throws(StoreError) {
            try appendOwedFloor()
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
    }

    /// Appends the removals that were written over entries where they stood, of keys that still have no entry.
    private mutating func appendUntoldRemovals(before byteCount: Int) throws(StoreError) {
        guard owedRemovals.hasUntold else { return }
        let budget = SpaceBudget(settings)
        var untold = owedRemovals.takeUntold()
        defer { for (digest, key) in untold { owedRemovals.addUntold(key, digest) } }
        for (digest, key) in untold {
            if try hasNoEntry(digest) {
                var removal = RecordDraft.removal(key: key, hash: digest.high)
                guard budget.fits(removal.byteCount + byteCount, in: self) else { return }
                do throws(StoreError) {
                    _ = try append(&removal)
                } catch {
                    guard error.isOutOfSpace else { throw error }
                    return
                }
            }
            untold[digest] = nil
        }
    }

    private func hasNoEntry(_ digest: KeyDigest) throws(StoreError) -> Bool {
        guard reader.index.slot(digest) == nil else { return false }
        // If a part of the index could not be loaded, its entries only seem to be missing.
        try status.checkIndex()
        return true
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
