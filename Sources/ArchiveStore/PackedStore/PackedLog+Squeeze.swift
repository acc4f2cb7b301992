/// Making room on a full volume, of what is dead.
extension PackedLog {
    // MARK: Blocks

    /// Gives back the blocks that dead records fill.
    ///
    /// Reads all heads. So it is done only if a block more is dead than the last time.
    func squeezeBlocks(_ writer: inout Writer) throws(StoreError) {
        guard try deadByteCount(&writer) >= writer.punchedByteCount + Segment.blockByteCount else { return }
        // What took the place of the dead must not go with the power.
        try synchronizeAnew()
        for (number, end) in sizes(writer).sorted(by: { $0.key < $1.key }) {
            guard let segment = try segments.segment(number) else { continue }
            do {
                try punchDead(segment, end)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "giving back dead records")
            }
        }
        writer.punchedByteCount = try deadByteCount(&writer)
    }

    private func punchDead(_ segment: Segment, _ end: Int) throws(SystemError) {
        var scanner = SegmentScanner(segment, to: end)
        while let step = try scanner.next() {
            guard case .record(let record, let place) = step, record.kind != nil,
                record.payloadByteCount >= Segment.blockByteCount
            else { continue }
            let isLive = record.kind == .entry && slot(of: record, at: place) != nil
            if !isLive { try segment.punch(record, at: place) }
        }
    }

    /// What the blocks of all segments have that is not of entries. Asks for the status of each segment.
    private func deadByteCount(_ writer: inout Writer) throws(StoreError) -> Int {
        // What seems to be dead may only be in a part of the index that could not be loaded.
        let used = index.total.byteCount
        try checkIndex()
        var allocated = 0
        for number in sizes(writer).keys {
            guard let segment = try segments.segment(number) else { continue }
            do {
                allocated += min(try segment.file.status().allocatedByteCount, 1 << 33)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "looking for a segment")
            }
        }
        let dead = max(0, allocated - used)
        // It became less if segments were given up meanwhile.
        writer.punchedByteCount = min(writer.punchedByteCount, dead)
        writer.squeezedByteCount = min(writer.squeezedByteCount, dead)
        return dead
    }

    /// The bytes of all segments.
    private func sizes(_ writer: borrowing Writer) -> [UInt32: Int] {
        var sizes = writer.sizes
        if let tail = tail.withLock({ $0 }) { sizes[tail.segment.number] = tail.end }
        return sizes
    }

    // MARK: Segments

    /// How many segments are given up at most: each once, or none if too little became dead since the last time. So what
    /// is written anew stays in proportion to what is saved, or is little.
    func segmentsToSqueeze(_ writer: inout Writer) throws(StoreError) -> Int {
        if let former = writer.squeezeFailedAt, try room() <= former { return 0 }
        let dead = try deadByteCount(&writer)
        let much = byteCount(writer) - Self.largestSegmentByteCount
        guard dead - writer.squeezedByteCount > max(0, much / Self.smallestDeadPart) else { return 0 }
        return writer.sizes.count + 1
    }

    private static var smallestDeadPart: Int { 32 }

    /// Gives up the first segment and keeps what is of use in it. Takes the reserve for that.
    ///
    /// - Parameter reserve: gets how long that was, if it was taken.
    /// - Returns: whether there was anything to give up.
    func squeezeFirst(
        taking reserve: inout Int,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        let length = try reserveByteCount()
        if length > 0 { try removeReserve() }
        reserve = length
        return try reclaimFirst(.all, now: nil, &departed, &writer)
    }

    /// All segments have been given up once, and what is dead now will stay: headers, seals, and the like.
    func endSqueeze(_ writer: inout Writer) throws(StoreError) {
        writer.squeezeFailedAt = nil
        writer.squeezedByteCount = try deadByteCount(&writer)
    }

    /// There was no room to give one up.
    func failSqueeze(_ writer: inout Writer) throws(StoreError) { writer.squeezeFailedAt = try room() }

    private func room() throws(StoreError) -> Int { try freeByteCount() + reserveByteCount() }
}

extension Segment {
    /// What file systems keep files in, on most.
    static let blockByteCount = 4_096

    /// Gives back the blocks that a record's payload fills. Nobody reads the payload any more; the head stays.
    func punch(_ record: Record, at place: RecordPlace) throws(SystemError) {
        let start = Int(place.offset) + record.headByteCount
        let end = Int(place.offset) + record.byteCount
        let block = Self.blockByteCount
        let hole = ((start + block - 1) / block * block, end / block * block)
        if hole.0 < hole.1 { try file.punchHole(hole.0..<hole.1) }
    }
}
