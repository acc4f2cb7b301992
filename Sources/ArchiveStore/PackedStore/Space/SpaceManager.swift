import Foundation

/// Makes room in a store: within its limits, and on its volume.
///
/// ``checkFits(_:)`` refuses records that are too large, ``withSpace(for:_:now:evictions:_:)`` reclaims the room for a
/// save, ``trim(toByteCount:removed:)`` evicts entries, ``compact()`` removes dead records, and ``keepHeadroom()`` does
/// in the background the work that saves would have to wait for.
final class SpaceManager: Sendable {
    let settings: StoreSettings
    let lock: LogLock
    let reader: RecordReader
    let remover: EntryRemover
    let sweeper: EntrySweeper
    let user: PackedStoreUser
    let budget: SpaceBudget
    let reserve: ReserveFile
    /// Held while making room on a full volume; taken before the log is locked, never while it is.
    private let compaction = RankedMutex((), rank: PackedLocks.compaction)
    private let sparing = RankedMutex(SparingAllowance(), rank: PackedLocks.sparing)

    init(
        settings: StoreSettings,
        lock: LogLock,
        reader: RecordReader,
        remover: EntryRemover,
        sweeper: EntrySweeper,
        user: PackedStoreUser,
        budget: SpaceBudget,
        reserve: ReserveFile
    ) {
        self.settings = settings
        self.lock = lock
        self.reader = reader
        self.remover = remover
        self.sweeper = sweeper
        self.user = user
        self.budget = budget
        self.reserve = reserve
    }

