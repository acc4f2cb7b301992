extension PackedLog {
    /// Gives back the blocks that dead records fill, where the volume is full, and the first segments, if what is of use
    /// in them finds room.
    ///
    /// Reads all heads. So it is done only if more is dead than the last time.
    ///
    /// - Returns: whether there may be more room now.
    func squeeze(_ writer: inout Writer) throws(StoreError) -> Bool {
        let deadByteCount = byteCount(writer) - index.total.byteCount
        // What seems to be dead may only be in a part of the index that could not be loaded.
        try checkIndex()
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
        // As long as that frees more than it takes.
        while case let before = byteCount(writer), firstSegment(writer) != tail.withLock({ $0?.segment.number }) {
            // Nothing departs but what is damaged.
            var departed = Departed()
            let result = Result { () throws(StoreError) in
                try reclaimFirst(.all, now: nil, &departed, &writer)
            }
            guard case .success(true) = result, byteCount(writer) < before else { break }
        }
        writer.squeezedByteCount = byteCount(writer) - index.total.byteCount
        return true
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
