import ArchiveStore
import Foundation

extension Cache {
    /// Returns the value for `key`; if there is none, `producer` loads it.
    ///
    /// ```swift
    /// let city = try await cities.fetch(forKey: "362") { try await api.city(362) }
    /// ```
    ///
    /// Concurrent callers of one key share one producer, which runs in its own task; all of them get its value or its
    /// error. Cancelling one waiting caller does not affect the others; when all are cancelled, so is the producer's
    /// task. The value is saved before it is returned, unless the key was saved or removed, or everything was
    /// removed, while it was loaded: then that change stands. A value that cannot be saved is returned all the same,
    /// and the failure is reported. A producer that fetches its own key, directly or through the producers of other
    /// keys, would wait for itself: that fetch throws.
    ///
    /// Suspends while the disk is read and while the value is loaded; a hit in memory does not suspend.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - options: how a missing value is loaded.
    ///   - expiration: how long a loaded value may be used, and in which windows it may be served stale; `nil` for the
    ///     cache's own default.
    ///   - tags: groups that a loaded entry belongs to.
    ///   - producer: takes no parameter, and returns the value itself, not a ``Revalidated``: for a producer that is
    ///     given the expired value, see ``fetch(forKey:options:expiration:tags:revalidating:)``.
    /// - Throws: the producer's error, unless an expired value may be served instead; `CancellationError` if the
    ///   current task was cancelled while it waited; ``CacheError`` as a fetch throws, `.invalidExpiration`,
    ///   `.invalidTag`, `.encodingFailed` if the loaded value cannot be archived, and `.recursiveLoad`. An entry of
    ///   another type, or one that the type's own decoding refuses, is loaded again, see
    ///   ``LoadOptions/replacesOtherTypes``.
    public nonisolated(nonsending) func fetch(
        forKey key: some CacheKey,
        options: LoadOptions = LoadOptions(),
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        producer: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let key = try entryKey(key)
        if !tags.isEmpty { _ = try core.naming(key) { () throws(CacheError) in try EntryTags.check(tags) } }
        let hit = try find(key)
        if let hit, options.earlyRefresh == nil, let value = try hitValue(hit) { return value }
        let plan = try core.naming(key) { () throws(CacheError) in
            try LoadPlan(self, options, expiration: expiration, tags: tags, revalidates: false) { _, _ in
                [key.text: .new(try await producer())]
            }
        }
        return try await load(key, hit: hit, by: plan)
    }

    /// Returns the values for some keys; one call of `producer` loads the missing ones.
    ///
    /// Waits for keys that are being loaded already, and does not load them again. All else is as for one key.
    ///
    /// - Parameters:
    ///   - keys: each 1 to 1,024 UTF-8 bytes.
    ///   - options: how a missing value is loaded.
    ///   - expiration: how long loaded values may be used; `nil` for the cache's own default.
    ///   - tags: groups that loaded entries belong to.
    ///   - producer: is given the missing keys, and returns their values by key; a key that it leaves out is left out
    ///     of the result, and values for other keys are ignored.
    /// - Returns: the values, by key.
    /// - Throws: as for one key.
    public nonisolated(nonsending) func fetch<Key: CacheKey>(
        forKeys keys: some Sequence<Key>,
        options: LoadOptions = LoadOptions(),
        expiration: Expiration? = nil,
        tags: Set<String> = [],
        producer: @escaping @Sendable ([Key]) async throws -> [Key: Value]
    ) async throws -> [Key: Value] {
        let names = try core.naming { () throws(CacheError) in try KeyNames(keys) }
        let plan = try core.naming { () throws(CacheError) in
            try LoadPlan(self, options, expiration: expiration, tags: tags, revalidates: false) { texts, _ in
                names.texts(of: try await producer(names.keys(of: texts))).mapValues { .new($0) }
            }
        }
        return try await load(names, by: plan)
    }

    /// - Parameter hit: the entry that memory has, fresh or not; `nil` if there is none.
    nonisolated(nonsending) func load(
        _ key: EntryKey,
        hit: MemoryEntry?,
        by plan: LoadPlan<Value>
    ) async throws -> Value {
        if let hit, plan.options.earlyRefresh != nil, let value = try hitValue(hit) {
            if plan.isDue(hit) { plan.startAhead([.init(key: key, deadline: hit.freshUntil)]) }
            return value
        }
        let found = try await known([key], for: plan)
        if let value = found.values[key.text] { return value }
        switch try await plan.load([key], found.stale, insists: true)[key.text] {
        case .fresh(let entry)?: return try value(of: entry)
        case .stale(let value)?: return value
        case nil: preconditionFailure("the producer of one key gives a value for it or throws")
        }
    }

    nonisolated(nonsending) func load<Key: CacheKey>(
        _ names: KeyNames<Key>,
        by plan: LoadPlan<Value>
    ) async throws -> [Key: Value] {
        let found = try await known(names.entryKeys, for: plan)
        var values = found.values
        if found.missing.isEmpty { return names.named(values) }
        for (key, loaded) in try await plan.load(found.missing, found.stale, insists: false) {
            switch loaded {
            case .fresh(let entry): values[key] = try value(of: entry)
            case .stale(let value): values[key] = value
            }
        }
        return names.named(values)
    }

