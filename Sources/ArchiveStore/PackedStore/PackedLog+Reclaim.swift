import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The entries that were given up to make room, for the store's user to be told of.
struct Departed: Sendable {
    var evicted: [EntryInformation] = []
    var expired: [EntryInformation] = []

    static func += (one: inout Departed, other: Departed) {
        one.evicted += other.evicted
        one.expired += other.expired
    }
}

extension PackedLog {
    /// Which entries of a segment that is given up are written anew.
    enum Keeping {
        /// All that are still of use.
        case all
        /// As many as there are, up to `byteCount` bytes.
        case some(byteCount: Int)
        /// Those that were fetched since they were last written, up to `byteCount` bytes.
        case used(byteCount: Int)
    }

    /// Gives up the first segment: the entries to keep are written anew at the end, and the file is removed.
    ///
    /// Takes time in proportion to the bytes of one segment. Because it is the first one, no older entry can come back
    /// when the removals in it go.
    ///
    /// - Parameters:
    ///   - now: in seconds since 2001-01-01 UTC. Entries that have expired by then go; none for `nil`.
    ///   - departed: gets the entries that are given up, even if the file cannot be removed then.
    /// - Returns: whether there was anything to give up; not for `.all` where there is no room for all of it.
    func reclaimFirst(
        _ keeping: Keeping,
        now: Double?,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        guard let tail = tail.withLock({ $0 }) else { return false }
        let number = firstSegment(writer) ?? tail.segment.number
        if number == tail.segment.number {
            guard tail.end > (tail.segment.headerByteCount ?? 0) else { return false }
            if writer.isSealed { writer.setSize(tail.end, of: number) }
            try beginSegment(dictionary: dictionary, &writer)
        }
        hide()
        var plan = Plan(keeping, room: roomToCarry(writer))
        do throws(StoreError) {
            if let segment = try segments.segment(number) {
                try read(segment, writer.sizes[number] ?? 0, into: &plan, now: now)
            } else {
                forgetEntries(of: number, &writer)
            }
        } catch {
            // A segment that is no file has no entry. One that cannot be read now may be readable later.
            guard error.code == .corrupted else { throw error }
        }
        // Records that seem to be dead may be live in a part of the index that could not be loaded.
        try checkIndex()
        if plan.isTooLarge { return false }
        try carry(plan, outOf: number, &writer)
        for slot in plan.dropped {
            index.remove(slot.hash, slot.place)
            // Other processes see the entry gone from now on. This process's memory must drop it too, before callbacks
            // run.
            writer.noteChange(slot.hash)
        }
        departed += plan.departed
        try remove(segment: number, givingBackBlocks: plan.isCarriedInPieces, &writer)
        return true
    }

    /// How many bytes of a segment that is given up can be written anew before its file goes.
    private func roomToCarry(_ writer: borrowing Writer) -> Int {
        guard let limit = settings.byteLimit else { return .max }
        return max(0, limit - byteCount(writer) - headerByteCount - 2 * Record.headByteCount)
    }

    /// Forgets the entries of a segment after its file was deleted.
    private func forgetEntries(of number: UInt32, _ writer: inout Writer) {
        index.forEachPart { table in
            for slot in table.removeAll(where: { $0.place.segment == number }) { writer.noteChange(slot.hash) }
        }
    }

    /// The entries of a segment that is given up, each with its fate.
    struct Plan {
        let keeping: Keeping
        let room: Int
        var kept: [IndexSlot] = []
        var drafts: [RecordDraft] = []
        var keptByteCount = 0
        var dropped: [IndexSlot] = []
        var departed = Departed()
        /// Whether all entries were to be kept, and there is no room for them.
        var isTooLarge = false

        init(_ keeping: Keeping, room: Int) {
            self.keeping = keeping
            self.room = room
        }

        /// Whether no entry is lost if the segment cannot be read any more once the kept entries are elsewhere.
        var isCarriedInPieces: Bool {
            guard case .all = keeping else { return false }
            return departed.expired.isEmpty
        }

        /// Whether an entry is kept if its record would have `byteCount` bytes.
        func keeps(_ slot: IndexSlot, _ byteCount: Int) -> Bool {
            let total = keptByteCount + byteCount
            if total > room { return false }
            return switch keeping {
            case .all: true
            case .some(let limit): total <= limit
            case .used(let limit): slot.uses > 0 && total <= limit
            }
        }
    }

