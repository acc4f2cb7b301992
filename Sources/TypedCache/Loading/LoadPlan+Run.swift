import ArchiveStore
import Foundation

// A load's own task.

extension LoadPlan {
    /// Runs the producer, saves its values, and ends the flights.
    ///
    /// - Parameter known: the deadlines of entries that led to a load in the background.
    func run(_ all: [Flight], isBackground: Bool, known: [EntryKey: Date]) async {
        let began = core.clock.now
        var flights = isBackground ? all : landingKnown(all)
        var formers: [String: StoredArchive] = [:]
        var locks: KeyLocks?
        // The locks are given back when everything is saved.
        defer { giveBack(locks, all) }
        if options.joins == .processes {
            do {
                locks = try await lockAmongProcesses(flights)
            } catch {
                for flight in flights { end(flight, .failed(error)) }
                return
            }
        }
        if revalidates || locks != nil {
            (flights, formers) = await lookAgain(flights, isBackground: isBackground, since: began, known)
        }
        guard let first = flights.first else { return }
        let former = formers
        let start = ContinuousClock.now
        let answers: [String: Revalidated<Value>]
        do {
            let keys = flights.map(\.key.text)
            answers = try await LoadGraph.$current.withValue(first.loadNumber) {
                try await core.listeners.observing(.load) { try await producer(keys, decoded(former)) }
            }
        } catch {
            for flight in flights { fail(flight, error) }
            return
        }
        if Task.isCancelled {
            // The load was given up; another fetch may have begun it anew, and has the newer value.
            for flight in flights { end(flight, .failed(CancellationError())) }
            return
        }
        let loadTime = (ContinuousClock.now - start) / .seconds(1)
        for flight in flights {
            guard let answer = answers[flight.key.text] else {
                end(flight, .absent)
                continue
            }
            do throws(CacheError) {
                switch answer.answer {
                case .new(let value, let tags):
                    try await save(value, flight, answer.expiration ?? expiration, tags, loadTime)
                case .unchanged:
                    try await renew(formers[flight.key.text], flight, answer.expiration ?? expiration)
                }
            } catch {
                fail(flight, error.named(cache: core.name, key: flight.key.text))
            }
        }
    }

    /// Ends the flights of keys that memory has by now: they may have been saved between the look at the disk and the
    /// beginning of the flight.
    private func landingKnown(_ flights: [Flight]) -> [Flight] {
        flights.filter { flight in
            guard let known = core.memory.table.entry(forKey: flight.key), core.isFresh(known) else { return true }
            end(flight, .loaded(known))
            return false
        }
    }

    /// Reads the entries that the disk has for the keys by now, and ends the flights of those that are fresh.
    ///
    /// - Parameters:
    ///   - began: when the load began.
    ///   - known: the deadlines of entries that led to it.
    /// - Returns: the other flights, and the entries that a producer is to be given.
    private func lookAgain(
        _ flights: [Flight],
        isBackground: Bool,
        since began: Date,
        _ known: [EntryKey: Date]
    ) async -> (flights: [Flight], formers: [String: StoredArchive]) {
        let core = core
        var formers: [String: StoredArchive] = [:]
        var left: [Flight] = []
        for flight in flights {
            let key = flight.key
            let stored = await core.queues.run(key) { () -> StoredArchive? in
                do throws(CacheError) {
                    return try core.readKept(key)
                } catch {
                    core.record(.failed, key, error)
                    return nil
                }
            }
            if let stored {
                // Loading ahead begins with a fresh entry: only a later save or renewal ends it.
                let isNew =
                    !isBackground || options.earlyRefresh == nil || stored.information.storedAt >= began
                    || known[key].map { $0 < stored.information.expiresAt ?? .distantFuture } ?? false
                if isNew, core.isFresh(onDisk: stored.information), let value = value(stored) {
                    let entry = form.entry(value, key, stored)
                    end(flight, .loaded(entry), keeping: entry)
                    continue
                }
                if revalidates { formers[key.text] = stored }
            }
            left.append(flight)
        }
        return (left, formers)
    }