    /// Runs `body` while no other caller makes room on the full volume.
    func withCompactionLock<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try compaction.withLock { _ throws(StoreError) in try body() }
    }

    /// The bytes of all segments.
    func byteCount() throws(StoreError) -> Int { try lock.withWriterLock { $0.log.chain.byteCount } }

    // MARK: Limits

    /// Refuses a record that is larger than all entries together may be.
    func checkFits(_ byteCount: Int) throws(StoreError) {
        if settings.countLimit == 0 { throw StoreError.noEntries }
        guard let all = settings.byteLimit else { return }
        let limit = try lock.withWriterLock { budget.recordByteLimit(of: $0.log) }
        guard let limit, byteCount > limit else { return }
        throw limit > 0
            ? StoreError.tooLarge(byteCount, limit: limit, ofAll: all) : StoreError.noRoom(byteLimit: all)
    }

    /// Evicts entries until a record of `byteCount` bytes can be added for a key, under the lock of the log.
    func evict(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        in state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) {
        try state.reclaimer.reclaim(byteCount, now: now, from: &state.log, evictions: &evictions)
        let index = reader.index
        guard let limit = settings.countLimit, index.slot(digest) == nil else { return }
        // The clock finds no entry whose record is lost.
        if index.total.count >= limit { state.log.removeLostSlots() }
        while index.total.count >= limit, let victim = try state.reclaimer.clock.next(in: &state.log) {
            // Making room for the removal record may evict enough entries already.
            let needed = victim.removalByteCount + byteCount
            try state.reclaimer.reclaim(needed, now: now, from: &state.log, evictions: &evictions)
            guard index.total.count >= limit, index.slot(reader.digest(of: victim.record)) != nil else { continue }
            try evict(victim, in: &state, evictions: &evictions)
        }
        // The removal may have begun another segment, which the entry has no room in.
        try state.reclaimer.reclaim(byteCount, now: now, from: &state.log, evictions: &evictions)
    }

    /// Evicts an entry by a removal, so that it is gone for other processes as well, whenever its segment goes.
    func evict(
        _ victim: LocatedRecord,
        in state: inout LogState,
        evictions: inout Evictions
    ) throws(StoreError) {
        guard let slot = reader.index.slot(reader.digest(of: victim.record)) else { return }
        let isRemoved = try remover.remove(slot, key: victim.record.key, from: &state, evictions: &evictions)
        guard isRemoved, let key = victim.key else { return }
        evictions.evicted.append(reader.information(victim, key: key.string))
    }

    // MARK: Headroom

    /// The most segments that are reclaimed in one run: as many as a log with a limit has, so that a run may pass all entries.
    /// A save's own is shorter; upkeep is ahead of it mostly.
    private enum Run {
        static let ofUpkeep = 32
        static let ofSave = 16
    }

    /// Drops segments before a save needs their room, for a background queue.
    func keepHeadroom() throws(StoreError) {
        var evictions = Evictions()
        // The time is known from saves only.
        try giveUpSegments(most: Run.ofUpkeep, readsAhead: true, now: nil, evictions: &evictions) {
            budget.headroomPolicy(of: $0)
        }
    }

    /// Whether there is more than the limits allow: they were larger before.
    var exceedsLimits: Bool {
        if let limit = settings.countLimit, reader.index.aboutCount > limit { return true }
        return lock.withWriterLockOnly { budget.freeByteCount(of: $0.log) < 0 }
    }

    /// Evicts the entries above the limits, for a background queue.
    func keepLimits() throws(StoreError) {
        while case let former = try byteCount(), exceedsLimits {
            try keepHeadroom()
            try evictAboveCount()
            if try byteCount() >= former { return }
        }
    }

    private func evictAboveCount() throws(StoreError) {
        guard let limit = settings.countLimit else { return }
        let index = reader.index
        while index.total.count > limit {
            var evictions = Evictions()
            defer { user.tell(evictions) }
            // Other callers get their turn in between.
            try lock.withExclusiveLog { state throws(StoreError) in
                for _ in 0..<64 where index.total.count > limit {
                    guard let victim = try state.reclaimer.clock.next(in: &state.log) else { return }
                    try evict(victim, in: &state, evictions: &evictions)
                }
            }
            try reader.status.checkIndex()
        }
    }

    /// Reclaims the first segment again and again, each with its own turn of the lock, so that memory can be asked before
    /// which of its entries are in use.
    ///
    /// - Parameters:
    ///   - now: In seconds since 2001-01-01 UTC; `nil`: when an entry was saved last.
    ///   - evictions: Gets the evicted entries. Those of upkeep are reported after each segment.
    ///   - policy: Which entries to keep; `nil` where there is room enough.
    private func giveUpSegments(
        most: Int,
        readsAhead: Bool,
        now: Double?,
        evictions: inout Evictions,
        while policy: (SegmentLog) throws(StoreError) -> CarryOverPolicy?
    ) throws(StoreError) {
        for _ in 0..<most {
            guard try lock.withWriterLock({ state throws(StoreError) in try policy(state.log) }) != nil else {
                return
            }
            if readsAhead { try readFirstSegment() }
            let first = try spareEntriesInUse()
            let isDone = try lock.withExclusiveLog { state throws(StoreError) -> Bool in
                // Other callers may have made room, or used it, in between.
                guard let policy = try policy(state.log) else { return true }
                guard state.log.chain.first == first else { return false }
                try state.reserve.prepare(&state.log)
                return try !state.reclaimer.reclaimFirst(
                    keeping: policy,
                    now: now ?? (settings.isLimited ? state.log.index.savedAt : nil),
                    from: &state.log,
                    evictions: &evictions
                )
            }
            if readsAhead {
                user.tell(evictions)
                evictions = Evictions()
            }
            if isDone { return }
        }
    }

    /// Reads the first segment once, so that no caller has to wait for the device when it is dropped.
    private func readFirstSegment() throws(StoreError) {
        let number = try lock.withWriterLock { $0.log.chain.first }
        guard let number, let segment = try reader.segments.segment(number) else { return }
        try attempt("making room", reader.segments.path(number)) { () throws(SystemError) in
            var offset = 0
            while let data = try segment.file.nextData(from: offset) {
                let count = try segment.file.read(1 << 18, at: data).count
                if count == 0 { break }
                offset = data + count
            }
        }
    }

    // MARK: Entries in use

    /// Makes room for a save under the limits, as far as that can be done without losing an entry that is in use: asks the
    /// store's user which of the next victims are, and spares those. The user is not asked while a lock is held.
    func makeRoom(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        evictions: inout Evictions
    ) throws(StoreError) {
        try spareVictimsInUse(of: digest, now: now)
        try giveUpSegments(most: Run.ofSave, readsAhead: false, now: now, evictions: &evictions) {
            log throws(StoreError) in
            guard !budget.fits(byteCount, in: log), try log.chain.hasMoreThanFloors() else { return nil }
            return .used(byteCount: budget.carriedByteLimit(of: log))
        }
    }

    /// Spares the next victims of a limit of entries that are in use.
    private func spareVictimsInUse(of digest: KeyDigest, now: Double) throws(StoreError) {
        let index = reader.index
        guard let limit = settings.countLimit, index.total.count >= limit, index.slot(digest) == nil else { return }
        if try lock.withWriterLock({ $0.log.index.takesSweep(now) }) {
            try sweeper.removeExpired(at: Date(timeIntervalSinceReferenceDate: now)) { user.tellExpired($0) }
        }
        guard let user = user.current else { return }
        sparing.withLock { $0.noteCall() }
        while sparing.withLock({ $0.take() }) {
            let victim = try lock.withWriterLock { state throws(StoreError) in
                try state.reclaimer.clock.peek(in: &state.log)
            }
            guard let victim, let key = victim.key, user.isInUse(key.string) else { break }
            index.use(victim.slot)
        }
    }

    /// Marks the entries of the first segment as used that are in use elsewhere; returns its number.
    private func spareEntriesInUse() throws(StoreError) -> UInt32? {
        let (first, size) = try lock.withWriterLock { state in
            let first = state.log.chain.first
            return (first, state.log.chain.byteCount(of: first ?? 0))
        }
        guard let first, let user = user.current else { return first }
        for (slot, key) in try entries(of: first, byteCount: size) where slot.uses == 0 && user.isInUse(key) {
            reader.index.use(slot)
        }
        return first
    }

    private func entries(
        of number: UInt32,
        byteCount size: Int
    ) throws(StoreError) -> [(slot: IndexSlot, key: String)] {
        guard let segment = try reader.segments.segment(number) else { return [] }
        return try attempt("making room", reader.segments.path(number)) { () throws(SystemError) in
            var entries: [(slot: IndexSlot, key: String)] = []
            var scanner = SegmentScanner(segment, to: size)
            do throws(SystemError) {
                while let step = try scanner.next() {
                    guard case .record(let record, let place) = step, record.kind == .entry else { continue }
                    guard let slot = reader.slot(of: record, at: place) else { continue }
                    entries.append((slot, String(decoding: record.key, as: UTF8.self)))
                }
            } catch {
                // The rest is not spared.
                guard error.isDeviceFailure else { throw error }
            }
            return entries
        }
    }
}
