import ArchiveStore
import Foundation
import Synchronization

/// The memory tier of one cache, known to the other caches of this process that have the same directory.
///
/// When one of them saves or removes an entry, the others forget theirs before the call returns: so one program may
/// open a cache in several places, and none of them sees an entry that another one has replaced. A cache that the
/// program has dropped is among them until its store has done its deferred writes.
final class SharedMemory: Sendable {
    /// The table in which hits find entries.
    let table = EntryTable()
    /// Guards changes of the table, too.
    private let tier: RankedMutex<MemoryTier>
    /// The process and the directory, by which the caches of one directory find each other. A cache in memory alone
    /// has a name of its own here: it shares its entries with no other.
    let directory: String
    /// The store that the entries come from.
    private let store: any ArchiveStore
    /// The store, if it is on a server.
    private let remote: (any RemoteStore)?
    /// The keys that are being loaded.
    let loads = InFlightLoads()
    private let queues: DiskQueues
    /// The keys whose entries on disk must not be used, for all caches of the directory.
    let tombstones: Tombstones
    /// How many caches the directory has in this process.
    private let memberCount: MemberCount
    private let generation = StoreUsage.processGeneration
    let moves = DeadlineMoves()

    init(settings: MemorySettings, place: String?, store: any ArchiveStore, queues: DiskQueues) {
        self.store = store
        remote = store.asRemote
        self.queues = queues
        tier = RankedMutex(MemoryTier(settings: settings, table: table), rank: CacheLocks.tier)
        // A forked process has no siblings from before: their locks may be taken, and their threads are gone.
        // A cache in memory alone has none at all.
        self.directory = "\(generation) \(place ?? UUID().uuidString)"
        let directory = self.directory
        // From here on the directory keeps its place, though the other caches do not know this one yet.
        let identity = ObjectIdentifier(loads)
        (tombstones, memberCount) = Self.places.withLock { places in
            places[directory, default: Place()].members.append(Member(identity: identity))
            let place = places[directory, default: Place()]
            place.count.set(place.members.count)
            return (place.tombstones, place.count)
        }
        let removalCount = Self.places.withLock { places in
            guard let index = places[directory]?.members.firstIndex(where: { $0.identity == identity }) else {
                return 0
            }
            places[directory]?.members[index].memory = self
            return places[directory]?.removalCount ?? 0
        }
        withLock { $0.inherit(removalCount: removalCount) }
    }

    deinit {
        // A copy in a forked process: its locks may be held by threads that do not exist here.
        guard generation == StoreUsage.processGeneration else { return }
        table.deallocate()
        Self.places.withLock { places in
            // The weak references are not loaded: the reference that loading makes may be the last one to another
            // member, and the `deinit` of that member would come here again.
            places[directory]?.members.removeAll { $0.identity == ObjectIdentifier(loads) }
            guard let place = places[directory] else { return }
            place.count.set(place.members.count)
            guard place.members.isEmpty else { return }
            // The tombstones, and the removals under way, are left to the next cache of the directory.
            if tombstones.isEmpty, place.removalCount == 0 { places[directory] = nil }
        }
    }

    var statistics: CacheStatistics {
        var statistics = withLock { $0.statistics }
        statistics.memoryHits = table.hits
        return statistics
    }

    /// Whether memory has an entry for a key, or may be about to.
    func isKnown(_ key: EntryKey) -> Bool { table.contains(key) || withLock { $0.isKnown(key) } }

    func withLock<Result>(_ body: (inout sending MemoryTier) -> sending Result) -> sending Result {
        tier.withLock(body)
    }

    // MARK: Siblings

    private struct Place: Sendable {
        var members: [Member] = []
        let count = MemberCount()
        let tombstones = Tombstones()
        /// How many removals of everything are under way.
        var removalCount = 0
    }

    private struct Member: Sendable {
        /// That of its loads.
        let identity: ObjectIdentifier
        weak var memory: SharedMemory?
    }

    /// Set under the lock of all places, and read without it, for each fetch asks whether there are siblings.
    private final class MemberCount: Sendable {
        private let count = Atomic<Int>(0)

        /// Whether there is one only. Certain of a cache that this thread has heard of: by a call that has returned,
        /// or by memory's lock, under which that cache tells of its changes.
        var isOne: Bool { count.load(ordering: .acquiring) == 1 }

        func set(_ count: Int) { self.count.store(count, ordering: .releasing) }
    }

    private static let places = RankedMutex<[String: Place]>([:], rank: CacheLocks.siblings)

    /// The other caches of the directory. A caller that has a lock releases them after it: it may have the last
    /// reference to one that the program has dropped.
    var siblings: [SharedMemory] {
        if memberCount.isOne { return [] }
        return Self.places.withLock { places in
            guard let members = places[directory]?.members, members.count > 1 else { return [] }
            return members.compactMap(\.memory).filter { $0 !== self }
        }
    }

    /// Has the other caches forget a key, after its entry on disk has changed.
    func notifySiblings(changed key: EntryKey, reach: MemoryTier.Reach = .all) {
        notifySiblings(changed: CollectionOfOne(key), reach: reach)
    }

