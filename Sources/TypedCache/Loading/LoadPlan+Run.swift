import ArchiveStore
import Foundation

// A load's own task.

extension LoadPlan {
    /// Runs the producer, saves its values, and ends the loads.
    ///
    /// - Parameter known: the deadlines of entries that led to a load in the background.
    func run(_ all: [KeyLoad], isBackground: Bool, known: [EntryKey: Date]) async {
        let began = core.clock.now
        let loads = isBackground ? all : finishingKnown(all)
        let leased = await lease(loads, isBackground: isBackground, since: began, known: known)
        await run(leased, isBackground: isBackground, since: began, known: known)
        if let leases = leased.leases, let first = loads.first { await giveBack(leases, of: first.runNumber) }
    }

    /// - Parameter began: when the load began.
    private func run(
        _ leased: LeasedLoads,
        isBackground: Bool,
        since began: Date,
        known: [EntryKey: Date]
    ) async {
        let (all, leases) = (leased.loads, leased.leases)
        var loads = all
        var formers: [String: StoredArchive] = [:]
        var locks: KeyLocks?
        // The locks are given back when everything is saved.
        defer { giveBack(locks, all) }
        if options.joins == .processes {
            do {
                locks = try await lockAmongProcesses(loads)
            } catch {
                for load in loads { end(load, .failed(error)) }
                return
            }
        }
        // A fetch may have found an entry due that another one's load has replaced since.
        let looksAgain = revalidates || locks != nil || !known.isEmpty
        if looksAgain || leases != nil {
            // No entry of a key can have been saved since its lease was taken.
            let parts = Dictionary(grouping: loads) { leases?[$0.key.text]?.foundEntry ?? looksAgain }
            (loads, formers) = await lookAgain(
                parts[true] ?? [],
                leases,
                isBackground: isBackground,
                since: began,
                known: known
            )
            loads += parts[false] ?? []
        }
        guard let first = loads.first else { return }
        let former = formers
        let late = isBackground ? nil : leased.silent.map { beginRace(loads, with: $0) }
        defer { late?.look.cancel() }
        let start = ContinuousClock.now
        let answers: [String: Revalidated<Value>]
        do {
            let keys = loads.map(\.key.text)
            answers = try await LoadGraph.$current.withValue(first.runNumber) {
                try await core.listeners.observing(.load) { try await producer(keys, decoded(former)) }
            }
        } catch {
            core.recorder.countLoadTime(ContinuousClock.now - start)
            loads = loads.filter { late?.race.win($0) ?? true }
            for load in loads { await leases?[load.key.text]?.giveBack() }
            for load in loads { fail(load, error) }
            return
        }
        let elapsed = ContinuousClock.now - start
        core.recorder.countLoadTime(elapsed)
        loads = loads.filter { late?.race.win($0) ?? true }
        if Task.isCancelled {
            // The load was abandoned; another fetch may have begun it again, and has the newer value.
            for load in loads { await leases?[load.key.text]?.giveBack() }
            for load in loads { end(load, .failed(CancellationError())) }
            return
        }
        for load in loads {
            let key = load.key.text
            do throws(CacheError) {
                try await end(
                    load,
                    with: answers[key],
                    lease: leases.map { $0[key] },
                    former: formers[key],
                    loadTime: elapsed / .seconds(1)
                )
            } catch {
                await leases?[key]?.giveBack()
                fail(load, error.named(cache: core.name, key: key))
            }
        }
    }

    /// Ends a load with the producer's answer.
    ///
    /// - Parameters:
    ///   - lease: as for a save.
    ///   - former: the entry that the producer was given.
    private func end(
        _ load: KeyLoad,
        with answer: Revalidated<Value>?,
        lease: (any LoadLease)??,
        former: StoredArchive?,
        loadTime: TimeInterval
    ) async throws(CacheError) {
        guard let answer else {
            await lease??.giveBack()
            return end(load, .absent)
        }
        let expiration = answer.expiration ?? expiration
        switch answer.answer {
        case .new(let value, let tags):
            try await save(
                value,
                endingLoad: load,
                lease: lease,
                expiration: expiration,
                tags: tags,
                loadTime: loadTime
            )
        case .unchanged:
            await lease??.giveBack()
            try await renew(former, endingLoad: load, expiration: expiration)
        }
    }

    /// Ends the loads of keys that memory has by now: they may have been saved between the look at the disk and the
    /// beginning of the load.
    private func finishingKnown(_ loads: [KeyLoad]) -> [KeyLoad] {
        loads.filter { load in
            guard let known = core.memory.table.entry(forKey: load.key), core.useIfFresh(known) else { return true }
            end(load, .loaded(known))
            return false
        }
    }

    /// Reads the entries that the disk has for the keys by now, and ends the loads of fresh ones.
    ///
    /// - Parameters:
    ///   - leases: by key; given back before a load ends.
    ///   - began: when the load began.
    ///   - known: the deadlines of entries that led to it.
    /// - Returns: the other loads, and the entries that a producer is to be given.
    func lookAgain(
        _ loads: [KeyLoad],
        _ leases: [String: any LoadLease]? = nil,
        isBackground: Bool,
        since began: Date,
        known: [EntryKey: Date]
    ) async -> (loads: [KeyLoad], formers: [String: StoredArchive]) {
        let core = core
        var formers: [String: StoredArchive] = [:]
        var left: [KeyLoad] = []
        for load in loads {
            let key = load.key
            let stored = await core.queues.run(key) { () -> StoredArchive? in
                do throws(CacheError) {
                    return try core.readServable(key)
                } catch {
                    core.recorder.record(.failed, key, cause: error)
                    return nil
                }
            }
            if let stored {
                // Loading ahead begins with a fresh entry: only a later save or renewal ends it.
                let isNew =
                    !isBackground || options.earlyRefresh == nil
                    || isNew(stored.information, since: began, known: known[key])
                if isNew, core.freshness(of: stored.information) == .fresh, let value = value(stored) {
                    let entry = form.entry(value, of: key, stored)
                    await leases?[key.text]?.giveBack()
                    end(load, .loaded(entry), keeping: entry)
                    continue
                }
                if revalidates { formers[key.text] = stored }
            }
            left.append(load)
        }
        return (left, formers)
    }

