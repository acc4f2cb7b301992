import ArchiveStore
import Foundation
import Synchronization

/// All of a cache that does not depend on the type of its values.
///
/// It knows archives and entries in memory; ``Cache`` turns values into them and back, on the caller's thread. So only
/// bytes go to other threads, for values of any type.
final class CacheCore: Sendable {
    let name: String
    let store: any ArchiveStore
    /// The store of a cache in memory alone: it chooses the entries that are given up, and memory has all of its
    /// entries.
    let archives: MemoryStore?
    let memory: SharedMemory
    let clock: any CacheClock
    let listeners: Listeners
    let queues: DiskQueues
    let usage = StoreUsage()
    /// `nil` for a cache in memory alone.
    let directory: String?
    /// The path of the directory with no link in it; `nil` for a cache in memory alone.
    let place: String?
    let loadLocks = LoadLocks()
    /// Whether it was reported that loads cannot be joined among processes.
    let hasReportedLocks = Atomic<Bool>(false)
    private let sweeper = Mutex<Sweeper?>(nil)
    private let followsOthers: Bool
    private let followed = Mutex(FollowedKeys())
    #if canImport(Darwin)
        private let pressure = Mutex<MemoryPressure?>(nil)
    #endif

    init(
        name: String,
        directory: URL?,
        store: any ArchiveStore,
        memory: MemorySettings,
        disk: DiskSettings,
        sweeps: Bool,
        clock: any CacheClock,
        observer: (any CacheObserver)?
    ) {
        self.name = name
        self.store = store
        self.directory = directory?.path(percentEncoded: false)
        archives = store as? MemoryStore
        // The same place for all paths to the directory, which exists by now, if at all.
        place = directory.map(CacheDirectory.place)
        queues = DiskQueues(label: name, usage: usage)
        self.memory = SharedMemory(settings: memory, directory: place, store: store, queues: queues)
        self.clock = clock
        listeners = Listeners(cacheName: name, hasDisk: archives == nil, observer: observer)
        followsOthers = disk.followsOtherProcesses
        store.setUser(self)
        // Otherwise a program that opens the directory, saves and drops the cache again and again could defer any
        // number of writes.
        self.memory.settleOthers(nil)
        // A forked process has no thread for it.
        if sweeps, StoreUsage.hasQueues {
            let sweeper = Sweeper { [weak self] in self?.sweep() }
            self.sweeper.withLock { $0 = sweeper }
        }
        #if canImport(Darwin)
            let listener = MemoryPressure { [weak self] isCritical in self?.relieve(isCritical: isCritical) }
            pressure.withLock { $0 = listener }
        #endif
    }

    var flights: Flights { memory.flights }

    // MARK: The end

    /// - Throws: `.closed` and `.forked`.
    func checkUsable() throws(CacheError) { try queues.checkUsable() }

    /// Does the deferred writes, and gives back all files and locks. Blocks on disk I/O.
    func close() throws(CacheError) {
        do throws(StoreError) {
            guard try usage.close() else { return }
            sweeper.withLock { $0 = nil }
            // Idle deadlines that are being moved.
            queues.drainKeys()
            loadLocks.closeAll()
            #if canImport(Darwin)
                pressure.withLock { $0 = nil }
            #endif
            defer { release(memory.withLock { $0.loseAll() }) }
            try store.close()
        } catch {
            throw failure(error)
        }
    }

    // MARK: Telling

    /// Counts an event, and tells the listeners.
    func record(_ occurrence: Occurrence, _ key: EntryKey?, _ cause: (any Error)? = nil) {
        memory.withLock { $0.statistics.count(occurrence) }
        listeners.tell(occurrence, key, cause)
    }

    /// Records an error of the store that no call can throw.
    func report(_ occurrence: Occurrence, _ key: EntryKey?, _ error: StoreError) {
        record(occurrence, key, failure(error, key))
    }

    /// The error of a store, as this cache throws and reports it.
    func failure(_ error: StoreError, _ key: EntryKey? = nil) -> CacheError {
        CacheError(error).named(cache: name, key: key?.text)
    }

    /// Runs `body`, and names the cache and the key in the error that it throws.
    func naming<Result>(
        _ key: EntryKey? = nil,
        _ body: () throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        do throws(CacheError) {
            return try body()
        } catch {
            throw error.named(cache: name, key: key?.text)
        }
    }

    /// Tells of entries that memory gave up, and releases all of them.
    func release(_ dropped: consuming MemoryTier.Dropped) {
        for entry in dropped.evicted { listeners.tell(.memoryEvicted, entry.key) }
    }

    // MARK: Time