    /// Has the other caches forget some keys. The siblings are looked for once.
    func notifySiblings(changed keys: some Collection<EntryKey>, reach: MemoryTier.Reach = .all) {
        for other in siblings {
            for key in keys {
                other.loads.forget(key)
                // Before memory forgets the key: a fetch that reads it then must not find the former copy.
                other.remote?.noteChange(ofKey: key.text)
                let dropped = other.withLock { $0.invalidate(key, reach: reach) }
                _ = consume dropped
            }
        }
    }

    /// Has the other caches forget a key after its entry was evicted or has expired.
    func notifySiblings(dropped key: EntryKey) {
        for other in siblings {
            let dropped = other.withLock { $0.drop(key) }
            _ = consume dropped
        }
    }

    /// The information of the entries that memory alone has, in all caches of the directory.
    var unsavedEntries: [(key: EntryKey, information: EntryInformation)] {
        ([self] + siblings).flatMap { member in member.withLock { $0.unsavedEntries } }
    }

    /// The information of an entry that memory alone has, in any cache of the directory; `nil` if there is none.
    func unsavedInformation(_ key: EntryKey) -> EntryInformation? {
        for member in [self] + siblings {
            if let entry = member.withLock({ $0.unsavedInformation(key) }) { return entry }
        }
        return nil
    }

    /// Gives an entry that memory alone has another deadline, if it is still the same one, and says whether it was.
    func extend(unsaved entry: EntryInformation, _ key: EntryKey, to deadline: Date?) -> Bool {
        for member in [self] + siblings {
            let (isExtended, dropped) = member.withLock { $0.extend(unsaved: entry, key, to: deadline) }
            _ = consume dropped
            if isExtended { return true }
        }
        return false
    }

    /// Forgets an entry that memory alone has, if it is still the same one, and says whether it was.
    func takeUnsaved(_ key: EntryKey, ifStill entry: EntryInformation) -> Bool {
        for member in [self] + siblings {
            let (isTaken, dropped) = member.withLock { memory -> (Bool, MemoryEntry?) in
                guard memory.isUnsaved(entry, key) else { return (false, nil) }
                return (true, memory.invalidate(key))
            }
            _ = consume dropped
            if isTaken { return true }
        }
        return false
    }

    /// Has all caches of the directory forget everything, for any of it may be out of date.
    ///
    /// - Returns: the entries that left this cache's memory, and the entries that left the other caches' memories.
    func invalidateAll() -> (own: MemoryTier.Dropped, others: [MemoryTier.Dropped]) {
        (withLock { $0.invalidateAll() }, siblings.map { other in other.withLock { $0.invalidateAll() } })
    }

    /// Waits until the other caches have done their deferred writes for a key, or for all keys if it is `nil`.
    func drainSiblings(_ key: EntryKey?) {
        for other in siblings { other.store.settle(key?.text) }
    }

    /// Waits until the other caches have done their deferred writes for some keys. The siblings are looked for once.
    func drainSiblings(_ keys: some Collection<EntryKey>) {
        for other in siblings {
            for key in keys { other.store.settle(key.text) }
        }
    }

    // MARK: Removing by tag

    /// Tells all caches of the directory that all entries with a tag are about to be removed.
    func noteRemoval(tagged tag: String) {
        for member in [self] + siblings { member.withLock { $0.noteRemoval(tagged: tag) } }
    }

    // MARK: Removing everything

    /// Has all caches of the directory forget everything, and keep nothing in memory until ``endRemoval()``: an entry
    /// that is read in the meantime may be about to go.
    func beginRemoval() { tellAll(isRemoving: true) }

    func endRemoval() { tellAll(isRemoving: false) }

    private func tellAll(isRemoving: Bool) {
        let members = Self.places.withLock { places in
            places[directory]?.removalCount += isRemoving ? 1 : -1
            return places[directory]?.members.compactMap(\.memory) ?? []
        }
        for member in members {
            member.loads.forgetAll()
            let dropped = member.withLock { isRemoving ? $0.beginRemoval() : $0.endRemoval() }
            _ = consume dropped
        }
    }

    // MARK: Idle deadlines

    /// The timings of a key's entries in all caches of the directory: of entries in memory, and of entries whose deadlines
    /// are being moved.
    func timings(_ key: EntryKey) -> [EntryTiming] {
        ([self] + siblings).flatMap { member in
            [member.table.entry(forKey: key)?.timing, member.moves.timing(key)].compactMap { $0 }
        }
    }

    /// The timings of a key's entries with deadlines that caches of the directory are moving, of different saves
    /// maybe. To be asked for before the disk is read: once an entry has no such timing, the disk has its deadline.
    func movingTimings(_ key: EntryKey) -> [EntryTiming] {
        if !DeadlineMoves.areUnderWay { return [] }
        return ([self] + siblings).compactMap { $0.moves.timing(key) }
    }

    /// As ``movingTimings(_:)``, of all keys.
    var movingTimings: [EntryKey: [EntryTiming]] {
        if !DeadlineMoves.areUnderWay { return [:] }
        return ([self] + siblings).reduce(into: [:]) { timings, member in
            timings.merge(member.moves.timings.mapValues { [$0] }, uniquingKeysWith: +)
        }
    }

    /// Waits until the disk has all deadlines that the caches of the directory are moving.
    func drainMoves() {
        if !DeadlineMoves.areUnderWay { return }
        for member in [self] + siblings where !member.moves.isEmpty { member.queues.drainKeys() }
    }
}