    /// Whether an entry was saved or renewed since a load began, which a fetch of an entry with a deadline led to.
    ///
    /// - Parameter known: that deadline; `nil` if it is not known.
    private func isNew(_ entry: EntryInformation, since began: Date, known: Date?) -> Bool {
        guard let known else { return entry.storedAt >= began }
        return entry.storedAt > began || known < entry.expiresAt ?? .distantFuture
    }

    /// The values of those entries that can be decoded.
    private func decoded(_ formers: [String: StoredArchive]) -> [String: Value] {
        var values: [String: Value] = [:]
        for (key, stored) in formers { values[key] = value(stored) }
        return values
    }

    /// `nil` if its type refuses it: for a load it is missing then.
    func value(_ stored: StoredArchive) -> Value? {
        do throws(CacheError) {
            return try Cache<Value>.decode(stored.archive)
        } catch {
            return nil
        }
    }

    /// Ends a load with a new value.
    ///
    /// - Parameter lease: `.some(nil)` where the load needs one and has none: then the value is not saved.
    private func save(
        _ value: Value,
        endingLoad load: KeyLoad,
        lease: (any LoadLease)??,
        expiration: Expiration,
        tags: Set<String>?,
        loadTime: TimeInterval
    ) async throws(CacheError) {
        var attributes = try expiration.attributes(savedAt: core.clock.now)
        attributes.tags = self.tags
        if let tags { attributes.tags = try EntryTags.check(tags) }
        if attributes.expiresAt != nil { attributes.loadTime = loadTime }
        let new = try Cache<Value>.newEntry(value, forKey: load.key, attributes, as: form)
        core.recorder.record(.loaded, load.key)
        if case .some(nil) = lease { return end(load, unsavedOnServer: new.entry, tags: attributes.tags) }
        let (core, keepsUnsaved) = (core, options.keepsUnsaved)
        let rule = WriteRule.ifUnchanged(since: load.start, lease: lease ?? nil)
        await core.queues.run(load.key) {
            do throws(CacheError) {
                try core.write(new, rule, keepsUnsaved: keepsUnsaved)
            } catch {
                // The value is good all the same.
                core.recorder.record(.failed, load.key, cause: error)
            }
        }
        // Where it was not saved.
        await lease??.giveBack()
        end(load, .loaded(new.entry))
    }

    /// Ends a load whose value a server cannot be given: memory keeps it for a while if the server does not answer.
    private func end(_ load: KeyLoad, unsavedOnServer entry: MemoryEntry, tags: [String]) {
        if let time = core.remote?.keepingTime(ofKey: load.key.text), time > .zero {
            core.release(
                core.memory.withLock { memory in
                    memory.endRead(load.key, load.start, keeping: entry, tags: tags, servedUntil: .now + time)
                }
            )
            core.loads.finish(load, .loaded(entry))
        } else {
            end(load, .loaded(entry))
        }
    }

    /// Ends a load with the value that there was.
    private func renew(
        _ former: StoredArchive?,
        endingLoad load: KeyLoad,
        expiration: Expiration
    ) async throws(CacheError) {
        let (core, key) = (core, load.key)
        // Decoded again: the producer has the other one, and may have kept it.
        guard let former, let value = value(former) else {
            throw CacheError(
                .nothingToRevalidate,
                "the producer said that the value is unchanged, but was given none"
            )
        }
        let deadline = try expiration.attributes(savedAt: core.clock.now).expiresAt
        core.recorder.record(.revalidated, key)
        let renewal = await core.queues.run(key) {
            core.renew(former.information, key, to: deadline, since: load.start)
        }
        switch renewal {
        case .renewed(let information):
            let stored = StoredArchive(archive: former.archive, information: information)
            let entry = form.entry(value, of: key, stored)
            end(load, .loaded(entry), keeping: entry)
        case .failed where options.keepsUnsaved:
            var attributes = former.information.attributes
            attributes.expiresAt = deadline
            let entry = form.entry(
                value,
                of: key,
                archive: former.archive,
                attributes,
                timing: .of(attributes)
            )
            let unsaved = former.information.expiring(at: deadline)
            end(load, .loaded(entry), keeping: entry, unsaved: unsaved)
        case .gone, .failed:
            end(load, .loaded(form.entry(value, of: key, former)))
        }
    }

    private func fail(_ load: KeyLoad, _ error: any Error) {
        // The error of a producer that was told to stop says nothing about the value.
        if Task.isCancelled { return end(load, .failed(error)) }
        core.recorder.record(.loadFailed, load.key, cause: error)
        if let time = options.failureLifetime, isCurrent(load) {
            core.loads.remember(error, of: load, at: core.now, for: time / .seconds(1))
        }
        end(load, .failed(error))
    }

    /// - Parameters:
    ///   - entry: the entry that memory is to keep; `nil` for none.
    ///   - unsaved: the entry's information, if the disk has refused the entry.
    func end(
        _ load: KeyLoad,
        _ outcome: LoadOutcome,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil
    ) {
        core.release(
            core.memory.withLock { $0.endLoad(load.key, load.start, keeping: entry, unsaved: unsaved) }
        )
        core.loads.finish(load, outcome)
    }
}
