extension PackedLog {
    // MARK: Blocks of dead records

    /// Gives back the blocks that dead records fill, where the volume is full.
    ///
    /// Reads all heads. So it is done only if more is dead than the last time.
    ///
    /// - Returns: whether there may be more room now.
    func squeeze(_ writer: inout Writer) throws(StoreError) -> Bool {
        // What seems to be dead may only be in a part of the index that could not be loaded.
        try checkIndex()
        let deadByteCount = deadByteCount(writer)
        guard deadByteCount > writer.squeezedByteCount else { return false }
        // What took the place of the dead must not go with the power.
        try synchronizeAnew()
        var ends = writer.sizes
        if let tail = tail.withLock({ $0 }) { ends[tail.segment.number] = tail.end }
        for (number, end) in ends.sorted(by: { $0.key < $1.key }) {
            guard let segment = try segments.segment(number) else { continue }
            do {
                try punchDead(segment, end)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "giving back dead records")
            }
        }
        writer.squeezedByteCount = deadByteCount
        return true
    }

    /// The bytes of segments that are not of entries.
    private func deadByteCount(_ writer: borrowing Writer) -> Int { byteCount(writer) - index.total.byteCount }

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

    // MARK: Segments

    /// How many segments are given up at most to make room of what is dead, where the volume is full: each once, or none
    /// if too little became dead since the last time. So what is written anew stays in proportion to what is saved, or is
    /// little.
    func segmentsToSqueeze(_ writer: inout Writer) throws(StoreError) -> Int {
        try checkIndex()
        let deadByteCount = deadByteCount(writer)
        // It becomes less when segments are given up.
        writer.carriedDeadByteCount = min(writer.carriedDeadByteCount, deadByteCount)
        let much = byteCount(writer) - Self.largestSegmentByteCount
        let isEnough = deadByteCount - writer.carriedDeadByteCount > max(0, much / Self.smallestDeadPart)
        return isEnough ? writer.sizes.count + 1 : 0
    }

    private static var smallestDeadPart: Int { 32 }

    /// Gives up the first segment, where the volume is full, and keeps what is of use in it. Takes the reserve for that.
    ///
    /// - Returns: whether there was anything to give up.
    func squeezeFirst(_ departed: inout Departed, _ writer: inout Writer) throws(StoreError) -> Bool {
        writer.reserveByteCount = try reserveByteCount()
        if writer.reserveByteCount > 0 { try removeReserve() }
        return try reclaimFirst(.all, now: nil, &departed, &writer)
    }

    /// All segments have been given up, and this is what is left that is dead: headers, seals, and the like.
    func endSqueeze(_ writer: inout Writer) { writer.carriedDeadByteCount = deadByteCount(writer) }
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
