import Foundation

/// Applies the records that other processes have appended to a log, and all records when the log is opened.
///
/// Bytes that were once in a segment stay as they are, and a segment only becomes longer while it has its name. So records
/// are read once. Bytes after the last record may be one that is being written, or a part of one whose writer was killed:
/// the next process that changes the log begins another segment then, whose header says where the records end.
struct LogFollower: Sendable {
    private let segments: SegmentTable
    private let tail: LogTail
    private let reader: RecordReader
    private let status: LogStatus
    /// See ``BootIdentity``.
    private let boot: UInt64
    /// Where following began; `nil`: at the first segment.
    private let snapshotPosition: RecordPlace?
    /// The damaged bytes just before the next record: their place and number.
    private var damage: (place: RecordPlace, byteCount: Int)?
    /// The length of the tail's file when it was found not to end with its last record: other bytes follow, or it was made
    /// shorter by hand.
    private var uncleanByteCount: Int?
    /// Whether the log is still being opened, when every segment is looked at, sealed or not.
    private var isOpening = true

    init(tail: LogTail, reader: RecordReader, snapshotPosition: RecordPlace?) {
        segments = reader.segments
        self.tail = tail
        self.reader = reader
        status = reader.status
        boot = BootIdentity.current(for: reader.segments.root)
        self.snapshotPosition = snapshotPosition
    }

    /// Applies every record when the log is opened.
    mutating func open(_ log: inout SegmentLog) throws(StoreError) {
        try follow(&log)
        isOpening = false
        if let number = tail.number { log.commits.noteOpened(last: number) }
    }

    /// Applies every record that is not in the index yet.
    mutating func follow(_ log: inout SegmentLog) throws(StoreError) {
        try followToTheEnd(&log)
        // Not before: after a segment that was read to its seal there may be others.
        tail.show()
    }

    /// Has the bytes after the last whole record be read again: a change must know whether they are records.
    mutating func readTailAgain() {
        if let uncleanByteCount, uncleanByteCount > tail.byteCount { self.uncleanByteCount = nil }
    }

    private mutating func followToTheEnd(_ log: inout SegmentLog) throws(StoreError) {
        while true {
            guard let current = tail.current else {
                guard let first = try segments.latestNumbers()?.first else { return }
                // Dropped just now: there are other segments.
                guard let segment = try segments.segment(first) else { continue }
                raiseFirstLiveSegment(to: first, of: &log)
                tail.set(segment, end: segment.headerByteCount ?? 0)
                continue
            }
            if log.chain.isSealed {
                guard let next = try successor(of: current.segment, isSealed: true) else {
                    return tail.markSealed()
                }
                try advance(from: current, to: next, in: &log)
                continue
            }
            // The successor first: once there is one, the segment does not change any longer.
            let mayHaveEnded = isOpening || uncleanByteCount != nil
            let next = mayHaveEnded ? try successor(of: current.segment) : nil
            let size = try segments.byteCount(of: current.segment)
            if next == nil, size == uncleanByteCount { return }
            var end = min(size, next?.header.map { Int($0.predecessorEnd) } ?? size)
            // Cut by hand; or the author of the next segment has read less than there is in the index.
            if end < current.end {
                guard isOpening else { throw status.stale() }
                end = current.end
            }
            if size == current.end, next == nil {
                uncleanByteCount = nil
                return
            }
            try scan(current, upTo: end, in: &log)
            if log.chain.isSealed { continue }
            let last = tail.current?.end ?? current.end
            if let next {
                // The bytes at the end are a damaged seal, or records: the first record of the next segment tells.
                if last < end, isOpening ? try !mayLackBytes(current.segment) : true {
                    let place = RecordPlace(segment: current.segment.number, offset: UInt32(clamping: last))
                    damage = (place, end - last)
                }
                try advance(from: current, to: next, in: &log)
                continue
            }
            let wasKnown = uncleanByteCount == size
            uncleanByteCount = last == size ? nil : size
            // Another process may have begun the next segment because of these bytes.
            if uncleanByteCount == nil || wasKnown { return }
            if try successor(of: current.segment) == nil {
                if isOpening { try countDamageAtEnd(of: current.segment, from: last, to: size, in: &log) }
                return
            }
        }
    }

    private mutating func scan(
        _ current: LogTail.Position,
        upTo end: Int,
        in log: inout SegmentLog
    ) throws(StoreError) {
        let mayLackBytes = isOpening ? try mayLackBytes(current.segment) : false
        do throws(SystemError) {
            var scanner = SegmentScanner(current.segment, from: current.end, to: end)
            scanner.verifiesPayloads = mayLackBytes
            // Wherever the scan ends, so that no record is applied twice.
            defer { tail.set(current.segment, end: scanner.offset) }
            while !log.chain.isSealed, let step = try scanner.next() {
                // Bytes that a power failure took are no damage.
                if mayLackBytes, case .damage = step { continue }
                try take(step, in: &log)
            }
        } catch {
            throw StoreError(error, path: segments.path(current.segment.number), action: "following a segment")
        }
    }