    /// Decides on each entry of a segment.
    private func read(
        _ segment: Segment,
        _ byteCount: Int,
        into plan: inout Plan,
        now: Double?
    ) throws(StoreError) {
        do {
            var scanner = SegmentScanner(segment, to: byteCount)
            var isWhole = true
            while let step = try scanner.next() {
                guard case .record(let record, let place) = step else {
                    isWhole = false
                    continue
                }
                guard record.kind == .entry else { continue }
                guard let slot = slot(of: record, at: place) else { continue }
                let bytes = try scanner.bytes(of: record, at: place)
                // The file was cut short.
                guard bytes.count == record.byteCount else {
                    isWhole = false
                    continue
                }
                try decide(on: slot, record, bytes, in: &plan, now: now)
            }
            if isWhole, scanner.offset == byteCount { return }
        } catch let error as SystemError {
            throw StoreError(error, path: segments.path(segment.number), action: "giving up a segment")
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown")
        }
        try readOneByOne(segment, into: &plan, now: now)
    }

    /// Decides on the entries of a damaged segment that the scan of its records did not find.
    private func readOneByOne(_ segment: Segment, into plan: inout Plan, now: Double?) throws(StoreError) {
        let known = Set(plan.kept.map(\.place)).union(plan.dropped.map(\.place))
        var rest: [IndexSlot] = []
        index.forEachPart { table in
            table.forEachSlot { if $0.place.segment == segment.number { rest.append($0) } }
        }
        for slot in rest where !known.contains(slot.place) {
            do throws(StoreError) {
                guard let found = try read(slot, .whole), self.slot(of: found.record, at: slot.place) != nil
                else { continue }
                try decide(on: slot, found.record, found.bytes, in: &plan, now: now)
            } catch {
                guard error.code == .corrupted else { throw error }
                plan.dropped.append(slot)
            }
        }
    }

    private func decide(
        on slot: IndexSlot,
        _ record: Record,
        _ bytes: [UInt8],
        in plan: inout Plan,
        now: Double?
    ) throws(StoreError) {
        let key = String(decoding: record.key, as: UTF8.self)
        let information = record.information(key: key, volume: root.identity.number)
        if let now, let end = record.attributes.usableUntil, end.timeIntervalSinceReferenceDate <= now {
            plan.dropped.append(slot)
            plan.departed.expired.append(information)
            return
        }
        // Compressed anew, it may be longer than it was.
        if plan.keeps(slot, 0), let draft = try draft(moving: record, bytes: bytes, slot.hash) {
            if plan.keeps(slot, draft.byteCount) {
                plan.kept.append(slot)
                plan.drafts.append(draft)
                plan.keptByteCount += draft.byteCount
                return
            }
            if case .all = plan.keeping { plan.isTooLarge = true }
        }
        plan.dropped.append(slot)
        plan.departed.evicted.append(information)
    }

    /// A record for another segment, compressed anew if that lacks the dictionary it needs; `nil` if it is damaged.
    private func draft(
        moving record: Record,
        bytes: [UInt8],
        _ hash: UInt64
    ) throws(StoreError) -> RecordDraft? {
        guard let dictionaryName = record.dictionaryName(in: bytes) else {
            return RecordDraft(moving: record, bytes: bytes, hash: hash)
        }
        let dictionary = dictionary
        if dictionaryName == dictionary?.identifier { return RecordDraft(moving: record, bytes: bytes, hash: hash) }
        do throws(StoreError) {
            return try RecordDraft.entry(
                key: record.key,
                hash: hash,
                serial: record.serial,
                attributes: record.attributes,
                archive: archive(of: record, bytes, limit: Zlib.largestByteCount),
                dictionary: dictionary,
                // It was compressed: it must not take more room than before, even if new entries are not compressed.
                compression: .automatic
            )
        } catch {
            // No store has written it, or none could read it.
            if [.corrupted, .tooLarge, .invalidArgument].contains(error.code) { return nil }
            throw error
        }
    }

    private func remove(
        segment number: UInt32,
        givingBackBlocks: Bool,
        _ writer: inout Writer
    ) throws(StoreError) {
        var floor = RecordDraft.floor(number + 1)
        // Appended before the file goes, so that all processes see the segment go at once. On a full disk there is no
        // room for the floor, and other processes find the file gone when they need it.
        _ = Result { () throws(StoreError) in try append(&floor, takesSerial: false, &writer) }
        if givingBackBlocks {
            // Otherwise the file keeps its blocks for as long as another process has it open.
            _ = Result { () throws(StoreError) in try punchWhereLittleIsFree(number, writer) }
        }
        try remove(file: number)
        raiseFloor(to: number + 1, &writer)
        // A snapshot that stays takes room, and does no other harm.
        _ = Result { () throws(StoreError) in try removeUselessSnapshot(writer) }
        if writer.clock?.segment.number ?? .max <= number { writer.clock = nil }
    }

