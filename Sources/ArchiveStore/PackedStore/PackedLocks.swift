/// The locks of a packed store, in the order in which a thread takes them. A debug build checks it: see ``LockOrder``.
///
/// | Lock           | Guards                                              | Under it                                    |
/// |----------------|-----------------------------------------------------|---------------------------------------------|
/// | `opened`       | which log is open                                   | no I/O                                      |
/// | `compaction`   | making room on a full volume, by one caller         | changes of the log, one after another       |
/// | `directory`    | the directory's lock (`flock`): ``DirectoryLock``   | one change, by one thread of one process    |
/// | `writer`       | ``LogState``: see ``LogLock``                       | records are read and appended, segments     |
/// |                |                                                     | begun, dropped and waited for               |
/// | `indexPart`    | one of 256 tables of ``PackedIndex``                | one part at a time; it may be loaded        |
/// | `indexSource`  | where parts are loaded from                         | no I/O                                      |
/// | `commits`      | ``GroupCommit``: the records on the device          | no I/O; the leader waits for the device     |
/// |                |                                                     | without it                                  |
/// | `owedRemovals` | ``OwedRemovals``: the removals that may be lost     | no I/O                                      |
/// | `tail`         | ``LogTail``: the last segment and its length        | no I/O                                      |
/// | `segments`     | the segments that are open, and their dictionaries  | no I/O                                      |
/// | `indexFailure` | why a part of the index could not be loaded         | no I/O                                      |
/// | `user`         | the reference to the store's user                   | no I/O                                      |
///
/// The store's user is called under none of them; a save's condition is called under the writer's lock, and must not
/// call the store. The last reference to a segment goes under none: closing a removed file may take long.
enum PackedLocks {
    static let opened = LockRank("packed store: the open log", number: 200)
    static let compaction = LockRank("packed store: compaction for space", number: 210)
    static let directory = LockRank("packed store: the directory's lock", number: 220)
    static let writer = LockRank("packed store: the writer's lock", number: 230)
    static let indexPart = LockRank("packed store: a part of the index", number: 240)
    static let indexSource = LockRank("packed store: the index's source", number: 250)
    static let commits = LockRank("packed store: commits", number: 280)
    static let owedRemovals = LockRank("packed store: owed removals", number: 285)
    static let tail = LockRank("packed store: the tail", number: 290)
    static let segments = LockRank("packed store: open segments", number: 300)
    static let indexFailure = LockRank("packed store: the index's failure", number: 310)
    static let user = LockRank("packed store: the user", number: 320)
    static let sparing = LockRank("packed store: how many victims are spared", number: 330)
}
