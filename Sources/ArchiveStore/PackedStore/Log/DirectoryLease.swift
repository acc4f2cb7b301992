import Dispatch

/// The lock of a store's directory (`flock`), which one thread of one process has at a time.
///
/// Taking and releasing the lock costs a fifth of a save. So a process that makes many changes in a row keeps the lock
/// from one to the next, for a millisecond at most. Then the lock is released, and taken for each change again a few
/// times, so that waiting processes get their turn.
///
/// Taken before the writer's lock, so that no caller waits for another process while it holds a lock that readers need.
final class DirectoryLease: Sendable {
    struct State: Sendable {
        /// `nil` once it is closed.
        fileprivate var folder: StoreFolder?
        /// Whether the directory's lock is kept between changes.
        fileprivate var isHeld = false
        /// The coarse time at which changes were last counted, and their number then.
        fileprivate var countedAt: UInt64 = 0
        fileprivate var changeCount = 0
        /// When another process last changed the log, by the coarse clock.
        fileprivate var othersAt: UInt64 = 0

        /// How many changes there must be within one tick of the coarse clock to keep the lock.
        private static let manyChanges = 8
        /// For how many nanoseconds after another process's change the lock is left to others.
        private static let courtesy: UInt64 = 100_000_000

        /// Notes that another process has changed the log.
        mutating func noteOthers() {
            guard let folder else { return }
            othersAt = CoarseClock.now(folder.root.layer)
        }

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

    private let state: RankedMutex<State>
    private let status: LogStatus
    private let queue = DispatchQueue(
        label: "packed-store-lease",
        qos: .userInitiated,
        autoreleaseFrequency: .workItem
    )

    private static let duration = DispatchTimeInterval.milliseconds(1)
    private static let retryInterval = DispatchTimeInterval.milliseconds(10)

    init(folder: StoreFolder, status: LogStatus) {
        state = RankedMutex(State(folder: folder), rank: PackedLocks.lease)
        self.status = status
    }

    /// Runs `body` with the directory locked.
    ///
    /// - Parameters:
    ///   - waits: whether to wait for another process that has the lock, or to throw.
    ///   - body: tells the lease when it finds that another process has changed the log.
    @inline(__always)
    func withDirectoryLock<Result: Sendable>(
        waits: Bool,
        _ body: (inout State) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { state throws(StoreError) in
            try lock(&state, waits: waits)
            defer { unlock(&state) }
            return try body(&state)
        }
    }

    /// Releases the directory and its lock; the log is not changed any more.
    func close() {
        // In a forked process the lock is the parent's, and a thread that is not there may hold this object's lock.
        guard StoreUsage.hasQueues else { return }
        let folder = state.withLock { state in
            if state.isHeld { unlockNow(&state) }
            return state.folder.take()
        }
        _ = consume folder
    }

    private func lock(_ state: inout State, waits: Bool) throws(StoreError) {
        if state.isHeld { return }
        guard let folder = state.folder else { throw status.stale() }
        try attempt("locking the log", folder.path) { () throws(SystemError) in
            try folder.root.lock(waits: waits)
        }
    }

    private func unlock(_ state: inout State) {
        if state.isHeld { return }
        // In a forked process, nothing would release the lock later.
        guard let folder = state.folder, folder.root.layer.hasQueues,
            state.takesLock(at: CoarseClock.now(folder.root.layer))
        else { return unlockNow(&state) }
        state.isHeld = true
        queue.asyncAfter(deadline: .now() + Self.duration) { [self] in end() }
    }

    private func end() {
        state.withLock { state in
            guard state.isHeld else { return }
            state.changeCount = 0
            unlockNow(&state)
        }
    }

    /// Releases the directory's lock. Where that fails, it is tried again and again, for other logs may wait for the lock, in
    /// this process too; the end of this log releases it as well.
    private func unlockNow(_ state: inout State) {
        state.isHeld = false
        do {
            try state.folder?.root.unlock()
        } catch {
            status.markBroken()
            guard state.folder?.root.layer.hasQueues == true else { return }
            state.isHeld = true
            queue.asyncAfter(deadline: .now() + Self.retryInterval) { [self] in end() }
        }
    }
}