    /// Removes the files that a killed process left of given-up segments, and a snapshot that is not of this log.
    func removeStrays(_ writer: inout Writer) throws(StoreError) {
        if writer.hasStrangeSnapshot {
            try removeSnapshot()
            writer.hasStrangeSnapshot = false
        }
        while let number = writer.strays.last {
            try remove(file: number)
            writer.strays.removeLast()
        }
    }

    /// Gives up every segment with all its entries.
    func removeAll(_ writer: inout Writer) throws(StoreError) {
        guard let tail = tail.withLock({ $0 }) else { return }
        let next: Tail
        do throws(StoreError) {
            next = try beginSegment(dictionary: dictionary, &writer)
        } catch {
            guard error.isOutOfSpace else { throw error }
            // There is no room for another segment: this one is emptied, which processes that have it open notice. No
            // snapshot may list its former entries either.
            writer.hasStrangeSnapshot = true
            writer.strays += writer.sizes.keys.sorted(by: >)
            try removeStrays(&writer)
            do throws(SystemError) {
                try tail.segment.file.truncate(to: tail.segment.headerByteCount ?? 0)
                if settings.durability == .power { try tail.segment.file.synchronizeData() }
            } catch {
                throw StoreError(error, path: segments.path(tail.segment.number), action: "emptying a segment")
            }
            throw stale()
        }
        hide()
        var floor = RecordDraft.floor(next.segment.number)
        _ = try append(&floor, takesSerial: false, &writer)
        writer.strays += writer.sizes.keys.filter { $0 < next.segment.number }.sorted(by: >)
        index.forEachPart { $0 = IndexTable() }
        raiseFloor(to: next.segment.number, &writer)
        writer.clock = nil
        if settings.durability == .power { try synchronize() }
        try removeStrays(&writer)
    }

    private func remove(file number: UInt32) throws(StoreError) {
        do {
            try root.remove(Segment.fileName(number))
        } catch {
            throw StoreError(error, path: segments.path(number), action: "removing a segment")
        }
    }

    // MARK: One entry after another

    /// As ``nextVictim(_:)``, which then returns the same entry, unless that is used meanwhile.
    func peekVictim(_ writer: inout Writer) throws(StoreError) -> Found? {
        let victim = try nextVictim(&writer)
        // All before it have been looked at, and count as unused from now on.
        writer.clock = try victim.flatMap { victim throws(StoreError) in
            try clock(at: victim.slot.place.segment, from: Int(victim.slot.place.offset), writer)
        }
        return victim
    }

    private static var mostRounds: Int { 4 }

    /// The next entry to evict: the oldest one that was not fetched since the clock last passed it.
    func nextVictim(_ writer: inout Writer) throws(StoreError) -> Found? {
        // Twice around finds each entry unused once.
        var rounds = 0
        while writer.clock != nil || rounds < Self.mostRounds {
            if writer.clock == nil {
                rounds += 1
                let first = writer.sizes.keys.min() ?? tail.withLock { $0?.segment.number }
                guard let first, let clock = try clock(at: first, writer) else { return nil }
                writer.clock = clock
            }
            guard var scanner = writer.clock else { continue }
            do {
                while let step = try scanner.next() {
                    guard case .record(let record, let place) = step, record.kind == .entry else { continue }
                    guard let slot = slot(of: record, at: place) else { continue }
                    let uses = index.withPart(slot.hash) { $0.takeUses(slot.hash, place) }
                    // An entry that is fetched all the time is evicted in the end.
                    guard uses == 0 || rounds == Self.mostRounds else { continue }
                    writer.clock = scanner
                    return Found(slot: slot, record: record, bytes: [])
                }
            } catch {
                throw StoreError(error, path: segments.path(scanner.segment.number), action: "making room")
            }
            let number = scanner.segment.number
            let next = writer.sizes.keys.filter { $0 > number }.min() ?? tail.withLock { $0?.segment.number }
            writer.clock = try next.flatMap { next throws(StoreError) in
                next > number ? try clock(at: next, writer) : nil
            }
        }
        return nil
    }

    private func clock(
        at number: UInt32,
        from offset: Int? = nil,
        _ writer: borrowing Writer
    ) throws(StoreError) -> SegmentScanner? {
        guard let segment = try segments.segment(number) else { return nil }
        let end = writer.sizes[number] ?? tail.withLock { $0?.end ?? 0 }
        return SegmentScanner(segment, from: offset, to: end)
    }
}
