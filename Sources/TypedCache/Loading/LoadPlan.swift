import ArchiveStore
import Foundation

/// How the keys of one fetch are loaded.
struct LoadPlan<Value: Encoded>: Sendable where Value.Wrapper.Value == Value {
    /// The result of loading a key.
    enum Loaded {
        case fresh(MemoryEntry)
        case stale(Value)
    }

    /// Gets keys, and their expired values.
    typealias Producer = @Sendable ([String], [String: Value]) async throws -> [String: Revalidated<Value>]

    let core: CacheCore
    let form: MemoryForm<Value>
    let options: LoadOptions
    let expiration: Expiration
    let tags: [String]
    /// Whether the producer is to be given expired values.
    let revalidates: Bool
    let producer: Producer

    /// - Throws: `.invalidExpiration`, `.invalidTag`.
    init(
        _ cache: Cache<Value>,
        _ options: LoadOptions,
        expiration: Expiration?,
        tags: Set<String>,
        revalidates: Bool,
        producer: @escaping Producer
    ) throws(CacheError) {
        core = cache.core
        form = cache.form
        self.options = options
        self.expiration = expiration ?? cache.defaultExpiration
        self.tags = try EntryTags.check(tags)
        self.revalidates = revalidates
        self.producer = producer
        _ = try self.expiration.attributes(savedAt: core.clock.now)
    }

    /// Whether to load the value of an entry in memory again, before it expires.
    func isDue(_ entry: MemoryEntry) -> Bool {
        guard options.earlyRefresh != nil, let timing = entry.timing else { return false }
        return isDue(timing.loadTime, Date(timeIntervalSinceReferenceDate: timing.deadline))
    }

    /// Whether to load a value again that stays fresh until `deadline`; `nil` means for ever.
    func isDue(_ loadTime: TimeInterval, _ deadline: Date?) -> Bool {
        guard options.earlyRefresh != nil, let deadline else { return false }
        let chance = 1 - Double.random(in: 0..<1)
        let seconds = deadline.timeIntervalSinceReferenceDate
        return options.refreshes(loadTime: loadTime, deadline: seconds, now: core.now, chance: chance)
    }

    /// An entry that is to be loaded again in the background.
    struct Due {
        let key: EntryKey
        /// Its deadline, which another process may move in the meantime; `nil` if it is not known.
        let deadline: Date?
    }

    /// Loads keys in the background, except keys that are being loaded already.
    func startAhead(_ due: [Due]) {
        let (now, loads) = (core.now, core.loads)
        let wanted = due.filter { loads.failure($0.key, at: now) == nil }
        let known = Dictionary(wanted.compactMap { due in due.deadline.map { (due.key, $0) } }) { first, _ in first
        }
        if !wanted.isEmpty { _ = join(wanted.map(\.key), isBackground: true, known) }
    }

    /// Loads keys, and suspends until all of them are. Each is counted as missed, joined or served stale.
    ///
    /// - Parameters:
    ///   - stale: the expired values that may be served where loading fails.
    ///   - insists: whether a key is loaded again, by this fetch's own producer, if that of another fetch has nothing
    ///     for it.
    /// - Returns: the loaded values, and stale ones in place of failures; keys that the producer has nothing for are
    ///   left out.
    nonisolated(nonsending) func load(
        _ keys: [EntryKey],
        _ stale: [String: Value],
        insists: Bool
    ) async throws -> [String: Loaded] {
        var loaded: [String: Loaded] = [:]
        var served: [EntryKey] = []
        var joined: Set<EntryKey> = []
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
            if let error = core.loads.failure(key, at: now) { fail(key, error) } else { wanted.append(key) }
        }
        let waiters = failure == nil ? join(wanted, isBackground: false) : []
        for waiter in waiters where !waiter.isFirst { joined.insert(waiter.load.key) }
        // Keys with a stale value are counted after the load.
        func count(_ key: EntryKey) {
            if joined.contains(key) { core.recorder.join(key) } else { core.recorder.miss(key) }
        }
        for key in keys where stale[key.text] == nil { count(key) }
        // Every waiter waits, or withdraws because the task was cancelled.
        for waiter in waiters {
            let key = waiter.load.key
            do throws(CacheError) {
                var outcome = try await outcome(of: waiter)
                while insists, case .absent = outcome {
                    outcome = try await self.outcome(of: join([key], isBackground: false)[0])
                }
                switch outcome {
                case .loaded(let entry): loaded[key.text] = .fresh(entry)
                case .absent: break
                case .failed(let error): fail(key, error)
                case .cancelled: failure = CancellationError()
                }
            } catch {
                failure = error
            }
        }
        if failure != nil { served = [] }
        for key in served { core.recorder.stale(key) }
        let isServed = Set(served)
        for key in keys where stale[key.text] != nil && !isServed.contains(key) { count(key) }
        if let failure { throw failure }
        return loaded
    }

    /// - Throws: `.recursiveLoad` if the key's load waits for the current task.
    private nonisolated(nonsending) func outcome(
        of waiter: InFlightLoads.Waiter
    ) async throws(CacheError) -> LoadOutcome {
        guard let current = LoadGraph.current else { return await core.loads.outcome(of: waiter) }
        let run = waiter.load.runNumber
        guard LoadGraph.beginWaiting(current, for: run) else {
            core.loads.withdraw(waiter)
            throw CacheError.recursiveLoad.named(cache: core.name, key: waiter.load.key.text)
        }
        defer { LoadGraph.endWaiting(current, for: run) }
        return await core.loads.outcome(of: waiter)
    }

    /// Whether a load's answer may be from after every change that the cache has heard of.
    func isCurrent(_ load: KeyLoad) -> Bool {
        core.memory.withLock { memory in
            memory.isUnchangedElsewhere(load.key, load.start) && !memory.isRemoved(load.tags, since: load.start)
        }
    }

    private func join(
        _ keys: [EntryKey],
        isBackground: Bool,
        _ known: [EntryKey: Date] = [:]
    ) -> [InFlightLoads.Waiter] {
        // A producer that is given former values may choose tags of its own.
        core.loads.join(keys, tags: revalidates ? nil : tags, isBackground: isBackground) { load in
            isCurrent(load)
        } begin: { key in
            let start = core.memory.withLock { $0.beginLoad(key) }
            core.foreignChanges?.expect(key)
            return start
        } start: { loads in
            Task { await run(loads, isBackground: isBackground, known: known) }
        }
    }
}
