import Synchronization

/// The locks under which a log is changed: see ``PackedLocks``.
final class LogLock: Sendable {
    private let folder: StoreFolder
    private let status: LogStatus
    private let tail: LogTail
    private let segments: SegmentTable
    private let directory: DirectoryLock
    private let state: RankedMutex<LogState>
    /// When the directory is to be checked again.
    private let nextCheck: Atomic<UInt64>

    init(folder: StoreFolder, tail: LogTail, reader: RecordReader, state: LogState) {
        self.folder = folder
        self.tail = tail
        status = reader.status
        segments = reader.segments
        directory = DirectoryLock(folder: folder, status: reader.status)
        self.state = RankedMutex(state, rank: PackedLocks.writer)
        // It was opened just now.
        nextCheck = Atomic(CoarseClock.now(folder.root.layer) + Self.checkInterval)
    }

    /// Gives the directory's lock back; the log is not changed any longer.
    func close() { directory.close() }

    // MARK: Locks

    /// Runs `body` to change the log, excluding all other threads and processes.
    ///
    /// The one lock under which a packed store writes. A call writes at most a record or a batch of 1 MiB, or a segment
    /// where room is made; archives are compressed and read outside of the lock.
    ///
    /// - Parameter waits: whether to wait for another process that has the lock, or to throw.
    @inline(__always)
    func withExclusiveLog<Result: Sendable>(
        waits: Bool = true,
        _ body: (inout LogState) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try status.check()
        if try checkDirectoryNowAndThen() { folder.restoreMarker() }
        // Outlives the locks: closing a removed file may take long.
        var closed: [Segment] = []
        return try directory.withLock(waits: waits) { () throws(StoreError) in
            try state.withLock { state throws(StoreError) in
                defer { state.log.chain.takeClosed(into: &closed) }
                try prepareChange(of: &state)
                // After a seal there is no length that readers could go by: they follow the log.
                defer { if !state.log.chain.isSealed { tail.show() } }
                let result = try body(&state)
                #if DEBUG
                    state.log.checkInvariants()
                #endif
                return result
            }
        }
    }

    /// Runs `body` under the writer's lock, after applying the records that other processes have appended.
    func withWriterLock<Result>(
        _ body: (inout LogState) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withWriterLockOnly { state throws(StoreError) in
            try status.check()
            try state.follower.follow(&state.log)
            return try body(&state)
        }
    }

    /// Runs `body` under the writer's lock, which excludes other threads of this process, with the log as it is.
    func withWriterLockOnly<Result, Failure>(
        _ body: (inout LogState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Outlives the lock.
        var closed: [Segment] = []
        return try state.withLock { state throws(Failure) in
            defer { state.log.chain.takeClosed(into: &closed) }
            return try body(&state)
        }
    }

    /// Brings the log up to date for a change, and removes the files that killed processes left.
    private func prepareChange(of state: inout LogState) throws(StoreError) {
        // The former holder of the lock may have found the log broken.
        try status.check()
        state.follower.readTailAgain()
        if try isUpToDate(state.log) { return }
        try state.follower.follow(&state.log)
        // Records must be appended to the file that other processes find.
        if try isRemoved() { throw status.stale() }
        if let tail = tail.current, !state.log.chain.isSealed {
            state.log.chain.isUnclean = try segments.byteCount(of: tail.segment) != tail.end
        }
        try state.log.removeLeftovers()
    }

    /// Whether the tail's file still exists, and nothing was appended to it. One `statx`.
    private func isUpToDate(_ log: borrowing SegmentLog) throws(StoreError) -> Bool {
        guard let tail = tail.current, !log.chain.isSealed, !log.hasLeftovers else { return false }
        let (linkCount, byteCount) = try segments.extent(of: tail.segment)
        return linkCount > 0 && byteCount == tail.end
    }

    // MARK: Readers

    /// Applies the records that other processes have appended. One `lseek` where there are none.
    ///
    /// - Throws: `.io` with `ESTALE` if this log is no longer the one at its path, or cannot be followed.
    func catchUp() throws(StoreError) {
        try status.check()
        _ = try checkDirectoryNowAndThen()
        if let tail = tail.current, !tail.isSealed,
            try segments.byteCount(of: tail.segment) == tail.shownEnd
        {
            return
        }
        try follow()
    }

    private func follow() throws(StoreError) {
        try withWriterLockOnly { state throws(StoreError) in try state.follower.follow(&state.log) }
    }

    /// Checks that the directory is still the one at its path, unless another call did so just before; returns whether it
    /// did.
    private func checkDirectoryNowAndThen() throws(StoreError) -> Bool {
        let now = CoarseClock.now(folder.root.layer)
        let next = nextCheck.load(ordering: .relaxed)
        guard now >= next else { return false }
        nextCheck.store(now + Self.checkInterval, ordering: .relaxed)
        // Following leaves behind a segment that another process has dropped.
        if try isRemoved() { try follow() }
        if try isRemoved() { throw status.stale() }
        try checkFirstSegment()
        if try !folder.isCurrent() { throw status.stale() }
        return true
    }

    /// Has the log reopened if the file of its first segment is gone and no record says so: the process that gave it up was
    /// killed before there was room for a floor. The segment's entries could be read for as long as it is open here.
    private func checkFirstSegment() throws(StoreError) {
        let first = status.firstLiveSegment
        guard first > 0, let last = tail.number, first < last else { return }
        let isThere = try attempt("looking for a segment", segments.path(first)) { () throws(SystemError) in
            try folder.root.status(Segment.fileName(first)) != nil
        }
        if isThere { return }
        try follow()
        if status.firstLiveSegment == first { throw status.stale() }
    }

    /// The longest time for which a moved directory is not noticed, in nanoseconds.
    private static let checkInterval: UInt64 = 10_000_000

    private func isRemoved() throws(StoreError) -> Bool {
        guard let tail = tail.current else { return try !folder.isCurrent() }
        return try segments.extent(of: tail.segment).linkCount == 0
    }
}
