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
    private let tier: Mutex<MemoryTier>
    /// The process and the directory, by which the caches of one directory find each other. A cache in memory alone
    /// has a name of its own here: it shares its entries with no other.
    private let directory: String
    /// The store that the entries come from.
    private let store: any ArchiveStore
    /// The keys that are being loaded.
    let flights = Flights()
    private let queues: DiskQueues
    private let generation = StoreUsage.processGeneration
    private let moves = Mutex<[EntryKey: Move]>([:])

    init(settings: MemorySettings, directory: String?, store: any ArchiveStore, queues: DiskQueues) {
        self.store = store
        self.queues = queues
        tier = Mutex(MemoryTier(settings: settings, table: table))
        // A forked process has no neighbors from before: their locks may be taken, and their threads are gone.
        // A cache in memory alone has none at all.
        self.directory = "\(generation) \(directory ?? UUID().uuidString)"
        let directory = self.directory
        let (bars, removalCount) = Self.places.withLock { places in
            places[directory, default: Place()].members.append(Member(memory: self))
            let place = places[directory, default: Place()]
            places[directory]?.bars = []
            return (place.bars, place.removalCount)
        }
        let known = others.first?.withLock { $0.barred } ?? []
        withLock { $0.inherit(bars.union(known), removalCount: removalCount) }
    }

    deinit {
        // A copy in a forked process: its locks may be held by threads that do not exist here.
        guard generation == StoreUsage.processGeneration else { return }
        table.deallocate()
        let bars = tier.withLock { $0.barred }
        Self.places.withLock { places in
            // The weak references are not loaded: the reference that loading makes may be the last one to another
            // member, and the `deinit` of that member would come here again.
            places[directory]?.members.removeAll { $0.identity == ObjectIdentifier(self) }
            guard let place = places[directory], place.members.isEmpty else { return }
            // The bars, and the removals under way, are left to the next cache of the directory.
            let isNeeded = !bars.isEmpty || place.removalCount > 0
            places[directory] = isNeeded ? Place(bars: bars, removalCount: place.removalCount) : nil
        }
    }

    var statistics: CacheStatistics {
        var statistics = withLock { $0.statistics }
        statistics.memoryHits = table.hits
        return statistics
    }

    /// Whether memory has an entry for a key, or may be about to.
    func isKnown(_ key: EntryKey) -> Bool { table.contains(key) || withLock { $0.isUnderWay(key) } }

    func withLock<Result>(_ body: (inout sending MemoryTier) -> sending Result) -> sending Result {
        tier.withLock(body)
    }

    // MARK: Neighbors

    private struct Place: Sendable {
        var members: [Member] = []
        /// The barred keys that the last member has left.
        var bars: Set<EntryKey> = []
        /// How many removals of everything are under way.
        var removalCount = 0
    }

    private struct Member: Sendable {
        let identity: ObjectIdentifier
        weak let memory: SharedMemory?

        init(memory: SharedMemory) {
            identity = ObjectIdentifier(memory)
            self.memory = memory
        }
    }

    private static let places = Mutex<[String: Place]>([:])

    private var others: [SharedMemory] {
        Self.places.withLock { places in
            guard let members = places[directory]?.members, members.count > 1 else { return [] }
            return members.compactMap(\.memory).filter { $0 !== self }
        }
    }

    /// Has the other caches forget a key, after its entry on disk has changed.
    ///
    /// - Parameter bar: whether the key is barred for them, too.
    func tellOthers(changed key: EntryKey, bar: MemoryTier.Bar = .lifted) {
        for other in others {
            other.flights.forgetFailure(key)
            let dropped = other.withLock { $0.forget(key, bar: bar) }
            _ = consume dropped
        }
    }

    /// Has the other caches forget a key after its entry was given up or has expired.
    func tellOthers(departed key: EntryKey) {
        for other in others {
            let dropped = other.withLock { $0.depart(key) }
            _ = consume dropped
        }
    }

    /// Has the other caches forget the entries with a tag that their memory alone has.
    ///
    /// - Returns: the keys.
    func takeOthersUnsaved(tagged tag: String) -> [EntryKey] { others.flatMap { $0.takeUnsaved(tagged: tag) } }

    /// Forgets the entries with a tag that memory alone has, and keeps reads and loads of their keys that are under
    /// way from leaving an entry.
    ///
    /// - Returns: the keys.
    func takeUnsaved(tagged tag: String) -> [EntryKey] {
        let (keys, dropped) = withLock { memory -> ([EntryKey], [MemoryEntry]) in
            let keys = memory.unsavedKeys(tagged: tag)
            return (keys, keys.compactMap { memory.forget($0, bar: .asItWas) })
        }
        _ = consume dropped
        return keys
    }

    /// The information of the entries that memory alone has, in all caches of the directory.
    var unsavedEntries: [(key: EntryKey, information: EntryInformation)] {
        ([self] + others).flatMap { member in member.withLock { $0.unsavedEntries } }
    }

    /// The information of an entry that memory alone has, in any cache of the directory; `nil` if there is none.
    func unsavedInformation(_ key: EntryKey) -> EntryInformation? {
        for member in [self] + others {
            if let entry = member.withLock({ $0.unsavedInformation(key) }) { return entry }
        }
        return nil
    }

    /// Gives an entry that memory alone has another deadline, if it is still the same one, and says whether it was.
    func extend(unsaved entry: EntryInformation, _ key: EntryKey, to deadline: Date?) -> Bool {
        for member in [self] + others {
            let (isExtended, dropped) = member.withLock { $0.extend(unsaved: entry, key, to: deadline) }
            _ = consume dropped
            if isExtended { return true }
        }
        return false
    }

    /// Forgets an entry that memory alone has, if it is still the same one, and says whether it was.
    func takeUnsaved(_ key: EntryKey, ifStill entry: EntryInformation) -> Bool {
        for member in [self] + others {
            let (isTaken, dropped) = member.withLock { memory -> (Bool, MemoryEntry?) in
                guard memory.unsavedInformation(key) == entry else { return (false, nil) }
                return (true, memory.forget(key, bar: .asItWas))
            }
            _ = consume dropped
            if isTaken { return true }
        }
        return false
    }

    /// Has the other caches forget everything, for any of it may be out of date.
    func tellOthersAllLost() {
        for other in others {
            let dropped = other.withLock { $0.loseAll() }
            _ = consume dropped
        }
    }

    /// Waits until the other caches have done their deferred writes for a key, or for all keys if it is `nil`.
    func settleOthers(_ key: EntryKey?) {
        for other in others { other.store.settle(key?.text) }
    }

    // MARK: Removing everything

    /// Has all caches of the directory forget everything, and keep nothing in memory until ``endRemoval()``: an entry
    /// that is read meanwhile may be about to go.
    func beginRemoval() { tellAll(isRemoving: true) }

    func endRemoval() { tellAll(isRemoving: false) }

    private func tellAll(isRemoving: Bool) {
        let members = Self.places.withLock { places in
            places[directory]?.removalCount += isRemoving ? 1 : -1
            return places[directory]?.members.compactMap(\.memory) ?? []
        }
        for member in members {
            member.flights.forgetFailures()
            let dropped = member.withLock { isRemoving ? $0.beginRemoval() : $0.endRemoval() }
            _ = consume dropped
        }
    }

    // MARK: Idle deadlines

    private struct Move: Sendable {
        var timing: EntryTiming
        /// How many moves of it are under way.
        var count = 0
    }

    /// How many deadlines are being moved in this process.
    private static let moveCount = Atomic<Int>(0)

    /// Reading has moved the deadline of an entry, and the disk is about to follow.
    func beginMove(_ key: EntryKey, _ timing: EntryTiming) {
        moves.withLock { moves in
            moves[key, default: Move(timing: timing)].timing = timing
            moves[key]?.count += 1
        }
        Self.moveCount.add(1, ordering: .sequentiallyConsistent)
    }

    func endMove(_ key: EntryKey) {
        moves.withLock { moves in
            moves[key]?.count -= 1
            if moves[key]?.count == 0 { moves[key] = nil }
        }
        Self.moveCount.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// The timings of a key's entries with deadlines that caches of the directory are moving, of different saves
    /// maybe. To be asked for before the disk is read: once an entry has no such timing, the disk has its deadline.
    func movingTimings(_ key: EntryKey) -> [EntryTiming] {
        if Self.moveCount.load(ordering: .sequentiallyConsistent) == 0 { return [] }
        return ([self] + others).compactMap { member in member.moves.withLock { $0[key]?.timing } }
    }

    /// As ``movingTimings(_:)``, of all keys.
    var movingTimings: [EntryKey: [EntryTiming]] {
        if Self.moveCount.load(ordering: .sequentiallyConsistent) == 0 { return [:] }
        return ([self] + others).reduce(into: [:]) { timings, member in
            timings.merge(member.moves.withLock { $0.mapValues { [$0.timing] } }, uniquingKeysWith: +)
        }
    }

    /// Waits until the disk has all deadlines that the caches of the directory are moving.
    func settleMoves() {
        if Self.moveCount.load(ordering: .sequentiallyConsistent) == 0 { return }
        for member in [self] + others where !member.moves.withLock({ $0.isEmpty }) { member.queues.drainKeys() }
    }
}
