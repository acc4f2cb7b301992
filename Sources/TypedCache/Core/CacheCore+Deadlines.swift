import ArchiveStore
import Foundation

extension CacheCore {
    var now: TimeInterval { clock.now.timeIntervalSinceReferenceDate }

    // MARK: Freshness

    /// Whether an entry in memory is fresh; then it counts as read, which moves an idle deadline. Looks at no clock
    /// where nothing expires.
    func useIfFresh(_ entry: MemoryEntry) -> Bool { useIfFresh(entry, at: now) }

    func useIfFresh(_ entry: MemoryEntry, at now: @autoclosure () -> TimeInterval) -> Bool {
        if entry.deadline == .infinity { return true }
        let now = now()
        switch entry.timing?.use(at: now) {
        case nil: return now < entry.deadline
        case .expired: return false
        case .fresh: return true
        case .ahead:
            if let timing = entry.timing { moveDeadline(of: entry.key, timing) }
            return true
        }
    }

    /// The freshness of an entry on disk. Where reading has moved an idle deadline, memory knows better than the disk.
    ///
    /// - Parameter moving: the timings with deadlines that were being moved when the entry was read.
    func freshness(of entry: EntryInformation, moving: [EntryKey: [EntryTiming]] = [:]) -> Freshness {
        let freshness = entry.attributes.freshness(at: clock.now)
        guard freshness != .fresh, entry.attributes.idleTime != nil, let key = try? EntryKey(entry.key) else {
            return freshness
        }
        return isKeptFresh(entry, key, moving: moving[key] ?? []) ? .fresh : freshness
    }

    /// As ``freshness(of:moving:)``, for one key.
    func freshness(of entry: EntryInformation, _ key: EntryKey, moving: [EntryTiming]) -> Freshness {
        let freshness = entry.attributes.freshness(at: clock.now)
        guard freshness != .fresh, entry.attributes.idleTime != nil else { return freshness }
        return isKeptFresh(entry, key, moving: moving) ? .fresh : freshness
    }

    /// Whether reading has moved the idle deadline of an entry that has expired by the deadline on disk.
    private func isKeptFresh(_ entry: EntryInformation, _ key: EntryKey, moving: [EntryTiming]) -> Bool {
        func isAhead(_ timing: EntryTiming) -> Bool { timing.isOf(entry) && now < timing.deadline }
        if let timing = memory.table.entry(forKey: key)?.timing, isAhead(timing) { return true }
        return moving.contains(where: isAhead) || memory.movingTimings(key).contains(where: isAhead)
    }

    // MARK: Moving deadlines

    /// Has the disk follow an idle deadline, before long.
    private func moveDeadline(of key: EntryKey, _ timing: EntryTiming) {
        memory.moves.begin(key, timing)
        queues.start(key) { [self] in
            defer { memory.moves.end(key) }
            do throws(StoreError) {
                var next = try store.information(forKey: key.text)
                if let entry = next, !timing.isOf(entry) { next = nil }
                repeat {
                    let moved = if let next { try follow(next, timing) } else { nil as EntryInformation? }
                    next = timing.moved(moved)
                } while next != nil
            } catch {
                timing.failedToMove()
                if error.code == .corrupted {
                    // The store has taken it away.
                    _ = timing.moved(nil)
                    drop(key)
                    report(error, as: .corrupted, of: key)
                } else {
                    report(error, as: .failed, of: key)
                }
            }
        }
    }

    /// Moves the deadline of an entry on disk to that of its timing.
    private func follow(_ entry: EntryInformation, _ timing: EntryTiming) throws(StoreError) -> EntryInformation? {
        let moved = try moved(
            entry,
            to: { Date(timeIntervalSinceReferenceDate: timing.deadline) },
            isDue: { timing.isAhead(of: $0) }
        )
        if remote != nil, let moved, let key = try? EntryKey(moved.key) {
            memory.withLock { $0.setVersion(moved.identity.version, of: key, timing) }
        }
        return moved
    }

    /// Moves the deadline of an entry on disk. Another cache or process that uses the entry too may have moved it: it
    /// is the same entry all the same. Blocks on disk I/O.
    ///
    /// - Parameter isDue: whether to go on where the deadline was moved in the meantime.
    /// - Returns: the entry as it is on disk now; `nil` if it was removed or saved over.
    private func moved(
        _ entry: EntryInformation,
        to deadline: () -> Date?,
        isDue: (EntryInformation) -> Bool = { _ in true }
    ) throws(StoreError) -> EntryInformation? {
        var entry = entry
        while true {
            if let moved = try store.moveDeadline(of: entry, to: deadline()) { return moved }
            guard let current = try store.information(forKey: entry.key), current.isSave(of: entry) else {
                return nil
            }
            guard isDue(current) else { return current }
            entry = current
        }
    }

    // MARK: Extending and renewing

    /// Gives an entry that is fresh or within a stale window another deadline, and says whether there was one. Blocks
    /// on disk I/O.
    func extend(_ key: EntryKey, to deadline: Date?) throws(CacheError) -> Bool {
        try checkUsable()
        if let entry = memory.unsavedInformation(key) {
            // The entry on disk is older: it must not become fresh.
            return freshness(of: entry).isServable && memory.extend(unsaved: entry, key, to: deadline)
        }
        if memory.tombstones.contains(key) { return false }
        memory.drainSiblings(key)
        do throws(StoreError) {
            // Again where the entry is saved over at the same time.
            while let entry = try store.information(forKey: key.text), freshness(of: entry).isServable {
                // Memory knows the former deadline, and may be moving it. A load that is under way counts all the same.
                for timing in memory.timings(key) where timing.isOf(entry) { timing.supersede() }
                defer { drop(key) }
                if try moved(entry, to: { deadline }) != nil { return true }
            }
            return false
        } catch {
            try ignoreDamage(error, key)
            return false
        }
    }

    /// The result of a renewal.
    enum Renewal: Sendable {
        case renewed(EntryInformation)
        /// The entry was removed or saved over in the meantime.
        case gone
        case failed
    }

    /// Gives the entry that a producer was given another deadline, unless the key was written since the load began.
    /// Blocks on disk I/O.
    func renew(
        _ entry: EntryInformation,
        _ key: EntryKey,
        to deadline: Date?,
        since load: MemoryTier.Start
    ) -> Renewal {
        guard memory.withLock({ $0.isCurrent(key, load) }) else { return .gone }
        memory.drainSiblings(key)
        foreignChanges?.expect(key)
        // The other caches know the former deadline, which may be the later one.
        defer { memory.notifySiblings(dropped: key) }
        do throws(StoreError) {
            return try moved(entry, to: { deadline }).map { .renewed($0) } ?? .gone
        } catch {
            guard error.code == .corrupted else {
                report(error, as: .failed, of: key)
                return .failed
            }
            drop(key)
            report(error, as: .corrupted, of: key)
            return .gone
        }
    }
}
