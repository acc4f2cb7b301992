import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func takeLeases(ofKeys keys: [String]) async throws(StoreError) -> [any LoadLease] {
        try checkUsable()
        let milliseconds = max(Int(leaseDuration / .milliseconds(1)), 1)
        let keys = try keys.map { key throws(StoreError) in try StoreKey(key) }
        var call = Insisting(TakeLeases(keys, milliseconds: milliseconds))
        // Nothing may be saved for a key whose former entry could be there still, without removing that first.
        if engine.breaker.isSuspect || keys.contains(where: view.isOwed) {
            throw StoreError(.unreachable, action: call.action, reason: "the server did not answer a moment ago")
        }
        do throws(StoreError) {
            let taken = try await request(&call, isUrgent: true)
            engine.counters.count { statistics in
                statistics.leasesWon += taken.leases.count
                if taken.leases.isEmpty { statistics.leasesWaited += 1 }
            }
            await release(taken.surplus)
            return taken.leases.map { SharedLease($0, self) }
        } catch {
            // The server may take them yet, and other machines would wait for nothing.
            startRelease(call.call.requested)
            throw error
        }
    }

    /// Ends leases in the engine, also in a task that is cancelled.
    func release(_ leases: [LeaseTerm]) async {
        if leases.isEmpty { return }
        await startRelease(leases).value
    }

    /// Ends leases in a task of its own: a cancelled one, which most loads without a value have, sends nothing.
    @discardableResult
    private func startRelease(_ leases: [LeaseTerm]) -> Task<Void, Never> {
        Task { [engine] in
            do throws(StoreError) {
                _ = try await engine.request(leases.map(\.ending), action: "giving leases back")
            } catch {
                // They end by themselves before long.
            }
        }
    }

    package func waitForLease(ofKey key: String, atMost time: Duration) async {
        await waiters.wait(for: key, atMost: time)
    }

    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try checkUsable()
        let value = RedisCommand.Argument.text(Generation.random().description)
        let action = "removing entries by tag"
        // First, so that a load either saves before the entries are listed, or finds that this has changed.
        let answers = try engine.ask([["SET", .text(view.names.tagRemovals), value]], action: action)
        try Engine.check(answers[0], doing: action)
        // An entry that another process removed just before is not listed, and the message may come later.
        defer { view.withView { $0.doubtAll() } }
        try removeEntries(removing: removing, removed: removed) { $0.attributes.has(tag: tag) }
    }

    /// Saves a loaded value, unless its lease has ended.
    func save(
        _ new: NewEntry,
        under lease: LeaseTerm,
        if condition: () -> Bool
    ) throws(StoreError) -> EntryInformation? {
        try changing(new.key) { () throws(StoreError) in
            guard condition() else { return nil }
            let call = SaveLoaded(new, under: lease, offset.clock)
            let saved = try ask(Owing(new.key, call))
            if saved == nil { engine.counters.count { $0.leasesLost += 1 } }
            return saved
        }
    }
}
