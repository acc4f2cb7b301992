import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedStore {
    /// How many victims that are in use elsewhere are spared each time that room is made.
    private static var mostSpared: Int { 8 }

    /// Refuses what is larger than all entries together may be.
    func checkFits(_ byteCount: Int, in log: PackedLog) throws(StoreError) {
        var limit = settings.countLimit == 0 ? 0 : Int.max
        if let byteLimit = settings.byteLimit {
            let room = try log.looking { log.roomForUpkeep($0) + log.headerByteCount }
            limit = min(limit, byteLimit - room)
        }
        guard byteCount > limit else { return }
        let reason = "\(byteCount) bytes are more than all entries together may have"
        throw StoreError(.tooLarge, action: "saving an archive", reason: reason)
    }

    /// Has `body` change the log after making room for so many bytes, and once more with more room if the volume turns
    /// out to be full.
    func withRoom<Result: Sendable>(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed,
        _ body: (inout PackedLog.Writer, inout Departed) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if settings.isLimited {
            try makeFreeSpace(for: byteCount, now: now, in: log, &departed)
            try prepareRoom(for: byteCount, digest, now: now, in: log)
        }
        var failure: StoreError
        do throws(StoreError) {
            return try log.changing { writer throws(StoreError) in try body(&writer, &departed) }
        } catch {
            guard error.isOutOfSpace else { throw error }
            failure = error
        }
        for means in SpaceMeans.allCases {
            var isMore = true
            for _ in 0..<Self.mostTries where isMore {
                // One at a time: the others find what it made, or that it is not enough.
                isMore = try squeezing.withLock { _ throws(StoreError) in
                    try makeSpace(by: means, for: byteCount, now: now, in: log, &departed)
                }
                do throws(StoreError) {
                    return try log.changing { writer throws(StoreError) in try body(&writer, &departed) }
                } catch {
                    guard error.isOutOfSpace else { throw error }
                    failure = error
                }
            }
        }
        throw failure
    }

    /// How often room is made for one save in the same way, since others may take it.
    private static var mostTries: Int { 4 }

    /// How room is made where the volume is full, in this order.
    private enum SpaceMeans: CaseIterable {
        /// The blocks of dead records are given back.
        case blocks
        /// What is of use is written anew.
        case segments
        /// Entries are given up.
        case entries
    }

    /// Says whether there may be more to be had in this way.
    private func makeSpace(
        by means: SpaceMeans,
        for byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let byteCount = byteCount * 2 + Self.spareByteCount
        switch means {
        case .blocks:
            // What keeps it from that keeps nobody from trying the rest.
            _ = Result { () throws(StoreError) in
                try log.changing { writer throws(StoreError) in try log.squeezeBlocks(&writer) }
            }
            return false
        case .segments:
            let result = Result { () throws(StoreError) in try squeeze(byteCount, outOf: log, &departed) }
            return (try? result.get()) ?? false
        case .entries:
            guard settings.isLimited else { return false }
            return try giveUp(atLeast: byteCount, now: now, in: log, &departed)
        }
    }

    /// Gives up one segment after another and keeps all entries, until so many bytes more are free, or all that is dead
    /// is gone.
    ///
    /// - Returns: whether it ended before all was gone.
    private func squeeze(
        _ byteCount: Int,
        outOf log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let count = try log.looking { writer throws(StoreError) in try log.segmentsToSqueeze(&writer) }
        guard count > 0 else { return false }
        let goal = try log.freeByteCount() + byteCount
        for _ in 0..<count {
            var reserve = 0
            // Others come in between.
            let result = Result { () throws(StoreError) in
                try log.changing { writer throws(StoreError) in
                    try log.squeezeFirst(taking: &reserve, &departed, &writer)
                }
            }
            // The file is closed, and has given its room back, only now that the lock was given back.
            if reserve > 0 { try log.changing { log.restoreReserve(reserve, &$0) } }
            do throws(StoreError) {
                guard try result.get() else { break }
            } catch {
                if error.isOutOfSpace {
                    try log.locked { writer throws(StoreError) in try log.failSqueeze(&writer) }
                }
                throw error
            }
            if try log.freeByteCount() >= goal { return true }
        }
        try log.looking { writer throws(StoreError) in try log.endSqueeze(&writer) }
        return false
    }

    /// What is given up at least where the volume turns out to be full.
    private static var spareByteCount: Int { 1 << 16 }

    /// Asks which of those that may have to give way are in use elsewhere, and has them spared. Nobody is asked while a
    /// lock is held.
    private func prepareRoom(
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

    /// Has those entries of the first segment count as used that are in use elsewhere.
    func spareInUse(in log: PackedLog) throws(StoreError) {
        guard let user = user.withLock({ $0.user }) else { return }
        for (slot, key) in try log.entriesOfFirstSegment() where slot.uses == 0 && user.isInUse(key) {
            log.index.use(slot)
        }
    }

    /// Gives up entries until a record of so many bytes can be added for a key.
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
            // Room for what says so may be enough already.
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

    // MARK: The volume

    /// Gives up entries until so many bytes more leave enough of the volume free.
    ///
    /// - Throws: `.io` with `ENOSPC` if nothing is left to give up.
    private func makeFreeSpace(
        for byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) {
        guard settings.minimumFreeByteCount > 0 else { return }
        func shortage() throws(StoreError) -> Int {
            let (needed, overflow) = settings.minimumFreeByteCount.addingReportingOverflow(byteCount)
            return (overflow ? .max : needed) - (try log.freeByteCount())
        }
        while case let shortage = try shortage(), shortage > 0 {
            guard try giveUp(atLeast: shortage, now: now, in: log, &departed) else {
                throw StoreError(SystemError(number: ENOSPC), path: path, action: "saving an archive")
            }
        }
    }

    /// Gives up segments of so many bytes together, and says whether there were any entries in them.
    private func giveUp(
        atLeast byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let former = log.index.total
        guard former.count > 0 else { return false }
        try log.changing { writer throws(StoreError) in
            let enough = log.byteCount(writer) - byteCount
            while log.byteCount(writer) > max(enough, 0), log.index.total.count > 0,
                try log.reclaimFirst(.used(byteCount: 0), now: now, &departed, &writer)
            {}
        }
        return log.index.total.count < former.count
    }

    // MARK: Trimming

    /// Implementation: the oldest entries go that were not fetched since they were looked at last; then all segments
    /// are written anew that have anything else in them.
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
                // Others save meanwhile, or there are more segments than there need to be.
                room = min(room, log.index.total.byteCount) - max(total - byteCount, segmentOverhead)
            }
        }
    }

    private static var mostRounds: Int { 16 }

    /// Gives up some entries, lest others wait for all of them, and says whether there are more to be given up until
    /// all records of entries have no more than so many bytes.
    private func giveUpSome(
        of log: PackedLog,
        downTo room: Int,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        for _ in 0..<64 {
            guard log.index.total.count > 0, log.index.total.byteCount > max(0, room) else { return false }
            guard let victim = try log.nextVictim(&writer) else { return false }
            // Written down, so that it is gone for others as well, whenever its segment goes.
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

    /// Writes anew what is in segments that have more in them than entries, and says how many bytes that gave back.
    ///
    /// - Parameter departed: what had to be given up because there was no room to write it anew; `nil` to end there.
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
        while try log.changing({ writer throws(StoreError) in
            guard let first = log.firstSegment(writer), first <= last else { return false }
            // Not above the limit meanwhile.
            if log.byteCount(writer) + log.size(first, writer) > log.byteLimit(writer) {
                return try giveUp(&writer)
            }
            var departed = Departed()
            return try log.reclaimFirst(.all, now: nil, &departed, &writer)
        }) {}
        return before - (try log.looking { log.byteCount($0) })
    }

    /// Implementation: the segments are written anew, up to the last one that has anything else in it than entries.
    @discardableResult
    package func compact() throws(StoreError) -> Int {
        try reading { log throws(StoreError) in try compact(log) } ?? 0
    }
}

