import Foundation

@testable import ArchiveStore
@testable import RedisWire
@testable import SharedCache
@testable import TypedCache

// The changes of `CacheCore`, with events in place of threads.
extension SimulatedProcess {
    /// A value on its way to the engine, and as memory keeps it.
    func makeEntry(_ key: SimulatedKey, _ version: UInt64, lifetime: TimeInterval?, tags: [String])
        -> (sent: SharedCache.NewEntry, kept: MemoryEntry)
    {
        var attributes = EntryAttributes(storedAt: now)
        attributes.expiresAt = lifetime.map { now + $0 }
        attributes.tags = tags
        let archive = Array("\(key.text) \(version)".utf8)
        guard
            let sent = try? SharedCache.NewEntry(
                archive,
                of: key.store,
                in: view.names,
                attributes,
                clock: clock,
                now: now,
                serial: version
            )
        else { preconditionFailure("a value of the simulation is refused") }
        oracle.deadlines[version] = lifetime.map { events.now + Moment($0 * 1e6) }
        return (sent, kept(key, version: version, sent.information))
    }

    func save(
        _ key: SimulatedKey,
        _ version: UInt64,
        lifetime: TimeInterval?,
        tags: [String],
        _ done: @escaping (Bool) -> Void
    ) {
        let new = makeEntry(key, version, lifetime: lifetime, tags: tags)
        let begun = memory.beginWrite(key.entry)
        expect(key)
        change(key.store, Insisting(SaveEntry(new.sent))) { [self] result in
            finish(key, begun, with: result, keeping: new.kept, done)
        }
    }

    func remove(_ key: SimulatedKey, _ done: @escaping (Bool) -> Void) {
        let begun = memory.beginWrite(key.entry)
        expect(key)
        change(key.store, Insisting(RemoveKeys([key.store]))) { [self] result in
            finish(key, begun, with: result, keeping: nil, done)
        }
    }

    private func finish<Outcome>(
        _ key: SimulatedKey,
        _ begun: MemoryTier.BegunWrite,
        with result: Result<Outcome, StoreError>,
        keeping entry: MemoryEntry?,
        _ done: (Bool) -> Void
    ) {
        switch result {
        case .success: _ = memory.endWrite(key.entry, since: begun.start, keeping: entry)
        case .failure: _ = memory.endWrite(key.entry, since: begun.start)
        }
        if case .success = result { done(true) } else { done(false) }
    }

    /// - Parameter makeVersion: the new version, made of the one that was read; 0 for none.
    func modify(_ key: SimulatedKey, _ makeVersion: @escaping (UInt64) -> UInt64, _ done: @escaping (Bool) -> Void)
    {
        read(key) { [self] result in
            guard case .success(let former) = result else { return done(false) }
            let version = makeVersion(former.map { oracle.version(in: $0.archive, for: key.text) } ?? 0)
            let new = makeEntry(key, version, lifetime: nil, tags: [])
            let begun = memory.beginWrite(key.entry)
            expect(key)
            let call = ChangeSeen.save(new.sent, clock) { [self] seen in
                variant == .noCondition || seen?.identity == former?.information.identity
            }
            change(key.store, Insisting(call)) { [self] result in
                guard case .success(let saved) = result else {
                    return finish(key, begun, with: result, keeping: nil, done)
                }
                if case .some(.some) = saved { return finish(key, begun, with: result, keeping: new.kept, done) }
                _ = memory.endWrite(key.entry, since: begun.start)
                modify(key, makeVersion, done)
            }
        }
    }

    /// Removes the entry that is read, if it is still the same.
    ///
    /// - Parameters:
    ///   - begun: is called before the removal is sent.
    ///   - done: called with whether the entry was removed.
    func removeSeen(_ key: SimulatedKey, _ begun: @escaping () -> Void, _ done: @escaping (Bool) -> Void) {
        read(key) { [self] result in
            guard case .success(let seen?) = result else { return done(false) }
            let write = memory.beginWrite(key.entry)
            expect(key)
            begun()
            removeSave(of: seen.information, key) { [self] result in
                _ = memory.endWrite(key.entry, since: write.start)
                if case .success(true) = result { done(true) } else { done(false) }
            }
        }
    }

    /// Removes an entry even if its deadline was moved in the meantime.
    func removeSave(
        of entry: EntryInformation,
        _ key: SimulatedKey,
        _ done: @escaping (Result<Bool, StoreError>) -> Void
    ) {
        let isOfUse = isFresh(entry)
        guard let call = try? ChangeSeen.remove(entry, clock, endsLease: isOfUse, onlyIfUseless: !isOfUse) else {
            return done(.success(false))
        }
        func goOn(_ result: Result<Bool?, StoreError>) {
            guard case .success(let isRemoved) = result else { return done(result.map { $0 ?? false }) }
            if isRemoved == true || variant == .onlyTheSameDeadline { return done(.success(isRemoved ?? false)) }
            read(key) { [self] result in
                guard case .success(let found?) = result, found.information.identity != entry.identity,
                    found.information.isSave(of: entry)
                else { return done(result.map { _ in false }) }
                removeSave(of: found.information, key, done)
            }
        }
        if isOfUse { return change(key.store, Insisting(call), goOn) }
        make(Insisting(call)) { goOn($0.map { $0 }) }
    }

