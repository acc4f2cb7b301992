import Foundation

/// Applies the records that other processes have appended to a log, and all records when the log is opened.
struct LogFollower: Sendable {
    /// The part that could not be read at the end of a segment that is not the last.
    private enum SegmentGap {
        case seal
        case records
    }

    private let segments: SegmentTable
    private let tail: LogTail
    private let reader: RecordReader
    private let commits: GroupCommit
    private let status: LogStatus
    /// Where following began; `nil`: at the first segment.
    private let snapshotPosition: RecordPlace?
    /// The damaged bytes just before the next record: their place and number.
    private var damage: (place: RecordPlace, byteCount: Int)?
    /// The part missing from the end of the former segment, if that has no seal.
    private var gap: SegmentGap?
    /// The tail's length when many bytes were found behind its last whole record; only a change reads them again.
    private var longByteCount: Int?
    /// Whether the log is still being opened, when every segment is looked at, sealed or not.
    private var isOpening = true

    init(tail: LogTail, reader: RecordReader, commits: GroupCommit, snapshotPosition: RecordPlace?) {
        segments = reader.segments
        self.tail = tail
        self.reader = reader
        self.commits = commits
        status = reader.status
        self.snapshotPosition = snapshotPosition
    }

    /// Applies every record when the log is opened.
    mutating func open(_ log: inout SegmentLog) throws(StoreError) {
        try follow(&log)
        isOpening = false
    }

    /// Applies every record that is not in the index yet.
    ///
    /// Bytes at the end that are no whole record may be one that is being written, and are left for a later call.
    mutating func follow(_ log: inout SegmentLog) throws(StoreError) {
        try followToTheEnd(&log)
        // Not before: behind a segment that was read to its seal there may be others.
        tail.show()
    }

    /// Has the bytes behind the last whole record be read again: a change must know whether they are records.
    mutating func readTailAgain() { longByteCount = nil }

    private mutating func followToTheEnd(_ log: inout SegmentLog) throws(StoreError) {
        while true {
            guard let current = tail.current else {
                guard let first = try segments.latestNumbers()?.first else { return }
                // Given up just now: there are other segments.
                guard let segment = try segments.segment(first) else { continue }
                raiseFirstLiveSegment(to: first, of: &log)
                tail.set(segment, end: segment.headerByteCount ?? 0)
                continue
            }
            if log.chain.isSealed {
                guard try advance(from: current, in: &log) else { return tail.markSealed() }
                continue
            }
            let size = try segments.byteCount(of: current.segment)
            // Cut short by another process: records in the index may be gone.
            if size < current.end { throw status.stale() }
            if size == current.end || size == longByteCount, !isOpening { return }
            longByteCount = nil
            var isIntact = true
            do throws(SystemError) {
                var scanner = SegmentScanner(current.segment, from: current.end, to: size)
                // Wherever the scan ends, so that no record is applied twice.
                defer { tail.set(current.segment, end: scanner.offset) }
                while !log.chain.isSealed, let step = try scanner.next() { try take(step, in: &log) }
                if scanner.offset == current.end, size > current.end {
                    isIntact = try hasLastRecord(of: log, endingAt: current.end, in: current.segment)
                }
            } catch {
                throw StoreError(error, path: segments.path(current.segment.number), action: "following a segment")
            }
            if !isIntact { throw status.stale() }
            if log.chain.isSealed { continue }
            // A seal comes before the next segment: if that is there, the seal is damaged.
            guard try advance(from: current, unsealedAt: size, in: &log) else {
                let end = tail.current?.end ?? current.end
                if size - end > Self.shortByteCount { longByteCount = size }
                return
            }
        }
    }

    /// Whether the last known record is still where it was.
    ///
    /// Otherwise another process, which could not read that record, may have made the tail shorter, and have appended a record
    /// that goes beyond the known end: the bytes there look like a write that was cut short, and are the middle of that
    /// record. The log is opened anew then, without its snapshot if the record is the snapshot's last: so every process comes
    /// to the same end.
    private func hasLastRecord(
        of log: borrowing SegmentLog,
        endingAt end: Int,
        in segment: Segment
    ) throws(SystemError) -> Bool {
        guard let last = log.previous else { return true }
        let start = end - last.byteCount
        // It is in the segment before.
        guard start >= segment.headerByteCount ?? 0 else { return true }
        let head = try segment.file.read(min(last.byteCount, Record.largestHeadByteCount), at: start)
        let place = RecordPlace(segment: segment.number, offset: UInt32(clamping: start))
        do throws(RecordFault) {
            let record = try Record(head: head, at: place)
            return record.byteCount == last.byteCount && reader.digest(of: record).high == last.hash
        } catch {
            return false
        }
    }

    /// Up to this many bytes behind the last record are read again each time.
    private static let shortByteCount = 1 << 14

    /// Moves on to the next segment; returns false if there is none.
    ///
    /// - Parameter size: the tail's length when no seal was found in it; `nil` if it has one.
    private mutating func advance(
        from current: LogTail.Position,
        unsealedAt size: Int? = nil,
        in log: inout SegmentLog
    ) throws(StoreError) -> Bool {
        let number = current.segment.number
        var following = try segments.segment(number + 1)
        if following == nil, let last = try segments.numbers().last, last > number {
            // It may have been begun just now.
            following = try segments.segment(number + 1)
            // Other processes gave up the next segment before this one saw it: its records are unknown.
            if following == nil { throw status.stale() }
        }
        guard let next = following else { return false }
        let end = tail.current?.end ?? current.end
        if let size {
            // It has grown since `size` was read, and may have been sealed.
            if try segments.byteCount(of: current.segment) != size { return true }
            gap = try isDamagedSeal(at: end, to: size, of: current.segment) ? .seal : .records
        }
        // The process that sealed it may not have synchronized it.
        if !isOpening {
            try commits.synchronize(current.segment, upTo: size ?? end)
            commits.forgetNames()
        }
        log.chain.setByteCount(size ?? end, of: number)
        log.chain.isSealed = false
        tail.set(next, end: next.headerByteCount ?? 0)
        return true
    }

