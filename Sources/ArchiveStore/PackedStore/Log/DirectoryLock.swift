import Dispatch

/// The lock of a store's directory (`flock`), which one thread of one process has at a time.
///
/// Taken before the writer's lock, so that no caller waits for another process while it holds a lock that readers need.
final class DirectoryLock: Sendable {
    private struct State {
        /// `nil` once it is closed.
        var folder: StoreFolder?
        /// Whether the directory's lock could not be released.
        var isHeld = false
    }

    private let state: RankedMutex<State>
    private let status: LogStatus

    init(folder: StoreFolder, status: LogStatus) {
        state = RankedMutex(State(folder: folder), rank: PackedLocks.directory)
        self.status = status
    }

    /// Runs `body` with the directory locked.
    ///
    /// - Parameter waits: whether to wait for another process that has the lock, or to throw.
    @inline(__always)
    func withLock<Result: Sendable>(
        waits: Bool,
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try state.withLock { state throws(StoreError) in
            guard let folder = state.folder, !state.isHeld else { throw status.stale() }
            try attempt("locking the log", folder.path) { () throws(SystemError) in
                try folder.root.lock(waits: waits)
            }
            defer { unlock(&state) }
            return try body()
        }
    }

    /// Releases the directory and its lock; the log is not changed any longer.
    func close() {
        // In a forked process the lock is the parent's, and a thread that is not there may hold this object's lock.
        guard StoreUsage.hasQueues else { return }
        let folder = state.withLock { state in
            if state.isHeld { unlock(&state) }
            return state.folder.take()
        }
        _ = consume folder
    }

    /// Releases the directory's lock. Where that fails, it is tried again and again, for other logs may wait for the lock, in
    /// this process too; the end of this log releases it as well.
    private func unlock(_ state: inout State) {
        do {
            state.isHeld = false
            try state.folder?.root.unlock()
        } catch {
            status.markBroken()
            guard state.folder?.root.layer.hasQueues == true else { return }
            state.isHeld = true
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in
                self.state.withLock { if $0.isHeld { unlock(&$0) } }
            }
        }
    }
}