    var now: TimeInterval { clock.now.timeIntervalSinceReferenceDate }

    /// Whether an entry in memory is fresh. Reads no clock where nothing expires; moves an idle deadline.
    func isFresh(_ entry: MemoryEntry) -> Bool { isFresh(entry, at: now) }

    func isFresh(_ entry: MemoryEntry, at now: @autoclosure () -> TimeInterval) -> Bool {
        if entry.deadline == .infinity { return true }
        let now = now()
        guard let timing = entry.timing else { return now < entry.deadline }
        switch timing.use(at: now) {
        case .expired: return false
        case .fresh: return true
        case .ahead:
            if let onDisk = timing.entry { moveDeadline(of: onDisk, timing, entry.key) }
            return true
        }
    }

    /// Has the disk follow an idle deadline, before long.
    private func moveDeadline(of entry: EntryInformation, _ timing: EntryTiming, _ key: EntryKey) {
        memory.beginMove(key, timing)
        queues.start(key) { [self] in
            defer { memory.endMove(key) }
            do throws(StoreError) {
                var entry = entry
                while let next = timing.moved(try follow(entry, timing)) { entry = next }
            } catch {
                timing.failedToMove()
                if error.code == .corrupted {
                    // The store has taken it away.
                    _ = timing.moved(nil)
                    forget(key)
                    report(.corrupted, key, error)
                } else {
                    report(.failed, key, error)
                }
            }
        }
    }

    /// Moves the deadline of an entry on disk to that of its timing.
    private func follow(_ entry: EntryInformation, _ timing: EntryTiming) throws(StoreError) -> EntryInformation? {
        try moved(
            entry,
            to: { Date(timeIntervalSinceReferenceDate: timing.deadline) },
            isDue: { timing.isAhead(of: $0) }
        )
    }

    /// Whether an entry on disk is fresh. Where reading has moved an idle deadline, memory knows better than the disk.
    ///
    /// - Parameter moving: the timings with deadlines that were being moved when the entry was read.
    func isFresh(onDisk entry: EntryInformation, moving: [EntryKey: [EntryTiming]] = [:]) -> Bool {
        guard let deadline = entry.expiresAt else { return true }
        if clock.now < deadline { return true }
        guard entry.attributes.idleTime != nil, let key = try? EntryKey(entry.key) else { return false }
        return isFresh(onDisk: entry, key, moving: moving[key] ?? [])
    }

    /// As ``isFresh(onDisk:moving:)``, for one key.
    func isFresh(onDisk entry: EntryInformation, _ key: EntryKey, moving: [EntryTiming]) -> Bool {
        guard let deadline = entry.expiresAt else { return true }
        if clock.now < deadline { return true }
        guard entry.attributes.idleTime != nil else { return false }
        func isAhead(_ timing: EntryTiming) -> Bool { timing.isOf(entry) && now < timing.deadline }
        if let timing = memory.table.entry(forKey: key)?.timing, isAhead(timing) { return true }
        return moving.contains(where: isAhead) || memory.movingTimings(key).contains(where: isAhead)
    }

    /// Whether an entry on disk may be used no more, not even as a stale one; then it is removed, unless it was saved
    /// over meanwhile.
    func dropIfUseless(_ entry: EntryInformation, _ key: EntryKey) -> Bool {
        guard let end = entry.attributes.usableUntil, end <= clock.now else { return false }
        // An expired entry must not come back from memory or disk when the clock is set back.
        do throws(StoreError) {
            if try store.remove(entry) {
                depart(key)
                record(.expired, key)
            }
        } catch {
            forget(key, bar: .set)
            report(.failed, key, error)
        }
        return true
    }

    // MARK: Room

    func trim(toCount count: Int, cost: Int) {
        guard let archives else { return release(memory.withLock { $0.trim(toCount: count, cost: cost) }) }
        for entry in archives.evict(toCount: count, byteCount: cost) { didEvict(entry) }
    }

    /// Gives memory back where the system asks for it.
    func relieve(isCritical: Bool) {
        // A count of zero removes entries with a cost of zero, too.
        if isCritical { trim(toCount: 0, cost: 0) } else { trim(toCount: .max, cost: memoryCost / 2) }
    }

    /// Whether memory may keep an entry that the store refuses. Without a disk, the store has memory's limits: an
    /// entry that is above them must not be kept beside it.
    var keepsWithoutStore: Bool { archives == nil }

    /// The cost of all entries in memory together, in bytes.
    var memoryCost: Int { archives?.cost ?? memory.withLock { $0.cost } }

