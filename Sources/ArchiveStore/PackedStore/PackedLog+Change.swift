import Dispatch

extension PackedLog {
    /// Whether the directory's lock is kept between changes.
    ///
    /// Taking and releasing the lock costs a fifth of a save. So a process that makes many changes in a row keeps the
    /// lock from one to the next, for a millisecond at most. Then the lock is released, and taken for each change again
    /// a few times, so that waiting processes get their turn.
    struct Lease: Sendable {
        fileprivate var isHeld = false
        /// The coarse time at which changes were last counted, and their number then.
        fileprivate var countedAt: UInt64 = 0
        fileprivate var changeCount = 0
        /// When another process last changed the log, by the coarse clock.
        fileprivate var othersAt: UInt64 = 0

        fileprivate static let duration = DispatchTimeInterval.milliseconds(1)
        /// How many changes there must be within one tick of the coarse clock to keep the lock.
        fileprivate static let manyChanges = 8
        /// For how many nanoseconds after another process's change the lock is left to others.
        fileprivate static let courtesy: UInt64 = 100_000_000

        /// Counts a change; returns whether there were many and the lock may be kept.
        fileprivate mutating func takesLock(at now: UInt64) -> Bool {
            if now != countedAt {
                countedAt = now
                changeCount = 0
            }
            changeCount += 1
            return changeCount >= Self.manyChanges && now >= othersAt &+ Self.courtesy
        }
    }

    /// Runs `body` to change the log, excluding all other threads and processes.
    ///
    /// The one lock under which a packed store writes. A call writes at most a record, or a segment where room is made;
    /// archives are compressed and read outside of the lock.
    func changing<Result: Sendable>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if shared.isBroken.load(ordering: .relaxed) { throw stale() }
        try checkNowAndThen()
        // Outlives the locks: closing a removed file may take long.
        var closed: [Segment] = []
        return try lease.withLock { lease throws(StoreError) in
            try lock(lease)
            defer { unlock(&lease) }
            return try locked(closing: &closed) { writer throws(StoreError) in
                // The former holder of the mutex may have found the log broken.
                if shared.isBroken.load(ordering: .relaxed) { throw stale() }
                writer.longByteCount = nil
                if try !isUpToDate(writer) {
                    let former = end
                    try follow(&writer)
                    if end != former { lease.othersAt = Self.coarseTime }
                    // Records must be appended to the file that other processes find.
                    if try isRemoved() { throw stale() }
                    try cutRest()
                    try removeStrays(&writer)
                }
                // Behind a seal there is no length that readers could go by: they follow the log.
                defer { if !writer.isSealed { show() } }
                return try body(&writer)
            }
        }
    }

    /// Makes readers wait until this change is complete. Appending does that by itself.
    func hide() { tail.withLock { $0?.shownEnd = nil } }

    /// Lets readers use the index as it is.
    func show() {
        tail.withLock { tail in
            let end = tail?.end
            tail?.shownEnd = end
        }
    }

    /// Whether the tail's file still exists, and nothing was appended to it. One `statx`.
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
        // In a forked process, nothing would release the lock later.
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
            // The end of this log releases the lock as well, and nothing else would.
            shared.isBroken.store(true, ordering: .relaxed)
        }
    }
}
