import ArchiveStore

/// The locks of a cache, in the order in which a thread takes them; a debug build checks it, see ``LockOrder``.
///
/// | lock | where | guards | under it |
/// |---|---|---|---|
/// | loads | `InFlightLoads` | the loads of keys, their waiters, remembered failures | `tier`, `waits` |
/// | waits | `LoadGraph` | which load waits for which | nothing |
/// | keyLocks | `LoadLocks` | the locks of keys among processes | opening their file |
/// | foreignChanges | `ForeignChanges` | the keys that other processes may change | the store's locks, `tier`, `table` |
/// | the store's | see `PackedLocks` | entries on disk | `tier`, `table`, by the conditions of saves |
/// | tier | `SharedMemory` | the policy, operations under way, statistics, changes of the table | `table`, `timing`, `tombstones` |
/// | table | `EntryTable` | one stripe of the entries in memory; not checked, for the speed of hits | nothing |
/// | timing | `EntryTiming` | the idle deadline of one entry | nothing |
/// | tombstones | `Tombstones` | the keys whose entries on disk must not be used | nothing |
/// | moves | `DeadlineMoves` | the deadlines that the disk has to follow | nothing |
/// | siblings | `SharedMemory` | the caches of each directory in this process | nothing |
/// | listeners | `Listeners` | the streams of events | nothing |
/// | uses | `UseSampler` | the sampled keys, and the counts of their uses; not checked, for the speed of hits | nothing |
/// | upkeep | `CacheCore` | its timers, its listener for memory pressure, its metrics | nothing |
/// | publishing | `StatisticsPublisher` | the figures that were published last | nothing |
///
/// Under none of them runs code of the user: no producer, observer, coder, `cost`, or `deinit` of a value. Entries that
/// leave memory under a lock are handed out of it, and released by the caller.
enum CacheLocks {
    static let loads = LockRank("cache: loads in flight", number: 100)
    static let waits = LockRank("cache: loads that wait for loads", number: 110)
    static let keyLocks = LockRank("cache: locks of keys", number: 120)
    static let foreignChanges = LockRank("cache: changes by other processes", number: 130)
    // The store's locks are 200 to 399.
    static let tier = LockRank("cache: memory tier", number: 400)
    static let timing = LockRank("cache: an entry's timing", number: 420)
    static let tombstones = LockRank("cache: tombstones", number: 425)
    static let moves = LockRank("cache: deadlines being moved", number: 430)
    static let lost = LockRank("cache: entries of a lost store", number: 435)
    static let siblings = LockRank("cache: siblings", number: 440)
    static let listeners = LockRank("cache: listeners", number: 450)
    static let upkeep = LockRank("cache: upkeep", number: 460)
    static let publishing = LockRank("cache: published statistics", number: 470)
}
