/// The eviction clock of a log: where the search for the next entry to evict goes on when there are too many.
///
/// The hand moves over the records in the order in which they were written, and from the last one to the first.
struct EvictionClock: Sendable {
    private let reader: RecordReader
    private var hand: SegmentScanner?

    private static let mostRounds = 4

    init(reader: RecordReader) { self.reader = reader }

    /// The next entry to evict: the oldest one that was not fetched since the clock last passed it.
    mutating func next(in log: SegmentLog) throws(StoreError) -> LocatedRecord? {
        // Twice around finds each entry unused once.
        var rounds = 0
        while hand != nil || rounds < Self.mostRounds {
            if hand == nil {
                rounds += 1
                guard let first = log.chain.first, let start = try scanner(at: first, in: log) else { return nil }
                hand = start
            }
            guard var scanner = hand else { continue }
            do {
                while let step = try scanner.next() {
                    guard case .record(let record, let place) = step, record.kind == .entry else { continue }
                    guard let slot = reader.slot(of: record, at: place) else { continue }
                    let uses = reader.index.withPart(slot.hash) { $0.takeUses(slot.hash, place) }
                    // An entry that is fetched all the time is evicted in the end.
                    guard uses == 0 || rounds == Self.mostRounds else { continue }
                    hand = scanner
                    return LocatedRecord(slot: slot, record: record, bytes: [])
                }
            } catch {
                throw StoreError(error, path: reader.segments.path(scanner.segment.number), action: "making room")
            }
            hand = try log.chain.next(after: scanner.segment.number).flatMap { next throws(StoreError) in
                try self.scanner(at: next, in: log)
            }
        }
        return nil
    }

    /// As ``next(in:)``, which then returns the same entry, unless that is used meanwhile.
    mutating func peek(in log: SegmentLog) throws(StoreError) -> LocatedRecord? {
        let victim = try next(in: log)
        // All before it have been looked at, and count as unused from now on.
        hand = try victim.flatMap { victim throws(StoreError) in
            try scanner(at: victim.slot.place.segment, from: Int(victim.slot.place.offset), in: log)
        }
        return victim
    }

    /// Starts at the first segment again if the hand is in a segment that is given up.
    mutating func leaveSegments(upTo number: UInt32) {
        if hand?.segment.number ?? .max <= number { hand = nil }
    }

    private func scanner(
        at number: UInt32,
        from offset: Int? = nil,
        in log: SegmentLog
    ) throws(StoreError) -> SegmentScanner? {
        guard let segment = try reader.segments.segment(number) else { return nil }
        return SegmentScanner(segment, from: offset, to: log.chain.byteCount(of: number))
    }
}
