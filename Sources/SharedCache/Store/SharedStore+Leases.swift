import ArchiveStore
import Foundation
import RedisWire
import TypedCache

extension SharedStore {
    package func takeLeases(
        ofKeys keys: [String],
        unlessFresh unseen: Set<String>
    ) async throws(StoreError) -> [LeaseAnswer] {
        try checkUsable()
        let milliseconds = max(Int(leaseDuration / .milliseconds(1)), 1)
        let keys = try keys.map { key throws(StoreError) in try StoreKey(key) }
        let taking = TakeLeases(keys, unlessFresh: unseen, milliseconds: milliseconds)
        var call = KeptLeases(taking, duration: leaseDuration, engine: engine, keeper: keeper)
        // Nothing may be saved for a key whose former entry could be there still, without removing that first.
        if engine.breaker.isSuspect || keys.contains(where: view.isOwed) {
            throw StoreError(.unreachable, action: call.action, reason: "the server did not answer a moment ago")
        }
        do throws(StoreError) {
            // The server has answered a moment ago: the fetch that has missed. A load that did not wait for its lease would run
            // a producer beside another machine's.
            let taken = try await request(&call)
            let leases = taken.leases
            engine.counters.count { statistics in
                statistics.leasesWon += leases.count
                if taken.answers.isEmpty { statistics.leasesWaited += 1 }
            }
            await release(taken.surplus)
            return call.answers(taken, self)
        } catch {
            // The server may take them yet, and other machines would wait for nothing.
            call.endAll()
            startRelease(call.requested)
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
        Task { [engine, settings] in
            do throws(StoreError) {
                let commands = leases.map(\.ending)
                // A caller waits for it; without an answer in time the commands are on their way all the same.
                let time = engine.softTimeout(settings.timeouts)
                _ = try await engine.request(commands, within: time, action: "giving leases back")
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
        try Engine.checkSet(answers[0], doing: action)
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
            let call = SendingParts(new, SaveLoaded(new, under: lease, offset.clock))
            let saved = try ask(Owing(new.key, call))
            if saved == nil { engine.counters.count { $0.leasesLost += 1 } }
            return saved
        }
    }
}