    /// Has the store save an entry; one in memory is told its cost, for it has the limits.
    func put(_ new: NewEntry, if condition: ((EntryInformation?) -> Bool)?) throws(StoreError) -> EntryInformation?
    {
        let (archive, key, attributes) = (new.archive, new.key.text, new.attributes)
        guard let archives else {
            return try store.save(archive, forKey: key, attributes: attributes, if: condition)
        }
        return try archives.save(
            archive,
            forKey: key,
            attributes: attributes,
            cost: new.entry.cost,
            if: condition
        )
    }

    // MARK: Other processes

    /// Forgets the entries that other processes have changed; does nothing where the cache was not asked to follow
    /// them.
    ///
    /// One thread at a time: the store reports a change once, so a thread that is told of no change must find the
    /// entries forgotten that another thread was told of.
    func followOthers() throws(CacheError) {
        guard followsOthers else { return }
        var dropped = MemoryTier.Dropped()
        do throws(StoreError) {
            try followed.withLock { followed throws(StoreError) in
                switch try store.changesByOthers() {
                case .keys(let digests):
                    for key in followed.take(digests) {
                        if let entry = memory.withLock({ $0.forget(key, bar: .asItWas) }) {
                            dropped.others.append(entry)
                        }
                    }
                case .everything:
                    followed.removeAll()
                    dropped = memory.withLock { $0.loseAll() }
                }
            }
        } catch {
            throw failure(error)
        }
        release(dropped)
    }

    /// Remembers that memory may soon have an entry for a key that other processes may change.
    ///
    /// Called after an operation on the key has begun, and before it looks at the disk: so a thread that is told of a
    /// change that the operation has not seen keeps the operation from leaving an entry in memory.
    func follow(_ key: EntryKey) {
        guard followsOthers else { return }
        let digest = store.digest(of: key.text)
        followed.withLock { followed in
            followed.insert(digest, key) { memory.isKnown($0) }
        }
    }
}

extension CacheCore: StoreUser {
    func isInUse(_ key: String) -> Bool {
        guard let key = try? EntryKey(key), let entry = memory.table.entry(forKey: key) else { return false }
        return entry.uses > 0
    }

    func takeUses(of key: String) -> UInt8 {
        guard let key = try? EntryKey(key), let entry = memory.table.entry(forKey: key) else { return 0 }
        defer { entry.uses = 0 }
        return entry.uses
    }

    func didEvict(_ entry: EntryInformation) {
        let key = try? EntryKey(entry.key)
        if let key { depart(key) }
        record(storeEviction, key)
    }

    /// The event of an entry that the store gives up.
    var storeEviction: Occurrence { archives == nil ? .diskEvicted : .memoryEvicted }

    func didExpire(_ entry: EntryInformation) {
        let key = try? EntryKey(entry.key)
        if let key { depart(key) }
        record(.expired, key)
    }

    /// Has memory forget a key, here and in the other caches, after its entry was given up or has expired.
    func depart(_ key: EntryKey) {
        let dropped = memory.withLock { $0.depart(key) }
        _ = consume dropped
        memory.tellOthers(departed: key)
    }

    func didFail(toSave key: String, _ error: StoreError, leavesStale: Bool) {
        let key = try? EntryKey(key)
        if let key { forget(key, bar: leavesStale ? .set : .asItWas) }
        report(.failed, key, error)
    }

    func didLoseEntries() {
        release(memory.withLock { $0.loseAll() })
        memory.tellOthersAllLost()
    }

    /// Has memory forget a key, here and in the other caches, after its entry on disk is gone.
    ///
    /// - Parameter bar: whether the key is barred from now on.
    func forget(_ key: EntryKey, bar: MemoryTier.Bar = .asItWas) {
        let dropped = memory.withLock { $0.forget(key, bar: bar) }
        _ = consume dropped
        memory.tellOthers(changed: key, bar: bar)
    }
}

/// The keys in memory, or on their way there, by the digests that stand for them in a store's list of changes.
private struct FollowedKeys {
    // Several keys may share a digest, if that is half of a hash.
    private var keys: [KeyDigest: Set<EntryKey>] = [:]
    private var most = 1_024

    mutating func insert(_ digest: KeyDigest, _ key: EntryKey, isNeeded: (EntryKey) -> Bool) {
        if keys.count >= most {
            keys = keys.mapValues { $0.filter(isNeeded) }.filter { !$0.value.isEmpty }
            most = max(1_024, 2 * keys.count)
        }
        keys[digest, default: []].insert(key)
    }

    mutating func take(_ digests: [KeyDigest]) -> [EntryKey] {
        digests.flatMap { keys.removeValue(forKey: $0) ?? [] }
    }

    mutating func removeAll() { keys = [:] }
}