    /// Whether a power failure may have taken parts of a segment: it is one of the last two that were begun in a start of the
    /// system before this one. Those before were on the device by then, see ``GroupCommit/cover(before:)``.
    private func mayLackBytes(_ segment: Segment) throws(StoreError) -> Bool {
        var former = segment.header?.boot ?? 0
        for number in [segment.number + 1, segment.number + 2] {
            let next = try segments.segment(number)
            let other = next.map { $0.header?.boot ?? 0 } ?? boot
            if !BootIdentity.areSame(former, other) { return true }
            if next == nil { return false }
            former = other
        }
        return false
    }

    /// The next segment; `nil` until it is begun.
    private func successor(of segment: Segment, isSealed: Bool = false) throws(StoreError) -> Segment? {
        let number = segment.number + 1
        if let next = try segments.segment(number) { return next }
        guard isSealed, let last = try segments.numbers().last, last >= number else {
            // Another process may have removed all of the log. Segments go from the front only: while this one is there, none
            // after it is gone.
            let isThere = try attempt("looking for a segment", segments.path(segment.number)) {
                () throws(SystemError) in
                try segment.file.extent().linkCount > 0
            }
            if isThere { return nil }
            throw status.stale()
        }
        // It may have been begun just now.
        if let next = try segments.segment(number) { return next }
        // Other processes removed the next segment before this process saw it: its records are unknown.
        throw status.stale()
    }

    /// Moves on to the next segment.
    private mutating func advance(
        from current: LogTail.Position,
        to next: Segment,
        in log: inout SegmentLog
    ) throws(StoreError) {
        let size = try segments.byteCount(of: current.segment)
        log.chain.setByteCount(size, of: current.segment.number)
        log.chain.isSealed = false
        uncleanByteCount = nil
        tail.set(next, end: next.headerByteCount ?? 0)
        if let first = next.header?.firstLiveSegment, first <= next.number {
            raiseFirstLiveSegment(to: first, of: &log)
        }
    }

    // MARK: Records

    private mutating func take(_ step: SegmentScanner.Step, in log: inout SegmentLog) throws(SystemError) {
        switch step {
        case .damage(let place, let byteCount):
            damage = (place, byteCount)
        case .record(let record, let place):
            let digest = reader.digest(of: record)
            try findDamage(before: record, in: &log)
            apply(record, at: place, digest, to: &log)
            log.noteFollowed(record, hash: digest.high)
        }
    }

    /// Finds out which record the damaged bytes before a record were.
    ///
    /// Records may be missing without any damage, and several may be damaged in a row. Then the keys are unknown, and nothing
    /// is dropped: a sound entry before them is worth more than the chance that one of them was its key's latest.
    private mutating func findDamage(before record: Record, in log: inout SegmentLog) throws(SystemError) {
        guard let damage else { return }
        self.damage = nil
        // One record was damaged, and this one has the hash of its key.
        if record.comesAfter(byteCount: damage.byteCount) {
            markDamaged(record.previousHash, at: damage.place, byteCount: damage.byteCount, in: &log)
        } else {
            try countDamage(damage.place, byteCount: damage.byteCount, in: &log)
        }
    }

    /// Counts the bytes after the last record as a damaged entry of no key, unless they are the start of a record: a process
    /// that was killed, or a full volume, leaves that.
    private func countDamageAtEnd(
        of segment: Segment,
        from start: Int,
        to end: Int,
        in log: inout SegmentLog
    ) throws(StoreError) {
        guard start < end, try !mayLackBytes(segment) else { return }
        let place = RecordPlace(segment: segment.number, offset: UInt32(clamping: start))
        try attempt("looking at the end of a segment", segments.path(segment.number)) { () throws(SystemError) in
            let head = try segment.file.read(min(end - start, Record.largestHeadByteCount), at: start)
            do throws(RecordFault) {
                _ = try Record(head: head, at: place, in: segment.form)
            } catch {
                if error == .damaged { try countDamage(place, byteCount: end - start, in: &log) }
            }
        }
    }

    /// Counts damaged records of unknown keys as a damaged entry of no key, but for zeros: a power failure leaves those where
    /// blocks never reached the device.
    private func countDamage(
        _ place: RecordPlace,
        byteCount: Int,
        in log: inout SegmentLog
    ) throws(SystemError) {
        guard
            case .success(let found?) = Result(catching: { () throws(StoreError) in
                try segments.segment(place.segment)
            })
        else { return }
        let start = try found.file.read(min(byteCount, Record.largestHeadByteCount), at: Int(place.offset))
        guard start.contains(where: { $0 != 0 }) else { return }
        log.index.markDamaged(reader.hash(ofDamaged: start), at: place, byteCount: byteCount)
    }

    /// Marks the latest entry of a key as damaged: a fetch is to find the damage, not an older entry. If the damaged record
    /// was a floor, there is no such entry.
    func markDamaged(_ hash: UInt64, at place: RecordPlace, byteCount: Int, in log: inout SegmentLog) {
        guard let floor = KeyDigest.segment(ofHash: hash) else {
            return log.index.markDamaged(hash, at: place, byteCount: byteCount)
        }
        take(floor: UInt64(floor), at: place, in: &log)
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
        case .floor: take(floor: record.serial, at: place, in: &log)
        case .seal: log.chain.isSealed = true
        case nil: break
        }
    }

    /// Takes a floor, unless it is above the segment that it is in: no store writes such a one.
    private func take(floor number: UInt64, at place: RecordPlace, in log: inout SegmentLog) {
        if number <= place.segment { raiseFirstLiveSegment(to: UInt32(number), of: &log) }
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
