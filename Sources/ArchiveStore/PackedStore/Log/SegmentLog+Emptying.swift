import Foundation

// Giving up everything.

extension SegmentLog {
    /// Gives up every segment with all its entries.
    mutating func removeAll() throws(StoreError) {
        guard let tail = tail.current else { return }
        let next: LogTail.Position
        do throws(StoreError) {
            next = try beginSegment(dictionary: tail.segment.dictionary)
        } catch {
            guard error.isOutOfSpace else { throw error }
            throw try emptyTail(tail)
        }
        self.tail.hide()
        var floor = RecordDraft.floor(next.segment.number)
        _ = try append(&floor)
        // The floor tells of them as well.
        _ = owedRemovals.takeUntold()
        chain.addOrphanedSegments(chain.byteCounts.keys.filter { $0 < next.segment.number }.sorted(by: >))
        index.clear()
        chain.raiseFirstLiveSegment(to: next.segment.number)
        if settings.isDurable { try commits.synchronize() }
        try removeLeftovers()
    }

    /// Removes the other segments and empties the tail, where there is no room for another one.
    ///
    /// The tail then begins with a floor that describes no record before it. So other processes notice, also those that
    /// had come no further than the start of the tail: the floor does not fit the record that is their last. The tail ends
    /// where no record ended before: to a process that had come to there, nothing would have changed.
    ///
    /// - Returns: the error that makes the store open the log anew.
    private mutating func emptyTail(_ tail: LogTail.Position) throws(StoreError) -> StoreError {
        // No snapshot may list its former entries either.
        snapshotIsForeign = true
        // A sealed tail goes as well, since other processes look for nothing behind its seal but the next segment; also
        // where the process that sealed it has ended before it began the next.
        if chain.isSealed { chain.setByteCount(tail.end, of: tail.segment.number) }
        chain.addOrphanedSegments(chain.byteCounts.keys.sorted(by: >))
        try removeLeftovers()
        let (segment, path) = (tail.segment, segments.path(tail.segment.number))
        let headerByteCount = segment.headerByteCount ?? 0
        let formerEnds = chain.isSealed ? [] : endsOfFirstRecords(of: tail)
        let stale = status.stale()
        try attempt("emptying a segment", path) { () throws(SystemError) in
            try segment.file.truncate(to: headerByteCount)
        }
        _ = owedRemovals.takeUntold()
        if !chain.isSealed {
            index.clear()
            lostHashes = []
            previous = nil
            self.tail.set(segment, end: headerByteCount)
            bestEffort("where there is no room for it, the file goes as well") {
                () throws(StoreError) in
                repeat {
                    try appendFloor(segment.number, hidesEntries: true)
                } while !owesFloor && self.tail.current.map { formerEnds.contains($0.end) } == true
            }
            // A process that has come no further than to the start of the tail would see no change.
            if owesFloor { try chain.removeFile(of: segment.number) }
            // The log that is opened now must not append it alone: it may end where a record ended before.
            owedRemovals.setFloor(0)
        }
        try attempt("emptying a segment", path) { () throws(SystemError) in
            if settings.isDurable { try segment.file.synchronizeData() }
        }
        return stale
    }

    /// Where the records at the start of the tail end, as far as floors may come to. Floors that the tail begins with do not
    /// count: a process that has read no further knows no entry. A record that cannot be read ends the search, since the tail
    /// is to go in any case.
    private func endsOfFirstRecords(of tail: LogTail.Position) -> Set<Int> {
        var ends: Set<Int> = []
        let mostBytes = SegmentChain.mostFloorBytes - RecordDraft.floor(.max).byteCount
        let end = (tail.segment.headerByteCount ?? 0) + mostBytes
        var scanner = SegmentScanner(tail.segment, to: min(tail.end, end))
        while let step = try? scanner.next() {
            guard case .record(let record, _) = step else { continue }
            if ends.isEmpty, record.kind == .floor, record.serial == UInt64(tail.segment.number) { continue }
            ends.insert(scanner.offset)
        }
        return ends
    }
}
