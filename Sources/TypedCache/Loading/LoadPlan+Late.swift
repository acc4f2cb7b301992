import ArchiveStore
import Synchronization

// Loads that go on because a server did not answer in time. It may answer while the producer runs.

extension LoadPlan {
    /// The keys of a load that neither the server nor the producer has a value for yet: the first one of both ends the key's
    /// load.
    final class Race: Sendable {
        private let open: Mutex<Set<String>>

        fileprivate init(_ loads: [KeyLoad]) { open = Mutex(Set(loads.map(\.key.text))) }

        /// Whether the caller is the first, and ends the load.
        func win(_ load: KeyLoad) -> Bool { open.withLock { $0.remove(load.key.text) != nil } }
    }

    /// Asks the server once more, beside the producer, and for as long as any other call would: ends the loads of keys whose
    /// fresh entries come before the producer has ended.
    ///
    /// - Returns: the race with the producer, and the task, which is to be cancelled when the producer has ended.
    func beginRace(_ loads: [KeyLoad], with store: any RemoteStore) -> (race: Race, look: Task<Void, Never>) {
        let race = Race(loads)
        let look = Task {
            let results = await store.fetch(forKeys: loads.map(\.key.text), isUrgent: false, mayBeOlder: false)
            for (load, result) in zip(loads, results) {
                guard case .success(let stored?) = result, core.freshness(of: stored.information) == .fresh,
                    let value = value(stored), race.win(load)
                else { continue }
                let entry = form.entry(value, of: load.key, stored)
                end(load, .loaded(entry), keeping: entry)
            }
        }
        return (race, look)
    }
}
