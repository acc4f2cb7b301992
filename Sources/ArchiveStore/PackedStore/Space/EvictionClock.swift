/// The eviction clock of a log: where the search for the next entry to evict goes on when there are too many.
///
/// The hand moves over the records in the order in which they were written, and from the last one to the first. On its way
/// it drops the slots of entries that no longer exist: no fetch returns them, and they count as entries.
struct EvictionClock: Sendable {
    private let reader: RecordReader
    private var hand: SegmentScanner?
    /// Whether the slots of the hand's segment were looked at since the hand came there, because of damage.
    private var isCleaned = false

    private static let mostRounds = 4

    init(reader: RecordReader) { self.reader = reader }

    /// The next entry to evict: the oldest one that was not fetched since the clock last passed it.
    mutating func next(in log: inout SegmentLog) throws(StoreError) -> LocatedRecord? {
        // Twice around finds each entry unused once.
        var rounds = 0
        while hand != nil || rounds < Self.mostRounds {
            if hand == nil {
                rounds += 1
                guard let start = try scanner(from: log.chain.first, in: &log) else { return nil }
                hand = start
            }
            guard var scanner = hand else { continue }
            let number = scanner.segment.number
            while let step = try step(of: &scanner) {
                guard case .record(let record, let place) = step else {
                    try dropUnreadable(in: number, of: &log)
                    continue
                }
                guard record.kind == .entry, let slot = reader.slot(of: record, at: place) else { continue }
                let uses = reader.index.withPart(slot.hash) { $0.takeUses(slot.hash, place) }
                // An entry that is fetched all the time is evicted in the end.
                guard uses == 0 || rounds == Self.mostRounds else { continue }
                hand = scanner
                return LocatedRecord(slot: slot, record: record, bytes: [])
            }
            if scanner.offset < scanner.end {
                try dropUnreadable(in: number, of: &log)
                if let next = nextEntry(in: number, behind: scanner.offset) {
                    hand = try self.scanner(at: number, from: next, in: log)
                    continue
                }
            }
            hand = try self.scanner(from: log.chain.next(after: number), in: &log)
        }
        return nil
    }

    /// The next step; `nil` as well before a place that cannot be read.
    private func step(of scanner: inout SegmentScanner) throws(StoreError) -> SegmentScanner.Step? {
        do {
            return try scanner.next()
        } catch {
            if error.isDeviceFailure { return nil }
            throw StoreError(error, path: reader.segments.path(scanner.segment.number), action: "making room")
        }
    }

    /// As ``next(in:)``, which then returns the same entry, unless that is used in the meantime.
    mutating func peek(in log: inout SegmentLog) throws(StoreError) -> LocatedRecord? {
        let victim = try next(in: &log)
        // All before it have been looked at, and count as unused from now on.
        hand = try victim.flatMap { victim throws(StoreError) in
            try scanner(at: victim.slot.place.segment, from: Int(victim.slot.place.offset), in: log)
        }
        return victim
    }

    /// Starts at the first segment again if the hand is in a segment that is dropped.
    mutating func leaveSegments(upTo number: UInt32) {
        if hand?.segment.number ?? .max <= number { hand = nil }
    }

    /// Drops the slots of records that cannot be read, once each time the hand passes a damaged segment.
    private mutating func dropUnreadable(in number: UInt32, of log: inout SegmentLog) throws(StoreError) {
        if isCleaned { return }
        isCleaned = true
        var slots: [IndexSlot] = []
        reader.index.forEachPart { table in
            table.forEachSlot { if $0.place.segment == number { slots.append($0) } }
        }
        for slot in slots {
            do throws(StoreError) {
                if try reader.read(slot, .head) != nil { continue }
            } catch {
                guard error.code == .corrupted || error.isDeviceFailure else { throw error }
            }
            log.index.remove(slot)
        }
    }

    /// Where the next entry of a segment stands, as the index has it; `nil` if there is none after `offset`.
    private func nextEntry(in number: UInt32, behind offset: Int) -> Int? {
        var next: UInt32?
        reader.index.forEachPart { table in
            table.forEachSlot { slot in
                guard slot.place.segment == number, Int(slot.place.offset) > offset else { return }
                next = min(next ?? .max, slot.place.offset)
            }
        }
        return next.map(Int.init)
    }

    /// The start of the first segment from one on; `nil` after the tail. Drops the slots of segments whose files were
    /// deleted.
    private mutating func scanner(from number: UInt32?, in log: inout SegmentLog) throws(StoreError)
        -> SegmentScanner?
    {
        var next = number
        isCleaned = false
        while let number = next {
            if let scanner = try scanner(at: number, in: log) { return scanner }
            log.index.removeSegment(number)
            next = log.chain.next(after: number)
        }
        return nil
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
