import ArchiveStore
import Synchronization

// Loads that are joined among processes.

extension LoadPlan {
    /// How long to wait at first, and at most, before asking again for a lock that another process has.
    private static var pauses: (first: Duration, longest: Duration) { (.milliseconds(1), .milliseconds(16)) }

    /// Waits until no other process loads any of these keys, and keeps them from it as long as what is returned is there.
    ///
    /// - Returns: `nil` where there can be no locks: in a directory that is read-only, say, or in a cache that has none.
    /// - Throws: if the task is cancelled.
    func lockAmongProcesses(_ keys: [EntryKey]) async throws(CancellationError) -> KeyLocks? {
        guard let first = keys.first, let directory = core.directory else { return nil }
        let core = core
        let opened = await core.queues.run(first) {
            Result { () throws(StoreError) in try KeyLocks(directory: directory) }
        }
        do {
            let locks = try opened.get()
            for offset in keys.map({ KeyLocks.Offset(key: $0.text) }).sorted() {
                var pause = Self.pauses.first
                while try !locks.tryLock(offset) {
                    try await Task.sleep(for: pause)
                    pause = min(pause * 2, Self.pauses.longest)
                }
            }
            return locks
        } catch let error as StoreError {
            // Told once: each load meets it.
            if !core.hasReportedLocks.exchange(true, ordering: .relaxed) { core.report(.failed, first, error) }
            return nil
        } catch {
            throw CancellationError()
        }
    }
}