    /// The values of those entries that can be decoded.
    private func decoded(_ formers: [String: StoredArchive]) -> [String: Value] {
        var values: [String: Value] = [:]
        for (key, stored) in formers { values[key] = value(stored) }
        return values
    }

    /// `nil` if its type refuses it: for a load it is missing then.
    private func value(_ stored: StoredArchive) -> Value? {
        do throws(CacheError) {
            return try Cache<Value>.decode(stored.archive)
        } catch {
            return nil
        }
    }

    /// Ends a flight with a new value.
    private func save(
        _ value: Value,
        _ flight: Flight,
        _ expiration: Expiration,
        _ tags: Set<String>?,
        _ loadTime: TimeInterval
    ) async throws(CacheError) {
        var attributes = try expiration.attributes(savedAt: core.clock.now)
        attributes.tags = self.tags
        if let tags { attributes.tags = try EntryTags.check(tags) }
        if attributes.expiresAt != nil { attributes.loadTime = loadTime }
        let new = try Cache<Value>.newEntry(value, flight.key, attributes, form)
        core.record(.loaded, flight.key)
        let (core, keepsUnsaved) = (core, options.keepsUnsaved)
        await core.queues.run(flight.key) {
            do throws(CacheError) {
                try core.write(new, .ifUnchanged(since: flight.ticket), keepsUnsaved: keepsUnsaved)
            } catch {
                // The value is good all the same.
                core.record(.failed, flight.key, error)
            }
        }
        end(flight, .loaded(new.entry))
    }

    /// Ends a flight with the value that there was.
    private func renew(
        _ former: StoredArchive?,
        _ flight: Flight,
        _ expiration: Expiration
    ) async throws(CacheError) {
        let (core, key) = (core, flight.key)
        // Decoded again: the producer has the other one, and may have kept it.
        guard let former, let value = value(former) else {
            throw CacheError(
                .nothingToRevalidate,
                "the producer said that the value is unchanged, but was given none"
            )
        }
        let deadline = try expiration.attributes(savedAt: core.clock.now).expiresAt
        core.record(.revalidated, key)
        let renewal = await core.queues.run(key) {
            core.renew(former.information, key, to: deadline, since: flight.ticket)
        }
        switch renewal {
        case .renewed(let information):
            let stored = StoredArchive(archive: former.archive, information: information)
            let entry = form.entry(value, key, stored)
            end(flight, .loaded(entry), keeping: entry)
        case .failed where options.keepsUnsaved:
            var attributes = former.information.attributes
            attributes.expiresAt = deadline
            let entry = form.entry(value, key, former.archive, attributes, EntryTiming(attributes))
            let unsaved = former.information.expiring(at: deadline)
            end(flight, .loaded(entry), keeping: entry, unsaved: unsaved)
        case .gone, .failed:
            end(flight, .loaded(form.entry(value, key, former)))
        }
    }

    private func fail(_ flight: Flight, _ error: any Error) {
        // The error of a producer that was told to stop says nothing about the value.
        if Task.isCancelled { return end(flight, .failed(error)) }
        core.record(.loadFailed, flight.key, error)
        if let time = options.failureLifetime {
            core.flights.remember(error, of: flight.key, until: core.now + time / .seconds(1))
        }
        end(flight, .failed(error))
    }

    /// - Parameters:
    ///   - entry: the entry that memory is to keep; `nil` for none.
    ///   - unsaved: the entry's information, if the disk has refused the entry.
    private func end(
        _ flight: Flight,
        _ outcome: LoadOutcome,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil
    ) {
        core.release(
            core.memory.withLock { memory in
                let dropped = memory.endRead(flight.key, flight.ticket, keeping: entry)
                if let entry, let unsaved { memory.markUnsaved(entry, as: unsaved) }
                return dropped
            }
        )
        core.flights.land(flight, outcome)
    }
}
