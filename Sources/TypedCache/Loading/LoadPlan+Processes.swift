import ArchiveStore
import Synchronization

// Loads that are joined among processes.

extension LoadPlan {
    /// How long to wait at first, and at most, before asking again for a lock that another process has.
    private static var pauses: (first: Duration, longest: Duration) { (.milliseconds(1), .milliseconds(16)) }

    /// Waits until no other process, or cache object, loads any of these keys, and keeps them from it until
    /// ``giveBack(_:_:)``.
    ///
    /// - Returns: `nil` where there can be no locks: in a directory that is read-only, say, or in a cache that has
    ///   none.
    /// - Throws: `CancellationError` if the task is cancelled; ``CacheError`` with code `.recursiveLoad` if another
    ///   object's load has a lock and waits for this load, `.closed` if the cache is closed in the meantime.
    func lockAmongProcesses(_ loads: [KeyLoad]) async throws -> KeyLocks? {
        guard let first = loads.first, let directory = core.directory, let place = core.place else { return nil }
        let core = core
        let opened = await core.queues.run(first.key) {
            Result { () throws(StoreError) in try core.loadLocks.open(in: directory, core.usage) }
        }
        var locks: KeyLocks?
        do {
            let opened = try opened.get()
            locks = opened
            let keys = loads.map { (offset: KeyLocks.Offset(key: $0.key.text), key: $0.key) }
            for (offset, key) in keys.sorted(by: { $0.offset < $1.offset }) {
                let lock = LoadGraph.Lock(place: place, offset: offset)
                var pause = Self.pauses.first
                while try !opened.tryLock(offset) {
                    try await waiting(first.runNumber, for: lock, of: key) { try await Task.sleep(for: pause) }
                    pause = min(pause * 2, Self.pauses.longest)
                }
                LoadGraph.hold(lock, by: first.runNumber)
            }
            return locks
        } catch {
            giveBack(locks, loads)
            guard let error = error as? StoreError else { throw error }
            if error.code == .closed || error.code == .forked { throw core.failure(error, first.key) }
            // Told once: every load would fail in the same way.
            if !core.hasReportedLocks.exchange(true, ordering: .relaxed) {
                core.report(error, as: .failed, of: first.key)
            }
            return nil
        }
    }

    /// Has a load wait a little for another one to give a lock back.
    func waiting(
        _ load: Int,
        for lock: LoadGraph.Lock,
        of key: EntryKey,
        _ pause: () async throws -> Void
    ) async throws {
        let holder: Int?
        do throws(LoadGraph.Circle) {
            holder = try LoadGraph.beginWaiting(load, for: lock)
        } catch {
            throw CacheError.recursiveLoad.named(cache: core.name, key: key.text)
        }
        defer { if let holder { LoadGraph.endWaiting(load, for: holder) } }
        try await pause()
    }

    /// Gives the locks of a load back.
    func giveBack(_ locks: KeyLocks?, _ loads: [KeyLoad]) {
        guard let locks, let first = loads.first, let place = core.place else { return }
        let held = loads.map { LoadGraph.Lock(place: place, offset: KeyLocks.Offset(key: $0.key.text)) }
        LoadGraph.release(held, by: first.runNumber)
        core.loadLocks.close(locks)
    }
}
