import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedLog {
    /// How long segments become, unless one record is longer: a part of what all may take, so that giving one up gives up
    /// little, and no more than can be gone through without a pause.
    func segmentByteCount(_ writer: borrowing Writer) -> Int {
        guard let limit = settings.byteLimit else {
            return min(max(byteCount(writer) / Self.segmentsPerTotal, 1 << 17), Self.largestSegmentByteCount)
        }
        return min(max(limit / Self.segmentsPerLimit, Record.headByteCount * 4), Self.largestSegmentByteCount)
    }

    static var largestSegmentByteCount: Int { 4 << 20 }
    static var segmentsPerLimit: Int { 32 }
    static var segmentsPerTotal: Int { 4 }

    /// The bytes of all segments.
    func byteCount(_ writer: borrowing Writer) -> Int {
        let tail = tail.withLock { $0 }
        // Sealed, it may be counted among the others already.
        guard let tail, writer.sizes[tail.segment.number] == nil else { return writer.sealedByteCount }
        return writer.sealedByteCount + tail.end
    }

    /// What new entries are compressed with.
    var dictionary: PresetDictionary? { tail.withLock { $0?.segment.dictionary } }

    /// Appends a record, whole or not at all.
    ///
    /// - Parameter takesSerial: whether it gets a new one, or keeps the one that it has.
    /// - Precondition: this is called by ``changing(_:)``.
    func append(
        _ draft: inout RecordDraft,
        takesSerial: Bool,
        _ writer: inout Writer
    ) throws(StoreError) -> RecordPlace {
        let tail = try tail(for: draft.byteCount, &writer)
        // Above all before it, even if nothing is left that tells what those were: places rise.
        let number = UInt64(tail.segment.number) << 32 | UInt64(tail.end)
        let serial = takesSerial ? max(writer.serial + 1, number) : nil
        let place = setPlace(&draft, serial: serial, in: tail.segment, at: tail.end, after: writer.previous)
        try write(draft.bytes, tail, &writer)
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
        let tail = try tail(for: byteCount, &writer)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        var places: [RecordPlace] = []
        var previous = writer.previous
        for position in drafts.indices {
            let offset = tail.end + bytes.count
            places.append(setPlace(&drafts[position], serial: nil, in: tail.segment, at: offset, after: previous))
            bytes += drafts[position].bytes
            previous = PreviousRecord(byteCount: drafts[position].byteCount, hash: drafts[position].hash)
        }
        try write(bytes, tail, &writer)
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

    private func write(_ bytes: [UInt8], _ tail: Tail, _ writer: inout Writer) throws(StoreError) {
        hide()
        do {
            try tail.segment.file.write(bytes, at: tail.end)
        } catch {
            // What is there of it would be cut by the next one who appends, but it takes room until then.
            _ = Result { () throws(SystemError) in try tail.segment.file.truncate(to: tail.end) }
            // Opened when writing was not allowed; that may be over.
            if error.number == EBADF { shared.isBroken.store(true, ordering: .relaxed) }
            throw StoreError(error, path: segments.path(tail.segment.number), action: "appending to a segment")
        }
        writer.appendedByteCount += bytes.count
        self.tail.withLock { $0?.end = tail.end + bytes.count }
    }

    /// Cuts off what a process left that was killed while it wrote.
    func cutRest() throws(StoreError) {
        guard let tail = tail.withLock({ $0 }) else { return }
        do {
            if try tail.segment.file.byteCount() > tail.end { try tail.segment.file.truncate(to: tail.end) }
        } catch {
            throw StoreError(error, path: segments.path(tail.segment.number), action: "cutting a segment")
        }
    }

    // MARK: Segments

    /// The segment that so many bytes more are appended to.
    private func tail(for byteCount: Int, _ writer: inout Writer) throws(StoreError) -> Tail {
        if hasRoom(for: byteCount, writer), let tail = tail.withLock({ $0 }) { return tail }
        return try beginSegment(dictionary: dictionary, &writer)
    }

    /// Whether records of so many bytes are appended to the tail.
    func hasRoom(for byteCount: Int, _ writer: borrowing Writer) -> Bool {
        guard let tail = tail.withLock({ $0 }), !writer.isSealed else { return false }
        let isEmpty = tail.end <= (tail.segment.headerByteCount ?? 0)
        return isEmpty || tail.end + byteCount <= segmentByteCount(writer)
    }

    /// Ends the tail, and begins another one.
    ///
    /// The next one is there as a draft before the tail gets its seal, and has its name after that: so nobody who finds
    /// a seal waits for long for what comes next, and nobody appends to what is not the last.
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
                // Who sealed it may have died before there was a next one.
                if writer.isSealed, writer.sizes[former.segment.number] == nil {
                    writer.setSize(former.end, of: former.segment.number)
                } else if !writer.isSealed {
                    try seal(former, &writer)
                }
            }
            do throws(SystemError) {
                try session.directory.rename(draft, to: fileName, in: root)
                if isDurable { try root.synchronize() }
            } catch {
                throw StoreError(error, path: segments.path(number), action: "beginning a segment")
            }
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

    /// Removes all segments, so that numbers begin at 1 again in another log: there are as many as 28 bits can tell.
    private func beginAnew(_ writer: inout Writer) throws(StoreError) -> Tail {
        writer.strays += try segments.numbers().sorted(by: >)
        try removeStrays(&writer)
        throw stale()
    }

    private func seal(_ tail: Tail, _ writer: inout Writer) throws(StoreError) {
        var seal = RecordDraft.seal
        _ = setPlace(&seal, serial: nil, in: tail.segment, at: tail.end, after: writer.previous)
        try write(seal.bytes, tail, &writer)
        writer.previous = PreviousRecord(byteCount: seal.byteCount, hash: 0)
        writer.setSize(tail.end + seal.byteCount, of: tail.segment.number)
        writer.isSealed = true
        try synchronize(sealed: tail.segment, upTo: tail.end + seal.byteCount)
    }

    /// Waits until a segment that is not appended to any more is on the device, if the store is durable.
    func synchronize(sealed segment: Segment, upTo end: Int) throws(StoreError) {
        guard settings.durability == .power else { return }
        try synced.withLock { state throws(StoreError) in
            do throws(SystemError) {
                try segment.file.synchronizeData()
            } catch {
                let path = segments.path(segment.number)
                let failure = StoreError(error, path: path, action: "waiting for a segment")
                // All who have appended to it are told, for the system tells it once.
                state.failure = (RecordPlace(segment: segment.number, offset: UInt32(clamping: end)), failure)
                throw failure
            }
        }
    }

    // MARK: The device

    struct SyncState: Sendable {
        /// What was appended before is on the device.
        var end = RecordPlace(segment: 0, offset: 0)
        /// What was appended before may never be there.
        var failure: (end: RecordPlace, error: StoreError)?
        /// Whether the names of all segments are.
        var hasNames = false
    }

    /// Where the next record will be, unless it begins a segment.
    var end: RecordPlace {
        tail.withLock { tail in
            RecordPlace(segment: tail?.segment.number ?? 0, offset: UInt32(clamping: tail?.end ?? 0))
        }
    }

    /// Waits until what was appended so far is on the device, if the store is durable.
    func synchronize() throws(StoreError) { try synchronize(upTo: end) }

    /// Waits until what was appended up to a place is on the device, if the store is durable.
    ///
    /// Whoever comes first waits for all who have appended until then; the others wait for it, and find theirs done.
    func synchronize(upTo end: RecordPlace) throws(StoreError) {
        guard settings.durability == .power else { return }
        try synced.withLock { state throws(StoreError) in
            if let failure = state.failure, end <= failure.end { throw failure.error }
            if end <= state.end { return }
            guard let latest = tail.withLock({ $0 }) else { return }
            let latestEnd = RecordPlace(segment: latest.segment.number, offset: UInt32(latest.end))
            do throws(SystemError) {
                // Others need not have waited for the names of those that they began.
                if !state.hasNames {
                    try root.synchronize()
                    state.hasNames = true
                }
                // What is in earlier segments was waited for when they were sealed, or found to be.
                try latest.segment.file.synchronizeData()
                state.end = latestEnd
            } catch {
                // The system may forget what it could not write: trying again would prove nothing.
                let path = segments.path(latest.segment.number)
                let failure = StoreError(error, path: path, action: "waiting for a segment")
                state.failure = (latestEnd, failure)
                throw failure
            }
        }
    }
}
