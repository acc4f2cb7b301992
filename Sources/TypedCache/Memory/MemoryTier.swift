import ArchiveStore
import Eviction
import Foundation

/// The entries in memory, and the operations that are under way between memory and disk.
///
/// Disk I/O happens outside the lock that guards this, so several operations on one key can be under way at once, and
/// the order in which the disk saw them is not known. The rule that keeps memory and disk in agreement: an entry that
/// was read or written is kept in memory only if no other write of its key was under way in the meantime. Otherwise the key
/// is left out of memory, and the next fetch reads the disk. The same holds where two operations that were under way at
/// once found different entries, which another process or machine has changed: nothing tells which one is the later,
/// and a caller may have the later one already.
///
/// Entries are found in a table that has locks of its own, so that a hit does not wait for work under this value's
/// lock. The table has the same entries as the policy, and changes under that lock only.
///
/// Knows no types: code that is generic over the cache's values would look up their metadata at every hit, which
/// took 200 ns of 360.
struct MemoryTier {
    typealias Start = OperationTraffic.Start

    private let table: EntryTable
    private var policy: ShortestReuse
    /// Entries that may be out of date: no hit finds them, until they are compared with the store's.
    private var doubtful: [EntryKey: Doubt] = [:]
    private var traffic = OperationTraffic()
    /// Entries that memory alone has, because the disk refused them.
    private var unsaved: [EntryKey: EntryInformation] = [:]
    var statistics = CacheStatistics()

    init(settings: MemorySettings, table: EntryTable) {
        self.table = table
        let countLimit = settings.countLimit.map { max(0, $0) }
        policy = ShortestReuse(count: countLimit ?? .max, cost: settings.byteLimit?.bytes ?? .max)
    }

    var count: Int { policy.count }
    var cost: Int { policy.cost }

    mutating func remove(forKey key: EntryKey) -> MemoryEntry? {
        guard let entry = take(key) else { return nil }
        policy.remove(entry)
        if !unsaved.isEmpty { unsaved[key] = nil }
        return entry
    }

    /// Takes out an entry that was seen to be of no use. Another one of its key has come since then, and stays.
    mutating func removeUseless(_ entry: MemoryEntry) -> MemoryEntry? {
        table.entry(forKey: entry.key) === entry ? remove(forKey: entry.key) : nil
    }

    /// Takes out the entry of a key that is changed, unless memory alone has it and the change does not reach it.
    private mutating func remove(forKey key: EntryKey, reach: Reach) -> MemoryEntry? {
        if !unsaved.isEmpty, let entry = unsaved[key], !reach.includes(unsaved: entry) { return nil }
        return remove(forKey: key)
    }

    /// Whether memory alone has the entry for a key.
    func isUnsaved(_ key: EntryKey) -> Bool { !unsaved.isEmpty && unsaved[key] != nil }

    /// The information of the entries that memory alone has, with the deadlines that reading has moved.
    var unsavedEntries: [(key: EntryKey, information: EntryInformation)] {
        unsaved.keys.compactMap { key in unsavedInformation(key).map { (key, $0) } }
    }

    /// The information of the entry that memory alone has for a key; `nil` if there is none.
    func unsavedInformation(_ key: EntryKey) -> EntryInformation? {
        guard !unsaved.isEmpty, let information = unsaved[key] else { return nil }
        guard let deadline = table.entry(forKey: key)?.timing?.deadline else { return information }
        return information.expiring(at: Date(timeIntervalSinceReferenceDate: deadline))
    }

    /// Whether memory alone has this entry, with any deadline.
    func isUnsaved(_ entry: EntryInformation, _ key: EntryKey) -> Bool {
        !unsaved.isEmpty && unsaved[key]?.isSave(of: entry) == true
    }

    /// Gives an entry that memory alone has another deadline, if it is still the same one.
    ///
    /// - Returns: whether it was; and the entries that left memory.
    mutating func extend(unsaved former: EntryInformation, _ key: EntryKey, to deadline: Date?) -> (Bool, Dropped) {
        guard isUnsaved(former, key), let entry = table.entry(forKey: key) else { return (false, Dropped()) }
        let information = former.expiring(at: deadline)
        let extended = entry.copy(information.attributes)
        var dropped = Dropped()
        keep(extended, &dropped)
        markUnsaved(extended, as: information)
        return (true, dropped)
    }

