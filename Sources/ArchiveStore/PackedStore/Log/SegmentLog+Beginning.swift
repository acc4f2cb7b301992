import Foundation

// Ending a segment and beginning the next one.

extension SegmentLog {
    /// The segment to append `byteCount` more bytes to; a new one if the tail has no room.
    ///
    /// - Parameter usesMargin: Whether the records may take the margin: they go to the tail, however long it is, where the volume
    ///   has no room for another segment.
    mutating func tail(for byteCount: Int, usesMargin: Bool) throws(StoreError) -> LogTail.Position {
        if tailTakes(byteCount), let tail = tail.current { return tail }
        do throws(StoreError) {
            return try beginSegment(dictionary: tail.dictionary)
        } catch {
            guard usesMargin, error.isOutOfSpace, isTailOpen, let tail = tail.current,
                tail.end + byteCount <= Self.largestSegmentByteCount * 2
            else { throw error }
            return tail
        }
    }

    /// Ends the tail, and begins another one.
    ///
    /// The next segment is written as a draft before the tail gets its seal, and gets its name after that. So a process
    /// that finds a seal does not wait long for the next segment, and none appends to a segment that is not the last.
    ///
    /// The records of the tail end where the header of the next segment says. Other bytes may follow there: see
    /// ``sealUnclean(_:)``.
    ///
    /// - Parameter givesUpOthers: Whether the segment is the first live one, so that all before it are removed.
    @discardableResult
    mutating func beginSegment(
        dictionary: PresetDictionary?,
        givesUpOthers: Bool = false
    ) throws(StoreError) -> LogTail.Position {
        let former = tail.current
        let number = (former?.segment.number ?? chain.firstLiveSegment) + 1
        guard number <= Segment.largestNumber else { throw try removeAllSegments() }
        // Mostly upkeep has waited for them already.
        if isDurable {
            try commits.cover(before: number - 1)
        } else {
            bestEffort("the device has failed: no wait helps") { () throws(StoreError) in
                try commits.cover(before: number - 1)
            }
        }
        // No seal can be written after records that no key opens.
        if former?.segment.form.sealing?.canSeal == false { chain.isUnclean = true }
        let fileName = Segment.fileName(number)
        let session = try folder.session()
        var end = former?.end ?? 0
        if former != nil, !chain.isSealed, !chain.isUnclean { end += seal.byteCount }
        let header = SegmentHeader.bytes(
            SegmentHeader.Fields(
                number: number,
                log: segments.log ?? newLog(),
                identity: randomNumber(),
                boot: boot,
                predecessorEnd: UInt32(clamping: end),
                firstLiveSegment: givesUpOthers ? number : max(chain.firstLiveSegment, 1),
                isDurable: isDurable,
                begunAt: Date.now.timeIntervalSinceReferenceDate
            ),
            dictionary: dictionary,
            seal: segments.keys.map { .init(key: $0.current, nonce: .random(folder.root.layer)) }
        )
        let draft = try session.write(synchronized: settings.isDurable) { file throws(SystemError) in
            try file.write(header)
            if keepsMargin { try file.allocateAhead(0..<header.count + marginByteCount) }
        }.name
        do throws(StoreError) {
            if let former {
                // The process that sealed it may have died before it began the next one.
                if chain.isSealed {
                    if chain.byteCounts[former.segment.number] == nil {
                        chain.setByteCount(former.end, of: former.segment.number)
                    }
                } else if chain.isUnclean {
                    try sealUnclean(former)
                } else {
                    try seal(former)
                }
            }
            try attempt("beginning a segment", segments.path(number)) { () throws(SystemError) in
                try session.directory.rename(draft, to: fileName, in: folder.root)
            }
            if isDurable { try commits.cover(before: number) }
        } catch {
            session.discard(draft)
            throw error
        }
        guard let segment = try segments.segment(number) else { throw status.stale() }
        // No process removes the former file while the directory is locked. A file that is gone was removed by hand: its
        // entries can still be read here, and must not be copied.
        if let former, try segments.extent(of: former.segment).linkCount == 0 { throw status.stale() }
        if let former, chain.isUnclean {
            chain.setByteCount(try segments.byteCount(of: former.segment), of: former.segment.number)
        }
        chain.isSealed = false
        chain.isUnclean = false
        if chain.firstLiveSegment == 0 { chain.raiseFirstLiveSegment(to: number) }
        tail.set(segment, end: segment.headerByteCount ?? 0)
        return LogTail.Position(segment: segment, end: segment.headerByteCount ?? 0)
    }

    private var seal: RecordDraft { .seal(isSealed: reader.isSealed) }

    private func newLog() -> LogIdentity {
        let seed = UInt32(truncatingIfNeeded: randomNumber())
        return LogIdentity(seed: seed, salt: segments.keys == nil ? 0 : randomNumber())
    }

    private func randomNumber() -> UInt64 {
        folder.root.layer.world?.randomNumber() ?? .random(in: .min ... .max)
    }

    /// Appends a seal after bytes that are not a record, for processes to which the segment seems to end there: these bytes may
    /// have been damaged since. It describes no record before it.
    ///
    /// No process takes a record for whole whose bytes are not all there. After that nothing may be written, which would
    /// look like the rest of it; each process sees that the bytes go on, and looks for the next segment.
    private func sealUnclean(_ tail: LogTail.Position) throws(StoreError) {
        let segment = tail.segment
        if segment.form.sealing?.canSeal == false { return }
        do throws(SystemError) {
            let size = try segment.file.byteCount()
            let place = RecordPlace(segment: segment.number, offset: UInt32(clamping: tail.end))
            let head = try segment.file.read(Record.largestHeadByteCount, at: tail.end)
            if let cut = try? Record(head: head, at: place, in: segment.form), tail.end + cut.byteCount > size {
                return
            }
            var seal = seal
            guard size >= tail.end, size <= Int(UInt32.max) - seal.byteCount else { return }
            _ = setPlace(of: &seal, in: segment, at: size, after: nil)
            try segment.file.write(seal.content, at: size)
        } catch {
            throw failure(error, in: segment, "ending a segment")
        }
    }

    private mutating func seal(_ tail: LogTail.Position) throws(StoreError) {
        var seal = seal
        _ = setPlace(of: &seal, in: tail.segment, at: tail.end, after: previous)
        try write(seal.content, to: tail, usesMargin: true)
        if keepsMargin {
            bestEffort("the margin keeps its blocks until the segment goes") { () throws(SystemError) in
                // Its length stays: only the blocks after its end are released.
                try tail.segment.file.truncate(to: tail.end + seal.byteCount)
            }
        }
        previous = PreviousRecord(byteCount: seal.byteCount, hash: 0)
        chain.setByteCount(tail.end + seal.byteCount, of: tail.segment.number)
        chain.isSealed = true
    }

    /// Removes all segments and the index. The log ends with that: another one begins with other numbers.
    ///
    /// Nothing is written, so this needs no room. The tail is emptied through its open file once it has no name, so that
    /// processes that have it open notice at once.
    ///
    /// - Returns: the error that makes the store open the other log.
    mutating func removeAllSegments() throws(StoreError) -> StoreError {
        try snapshot.remove()
        chain.addOrphanedSegments(try segments.numbers().sorted(by: >))
        try chain.removeOrphanedSegments()
        let stale = status.stale()
        if isDurable {
            try attempt("removing segments", folder.path) { () throws(SystemError) in try folder.root.synchronize()
            }
        }
        if let tail = tail.current?.segment {
            bestEffort("others notice within moments") { () throws(SystemError) in try tail.file.truncate(to: 0) }
        }
        return stale
    }
}
