import Foundation

extension PackedStore {
    /// The most victims in use elsewhere that are spared each time room is made.
    private static var mostSpared: Int { 8 }

    /// Refuses a record that is larger than all entries together may be.
    func checkFits(_ byteCount: Int, in log: PackedLog) throws(StoreError) {
        if settings.countLimit == 0 { throw StoreError.noEntries }
        guard let byteLimit = settings.byteLimit else { return }
        let limit = byteLimit - (try log.looking { log.roomForUpkeep($0) + log.headerByteCount })
        guard byteCount > limit else { return }
        throw StoreError.tooLarge(byteCount, limit: max(0, limit))
    }

    /// Asks the store's user which of the next victims are in use elsewhere, and spares them. The user is not asked
    /// while a lock is held.
    func prepareRoom(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        in log: PackedLog
    ) throws(StoreError) {
        if let limit = settings.countLimit, log.index.total.count >= limit, log.index.slot(digest) == nil {
            if try log.looking({ $0.takesSweep(now) }) {
                try removeExpired(at: Date(timeIntervalSinceReferenceDate: now)) { entry in
                    user.withLock { $0.user }?.didExpire(entry)
                }
            }
            if let user = user.withLock({ $0.user }) {
                for _ in 0..<Self.mostSpared {
                    guard
                        let victim = try log.looking({ writer throws(StoreError) in try log.peekVictim(&writer) }),
                        let key = victim.key, user.isInUse(key.string)
                    else { break }
                    log.index.use(victim.slot)
                }
            }
        }
        let isFull = try log.looking {
            log.byteCount($0) + log.byteCount(toAppend: byteCount, $0) > log.byteLimit($0)
        }
        if isFull { try spareInUse(in: log) }
    }

    /// Marks the entries of the first segment as used that are in use elsewhere.
    func spareInUse(in log: PackedLog) throws(StoreError) {
        guard let user = user.withLock({ $0.user }) else { return }
        for (slot, key) in try log.entriesOfFirstSegment() where slot.uses == 0 && user.isInUse(key) {
            log.index.use(slot)
        }
    }

    /// Gives up entries until a record of `byteCount` bytes can be added for a key.
    func holdLimits(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        in log: PackedLog,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) {
        try log.makeRoom(for: byteCount, now: now, &departed, &writer)
        guard let limit = settings.countLimit, log.index.slot(digest) == nil else { return }
        while log.index.total.count >= limit, let victim = try log.nextVictim(&writer) {
            // Making room for the removal record may give up enough entries already.
            let removalByteCount = Record.headByteCount + victim.record.key.count
            try log.makeRoom(for: removalByteCount + byteCount, now: now, &departed, &writer)
            guard log.index.total.count >= limit, let slot = log.index.slot(log.digest(of: victim.record)) else {
                continue
            }
            try log.remove(slot, key: victim.record.key, &writer)
            if let key = victim.key { departed.evicted.append(information(victim, key.string, log)) }
        }
        // The removal may have begun another segment, which the entry has no room in.
        try log.makeRoom(for: byteCount, now: now, &departed, &writer)
    }

    func tell(_ departed: Departed) {
        guard !departed.evicted.isEmpty || !departed.expired.isEmpty,
            let user = user.withLock({ $0.user })
        else { return }
        departed.expired.forEach(user.didExpire)
        departed.evicted.forEach(user.didEvict)
    }

    // MARK: Trimming

