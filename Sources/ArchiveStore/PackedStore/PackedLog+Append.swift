import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedLog {
    /// The length up to which segments grow, unless one record is longer. It is a part of the bytes that all segments
    /// may take, so that giving one up loses little, and short enough to be read without a pause.
    func segmentByteCount(_ writer: borrowing Writer) -> Int {
        guard let limit = settings.byteLimit else {
            return min(max(byteCount(writer) / Self.segmentsPerTotal, 1 << 17), Self.largestSegmentByteCount)
        }
        // With room for a few heads: if a store with another limit began the segment, the dictionary may be long.
        let least = headerByteCount + Record.headByteCount * 4
        return min(max(limit / Self.segmentsPerLimit, least), Self.largestSegmentByteCount)
    }

    static var largestSegmentByteCount: Int { 4 << 20 }
    static var segmentsPerLimit: Int { 32 }
    static var segmentsPerTotal: Int { 4 }

    /// The bytes of all segments.
    func byteCount(_ writer: borrowing Writer) -> Int {
        let tail = tail.withLock { $0 }
        // A sealed tail may be in `sealedByteCount` already.
        guard let tail, writer.sizes[tail.segment.number] == nil else { return writer.sealedByteCount }
        return writer.sealedByteCount + tail.end
    }

    /// The dictionary that new entries are compressed with.
    var dictionary: PresetDictionary? { tail.withLock { $0?.segment.dictionary } }

    /// Appends a record, whole or not at all.
    ///
    /// - Parameter takesSerial: whether the record gets a new serial, or keeps the one that it has.
    /// - Precondition: this is called by ``changing(_:)``.
    func append(
        _ draft: inout RecordDraft,
        takesSerial: Bool,
        _ writer: inout Writer
    ) throws(StoreError) -> RecordPlace {
        try writeLosses(&writer)
        let tail = try tail(for: draft.byteCount, &writer)
        // Above all earlier serials, even if no record with one of them is left: places rise.
        let number = UInt64(tail.segment.number) << 32 | UInt64(tail.end)
        let serial = takesSerial ? max(writer.serial + 1, number) : nil
        let place = setPlace(&draft, serial: serial, in: tail.segment, at: tail.end, after: writer.previous)
        try write(draft.content, tail, &writer)
        if let serial { writer.serial = serial }
        writer.previous = PreviousRecord(byteCount: draft.byteCount, hash: draft.hash)
        writer.recordsSinceSnapshot += 1
        writer.recordsSinceTrial += 1
        return place
    }

    /// Appends records one after another with one write, whole or not at all. They keep their serials.
    func append(_ drafts: inout [RecordDraft], _ writer: inout Writer) throws(StoreError) -> [RecordPlace] {
        let byteCount = drafts.reduce(0) { $0 + $1.byteCount }
        guard byteCount > 0 else { return [] }
        try writeLosses(&writer)
        let tail = try tail(for: byteCount, &writer)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        var places: [RecordPlace] = []
        var previous = writer.previous
        for position in drafts.indices {
            let offset = tail.end + bytes.count
            places.append(setPlace(&drafts[position], serial: nil, in: tail.segment, at: offset, after: previous))
            drafts[position].content.forEachPiece { bytes += $0 }
            previous = PreviousRecord(byteCount: drafts[position].byteCount, hash: drafts[position].hash)
        }
        try write(FileContent(bytes), tail, &writer)
        writer.previous = previous
        writer.recordsSinceSnapshot += drafts.count
        return places
    }

    private func setPlace(
        _ draft: inout RecordDraft,
        serial: UInt64?,
        in segment: Segment,
        at offset: Int,
        after previous: PreviousRecord?
    ) -> RecordPlace {
        let place = RecordPlace(segment: segment.number, offset: UInt32(offset))
        let isFirst = offset == segment.headerByteCount ?? 0
        draft.setPlace(place, serial: serial, isFirst: isFirst, previous: previous)
        return place
    }

    private func write(_ content: FileContent, _ tail: Tail, _ writer: inout Writer) throws(StoreError) {
        hide()
        do {
            try tail.segment.file.write(content, at: tail.end)
        } catch {
            // The next process that appends would cut the partial record, but it takes space until then.
            _ = Result { () throws(SystemError) in try tail.segment.file.truncate(to: tail.end) }
            throw failure(error, in: tail.segment, "appending to a segment")
        }
        writer.appendedByteCount += content.count
        self.tail.withLock { $0?.end = tail.end + content.count }
    }

    /// Cuts off the partial record of a process that was killed while it wrote.
    func cutRest() throws(StoreError) {
        guard let tail = tail.withLock({ $0 }) else { return }
        do {
            if try tail.segment.file.byteCount() > tail.end { try tail.segment.file.truncate(to: tail.end) }
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
        shared.isBroken.store(true, ordering: .relaxed)
        guard let refusal = root.refusalToWrite(Segment.fileName(tail.number)) else { return stale() }
        return StoreError(refusal, path: path, action: action)
    }

    // MARK: Segments

    /// The segment to append `byteCount` more bytes to; a new one if the tail has no room.
    private func tail(for byteCount: Int, _ writer: inout Writer) throws(StoreError) -> Tail {
        if hasRoom(for: byteCount, writer), let tail = tail.withLock({ $0 }) { return tail }
        return try beginSegment(dictionary: dictionary, &writer)
    }

    /// Whether records of `byteCount` bytes are appended to the tail.
    func hasRoom(for byteCount: Int, _ writer: borrowing Writer) -> Bool {
        guard let tail = tail.withLock({ $0 }), !writer.isSealed else { return false }
        let isEmpty = tail.end <= (tail.segment.headerByteCount ?? 0)
        return isEmpty || tail.end + byteCount <= segmentByteCount(writer)
    }

    /// Ends the tail, and begins another one.
    ///
    /// The next segment is written as a draft before the tail gets its seal, and gets its name after that. So a process
    /// that finds a seal does not wait long for the next segment, and none appends to a segment that is not the last.
    @discardableResult
    func beginSegment(dictionary: PresetDictionary?, _ writer: inout Writer) throws(StoreError) -> Tail {
        let former = tail.withLock { $0 }
        let number = (former?.segment.number ?? writer.floor) + 1
        guard number <= Segment.largestNumber else { return try beginAnew(&writer) }
        let fileName = Segment.fileName(number)
        let isDurable = settings.durability == .power
        let session = try folder.session()
        let header = SegmentHeader.bytes(
            number: number,
            begunAt: Date.now.timeIntervalSinceReferenceDate,
            dictionary: dictionary
        )
        let draft = try session.write(header, synchronized: isDurable).name
        do throws(StoreError) {
            if let former {
                // The process that sealed it may have died before it began the next one.
                if writer.isSealed, writer.sizes[former.segment.number] == nil {
                    writer.setSize(former.end, of: former.segment.number)
                } else if !writer.isSealed {
                    try seal(former, &writer)
                }
            }
            do throws(SystemError) {
                try session.directory.rename(draft, to: fileName, in: root)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "beginning a segment")
            }
            try synchronizeNames()
        } catch {
            session.discard(draft)
            throw error
        }
        guard let segment = try segments.segment(number) else { throw stale() }
        writer.isSealed = false
        if writer.floor == 0 { raiseFloor(to: number, &writer) }
        setTail(segment, at: segment.headerByteCount ?? 0)
        return Tail(segment: segment, end: segment.headerByteCount ?? 0)
    }

    /// Removes all segments, so that numbers begin at 1 again in another log: all 28-bit numbers are used up.
    private func beginAnew(_ writer: inout Writer) throws(StoreError) -> Tail {
        writer.strays += try segments.numbers().sorted(by: >)
        try removeStrays(&writer)
        throw stale()
    }

    private func seal(_ tail: Tail, _ writer: inout Writer) throws(StoreError) {
        var seal = RecordDraft.seal
        _ = setPlace(&seal, serial: nil, in: tail.segment, at: tail.end, after: writer.previous)
        try write(seal.content, tail, &writer)
        writer.previous = PreviousRecord(byteCount: seal.byteCount, hash: 0)
        writer.setSize(tail.end + seal.byteCount, of: tail.segment.number)
        writer.isSealed = true
        try synchronize(tail.segment, upTo: tail.end + seal.byteCount)
    }
}
