/// Making room on a full volume, of what is dead.
extension PackedLog {
    // MARK: Blocks

    /// The segments of which a block more is dead than when their blocks were last given back.
    func segmentsToPunch(_ writer: inout Writer) throws(StoreError) -> [UInt32] {
        try deadByteCounts(&writer)
            .filter { $0.value >= writer.punched[$0.key, default: 0] + Segment.blockByteCount }
            .keys.sorted()
    }

    /// Gives back the blocks that dead records fill in a segment. Reads its heads.
    func punchDead(_ number: UInt32, _ writer: inout Writer) throws(StoreError) {
        guard let end = sizes(writer)[number], let segment = try segments.segment(number) else { return }
        // What took the place of the dead must not go with the power.
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

    /// Dead bytes in the blocks of each segment, beyond the header, the seal, the floor and the begun block that every segment
    /// needs. Asks for the status of each.
    private func deadByteCounts(_ writer: inout Writer) throws(StoreError) -> [UInt32: Int] {
        var used: [UInt32: Int] = [:]
        index.forEachPart { $0.forEachSlot { used[$0.place.segment, default: 0] += Int($0.byteCount) } }
        // What seems to be dead may only be in a part of the index that could not be loaded.
        try checkIndex()
        var dead: [UInt32: Int] = [:]
        for number in sizes(writer).keys {
            do throws(SystemError) {
                // Not opened for that: there may be more of them than files can be open.
                guard let status = try root.status(Segment.fileName(number)) else { continue }
                let needed = used[number, default: 0] + headerByteCount + 2 * Record.headByteCount
                dead[number] = max(0, min(status.allocatedByteCount, 1 << 33) - needed - Segment.blockByteCount)
            } catch {
                throw StoreError(error, path: segments.path(number), action: "looking for a segment")
            }
        }
        // It became less if segments were given up meanwhile.
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

    /// How many segments are given up at most: each once, or none if too little became dead since the last time. So what
    /// is written anew stays in proportion to what is saved, or is little.
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

    /// Which part of all bytes must be dead, but for the first ones, which are written anew in a moment.
    private static var smallestDeadPart: Int { 64 }
    private static var fewBytes: Int { 16 << 20 }
    /// Dead bytes that may remain after all segments were rewritten.
    private static var fewDeadBytes: Int { 1 << 14 }

    /// Gives up the first segment and keeps what is of use in it. Takes the reserve for that.
    ///
    /// - Parameter reserve: gets how long that was, if it was taken.
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

    /// All segments have been given up once, and what is dead now will stay: headers, seals, and the like.
    func endSqueeze(_ writer: inout Writer) throws(StoreError) {
        writer.squeezeFailure = nil
        writer.squeezedByteCount = try deadByteCounts(&writer).values.reduce(0, +)
    }

    private func room() throws(StoreError) -> Int { try freeByteCount() + reserveByteCount() }
}

extension Segment {
    /// What file systems keep files in, on most.
    static let blockByteCount = 4_096

    /// Gives back the blocks that a record's payload fills. Nobody reads the payload any more; the head stays.
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