extension PackedLog.Writer {
    /// Whether entries may have to go because of their deadlines, which is looked at once a second.
    mutating func takesSweep(_ now: Double) -> Bool {
        guard Double(nextDeadline) <= now, abs(now - sweptAt) >= 1 else { return false }
        sweptAt = now
        return true
    }
}

extension PackedLog {
    // MARK: The byte limit

    /// What making room takes itself: entries that are kept, a seal, the header of another segment, and a floor.
    func roomForUpkeep(_ writer: borrowing Writer) -> Int {
        let dictionaryByteCount = max(dictionary?.bytes.count ?? 0, dictionaryLimit(writer))
        return mostKept(writer) + 2 * Record.headByteCount + SegmentHeader.byteCount + dictionaryByteCount
    }

    /// How many bytes of a segment that is given up are written anew, at most.
    func mostKept(_ writer: borrowing Writer) -> Int { segmentByteCount(writer) / 2 }

    /// How many bytes all segments may have, and room is left to give some up.
    func byteLimit(_ writer: borrowing Writer) -> Int {
        settings.byteLimit.map { max(0, $0 - roomForUpkeep(writer)) } ?? .max
    }

    /// Of a segment with the dictionary there is.
    var headerByteCount: Int { SegmentHeader.byteCount + (dictionary?.bytes.count ?? 0) }

    /// By how many bytes the segments grow with records of so many.
    func byteCount(toAppend byteCount: Int, _ writer: borrowing Writer) -> Int {
        if hasRoom(for: byteCount, writer) { return byteCount }
        return byteCount + Record.headByteCount + headerByteCount
    }

    /// Gives up segments until records of so many bytes can be appended, or there is nothing to give up.
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
            // A seal, and the floor that the last one to be given up left.
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
