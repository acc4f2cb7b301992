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
    /// The store of a cache in memory alone: it chooses the entries that are evicted, and memory has all of its
    /// entries.
    let archives: MemoryStore?
    /// The store, if it is on a server.
    let remote: (any RemoteStore)?
    let memory: SharedMemory
    let clock: any CacheClock
    let listeners: Listeners
    let recorder: Recorder
    let queues: DiskQueues
    let usage = StoreUsage()
    /// `nil` for a cache in memory alone.
    let directory: String?
    /// The path of the directory with no link in it; `nil` for a cache in memory alone.
    let place: String?
    let loadLocks = LoadLocks()
    /// Whether it was reported that loads cannot be joined among processes.
    let hasReportedLocks = Atomic<Bool>(false)
    /// `nil` where the cache does not follow other processes.
    let foreignChanges: ForeignChanges?
    private let timers = RankedMutex<[SharedTimer.Registration]>([], rank: CacheLocks.upkeep)
    /// `nil` where the cache does not publish its statistics.
    let publisher: StatisticsPublisher?
    /// The metrics that the cache's statistics are part of.
    let metrics = RankedMutex<[CacheMetrics.Membership]>([], rank: CacheLocks.upkeep)
    /// The limits of the tiers; nothing else in these is set.
    let memoryLimits: TierFigures
    let diskLimits: TierFigures
    #if canImport(Darwin)
        private let pressure = RankedMutex<MemoryPressure?>(nil, rank: CacheLocks.upkeep)
    #endif

    /// - Parameters:
    ///   - directory: `nil` for a cache in memory alone, and for one whose store is on a server.
    ///   - memoryPlace: stands for the directory where there is none: the caches of one place agree.
    init(
        name: String,
        directory: URL?,
        store: any ArchiveStore,
        memory: MemorySettings,
        disk: DiskSettings,
        sweeps: Bool,
        clock: any CacheClock,
        observer: (any CacheObserver)?,
        memoryPlace: String? = nil
    ) {
        self.name = name
        self.store = store
        self.directory = directory?.path(percentEncoded: false)
        archives = store.asMemory
        remote = store.asRemote
        // The same place for all paths to the directory, which exists by now, if at all.
        place = directory.map(CacheDirectory.place)
        queues = DiskQueues(label: name, usage: usage)
        self.memory = SharedMemory(settings: memory, place: place ?? memoryPlace, store: store, queues: queues)
        self.clock = clock
        memoryLimits = TierFigures(memory)
        diskLimits = TierFigures(disk)
        publisher = Self.publisher(disk, place)
        let gate = HitGate()
        let metrics = CacheMetrics.of(observer)
        listeners = Listeners(
            cacheName: name,
            storeTier: archives != nil ? .memory : remote != nil ? .shared : .disk,
            // Finds the cache's histograms once, and not for each operation.
            observer: metrics?.operations(of: name) ?? observer,
            gate: gate
        )
        recorder = Recorder(
            memory: self.memory,
            listeners: listeners,
            gate: gate,
            sampler: UseSampler(memory, of: self.memory, directory: place, clock: clock, gate: gate)
        )
        foreignChanges = disk.followsOtherProcesses ? ForeignChanges(of: store, in: self.memory) : nil
        store.setUser(self)
        metrics?.add(self)
        // Otherwise a program that opens the directory, saves and drops the cache again and again could defer any
        // number of writes.
        self.memory.drainSiblings(nil)
        // A forked process has no thread for it.
        if sweeps, StoreUsage.hasQueues {
            let sweeper = SharedTimer.everyMinute.register { [weak self] in self?.sweep() }
            timers.withLock { $0.append(sweeper) }
        }
        if publisher != nil, StoreUsage.hasQueues {
            let timer = SharedTimer.everySecond.register { [weak self] in self?.publishStatistics() }
            timers.withLock { $0.append(timer) }
        }
        #if canImport(Darwin)
            let listener = MemoryPressure { [weak self] isCritical in self?.relieve(isCritical: isCritical) }
            pressure.withLock { $0 = listener }
        #endif
    }

    var loads: InFlightLoads { memory.loads }

    private static func publisher(_ disk: DiskSettings, _ place: String?) -> StatisticsPublisher? {
        guard disk.publishesStatistics, let place else { return nil }
        // A path that names no directory, where the store was opened already.
        guard
            case .success(let publisher) = Result(catching: { () throws(StoreError) in
                // A program's name says more than an encrypted cache should.
                let program = disk.encryption == .none ? CacheDirectory.programName : ""
                return try StatisticsPublisher(directory: place, program: program)
            })
        else { return nil }
        return publisher
    }

    // MARK: The end

    /// - Throws: `.closed` and `.forked`.
    func checkUsable() throws(CacheError) { try queues.checkUsable() }

    /// Does the deferred writes, and gives back all files and locks. Blocks on disk I/O.
    func close() throws(CacheError) {
        try wrapping { () throws(StoreError) in
            guard try usage.close() else { return }
            // At the end, after the events of closing.
            defer { listeners.close() }
            timers.withLock { $0 = [] }
            publisher?.close()
            // Idle deadlines that are being moved.
            queues.drainKeys()
            recorder.sampler?.save()
            loadLocks.closeAll()
            #if canImport(Darwin)
                pressure.withLock { $0 = nil }
            #endif
            defer { release(memory.withLock { $0.invalidateAll() }) }
            try store.close()
        }
    }

    // MARK: Telling

    /// Records an error of the store that no call can throw.
    func report(_ error: StoreError, as occurrence: Occurrence, of key: EntryKey?) {
        recorder.record(occurrence, key, cause: failure(error, key))
    }

    /// The error of a store, as this cache throws and reports it.
    func failure(_ error: StoreError, _ key: EntryKey? = nil) -> CacheError {
        CacheError(error).named(cache: name, key: key?.text)
    }

    /// Has `body` use the store, and throws its error as this cache's.
    func wrapping<Result>(
        _ key: EntryKey? = nil,
        _ body: () throws(StoreError) -> Result
    ) throws(CacheError) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw failure(error, key)
        }
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

    /// Tells of entries that memory evicted, and releases all of them.
    func release(_ dropped: consuming MemoryTier.Dropped) {
        for entry in dropped.evicted { listeners.tell(.memoryEvicted, entry.key) }
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

    /// Has memory forget the entries that other processes have changed, if the cache follows them.
    func followOthers() throws(CacheError) {
        if foreignChanges?.isUpToDate ?? true { return }
        try followChanges()
    }

    /// Apart from its caller, which each hit calls and which needs no stack.
    @inline(never)
    private func followChanges() throws(CacheError) {
        guard let foreignChanges else { return }
        defer { release(foreignChanges.takeLost()) }
        let lost = try wrapping { () throws(StoreError) in try foreignChanges.follow() }
        for key in lost.keys { recorder.record(.invalidated, key) }
        if lost.doubtfulCount > 0 { recorder.record(.invalidated, nil) }
        release(lost.dropped)
    }
}

