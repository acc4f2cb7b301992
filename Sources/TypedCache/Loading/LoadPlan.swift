import ArchiveStore
import Foundation

/// How the keys of one fetch are loaded.
struct LoadPlan<Value: Encoded>: Sendable where Value.Wrapper.Value == Value {
    /// What loading a key came to.
    enum Loaded {
        case fresh(MemoryEntry)
        case stale(Value)
    }

    private let core: CacheCore
    private let sharesValues: Bool
    private let options: LoadOptions
    private let expiration: Expiration
    private let tags: [String]
    private let producer: @Sendable ([String]) async throws -> [String: Value]

    /// - Throws: `.invalidExpiration`, `.invalidTag`.
    init(
        _ cache: Cache<Value>,
        _ options: LoadOptions,
        _ expiration: Expiration?,
        _ tags: Set<String>,
        _ producer: @escaping @Sendable ([String]) async throws -> [String: Value]
    ) throws(CacheError) {
        core = cache.core
        sharesValues = cache.sharesValues
        self.options = options
        self.expiration = expiration ?? cache.defaultExpiration
        self.tags = try EntryTags.check(tags)
        self.producer = producer
        _ = try self.expiration.attributes(savedAt: core.clock.now)
    }

    /// Whether to load anew what memory has.
    func isDue(_ entry: MemoryEntry) -> Bool {
        guard options.earlyRefresh != nil, let timing = entry.timing else { return false }
        return isDue(timing.loadTime, Date(timeIntervalSinceReferenceDate: timing.deadline))
    }

    /// Whether to load anew what stays fresh until `deadline`; `nil` means for ever.
    func isDue(_ loadTime: TimeInterval, _ deadline: Date?) -> Bool {
        guard options.earlyRefresh != nil, let deadline else { return false }
        let chance = 1 - Double.random(in: 0..<1)
        let seconds = deadline.timeIntervalSinceReferenceDate
        return options.refreshes(loadTime: loadTime, deadline: seconds, now: core.now, chance: chance)
    }

    /// Loads keys that nobody waits for, except those that are being loaded already.
    func startAhead(_ keys: [EntryKey]) {
        let (now, flights) = (core.now, core.flights)
        let wanted = keys.filter { flights.failure($0, at: now) == nil }
        if !wanted.isEmpty { _ = board(wanted, isBackground: true) }
    }

    /// Loads keys, and suspends until all of them are.
    ///
    /// - Parameter stale: what may be served where loading fails.
    /// - Returns: what was loaded; keys that the producer has nothing for are left out.
    nonisolated(nonsending) func load(
        _ keys: [EntryKey],
        _ stale: [String: Value]
    ) async throws -> [String: Loaded] {
        var loaded: [String: Loaded] = [:]
        var served: [EntryKey] = []
        var failure: (any Error)?
        func fail(_ key: EntryKey, _ error: any Error) {
            if let value = stale[key.text] {
                loaded[key.text] = .stale(value)
                served.append(key)
            } else {
                failure = failure ?? error
            }
        }
        let now = core.now
        var wanted: [EntryKey] = []
        for key in keys {
            if let error = core.flights.failure(key, at: now) { fail(key, error) } else { wanted.append(key) }
        }
        if failure == nil {
            // Everybody who boarded waits, or leaves by being cancelled.
            for seat in board(wanted, isBackground: false) {
                let key = seat.flight.key
                switch await core.flights.outcome(of: seat) {
                case .loaded(let entry): loaded[key.text] = .fresh(entry)
                case .absent: break
                case .failed(let error): fail(key, error)
                case .cancelled: failure = CancellationError()
                }
            }
        }
        // Those that have a stale value were not counted yet.
        if failure != nil { served = [] }
        for key in served { core.record(.servedStale, key) }
        let isServed = Set(served)
        for key in keys where stale[key.text] != nil && !isServed.contains(key) { core.record(.missed, key) }
        if let failure { throw failure }
        return loaded
    }

    private func board(_ keys: [EntryKey], isBackground: Bool) -> [Flights.Seat] {
        core.flights.board(keys, isBackground: isBackground) { key in
            core.memory.withLock { $0.beginRead(key) }
        } start: { flights in
            Task { await run(flights, isBackground: isBackground) }
        }
    }

    /// Runs the producer, saves what it gives, and ends the flights.
    private func run(_ all: [Flight], isBackground: Bool) async {
        var flights = all
        if !isBackground {
            // Somebody may have saved between the look at the disk and the beginning of the flight.
            flights = all.filter { flight in
                guard let known = core.memory.table.entry(forKey: flight.key), core.isFresh(known) else {
                    return true
                }
                end(flight, .loaded(known))
                return false
            }
            if flights.isEmpty { return }
        }
        let start = ContinuousClock.now
        let values: [String: Value]
        do {
            values = try await core.listeners.observing(.load) { try await producer(flights.map(\.key.text)) }
        } catch {
            for flight in flights { fail(flight, error) }
            return
        }
        if Task.isCancelled {
            // Given up, and maybe begun anew by others, whose value is the newer one.
            for flight in flights { end(flight, .failed(CancellationError())) }
            return
        }
        let loadTime = (ContinuousClock.now - start) / .seconds(1)
        for flight in flights {
            guard let value = values[flight.key.text] else {
                end(flight, .absent)
                continue
            }
            do throws(CacheError) {
                var attributes = try expiration.attributes(savedAt: core.clock.now)
                attributes.tags = tags
                if attributes.expiresAt != nil { attributes.loadTime = loadTime }
                let new = try Cache<Value>.newEntry(value, flight.key, attributes, sharesValues: sharesValues)
                core.record(.loaded, flight.key)
                await save(new, flight)
                end(flight, .loaded(new.entry))
            } catch {
                fail(flight, error.named(cache: core.name, key: flight.key.text))
            }
        }
    }

    private func save(_ new: NewEntry, _ flight: Flight) async {
        let core = core
        await core.queues.run(flight.key) {
            do throws(CacheError) {
                try core.write(new, .ifUnchanged(since: flight.ticket))
            } catch {
                // The value is good all the same.
                core.record(.failed, flight.key, error)
            }
        }
    }

    private func fail(_ flight: Flight, _ error: any Error) {
        // Whatever a producer throws that was told to stop says nothing about the value.
        if Task.isCancelled { return end(flight, .failed(error)) }
        core.record(.loadFailed, flight.key, error)
        if let time = options.failureLifetime {
            core.flights.remember(error, of: flight.key, until: core.now + time / .seconds(1))
        }
        end(flight, .failed(error))
    }

    private func end(_ flight: Flight, _ outcome: LoadOutcome) {
        core.release(core.memory.withLock { $0.endRead(flight.key, flight.ticket) })
        core.flights.land(flight, outcome)
    }
}
