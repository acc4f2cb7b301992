import ArchiveStore
import Foundation

// Loads that are joined among machines.

extension LoadPlan {
    /// The loads that are left once leases were taken.
    struct LeasedLoads {
        var loads: [KeyLoad]
        /// By key. A key has none if its time was over, or if the server did not answer: then it is loaded, but not saved.
        /// `nil` if the cache's store has no leases.
        var leases: [String: any LoadLease]?
        /// The store, if it did not answer.
        var silent: (any RemoteStore)?
    }

    /// Takes the leases of keys, and waits for leases of other loads. Ends the loads of keys that another machine has
    /// saved by then.
    ///
    /// All loads end with `CancellationError` if the task is cancelled, with ``CacheError`` of code `.recursiveLoad` if another
    /// object's load has a lease and waits for this load, of `.closed` if the cache is closed while it waits.
    func lease(
        _ loads: [KeyLoad],
        isBackground: Bool,
        since began: Date,
        known: [EntryKey: Date]
    ) async -> LeasedLoads {
        guard let store = core.remote as? any LoadingStore, store.joinsLoads else {
            return LeasedLoads(loads: loads, leases: nil)
        }
        return await core.listeners.observing(.lease) {
            await take(loads, of: store) { found in
                await lookAgain(found, isBackground: isBackground, since: began, known: known).loads
            }
        }
    }

    /// - Parameter lookAgain: ends the loads of keys with a fresh entry that they can use, and returns the others.
    private func take(
        _ loads: [KeyLoad],
        of store: any LoadingStore,
        _ lookAgain: ([KeyLoad]) async -> [KeyLoad]
    ) async -> LeasedLoads {
        guard let first = loads.first else { return LeasedLoads(loads: [], leases: [:]) }
        let loadsByKey = Dictionary(loads.map { ($0.key.text, $0) }) { first, _ in first }
        var search = LeaseSearch(loadsByKey.keys, since: .now, duration: store.leaseDuration)
        var leases: [String: any LoadLease] = [:]
        var ended: Set<String> = []
        var silent: (any RemoteStore)?
        do {
            while let next = search.missing.first {
                let keys = Array(search.missing)
                let answers = try await store.takeLeases(ofKeys: keys, unlessFresh: search.unseen)
                search.answered(answers.count)
                var found: [KeyLoad] = []
                for (key, answer) in zip(keys, answers) {
                    switch answer {
                    case .taken(let lease):
                        leases[key] = lease
                        LoadGraph.hold(lock(key), by: first.runNumber)
                    case .fresh: if let load = loadsByKey[key] { found.append(load) }
                    }
                }
                if !found.isEmpty {
                    let left = await lookAgain(found).map(\.key.text)
                    ended.formUnion(Set(found.map(\.key.text)).subtracting(left))
                    search.insist(on: left)
                }
                if !answers.isEmpty { continue }
                let mayBeCircle = LoadGraph.current != nil || LoadGraph.isAwaited(first.runNumber)
                guard let pause = search.nextPause(at: .now, mayBeCircle: mayBeCircle), let load = loadsByKey[next]
                else { break }
                try await waiting(first.runNumber, for: lock(next), of: load.key) {
                    await store.waitForLease(ofKey: next, atMost: pause)
                    try Task.checkCancellation()
                }
            }
        } catch {
            guard let failure = error as? StoreError, ![.cancelled, .closed, .forked].contains(failure.code) else {
                await giveBack(leases, of: first.runNumber)
                let isCancelled = (error as? StoreError)?.code == .cancelled
                let reason = (error as? StoreError).map { core.failure($0, first.key) as any Error } ?? error
                for load in loads where !ended.contains(load.key.text) {
                    end(load, .failed(isCancelled ? CancellationError() : reason))
                }
                return LeasedLoads(loads: [], leases: [:])
            }
            // A server that does not answer, or refuses, ends no load: keys without a lease are loaded, too.
            core.report(failure, as: .failed, of: first.key)
            if failure.code == .unreachable { silent = store }
        }
        return LeasedLoads(loads: loads.filter { !ended.contains($0.key.text) }, leases: leases, silent: silent)
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