    /// Evicts the least useful entries.
    mutating func trim(toCount count: Int, cost: Int) -> Dropped {
        var victims: [EvictionEntry] = []
        policy.trim(toCount: count, cost: cost, removed: &victims)
        let dropped = Dropped(evicted: own(victims))
        for entry in dropped.evicted { leave(entry.key) }
        statistics.count(.memoryEvicted, times: dropped.evicted.count)
        return dropped
    }

    /// Takes an entry that the policy has evicted out of the table.
    private mutating func leave(_ key: EntryKey) {
        _ = take(key)
        if !unsaved.isEmpty { unsaved[key] = nil }
    }

    /// The entries that the policy gives back, all of which it was given here.
    private func own(_ entries: [EvictionEntry]) -> [MemoryEntry] { entries.compactMap { $0 as? MemoryEntry } }

    // MARK: Operations on disk

    mutating func beginRead(_ key: EntryKey) -> Start { traffic.begin(key, .read) }

    /// Begins to load a value. An earlier load of the key saves nothing any longer: its value is the older one.
    mutating func beginLoad(_ key: EntryKey) -> Start { traffic.begin(key, .load) }

    /// Begins to save or remove an entry. Takes the former entry out of memory and gives it back: it must not be used
    /// any longer.
    ///
    /// - Parameter reach: the entries that are changed.
    mutating func beginWrite(_ key: EntryKey, reach: Reach = .all) -> BegunWrite {
        beginWrite(key, .write, reach: reach)
    }

    private mutating func beginWrite(
        _ key: EntryKey,
        _ operation: OperationTraffic.Operation,
        reach: Reach
    ) -> BegunWrite {
        let wasUnsaved = isUnsaved(key)
        let former = remove(forKey: key, reach: reach)
        return BegunWrite(start: traffic.begin(key, operation), former: former, wasUnsaved: wasUnsaved)
    }

    /// Begins to save a value that was loaded since an operation began.
    ///
    /// - Parameter tags: the entry's tags.
    /// - Returns: `nil` if the key was written in the meantime, or everything removed, or all entries with one of the tags: then
    ///   that change stands; or if a later load of the key has begun.
    mutating func beginWrite(_ key: EntryKey, after load: Start, tags: [String]) -> BegunWrite? {
        guard isCurrent(key, load), !isRemoved(tags, since: load) else { return nil }
        return beginWrite(key, .save(ofLoad: load), reach: .all)
    }

    /// Whether a removal by one of an entry's tags began since; `nil` stands for any tags.
    func isRemoved(_ tags: [String]?, since start: Start) -> Bool { traffic.isRemoved(tags, since: start) }

    /// All entries with a tag are about to be removed: loads that are under way save none any longer.
    mutating func noteRemoval(tagged tag: String) { traffic.noteRemoval(tagged: tag) }

    /// Whether no write of the key began since, or was under way then, and not everything was removed; for a load and its
    /// save, whether no later load of the key began either.
    func isCurrent(_ key: EntryKey, _ start: Start) -> Bool { traffic.isCurrent(key, start) }

    /// Whether nothing was heard since of a change of the key's entry by another cache or process, and not everything was
    /// removed.
    func isUnchangedElsewhere(_ key: EntryKey, _ start: Start) -> Bool { traffic.isUnchangedElsewhere(key, start) }

    /// Whether an operation on the key is under way that may leave an entry in memory.
    func isUnderWay(_ key: EntryKey) -> Bool { traffic.isUnderWay(key) }

    /// Whether not everything was removed since.
    func isOfThisEpoch(_ start: Start) -> Bool { traffic.isOfThisEpoch(start) }

    /// Ends a read, and keeps its entry if that is certain to be on disk still. An entry that memory alone has is later than
    /// the one on disk, and stays: it may have come after the caller found none in memory, and before the read began.
    ///
    /// - Parameter isMissing: whether the store has no entry that may be used.
    mutating func endRead(
        _ key: EntryKey,
        _ start: Start,
        keeping entry: MemoryEntry? = nil,
        isMissing: Bool = false
    ) -> Dropped {
        var dropped = Dropped()
        endRead(key, start, keeping: entry, isMissing: isMissing, into: &dropped)
        return dropped
    }

    /// As above, of one of several reads.
    mutating func endRead(
        _ key: EntryKey,
        _ start: Start,
        keeping entry: MemoryEntry?,
        isMissing: Bool = false,
        into dropped: inout Dropped
    ) {
        end(key, start, isWrite: false, keeping: entry, isMissing: isMissing, leavesUnsaved: true, into: &dropped)
    }

