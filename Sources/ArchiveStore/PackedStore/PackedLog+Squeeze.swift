/// Making room on a full volume by removing dead records.
extension PackedLog {
    // MARK: Blocks

    /// The segments with at least a block more of dead bytes than when their blocks were last given back.
    func segmentsToPunch(_ writer: inout Writer) throws(StoreError) -> [UInt32] {
        try deadByteCounts(&writer)
            .filter { $0.value >= writer.punched[$0.key, default: 0] + Segment.blockByteCount }
            .keys.sorted()
    }

    /// Gives back the blocks that dead records fill in a segment. Reads the heads of all its records.
    func punchDead(_ number: UInt32, _ writer: inout Writer) throws(StoreError) {
        guard let end = sizes(writer)[number], let segment = try segments.segment(number) else { return }
        // The records that replace the dead ones must survive a power failure.
        try synchronizeAnew()
        do throws(SystemError) {
            var scanner = SegmentScanner(segment, to: end)
            var used = 0
            while let step = try scanner.next() {
                guard case .record(let record, let place) = step, record.kind != nil else { continue }
                if record.kind == .entry, slot(of: record, at: place) != nil {
                    used += record.byteCount
                } else if record.payloadByteCount >= Segment.blockByteCount {
                    try segment.punch(record, at: place)
                }
            }
            writer.punched[number] = max(0, try segment.file.status().allocatedByteCount - used)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "giving back dead records")
        }
    }

    /// Dead bytes in the blocks of each segment, beyond the header, the seal, the floor and the begun block that every
    /// segment needs. Reads the status of each file.
    private func deadByteCounts(_ writer: inout Writer) throws(StoreError) -> [UInt32: Int] {
        var used: [UInt32: Int] = [:]
        index.forEachPart { $0.forEachSlot { used[$0.place.segment, default: 0] += Int($0.byteCount) } }
        // Records that seem to be dead may be live in a part of the index that could not be loaded.
        try checkIndex()
        var dead: [UInt32: Int] = [:]
        for number in sizes(writer).keys {
            do throws(SystemError) {
                // Segments are not opened for that: there may be more of them than files can be open.
                guard let status = try root.status(Segment.fileName(number)) else { continue }
                let needed = used[number, default: 0] + headerByteCount + 2 * Record.headByteCount
                dead[number] = max(0, min(status.allocatedByteCount, 1 << 33) - needed - Segment.blockByteCount)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "looking for a segment")
            }
        }
        // There are fewer dead bytes if segments were given up meanwhile.
        writer.punched = writer.punched.filter { dead[$0.key] != nil }
        writer.squeezedByteCount = min(writer.squeezedByteCount, dead.values.reduce(0, +))
        return dead
    }

    /// The bytes of all segments.
    private func sizes(_ writer: borrowing Writer) -> [UInt32: Int] {
        var sizes = writer.sizes
        if let tail = tail.withLock({ $0 }) { sizes[tail.segment.number] = tail.end }
        return sizes
    }

    // MARK: Segments

    /// The most segments to give up: each once, or none if too little became dead since the last time. So the bytes
    /// written anew stay in proportion to the bytes saved, or are few.
    func segmentsToSqueeze(_ writer: inout Writer) throws(StoreError) -> Int {
        let dead = try deadByteCounts(&writer).values.reduce(0, +)
        if let failure = writer.squeezeFailure, dead < failure.dead + Segment.blockByteCount,
            try room() <= failure.room
        {
            return 0
        }
        let much = (byteCount(writer) - Self.fewBytes) / Self.smallestDeadPart
        guard dead - writer.squeezedByteCount > max(Self.fewDeadBytes, much) else { return 0 }
        return writer.sizes.count + 1
    }

    /// One in this many bytes must be dead, not counting the first `fewBytes`, which are written anew in a moment.
    private static var smallestDeadPart: Int { 64 }
    private static var fewBytes: Int { 16 << 20 }
    /// Dead bytes that may remain after all segments were rewritten.
    private static var fewDeadBytes: Int { 1 << 14 }

    /// Gives up the first segment and keeps its live entries. Takes the reserve for that.
    ///
    /// - Parameter reserve: gets the length that the reserve had before it was taken; 0 if there was none.
    /// - Returns: whether there was anything to give up.
    func squeezeFirst(
        taking reserve: inout Int,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        let room = try room()
        let length = try reserveByteCount()
        if length > 0 { try takeReserve() }
        reserve = length
        do throws(StoreError) {
            return try reclaimFirst(.all, now: nil, &departed, &writer)
        } catch {
            if error.isOutOfSpace {
                writer.squeezeFailure = (room, try deadByteCounts(&writer).values.reduce(0, +))
            }
            throw error
        }
    }

    /// Ends a squeeze: all segments have been given up once, and the bytes still dead stay: headers, seals, and the
    /// like.
    func endSqueeze(_ writer: inout Writer) throws(StoreError) {
        writer.squeezeFailure = nil
        writer.squeezedByteCount = try deadByteCounts(&writer).values.reduce(0, +)
    }

    private func room() throws(StoreError) -> Int { try freeByteCount() + reserveByteCount() }
}

extension Segment {
    /// The block size of most file systems.
    static let blockByteCount = 4_096

    /// Gives back the blocks that a record's payload fills. The payload is not read any more; the head stays.
    func punch(_ record: Record, at place: RecordPlace) throws(SystemError) {
        let start = Int(place.offset)
        try punch(start + record.headByteCount..<start + record.byteCount)
    }

    /// Gives back the blocks that a range of bytes fills.
    func punch(_ range: Range<Int>) throws(SystemError) {
        let block = Self.blockByteCount
        let hole = ((range.lowerBound + block - 1) / block * block, range.upperBound / block * block)
        if hole.0 < hole.1 { try file.punchHole(hole.0..<hole.1) }
    }
}
