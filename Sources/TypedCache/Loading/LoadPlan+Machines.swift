import ArchiveStore

// Loads that are joined among machines.

extension LoadPlan {
    /// Takes the leases of keys, and waits for those that other loads have, as long as a lease lasts.
    ///
    /// - Returns: the leases by key. A key has none if its time was over, or if the server did not answer: then it is
    ///   loaded, but not saved. `nil` if the cache's store has no leases.
    /// - Throws: `CancellationError` if the task is cancelled; ``CacheError`` with code `.recursiveLoad` if another
    ///   object's load has a lease and waits for this load, `.closed` if the cache is closed meanwhile.
    func lease(_ loads: [KeyLoad]) async throws -> [String: any LoadLease]? {
        if core.remote?.joinsLoads != true { return nil }
        return try await core.listeners.observing(.lease) { try await take(loads) }
    }

    private func take(_ loads: [KeyLoad]) async throws -> [String: any LoadLease]? {
        guard let store = core.remote else { return nil }
        guard let first = loads.first else { return [:] }
        let keys = Dictionary(loads.map { ($0.key.text, $0.key) }) { first, _ in first }
        var search = LeaseSearch(keys.keys, since: .now, atMost: store.leaseDuration)
        var leases: [String: any LoadLease] = [:]
        do {
            while let next = search.missing.first {
                let taken = try await store.takeLeases(ofKeys: Array(search.missing))
                for lease in taken {
                    leases[lease.key] = lease
                    LoadGraph.hold(lock(lease.key), by: first.runNumber)
                }
                search.took(taken.count)
                if !taken.isEmpty { continue }
                guard let pause = search.nextPause(at: .now), let key = keys[next] else { break }
                try await waiting(first.runNumber, for: lock(next), of: key) {
                    await store.waitForLease(ofKey: next, atMost: pause)
                    try Task.checkCancellation()
                }
            }
        } catch {
            guard let failure = error as? StoreError, ![.cancelled, .closed, .forked].contains(failure.code) else {
                await giveBack(leases, of: first.runNumber)
                guard let failure = error as? StoreError else { throw error }
                throw failure.code == .cancelled ? CancellationError() : core.failure(failure, first.key)
            }
            // A server that does not answer ends no load: keys without a lease are loaded, too.
            core.report(failure, as: .failed, of: first.key)
        }
        return leases
    }

    private func lock(_ key: String) -> LoadGraph.Lock {
        LoadGraph.Lock(place: core.memory.directory, offset: KeyLocks.Offset(key: key))
    }

    /// Gives leases back, so that the next load need not wait.
    func giveBack(_ leases: [String: any LoadLease], of load: Int) async {
        LoadGraph.release(leases.keys.map(lock), by: load)
        for lease in leases.values { await lease.giveBack() }
    }
}