    /// Ends the reading that is a load, and keeps its entry in place of any other if the key was not written in the meantime.
    ///
    /// - Parameter unsaved: as for ``endWrite(_:since:_:keeping:unsaved:)``.
    mutating func endLoad(
        _ key: EntryKey,
        _ start: Start,
        keeping entry: MemoryEntry?,
        unsaved: EntryInformation? = nil
    ) -> Dropped {
        var dropped = Dropped()
        end(key, start, isWrite: false, keeping: entry, unsaved: unsaved, into: &dropped)
        return dropped
    }

    /// Remembers that the disk has refused an entry, if memory has kept it.
    private mutating func markUnsaved(_ entry: MemoryEntry, as information: EntryInformation) {
        if table.entry(forKey: entry.key) === entry { unsaved[entry.key] = information }
    }

    /// Ends a write.
    ///
    /// - Parameter unsaved: the entry's information, if the disk has refused the entry.
    mutating func endWrite(
        _ key: EntryKey,
        since start: Start,
        keeping entry: MemoryEntry? = nil,
        unsaved: EntryInformation? = nil
    ) -> Dropped {
        var dropped = Dropped()
        end(key, start, isWrite: true, keeping: entry, unsaved: unsaved, into: &dropped)
        return dropped
    }

    private mutating func end(
        _ key: EntryKey,
        _ start: Start,
        isWrite: Bool,
        keeping entry: MemoryEntry?,
        unsaved: EntryInformation? = nil,
        isMissing: Bool = false,
        leavesUnsaved: Bool = false,
        into dropped: inout Dropped
    ) {
        if let former = find(entry, isMissing: isMissing, of: key) { dropped.others.append(former) }
        let outcome = traffic.end(key, start, isWrite: isWrite)
        guard let entry else { return }
        if let unsaved, outcome.isCurrentWithoutDisk {
            keep(entry, &dropped)
            markUnsaved(entry, as: unsaved)
            return
        }
        let isKept = outcome.isCurrent && unsaved == nil && !(leavesUnsaved && isUnsaved(key))
        guard isKept, !outcome.isDoubtful || entry.version != 0 else {
            dropped.others.append(entry)
            return
        }
        keep(entry, as: outcome.isDoubtful ? Doubt(entry: entry, servedUntil: nil) : nil, &dropped)
    }

    /// Forgets a key where an operation that ends has found no entry, or another one than an operation that ended while
    /// this one was under way.
    private mutating func find(_ entry: MemoryEntry?, isMissing: Bool, of key: EntryKey) -> MemoryEntry? {
        let version = isMissing ? 0 : entry?.version ?? 0
        guard isMissing || version != 0 else { return nil }
        let isAgreed = traffic.find(version, key)
        return isMissing || !isAgreed ? drop(key) : nil
    }

    /// - Parameter doubt: `nil` for an entry that hits may find.
    private mutating func keep(_ entry: MemoryEntry, as doubt: Doubt? = nil, _ dropped: inout Dropped) {
        if let former = remove(forKey: entry.key) { dropped.others.append(former) }
        var victims: [EvictionEntry] = []
        policy.insert(entry, cost: entry.cost, removed: &victims)
        if victims.last === entry {
            dropped.others.append(entry)
            return
        }
        for victim in victims {
            guard let victim = victim as? MemoryEntry else { continue }
            leave(victim.key)
            dropped.evicted.append(victim)
        }
        if let doubt { doubtful[entry.key] = doubt } else { table.insert(entry) }
        if !victims.isEmpty { statistics.count(.memoryEvicted, times: victims.count) }
    }

    /// Forgets a key after another cache has changed its entry, and keeps reads that are under way from bringing the
    /// former entry back.
    ///
    /// - Parameter reach: the entries that were changed.
    mutating func invalidate(_ key: EntryKey, reach: Reach = .all) -> MemoryEntry? {
        traffic.noteChange(key)
        return remove(forKey: key, reach: reach)
    }

    /// Forgets a key after its entry was evicted or has expired. A load of the key stays valid. An entry that memory
    /// alone has is another one, and stays.
    mutating func drop(_ key: EntryKey) -> MemoryEntry? {
        traffic.noteDrop(key)
        return isUnsaved(key) ? nil : remove(forKey: key)
    }

    // MARK: Doubts

    private mutating func take(_ key: EntryKey) -> MemoryEntry? {
        if let entry = table.remove(forKey: key) { return entry }
        return doubtful.isEmpty ? nil : doubtful.removeValue(forKey: key)?.entry
    }