extension CacheCore: StoreUser {
    func isInUse(_ key: String) -> Bool {
        guard let key = try? EntryKey(key), let entry = memory.table.entry(forKey: key) else { return false }
        return entry.uses > 0
    }

    func takeUses(of key: String) -> UInt8 {
        guard let key = try? EntryKey(key) else { return 0 }
        return memory.table.takeUses(key)
    }

    func didEvict(_ entry: EntryInformation) { didDrop(entry, as: storeEviction) }

    /// The event of an entry that the store evicts.
    var storeEviction: Occurrence { archives == nil ? .diskEvicted : .memoryEvicted }

    func didExpire(_ entry: EntryInformation) { didDrop(entry, as: .expired) }

    private func didDrop(_ entry: EntryInformation, as occurrence: Occurrence) {
        let key = try? EntryKey(entry.key)
        if let key { drop(key) }
        recorder.record(occurrence, key)
    }

    /// Has memory forget a key, here and in the other caches, after its entry was evicted or has expired.
    func drop(_ key: EntryKey) {
        let dropped = memory.withLock { $0.drop(key) }
        _ = consume dropped
        memory.notifySiblings(dropped: key)
    }

    func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) {
        let key = try? EntryKey(key)
        if let key { invalidate(key, tombstone: save.map { .added($0) } ?? .keep) }
        report(error, as: .failed, of: key)
    }

    func didLoseEntries() {
        var (lost, others) = memory.invalidateAll()
        for other in others { lost.others += other.evicted + other.others }
        // The store may tell this while it is asked for changes: then no value may be released before that is over.
        if foreignChanges?.keep(lost) != true { release(lost) }
    }

    /// Has memory forget a key, here and in the other caches, after its entry on disk has changed or is gone.
    ///
    /// - Parameter reach: the entries that were changed.
    func invalidate(
        _ key: EntryKey,
        tombstone: Tombstones.Change = .keep,
        reach: MemoryTier.Reach = .all
    ) {
        // First: no read that begins once memory has forgotten the key may bring the entry back.
        memory.tombstones.change(key, tombstone)
        let dropped = memory.withLock { $0.invalidate(key, reach: reach) }
        _ = consume dropped
        memory.notifySiblings(changed: key, reach: reach)
    }
}
