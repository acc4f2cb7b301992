import Dispatch

extension PackedLog {
    /// Whether the directory's lock is kept between changes.
    ///
    /// To take it and give it back is a fifth of what a save takes. So who makes many changes one after another keeps it
    /// from one to the next, for a millisecond at most; then it is given back and taken for each change again, some
    /// times, so that those who wait come in.
    struct Lease: Sendable {
        fileprivate var isHeld = false
        /// When changes were counted last, by the coarse clock, and how many there were then.
        fileprivate var countedAt: UInt64 = 0
        fileprivate var changeCount = 0
        /// When others have changed the log last.
        fileprivate var othersAt: UInt64 = 0

        fileprivate static let duration = DispatchTimeInterval.milliseconds(1)
        /// How many changes there must be within one tick of the coarse clock.
        fileprivate static let manyChanges = 8
        /// For how many nanoseconds after a change of others the lock is left to them.
        fileprivate static let courtesy: UInt64 = 100_000_000

        /// Counts a change, and says whether there were many.
        fileprivate mutating func takesLock(at now: UInt64) -> Bool {
            if now != countedAt {
                countedAt = now
                changeCount = 0
            }
            changeCount += 1
            return changeCount >= Self.manyChanges && now >= othersAt &+ Self.courtesy
        }
    }

    /// Has `body` change the log while nobody else does, in this process or another.
    ///
    /// The one lock under which a packed store writes. What is written is at most a record, or where room is made a
    /// segment; archives are compressed and read outside of it.
    func changing<Result: Sendable>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if shared.isBroken.load(ordering: .relaxed) { throw stale() }
        try checkNowAndThen()
        // Outlives the locks: to close a file that was removed may take long.
        var closed: [Segment] = []
        return try lease.withLock { lease throws(StoreError) in
            try lock(lease)
            defer { unlock(&lease) }
            return try locked(closing: &closed) { writer throws(StoreError) in
                // Whoever had the mutex before may have found it so.
                if shared.isBroken.load(ordering: .relaxed) { throw stale() }
                writer.longByteCount = nil
                if try !isUpToDate(writer) {
                    let former = end
                    try follow(&writer)
                    if end != former { lease.othersAt = Self.coarseTime }
                    // What is appended to must be what others find.
                    if try isRemoved() { throw stale() }
                    try cutRest()
                    try removeStrays(&writer)
                }
                // Behind a seal there is nothing to be seen that readers could go by: they follow.
                defer { if !writer.isSealed { show() } }
                return try body(&writer)
            }
        }
    }

    /// Has those who only look wait until this change is complete. Appending does that by itself.
    func hide() { tail.withLock { $0?.shownEnd = nil } }

    /// Lets those who only look go by what the index says.
    func show() {
        tail.withLock { tail in
            let end = tail?.end
            tail?.shownEnd = end
        }
    }

    /// Whether the tail is where it was left, and nothing was appended to it. One `statx`.
    private func isUpToDate(_ writer: borrowing Writer) throws(StoreError) -> Bool {
        guard let tail = tail.withLock({ $0 }), !writer.isSealed, writer.strays.isEmpty,
            writer.losses.isEmpty, !writer.hasStrangeSnapshot
        else { return false }
        let (linkCount, byteCount) = try extent(of: tail.segment)
        return linkCount > 0 && byteCount == tail.end
    }

    func extent(of segment: Segment) throws(StoreError) -> (linkCount: Int, byteCount: Int) {
        do {
            return try segment.file.extent()
        } catch {
            throw StoreError(error, path: segments.path(segment.number), action: "looking for a segment")
        }
    }

    // MARK: The directory's lock

    private func lock(_ lease: borrowing Lease) throws(StoreError) {
        if lease.isHeld { return }
        do throws(SystemError) {
            try root.lock()
        } catch {
            throw StoreError(error, path: path, action: "locking the log")
        }
    }

    private func unlock(_ lease: inout Lease) {
        if lease.isHeld { return }
        // Nothing would give it back later in a forked process.
        guard StoreUsage.hasQueues, lease.takesLock(at: Self.coarseTime) else { return unlockNow() }
        lease.isHeld = true
        leases.asyncAfter(deadline: .now() + Lease.duration) { [self] in endLease() }
    }

    private func endLease() {
        lease.withLock { lease in
            lease.isHeld = false
            lease.changeCount = 0
            unlockNow()
        }
    }

    private func unlockNow() {
        do {
            try root.unlock()
        } catch {
            // Its end gives the lock back as well, and nothing else would.
            shared.isBroken.store(true, ordering: .relaxed)
        }
    }
}