    /// The value of an entry from memory; `nil` if the entry is not fresh, or its type's decoding refuses it: then the
    /// caller reads the disk.
    func hitValue(_ found: MemoryEntry) throws(CacheError) -> Value? {
        do throws(CacheError) {
            let value = try value(of: found)
            return isHit(found) ? value : nil
        } catch {
            guard error.code == .decodingFailed || error.code == .typeMismatch else { throw error }
            // It was counted when it was found.
            if found.deadline == .infinity { memory.table.uncountHit(found.key) }
            return nil
        }
    }

    /// The values of some keys that were found without loading, and the keys that have to be loaded.
    struct Found {
        var values: [String: Value] = [:]
        /// Expired values that may be served if loading fails.
        var stale: [String: Value] = [:]
        var missing: [EntryKey] = []
    }

    /// As ``fetchAll(_:for:)``, but a cancelled task gets the error that it gets while it waits for a producer.
    private nonisolated(nonsending) func known(
        _ keys: [EntryKey],
        for plan: LoadPlan<Value>
    ) async throws -> Found {
        do throws(CacheError) {
            return try await fetchAll(keys, for: plan)
        } catch {
            throw error.code == .cancelled ? CancellationError() : error
        }
    }

    /// Looks for some keys in memory, then on disk, where all that are left are read in one go.
    ///
    /// - Parameter plan: starts to load values again that are served as stale or expire soon. Misses are counted when it
    ///   loads.
    nonisolated(nonsending) func fetchAll(
        _ keys: [EntryKey],
        for plan: LoadPlan<Value>
    ) async throws(CacheError) -> Found {
        var found = Found()
        var unknown: [(key: EntryKey, useless: MemoryEntry?)] = []
        var due: [LoadPlan<Value>.Due] = []
        for key in keys {
            let known = try find(key)
            if let known, let value = try hitValue(known) {
                found.values[key.text] = value
                if plan.isDue(known) { due.append(.init(key: key, deadline: known.freshUntil)) }
            } else {
                unknown.append((key, known))
            }
        }
        if followsOthers, !unknown.isEmpty, core.hasDoubts {
            unknown = try await compareAll(unknown, into: &found, due: &due, for: plan)
        }
        if !unknown.isEmpty {
            let reads = await core.read(unknown, allowsStale: true)
            try take(reads, of: unknown.map(\.key), into: &found, due: &due, for: plan)
        }
        if !due.isEmpty { plan.startAhead(due) }
        return found
    }

    /// Compares those entries of memory that are doubtful with the store's.
    ///
    /// - Returns: the keys to be read.
    private nonisolated(nonsending) func compareAll(
        _ keys: [(key: EntryKey, useless: MemoryEntry?)],
        into found: inout Found,
        due: inout [LoadPlan<Value>.Due],
        for plan: LoadPlan<Value>
    ) async throws(CacheError) -> [(key: EntryKey, useless: MemoryEntry?)] {
        var left: [(key: EntryKey, useless: MemoryEntry?)] = []
        for (key, result) in zip(keys, await core.compare(keys.map(\.key), isUrgent: true)) {
            do throws(CacheError) {
                guard let entry = try result.get() else {
                    left.append(key)
                    continue
                }
                found.values[key.key.text] = try hit(entry)
                if plan.isDue(entry) { due.append(.init(key: key.key, deadline: entry.freshUntil)) }
            } catch {
                guard plan.options.loadsAnew(error) else { throw error }
                if error.code == .unreachable { recorder.record(.failed, key.key, cause: error) }
                found.missing.append(key.key)
            }
        }
        return left
    }

    private func take(
        _ reads: [Result<DiskRead?, CacheError>],
        of keys: [EntryKey],
        into found: inout Found,
        due: inout [LoadPlan<Value>.Due],
        for plan: LoadPlan<Value>
    ) throws(CacheError) {
        var failure: CacheError?
        for (key, read) in zip(keys, reads) {
            do throws(CacheError) {
                guard let read = try read.get() else {
                    found.missing.append(key)
                    continue
                }
                let attributes = read.stored.information.attributes
                switch read.freshness {
                case .fresh:
                    found.values[key.text] = try finish(read, key)
                    // Reading has just moved an idle deadline as far away as it gets.
                    let deadline = attributes.idleTime == nil ? attributes.expiresAt : nil
                    if plan.isDue(attributes.loadTime, deadline) {
                        due.append(.init(key: key, deadline: deadline))
                    }
                case .staleWhileRevalidate:
                    found.values[key.text] = try Self.decode(read.stored.archive)
                    recorder.stale(key)
                    due.append(.init(key: key, deadline: attributes.expiresAt))
                case .staleIfError:
                    found.stale[key.text] = try Self.decode(read.stored.archive)
                    found.missing.append(key)
                case .expired, .useless:
                    found.missing.append(key)
                }
            } catch {
                if plan.options.loadsAnew(error) {
                    if error.code == .unreachable { recorder.record(.failed, key, cause: error) }
                    found.missing.append(key)
                } else {
                    failure = failure ?? error.named(cache: name, key: key.text)
                }
            }
        }
        guard let failure else { return }
        // The load counts its keys; after a failure, nothing is loaded.
        for key in found.missing { recorder.miss(key) }
        throw failure
    }
}
