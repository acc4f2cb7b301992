import ArchiveStore

/// The operations on disk that are under way, and the changes of their keys in the meantime: tells whether an operation that
/// ends knows the entry that its key has now.
struct OperationTraffic {
    /// An operation that begins.
    enum Operation {
        case read
        case write
        /// A load: outdates every load of its key from before it.
        case load
        /// The write of the value that a load has got.
        case save(ofLoad: Start)

        fileprivate var isWrite: Bool {
            switch self {
            case .read, .load: false
            case .write, .save: true
            }
        }
    }

    /// The state of a key when an operation began, to be compared when it ends.
    struct Start {
        fileprivate let epoch: Int
        fileprivate let writes: Int
        fileprivate let changes: Int
        /// How often the key's entry was dropped, and everything in memory invalidated: entries that went without being
        /// written.
        fileprivate let drops: Int
        fileprivate let invalidations: Int
        /// How often the key's entry, and all entries, became doubtful.
        fileprivate let doubts: (key: Int, all: Int)
        /// The number of the load among the loads of its key, for a load and its save; `nil` for other operations.
        fileprivate let load: Int?
        /// Whether a write was under way already.
        fileprivate let isContended: Bool
        /// The last ``SaveNumber``, see ``Tombstones``.
        let saveNumber: Int
        /// The number of the last removal by tag, see ``TagRemovals``.
        fileprivate let lastTagRemoval: Int
    }

    /// Whether the entry of an operation that ends may be kept.
    struct Outcome {
        /// Whether its entry is certain to be the one that the key has.
        let isCurrent: Bool
        /// As ``isCurrent``, for an entry that the disk has refused: the disk may have lost its own entry in the meantime.
        let isCurrentWithoutDisk: Bool
        /// Whether the key's entry became doubtful in the meantime.
        let isDoubtful: Bool
    }

    private struct Key {
        var operations = 0
        var activeWrites = 0
        /// How many of the active writes are saves of loads.
        var activeLoadSaves = 0
        /// How many loads have begun since the first of the operations that are under way.
        var loads = 0
        /// How many writes have begun since the first of the operations that are under way.
        var writes = 0
        /// How often another cache or process has changed the entry in the meantime. Each counts as a write, too.
        var changes = 0
        /// How often the entry went in the meantime by itself: was evicted, expired, or changed elsewhere.
        var drops = 0
        /// How often the entry became doubtful in the meantime.
        var doubts = 0
        /// The store's entry, as the operations found it that have ended.
        var found = AgreedVersion()

        /// Begins an operation, and returns the state then; and whether a write was under way already.
        mutating func begin(_ operation: Operation) -> (state: Key, load: Int?, isContended: Bool) {
            var load: Int?
            var isContended = activeWrites > 0
            switch operation {
            case .read, .write: break
            case .load:
                loads += 1
                load = loads
                // The save of an earlier load is over before a later one reads or writes: both do it on the key's queue.
                isContended = activeWrites > activeLoadSaves
            case .save(let start):
                load = start.load
                activeLoadSaves += 1
            }
            operations += 1
            if operation.isWrite {
                activeWrites += 1
                writes += 1
                found = AgreedVersion()
            }
            return (self, load, isContended)
        }
    }

    private var keys = KeyTable<Key>()
    /// Grows with every removal of everything.
    private var epoch = 0
    /// Grows whenever everything in memory may be out of date.
    private var invalidations = 0
    /// Grows whenever everything in memory becomes doubtful.
    private var doubts = 0
    /// How many removals of everything are under way, in all caches of the directory.
    private var removals = 0
    private var tagRemovals = TagRemovals()

    // MARK: Operations

    mutating func begin(_ key: EntryKey, _ operation: Operation) -> Start {
        let position = keys.position(of: key, adding: Key())
        let (state, load, isContended) = keys[position].begin(operation)
        return Start(
            epoch: epoch,
            writes: state.writes,
            changes: state.changes,
            drops: state.drops,
            invalidations: invalidations,
            doubts: (state.doubts, doubts),
            load: load,
            isContended: isContended,
            saveNumber: SaveNumber.last,
            lastTagRemoval: tagRemovals.last
        )
    }