    /// Implementation: the oldest entries that were not fetched since the clock last passed them go; then the segments
    /// are written anew, up to the last one that has anything else in it than entries.
    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        _ = try reading { log throws(StoreError) -> Void? in
            guard try log.looking({ log.byteCount($0) }) > byteCount else { return }
            var departed = Departed()
            defer { departed.evicted.forEach(removed) }
            let size = try log.looking { log.segmentByteCount($0) }
            let segmentOverhead =
                SegmentHeader.byteCount + (log.dictionary?.bytes.count ?? 0) + 2 * Record.headByteCount
            var room = byteCount - segmentOverhead * (byteCount / size + 2)
            for _ in 0..<Self.mostRounds {
                while try log.changing({ writer throws(StoreError) in
                    try giveUpSome(of: log, downTo: room, &writer, &departed)
                }) {}
                _ = try compact(log, givingUp: &departed)
                let total = try log.looking { log.byteCount($0) }
                if total <= byteCount || log.index.total.count == 0 { break }
                // Other callers save meanwhile, or there are more segments than needed.
                room = min(room, log.index.total.byteCount) - max(total - byteCount, segmentOverhead)
            }
        }
    }

    private static var mostRounds: Int { 16 }

    /// Gives up some entries, but not all at once, so that other callers need not wait for all of them. Returns whether
    /// more have to go until the records of all entries have no more than `room` bytes.
    private func giveUpSome(
        of log: PackedLog,
        downTo room: Int,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        for _ in 0..<64 {
            guard log.index.total.count > 0, log.index.total.byteCount > max(0, room) else { return false }
            guard let victim = try log.nextVictim(&writer) else { return false }
            // Appends a removal, so that the entry is gone for other processes as well, whenever its segment goes.
            let removalByteCount = Record.headByteCount + victim.record.key.count
            if log.byteCount(writer) + log.byteCount(toAppend: removalByteCount, writer) > log.byteLimit(writer) {
                guard try log.reclaimFirst(.used(byteCount: 0), now: nil, &departed, &writer) else { return false }
                continue
            }
            try log.remove(victim.slot, key: victim.record.key, &writer)
            if let key = victim.key { departed.evicted.append(information(victim, key.string, log)) }
        }
        return true
    }

    /// Writes segments anew, up to the last one that has more in it than entries; returns how many bytes that gave
    /// back.
    ///
    /// - Parameter departed: the entries that had to be given up because there was no room to write them anew.
    func compact(_ log: PackedLog, givingUp departed: inout Departed) throws(StoreError) -> Int {
        try compact(log) { writer throws(StoreError) in
            let room = max(0, log.byteLimit(writer) - log.byteCount(writer))
            return try log.reclaimFirst(.some(byteCount: room), now: nil, &departed, &writer)
        }
    }

    func compact(
        _ log: PackedLog,
        withoutRoom giveUp: (inout PackedLog.Writer) throws(StoreError) -> Bool = { _ in false }
    ) throws(StoreError) -> Int {
        let (before, last) = try log.looking { writer throws(StoreError) in
            (log.byteCount(writer), try log.lastSegmentToCompact(writer))
        }
        guard let last else { return 0 }
        while try compactFirst(of: log, upTo: last, withoutRoom: giveUp) {}
        return before - (try log.looking { log.byteCount($0) })
    }

    /// Writes the first segment anew; returns whether there was one up to `last`.
    private func compactFirst(
        of log: PackedLog,
        upTo last: UInt32,
        withoutRoom giveUp: (inout PackedLog.Writer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        var departed = Departed()
        do throws(StoreError) {
            return try log.changing { writer throws(StoreError) in
                guard let first = log.firstSegment(writer), first <= last else { return false }
                // While both copies exist, they must not exceed the limit.
                if log.byteCount(writer) + log.size(first, writer) > log.byteLimit(writer) {
                    return try giveUp(&writer)
                }
                return try log.reclaimFirst(.all, now: nil, &departed, &writer)
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
            return try squeezing.withLock { _ throws(StoreError) in try squeezeFirst(of: log, &departed) }
        }
    }

    /// Implementation: the segments are written anew, up to the last one that has anything else in it than entries.
    @discardableResult
    package func compact() throws(StoreError) -> Int {
        try reading { log throws(StoreError) in try compact(log) } ?? 0
    }
}

extension PackedLog.Writer {
    /// Whether to look for expired entries, which is done at most once a second.
    mutating func takesSweep(_ now: Double) -> Bool {
        guard Double(nextDeadline) <= now, abs(now - sweptAt) >= 1 else { return false }
        sweptAt = now
        return true
    }
}

extension PackedLog {
    // MARK: The byte limit

    /// The bytes that making room takes itself: entries that are kept, a seal, the header of another segment, and a
    /// floor.
    func roomForUpkeep(_ writer: borrowing Writer) -> Int {
        let dictionaryByteCount = max(dictionary?.bytes.count ?? 0, dictionaryLimit(writer))
        return mostKept(writer) + 2 * Record.headByteCount + SegmentHeader.byteCount + dictionaryByteCount
    }

    /// The most bytes of a given-up segment that are written anew.
    func mostKept(_ writer: borrowing Writer) -> Int { segmentByteCount(writer) / 2 }

    /// The most bytes that all segments may have so that room is left to give some up.
    func byteLimit(_ writer: borrowing Writer) -> Int {
        settings.byteLimit.map { max(0, $0 - roomForUpkeep(writer)) } ?? .max
    }

    /// The header length of a segment with the current dictionary.
    var headerByteCount: Int { SegmentHeader.byteCount + (dictionary?.bytes.count ?? 0) }

    /// By how many bytes the segments grow if records of `byteCount` bytes are appended.
    func byteCount(toAppend byteCount: Int, _ writer: borrowing Writer) -> Int {
        if hasRoom(for: byteCount, writer) { return byteCount }
        return byteCount + Record.headByteCount + headerByteCount
    }

    /// Gives up segments until records of `byteCount` bytes can be appended, or there is nothing to give up.
    func makeRoom(
        for byteCount: Int,
        now: Double?,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) {
        guard settings.byteLimit != nil else { return }
        while self.byteCount(writer) + self.byteCount(toAppend: byteCount, writer) > byteLimit(writer) {
            let isLast = index.total.count == 0 && writer.sizes.isEmpty
            guard try reclaimFirst(.used(byteCount: mostKept(writer)), now: now, &departed, &writer) else { return }
            // Nothing is left but a floor, which each round would write anew.
            if isLast { return }
        }
    }

    // MARK: Segments

    func firstSegment(_ writer: borrowing Writer) -> UInt32? {
        writer.sizes.keys.min() ?? tail.withLock { $0?.segment.number }
    }

    /// Whether there is anything but an empty segment.
    func hasRecords(_ writer: borrowing Writer) throws(StoreError) -> Bool {
        guard let tail = tail.withLock({ $0 }) else { return false }
        return !writer.sizes.isEmpty || tail.end > (tail.segment.headerByteCount ?? 0)
    }

    func size(_ segment: UInt32, _ writer: borrowing Writer) -> Int {
        writer.sizes[segment] ?? tail.withLock { $0?.end ?? 0 }
    }

    /// The last segment that has more in it than entries; `nil` if none has.
    func lastSegmentToCompact(_ writer: borrowing Writer) throws(StoreError) -> UInt32? {
        var used: [UInt32: Int] = [:]
        index.forEachPart { $0.forEachSlot { used[$0.place.segment, default: 0] += Int($0.byteCount) } }
        let tail = tail.withLock { $0 }
        var sizes = writer.sizes
        if let tail, !writer.isSealed { sizes[tail.segment.number] = tail.end }
        for (number, size) in sizes.sorted(by: { $0.key > $1.key }) {
            let header = try segments.segment(number)?.headerByteCount ?? 0
            // A seal, and the floor that the last given-up segment left.
            if size > header + used[number, default: 0] + 2 * Record.headByteCount { return number }
        }
        return nil
    }

    /// The entries in the first segment.
    func entriesOfFirstSegment() throws(StoreError) -> [(slot: IndexSlot, key: String)] {
        let (number, size) = try looking { writer in
            let number = firstSegment(writer) ?? 0
            return (number, self.size(number, writer))
        }
        guard let segment = try segments.segment(number) else { return [] }
        var entries: [(slot: IndexSlot, key: String)] = []
        do {
            var scanner = SegmentScanner(segment, to: size)
            while let step = try scanner.next() {
                guard case .record(let record, let place) = step, record.kind == .entry else { continue }
                guard let slot = self.slot(of: record, at: place) else { continue }
                entries.append((slot, String(decoding: record.key, as: UTF8.self)))
            }
        } catch {
            throw StoreError(error, path: segments.path(number), action: "making room")
        }
        return entries
    }
}