    // MARK: Many entries

    func removeAll(_ done: @escaping (Bool) -> Void) {
        _ = memory.beginRemoval()
        let text = String(UInt64(now.timeIntervalSince1970), radix: 16)
        let byClock = Generation(.bulk(Array((String(repeating: "0", count: 16 - text.count) + text).utf8)))
        let new = variant == .clockForGeneration ? byClock ?? .random() : .random()
        make(BeginGeneration(new, action: "removing all entries")) { [self] result in
            guard case .success = result else {
                _ = memory.endRemoval()
                return done(false)
            }
            removeFormerGenerations(from: [0, 1, 2]) { [self] in
                _ = memory.endRemoval()
                done(true)
            }
        }
    }

    private func removeFormerGenerations(from shards: ArraySlice<Int>, _ done: @escaping () -> Void) {
        guard let shard = shards.first else { return done() }
        list(shard) { [self] found in
            guard let found else { return done() }
            let action = "removing all entries"
            ask([["GET", .text(view.names.generation)]], action) { [self] result in
                guard case .success(let values) = result, let current = Generation(values[0]) else { return done() }
                let former = found.filter { $0.hasSuffix("}") && !view.names.isEntry($0, of: current) }
                if former.isEmpty { return removeFormerGenerations(from: shards.dropFirst(), done) }
                ask(former.map { ["UNLINK", .text($0)] }, action) { [self] _ in
                    removeFormerGenerations(from: shards.dropFirst(), done)
                }
            }
        }
    }

    func removeAll(tagged tag: String, _ done: @escaping (Bool) -> Void) {
        func end(_ isDone: Bool) {
            view.withView { $0.doubtAll() }
            done(isDone)
        }
        let value = RedisCommand.Argument.text("\(oracle.nextNumber())")
        ask([["SET", .text(view.names.tagRemovals), value]], "removing entries by tag") { [self] result in
            guard case .success(let values) = result, values[0].text == "OK" else { return done(false) }
            make(FindGeneration(action: "listing entries", asksAnyway: true, mayBegin: false)) { [self] result in
                guard case .success(let found) = result else { return end(false) }
                guard let generation = found else { return end(true) }
                choose(tag, of: generation, from: [0, 1, 2], []) { [self] chosen in
                    guard let chosen else { return end(false) }
                    remove(chosen[...], isDone: true, end)
                }
            }
        }
    }

    /// Finds the entries with a tag.
    private func choose(
        _ tag: String,
        of generation: Generation,
        from shards: ArraySlice<Int>,
        _ chosen: [EntryInformation],
        _ done: @escaping ([EntryInformation]?) -> Void
    ) {
        guard let shard = shards.first else { return done(chosen) }
        list(shard) { [self] found in
            guard let found else { return done(nil) }
            let keys = found.compactMap { view.names.key(ofEntry: $0, generation) }.map { SimulatedKey($0) }
            let looks = keys.map { Look(at: $0.store, view.names, in: generation, clock) }
            if looks.isEmpty { return choose(tag, of: generation, from: shards.dropFirst(), chosen, done) }
            ask(looks.flatMap(\.commands), "listing entries") { [self] result in
                guard case .success(let values) = result else { return done(nil) }
                var chosen = chosen
                for (index, look) in looks.enumerated() {
                    var look = look
                    guard (try? look.take(Array(values[2 * index..<2 * index + 2]), "listing")) != nil else {
                        return done(nil)
                    }
                    if let found = look.information, found.attributes.has(tag: tag) { chosen.append(found) }
                }
                choose(tag, of: generation, from: shards.dropFirst(), chosen, done)
            }
        }
    }

    private func remove(_ chosen: ArraySlice<EntryInformation>, isDone: Bool, _ done: @escaping (Bool) -> Void) {
        guard let entry = chosen.first else { return done(isDone) }
        let key = SimulatedKey(entry.key)
        let begun = memory.beginWrite(key.entry)
        func goOn(_ isRemoved: Bool) {
            // The batch of changes ends with the last one.
            remove(chosen.dropFirst(), isDone: isDone && isRemoved) { [self] isDone in
                _ = memory.endWrite(key.entry, since: begun.start)
                done(isDone)
            }
        }
        removeSave(of: entry, key) { [self] result in
            if case .success(true) = result { _ = memory.invalidate(key.entry) }
            if case .success = result { goOn(true) } else { goOn(false) }
        }
    }
}