    /// Whether the bytes behind the last whole record are a damaged seal, and not a record that was cut off.
    private func isDamagedSeal(at start: Int, to end: Int, of segment: Segment) throws(StoreError) -> Bool {
        guard Record.sealByteCounts.contains(end - start) else { return false }
        return try attempt("following a segment", segments.path(segment.number)) { () throws(SystemError) in
            Record.isNearlySeal(try segment.file.read(end - start, at: start))
        }
    }

    // MARK: Records

    private mutating func take(_ step: SegmentScanner.Step, in log: inout SegmentLog) throws(SystemError) {
        switch step {
        case .damage(let place, let byteCount):
            damage = (place, byteCount)
        case .record(let record, let place):
            let digest = reader.digest(of: record)
            try checkOrder(of: record, at: place, in: &log)
            apply(record, at: place, digest, to: &log)
            log.noteFollowed(record, hash: digest.high)
        }
    }

    /// Finds out which records are missing before a record.
    ///
    /// - Throws: `ESTALE` if that is unknown: all segments must be read from the first one.
    private mutating func checkOrder(
        of record: Record,
        at place: RecordPlace,
        in log: inout SegmentLog
    ) throws(SystemError) {
        let damage = damage
        let gap = gap
        self.damage = nil
        self.gap = nil
        if let damage, !record.isFirst {
            // One record was damaged, and this one has the hash of its key.
            if record.comesAfter(byteCount: damage.byteCount) {
                return markDamaged(record.previousHash, at: damage.place, byteCount: damage.byteCount, in: &log)
            }
            try passGap()
            return try countDamage(damage.place, byteCount: damage.byteCount, in: &log)
        }
        if record.isFirst, gap == .seal, Record.sealByteCounts.contains(where: record.comesAfter) { return }
        if !log.isNext(record) { try passGap() }
    }

    /// Goes on after records that are missing, whose keys are unknown.
    ///
    /// While the log is opened nothing is dropped: after a power failure the missing records are later than all that had
    /// returned, and an entry before them is sound. A key whose latest record is missing may then have its former value.
    /// A process that has the log open may not have missing records before it, but another log in the place of its own.
    ///
    /// - Throws: `ESTALE` if all segments must be read from the first one.
    private func passGap() throws(SystemError) {
        // Entries that are known already, or from a snapshot, may be of a log that was cut and has grown again since.
        guard isOpening, snapshotPosition == nil else {
            status.markBroken()
            throw SystemError(number: ESTALE)
        }
    }

    /// Counts damaged records of unknown keys as a damaged entry of no key, but for zeros: a power failure leaves those where
    /// blocks never reached the device.
    private func countDamage(
        _ place: RecordPlace,
        byteCount: Int,
        in log: inout SegmentLog
    ) throws(SystemError) {
        guard let segment = tail.current?.segment else { return }
        let start = try segment.file.read(min(byteCount, Record.largestHeadByteCount), at: Int(place.offset))
        guard start.contains(where: { $0 != 0 }) else { return }
        log.index.markDamaged(reader.hash(ofDamaged: start), at: place, byteCount: byteCount)
    }

    /// Marks the latest entry of a key as damaged: a fetch is to find the damage, not an older entry. If the damaged record
    /// was a floor, there is no such entry.
    func markDamaged(_ hash: UInt64, at place: RecordPlace, byteCount: Int, in log: inout SegmentLog) {
        guard let floor = KeyDigest.segment(ofHash: hash) else {
            return log.index.markDamaged(hash, at: place, byteCount: byteCount)
        }
        // A floor's segment is not above the one that it is in.
        if floor <= place.segment { raiseFirstLiveSegment(to: floor, of: &log) }
    }

    private func apply(
        _ record: Record,
        at place: RecordPlace,
        _ digest: KeyDigest,
        to log: inout SegmentLog
    ) {
        switch record.kind {
        case .entry:
            log.index.follow(IndexSlot(record, digest, place: place))
        case .removal: log.index.remove(digest)
        case .loss: log.index.removeAll(digest.high)
        case .floor: raiseFirstLiveSegment(to: UInt32(clamping: record.serial), of: &log)
        case .seal: log.chain.isSealed = true
        case nil: break
        }
    }

    /// Notes that all segments before this one are gone, or about to go.
    private func raiseFirstLiveSegment(to number: UInt32, of log: inout SegmentLog) {
        guard number > log.chain.firstLiveSegment, number <= Segment.largestNumber else { return }
        // The process that gave them up may have been killed before it removed them.
        if isOpening {
            log.chain.addOrphanedSegments(log.chain.byteCounts.keys.filter { $0 < number }.sorted(by: >))
        }
        log.chain.raiseFirstLiveSegment(to: number)
        log.index.removeSegments(before: number)
        // The snapshot was removed with the segment of its position, and gives its blocks back when it is closed.
        if let snapshotPosition, snapshotPosition.segment < number { log.index.slots.loadAll() }
    }
}
