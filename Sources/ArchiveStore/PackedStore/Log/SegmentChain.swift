/// The segments of a log in their order: their lengths, the first one that is not dropped, and the files to remove.
struct SegmentChain: Sendable {
    private let segments: SegmentTable
    private let tail: LogTail
    private let status: LogStatus
    /// The bytes of each segment but the tail, and their sum.
    private(set) var byteCounts: [UInt32: Int] = [:]
    private var sealedByteCount = 0
    /// The first segment that is not dropped.
    private(set) var firstLiveSegment: UInt32 = 0
    /// Whether the tail has its seal and the next segment does not exist yet.
    var isSealed = false
    /// Whether other bytes follow the tail's last record. Nothing is appended there: the next record begins a segment.
    var isUnclean = false
    /// Files of segments before the first one that still exist; the next one to remove is the last.
    private var orphanedSegments: [UInt32]
    /// Given-up segments, kept open while the log is locked.
    private var closed: [Segment] = []

    init(segments: SegmentTable, tail: LogTail, status: LogStatus, orphanedSegments: [UInt32]) {
        self.segments = segments
        self.tail = tail
        self.status = status
        self.orphanedSegments = orphanedSegments
        firstLiveSegment = status.firstLiveSegment
    }

    // MARK: Lengths

    mutating func setByteCount(_ byteCount: Int?, of segment: UInt32) {
        // No record is after 4 GiB. The cap keeps the sum from overflowing, however long a file was made.
        let byteCount = byteCount.map { min($0, 1 << 33) }
        sealedByteCount += (byteCount ?? 0) - (byteCounts[segment] ?? 0)
        byteCounts[segment] = byteCount
    }

    /// The bytes of all segments.
    var byteCount: Int {
        // A sealed tail may be in `sealedByteCount` already.
        guard let tail = tail.current, byteCounts[tail.segment.number] == nil else { return sealedByteCount }
        return sealedByteCount + tail.end
    }

    func byteCount(of segment: UInt32) -> Int { byteCounts[segment] ?? tail.byteCount }

    /// The bytes of each segment, the tail's as well.
    var allByteCounts: [UInt32: Int] {
        var byteCounts = byteCounts
        if let tail = tail.current { byteCounts[tail.segment.number] = tail.end }
        return byteCounts
    }

    // MARK: Order

    /// The first segment that has its length here; the tail if no other has.
    var first: UInt32? { byteCounts.keys.min() ?? tail.number }

    /// The segment after one; `nil` after the tail.
    func next(after number: UInt32) -> UInt32? {
        let next = byteCounts.keys.filter { $0 > number }.min() ?? tail.number
        return next.flatMap { $0 > number ? $0 : nil }
    }

    /// Whether there is anything to drop: more than an empty segment, or floors, which would only be rewritten.
    func hasMoreThanFloors() throws(StoreError) -> Bool {
        guard let tail = tail.current, byteCounts.isEmpty else { return !byteCounts.isEmpty }
        guard tail.end <= (tail.segment.headerByteCount ?? 0) + Self.mostFloorBytes else { return true }
        return try attempt("looking for records", segments.path(tail.segment.number)) { () throws(SystemError) in
            var scanner = SegmentScanner(tail.segment, to: tail.end)
            while let step = try scanner.next() {
                guard case .record(let record, _) = step, record.kind == .floor else { return true }
            }
            return scanner.offset < tail.end
        }
    }

    /// An emptied segment begins with no more bytes of floors: mostly with one.
    static let mostFloorBytes = 1 << 12

    /// Notes that all segments before this one are gone, or about to go.
    mutating func raiseFirstLiveSegment(to number: UInt32) {
        firstLiveSegment = number
        status.firstLiveSegment = number
        for gone in byteCounts.keys.filter({ $0 < number }) { setByteCount(nil, of: gone) }
        closed += segments.close { $0 < number }
    }

    /// Hands over the given-up segments that are still open, for a caller that closes them under no lock.
    mutating func takeClosed(into segments: inout [Segment]) { swap(&segments, &closed) }

    // MARK: Files

    var hasOrphanedSegments: Bool { !orphanedSegments.isEmpty }

    /// Notes the files of segments to remove.
    mutating func addOrphanedSegments(_ numbers: [UInt32]) { orphanedSegments += numbers }

    mutating func removeOrphanedSegments() throws(StoreError) {
        while let number = orphanedSegments.last {
            try removeFile(of: number)
            orphanedSegments.removeLast()
        }
    }

    /// - Parameter givingBackBlocks: Whether the file is made empty once it has no name: its blocks are free at once, and a process
    ///   that has it open finds that its entries are gone.
    func removeFile(of number: UInt32, givingBackBlocks: Bool = false) throws(StoreError) {
        let segment = givingBackBlocks ? try? segments.segment(number) : nil
        try attempt("removing a segment", segments.path(number)) { () throws(SystemError) in
            _ = try segments.root.remove(Segment.fileName(number))
        }
        guard let segment else { return }
        bestEffort("its blocks are free when the last process closes it") { () throws(SystemError) in
            try segment.file.truncate(to: 0)
        }
    }
}