    mutating func end(_ key: EntryKey, _ start: Start, isWrite: Bool) -> Outcome {
        // The key is looked for once.
        guard let position = keys.position(of: key) else {
            return Outcome(isCurrent: false, isCurrentWithoutDisk: false, isDoubtful: start.doubts != (0, doubts))
        }
        var state = keys[position]
        let isLatest = start.invalidations == invalidations && removals == 0 && isCurrent(state, start)
        let outcome = Outcome(
            isCurrent: isLatest && start.drops == state.drops,
            isCurrentWithoutDisk: isLatest,
            isDoubtful: start.doubts != (state.doubts, doubts)
        )
        state.operations -= 1
        if isWrite { state.activeWrites -= 1 }
        if isWrite, start.load != nil { state.activeLoadSaves -= 1 }
        if state.operations == 0 { keys.remove(at: position) } else { keys[position] = state }
        return outcome
    }

    /// Takes the version that an operation has found, before it ends; 0 for no entry.
    ///
    /// - Returns: whether no operation that was under way at the same time has found another one.
    mutating func find(_ version: UInt64, _ key: EntryKey) -> Bool {
        guard let position = keys.position(of: key) else { return true }
        return keys[position].found.agree(on: version)
    }

    /// Whether no write of the key began since, or was under way then, and not everything was removed; for a load and its
    /// save, whether no later load of the key began either.
    func isCurrent(_ key: EntryKey, _ start: Start) -> Bool {
        keys.position(of: key).map { isCurrent(keys[$0], start) } ?? false
    }

    private func isCurrent(_ state: Key, _ start: Start) -> Bool {
        !start.isContended && start.writes == state.writes && isOfThisEpoch(start)
            && (start.load ?? state.loads) == state.loads
    }

    /// Whether nothing was heard since of a change of the key's entry by another cache or process, and not everything was
    /// removed. Writes of this cache do not count, nor do doubts of all entries: they come with each call while a server is
    /// out.
    func isUnchangedElsewhere(_ key: EntryKey, _ start: Start) -> Bool {
        guard let position = keys.position(of: key) else { return false }
        let state = keys[position]
        return start.changes == state.changes && start.doubts.key == state.doubts
            && start.invalidations == invalidations && isOfThisEpoch(start)
    }

    /// Whether not everything was removed since.
    func isOfThisEpoch(_ start: Start) -> Bool { start.epoch == epoch }

    /// Whether an operation on the key is under way.
    func isUnderWay(_ key: EntryKey) -> Bool { keys.position(of: key) != nil }

    // MARK: Changes beside the operations

    /// The key's entry was changed by another cache.
    mutating func noteChange(_ key: EntryKey) {
        guard let position = keys.position(of: key) else { return }
        keys[position].writes += 1
        keys[position].changes += 1
        keys[position].found = AgreedVersion()
    }

    /// The key's entry went by itself.
    mutating func noteDrop(_ key: EntryKey) {
        if let position = keys.position(of: key) { keys[position].drops += 1 }
    }

    mutating func noteDoubt(_ key: EntryKey) {
        if let position = keys.position(of: key) { keys[position].doubts += 1 }
    }

    mutating func noteDoubtOfAll() { doubts += 1 }
    mutating func noteInvalidationOfAll() { invalidations += 1 }

    // MARK: Removals by tag

    /// All entries with a tag are about to be removed.
    mutating func noteRemoval(tagged tag: String) {
        // Without an operation that is under way there is no start to be compared with it.
        if keys.isEmpty { tagRemovals.forget() } else { tagRemovals.add(tag) }
    }

    /// Whether a removal by one of these tags began since; `nil` stands for any tags.
    func isRemoved(_ tags: [String]?, since start: Start) -> Bool {
        tagRemovals.include(tags, since: start.lastTagRemoval)
    }

    // MARK: Removals of everything

    /// Whether a removal of everything is under way.
    var isRemovingAll: Bool { removals > 0 }

    mutating func beginRemoval() {
        removals += 1
        epoch += 1
    }

    mutating func endRemoval() {
        removals -= 1
        epoch += 1
    }

    /// Takes over the removals under way of another cache of the directory.
    mutating func inherit(removals count: Int) { removals += count }
}