    /// Whether any entry is doubtful.
    var hasDoubts: Bool { !doubtful.isEmpty }

    /// The entry of a key if it is doubtful.
    func doubt(_ key: EntryKey) -> Doubt? { doubtful.isEmpty ? nil : doubtful[key] }

    /// Whether memory has an entry of a key, doubtful or not, or is about to.
    func isKnown(_ key: EntryKey) -> Bool { isUnderWay(key) || doubt(key) != nil || table.contains(key) }

    /// Has the entry of a key be compared before it is used again; one that the store does not have goes.
    mutating func makeDoubtful(_ key: EntryKey) -> MemoryEntry? {
        traffic.noteDoubt(key)
        guard let entry = table.remove(forKey: key) else { return nil }
        return hide(entry)
    }

    /// Marks all entries for comparison before their next use; entries that the store does not have leave.
    ///
    /// - Returns: how many were not doubtful before, and the entries that left memory.
    mutating func makeAllDoubtful() -> (count: Int, Dropped) {
        traffic.noteDoubtOfAll()
        if policy.count == doubtful.count { return (0, Dropped()) }
        let entries = table.removeAll()
        return (entries.count, Dropped(others: entries.compactMap { hide($0) }))
    }

    /// - Returns: the entry if it goes.
    private mutating func hide(_ entry: MemoryEntry) -> MemoryEntry? {
        guard entry.version != 0, !isUnsaved(entry.key) else {
            policy.remove(entry)
            if !unsaved.isEmpty { unsaved[entry.key] = nil }
            return entry
        }
        doubtful[entry.key] = Doubt(entry: entry, servedUntil: nil)
        return nil
    }

    /// Ends the comparison of a doubtful entry with the store's, which began as a read.
    ///
    /// - Parameter isSame: whether the store has this very entry.
    mutating func endCompare(_ doubt: Doubt, _ start: Start, isSame: Bool) -> Dropped {
        if isSame { return endRead(doubt.entry.key, start, keeping: doubt.entry) }
        var dropped = endRead(doubt.entry.key, start)
        if let former = forget(doubt) { dropped.others.append(former) }
        return dropped
    }

    /// Takes the version that a server has of an entry whose deadline has moved there.
    mutating func setVersion(_ version: UInt64, of key: EntryKey, _ timing: EntryTiming) {
        guard let entry = table.entry(forKey: key) ?? doubtful[key]?.entry, entry.timing === timing else { return }
        entry.version = version
    }

    /// Forgets an entry that is not the store's any longer.
    private mutating func forget(_ doubt: Doubt) -> MemoryEntry? {
        doubtful[doubt.entry.key]?.entry === doubt.entry ? remove(forKey: doubt.entry.key) : nil
    }

    /// Ends the reading of a value that was loaded, but could not be saved because the store does not answer: until
    /// then it is served, as long as the store does not answer.
    ///
    /// - Parameter tags: the entry's tags.
    mutating func endRead(
        _ key: EntryKey,
        _ start: Start,
        keeping entry: MemoryEntry,
        tags: [String],
        servedUntil: ContinuousClock.Instant
    ) -> Dropped {
        let isWanted = isCurrent(key, start) && !traffic.isRemovingAll && !isRemoved(tags, since: start)
        var dropped = Dropped()
        end(key, start, isWrite: false, keeping: nil, into: &dropped)
        if isWanted {
            keep(entry, as: Doubt(entry: entry, servedUntil: servedUntil), &dropped)
        } else {
            dropped.others.append(entry)
        }
        return dropped
    }

    /// Forgets everything, for any of it may be out of date; nothing was removed by a call.
    mutating func invalidateAll() -> Dropped {
        traffic.noteInvalidationOfAll()
        return dropAll()
    }

    /// Forgets everything, and keeps nothing until ``endRemoval()``, nor the entries of operations that are under way
    /// then.
    mutating func beginRemoval() -> Dropped {
        traffic.beginRemoval()
        return dropAll()
    }

    mutating func endRemoval() -> Dropped {
        traffic.endRemoval()
        return dropAll()
    }

    /// Takes over the removals under way of the other caches of the directory.
    mutating func inherit(removalCount: Int) { traffic.inherit(removals: removalCount) }

    private mutating func dropAll() -> Dropped {
        let removed = own(policy.removeAll())
        for entry in removed { leave(entry.key) }
        return Dropped(others: removed)
    }
}
