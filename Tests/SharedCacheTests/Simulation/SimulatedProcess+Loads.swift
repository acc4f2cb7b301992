@testable import ArchiveStore
@testable import SharedCache
@testable import TypedCache

// The loads of `LoadPlan`, with events in place of tasks.
extension SimulatedProcess {
    private final class Load {
        let key: SimulatedKey
        let start: MemoryTier.Start
        let since: Moment
        let time: Moment
        let tags: [String]
        var lease: LeaseTerm?

        init(_ key: SimulatedKey, start: MemoryTier.Start, since: Moment, time: Moment, tags: [String]) {
            self.key = key
            self.start = start
            self.since = since
            self.time = time
            self.tags = tags
        }
    }

    /// Fetches, and loads a missing value.
    ///
    /// - Parameter time: how long the producer takes.
    func load(_ key: SimulatedKey, time: Moment, tags: [String], _ done: @escaping (FetchedValue) -> Void) {
        fetch(key) { [self] found in
            if case .found = found { return done(found) }
            if loads[key.text] != nil {
                loads[key.text]?.append(done)
                return
            }
            loads[key.text] = [done]
            let start = memory.beginLoad(key.entry)
            if variant != .unexpectedLoad { expect(key) }
            let load = Load(key, start: start, since: events.now, time: time, tags: tags)
            after(events.moment(0...300)) { [self] in run(load) }
        }
    }

    private func run(_ load: Load) {
        if let known = table.entry(forKey: load.key.entry), known.isFresh(at: now.timeIntervalSinceReferenceDate) {
            return end(load, .found(Self.version(of: known)))
        }
        findLease(load, LeaseSearch([load.key.text], since: events.instant, duration: Self.lease))
    }

    private func findLease(_ load: Load, _ search: LeaseSearch) {
        // See `SharedStore.takeLeases`.
        if view.isOwed(load.key.store) { return produce(load) }
        var requested: [LeaseTerm] = []
        let milliseconds = Int(Self.lease / .milliseconds(1))
        let call = TakeLeases([load.key.store], unlessFresh: search.unseen, milliseconds: milliseconds)
        make(Insisting(call)) { call in
            requested = call.call.requested
        } _: { [self] result in
            guard case .success(let taken) = result else {
                giveBack(requested)
                return produce(load)
            }
            giveBack(taken.surplus)
            var search = search
            search.answered(taken.answers.count)
            switch taken.answers.first {
            case .taken(let lease):
                load.lease = lease
                extend(lease, of: load)
                return lease.foundEntry ? lookAgain(load) { [self] in produce(load) } : produce(load)
            case .fresh:
                return lookAgain(load) { [self] in
                    search.insist(on: [load.key.text])
                    findLease(load, search)
                }
            case nil: break
            }
            guard let pause = search.nextPause(at: events.instant, mayBeCircle: false) else {
                return produce(load)
            }
            var isWoken = false
            let wake = { [self] in
                if isWoken { return }
                isWoken = true
                findLease(load, search)
            }
            leaseWaiters[load.key.text, default: []].append(wake)
            after(Moment(pause / .microseconds(1)), wake)
        }
    }

    private func giveBack(_ leases: [LeaseTerm]) {
        if !leases.isEmpty { ask(leases.map(\.ending), "giving leases back") { _ in } }
    }

    private func extend(_ lease: LeaseTerm, of load: Load) {
        after(Moment(Self.lease / .microseconds(3))) { [self] in
            guard load.lease != nil else { return }
            ask([lease.extending], "extending a lease") { [self] result in
                if case .success(let values) = result, values[0].integer == 0 { return }
                extend(lease, of: load)
            }
        }
    }

    /// - Parameter otherwise: called if there is no fresh entry.
    private func lookAgain(_ load: Load, otherwise: @escaping () -> Void) {
        read(load.key) { [self] result in
            guard case .success(let found?) = result, isFresh(found.information) else { return otherwise() }
            let version = oracle.version(in: found.archive, for: load.key.text)
            end(load, .found(version), keeping: kept(load.key, version: version, found.information))
        }
    }

    private func produce(_ load: Load) {
        let key = load.key
        let producer = oracle.beginProducer(key.text, by: number, isLeased: load.lease != nil, since: load.since)
        after(load.time) { [self] in
            let version = oracle.endProducer(producer, tags: load.tags)
            guard let lease = load.lease,
                let begun = memory.beginWrite(key.entry, after: load.start, tags: load.tags)
            else {
                return end(load, .found(version))
            }
            let new = makeEntry(key, version, lifetime: nil, tags: load.tags)
            expect(key)
            let call = SaveLoaded(new.sent, under: lease, clock)
            let isCurrent = { [self] in memory.isCurrent(key.entry, begun.start) }
            change(key.store, call, if: isCurrent) { [self] result in
                guard case .success(.some(.some(let saved))) = result else {
                    _ = memory.endWrite(key.entry, since: begun.start)
                    if case .success = result { oracle.refused(version) }
                    return end(load, .found(version))
                }
                load.lease = nil
                if memory.isOfThisEpoch(begun.start) {
                    _ = memory.endWrite(key.entry, since: begun.start, keeping: new.kept)
                    return end(load, .found(version))
                }
                // Everything was removed in the meantime.
                removeSave(of: saved, key) { [self] _ in
                    _ = memory.endWrite(key.entry, since: begun.start)
                    end(load, .found(version))
                }
            }
        }
    }

    private func end(_ load: Load, _ value: FetchedValue, keeping entry: MemoryEntry? = nil) {
        _ = memory.endRead(load.key.entry, load.start, keeping: entry)
        if let lease = load.lease {
            load.lease = nil
            giveBack([lease])
        }
        for done in loads.removeValue(forKey: load.key.text) ?? [] { done(value) }
    }
}
