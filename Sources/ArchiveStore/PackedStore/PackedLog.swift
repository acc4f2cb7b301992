import Foundation
import Sealing
import Synchronization

/// The log of a packed store, in one opened directory: its parts, each built from the parts that it needs.
///
///     OpenedLog      LogTail, RecordReader, GroupCommit      reading, and waiting for the device
///     LogLock        LogState: SegmentLog, LogFollower,      the state of a change, under the writer's lock
///                    Reclaimer, SpaceCompactor, SpaceReserve
///     EntrySaver, EntryRemover, EntrySweeper                 changes of entries
///     SpaceManager                                           room within the limits and on the volume
///     DictionaryUpkeep, SnapshotWriter                       work in the background
final class PackedLog: Sendable {
    let folder: StoreFolder
    let lock: LogLock
    let tail: LogTail
    let reader: RecordReader
    let commits: GroupCommit
    let saver: EntrySaver
    let remover: EntryRemover
    let sweeper: EntrySweeper
    let space: SpaceManager
    let dictionaries: DictionaryUpkeep
    let snapshots: SnapshotWriter
    /// The tail's number when upkeep was last due.
    private let keptUpSegment = Atomic<UInt32>(0)

    /// Opens the log in a directory.
    ///
    /// With a snapshot, this reads a few KiB of it and the records appended since; without one, all segments' records.
    ///
    /// - Parameter told: Up to where the store's user knows all changes; `nil`: of none.
    static func open(
        in folder: StoreFolder,
        settings: StoreSettings,
        user: PackedStoreUser,
        owedRemovals: OwedRemovals,
        keys: SealingKeys?,
        trust: SnapshotTrust,
        told: LogPosition?,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) throws(StoreError) -> PackedLog {
        var attempts = 0
        let trusts = trust.use()
        while true {
            do throws(StoreError) {
                let usesSnapshot = trusts && attempts < 2
                let opened = try OpenedLog(
                    in: folder,
                    settings: settings,
                    keys: keys,
                    owedRemovals: owedRemovals,
                    usesSnapshot: usesSnapshot,
                    onDamage: trust.lose,
                    told: told,
                    hashing: hashing
                )
                return PackedLog(opened, in: folder, settings: settings, user: user, owedRemovals: owedRemovals)
            } catch {
                // Segments were dropped while they were read, or the snapshot and the records after it are not of one
                // log.
                attempts += 1
                guard error.isStale, attempts < mostAttempts else { throw error }
            }
        }
    }

    private static var mostAttempts: Int { 6 }

    private init(
        _ opened: OpenedLog,
        in folder: StoreFolder,
        settings: StoreSettings,
        user: PackedStoreUser,
        owedRemovals: OwedRemovals
    ) {
        let isLimited = settings.isLimited
        let budget = SpaceBudget(settings)
        let reserve = ReserveFile(in: folder)
        let (tail, reader, commits) = (opened.tail, opened.reader, opened.commits)
        self.folder = folder
        self.tail = tail
        self.reader = reader
        self.commits = commits
        lock = LogLock(
            folder: folder,
            tail: tail,
            reader: reader,
            state: LogState(
                log: opened.log,
                follower: opened.follower,
                reclaimer: Reclaimer(
                    reader: reader,
                    tail: tail,
                    commits: commits,
                    budget: budget
                ),
                compactor: SpaceCompactor(root: folder.root, reader: reader, reserve: reserve),
                reserve: SpaceReserve(file: reserve, isLimited: isLimited)
            )
        )
        remover = EntryRemover(
            lock: lock,
            reader: reader,
            tail: tail,
            commits: commits,
            owedRemovals: owedRemovals,
            user: user
        )
        sweeper = EntrySweeper(lock: lock, reader: reader, commits: commits, remover: remover, user: user)
        space = SpaceManager(
            settings: settings,
            lock: lock,
            reader: reader,
            remover: remover,
            sweeper: sweeper,
            user: user,
            budget: budget,
            reserve: reserve
        )
        saver = EntrySaver(
            reader: reader,
            tail: tail,
            space: space,
            user: user,
            compression: settings.compression
        )
        dictionaries = DictionaryUpkeep(
            lock: lock,
            reader: reader,
            tail: tail,
            budget: budget,
            isEnabled: settings.compression != .stored,
            archiveByteLimit: settings.archiveByteLimit
        )
        snapshots = SnapshotWriter(
            folder: folder,
            lock: lock,
            reader: reader,
            file: opened.log.snapshot,
            reserve: reserve,
            commits: commits,
            isDurable: settings.isDurable
        )
    }

    deinit { lock.close() }

    /// The places of all entries.
    var index: PackedIndex { reader.index }

    /// The entry of a key; `nil` if there is none.
    ///
    /// - Throws: `.corrupted` with the place, if a record that may be the entry is damaged.
    func find(_ key: StoreKey, _ digest: KeyDigest) throws(StoreError) -> LocatedRecord? {
        let (found, gone) = try reader.lookUp(key, digest, extent: .whole)
        if gone == nil { return found }
        // Moved to another segment, or dropped, since the index was asked.
        return try lock.withWriterLock { state throws(StoreError) in
            try state.log.find(key, digest, extent: .whole)
        }
    }

    /// Removes all entries.
    func removeAll() throws(StoreError) {
        try lock.withExclusiveLog { state throws(StoreError) in
            // A former removal may be lost with the power.
            if !commits.hasFailed, try !state.log.chain.hasMoreThanFloors() { return try commits.synchronize() }
            defer { state.reclaimer.clock.leaveSegments(upTo: .max) }
            try state.log.removeAll()
        }
    }

    /// The hashes of keys that other processes changed since the last call; `nil` if any key may have changed.
    func takeChanges() throws(StoreError) -> Set<UInt64>? {
        try lock.withWriterLock { $0.log.index.takeChanges() }
    }

    /// Where the log is, if all changes were taken; `nil` if some were not.
    var toldPosition: LogPosition? {
        lock.withWriterLockOnly { $0.log.index.hasChanges ? nil : LogPosition(of: tail, $0.log.chain) }
    }

    /// Waits for no device and no other process.
    var knownSize: KnownSize {
        let byteCount = lock.withWriterLockOnly { $0.log.chain.byteCount }
        return KnownSize(entryCount: index.knownCount, byteCount: byteCount)
    }

    /// Keeps no part of the index in memory that was not there.
    var statistics: StoreStatistics {
        get throws(StoreError) {
            try lock.withWriterLock { state in
                let total = index.peekedTotal
                return StoreStatistics(
                    entryCount: total.count,
                    entryByteCount: total.byteCount,
                    byteCount: state.log.chain.byteCount,
                    fileCount: state.log.chain.allByteCounts.count,
                    appendedByteCount: state.log.counts.appendedByteCount,
                    carriedByteCount: state.log.counts.carriedByteCount
                )
            }
        }
    }

    /// The segments in their order. Keeps no part of the index in memory that was not there.
    var segmentUses: [SegmentUse] {
        get throws(StoreError) {
            try lock.withWriterLock { state in
                let live = index.byteCountsBySegment(keepsParts: false)
                return state.log.chain.allByteCounts.sorted { $0.key < $1.key }.map { number, byteCount in
                    SegmentUse(number: Int(number), byteCount: byteCount, liveByteCount: live[number] ?? 0)
                }
            }
        }
    }

    // MARK: Upkeep

    /// Looks at a few numbers: whether room, a snapshot or a dictionary may be due.
    func needsUpkeep() -> Bool {
        if dictionaries.isDue { return true }
        guard let number = tail.number else { return false }
        return keptUpSegment.exchange(number, ordering: .relaxed) != number
    }

    /// Writes the index before the log is closed. Does not wait for another process, which may be stopped: if that
    /// has the lock, no index is written.
    func finish() { snapshots.writeBeforeClosing() }

    /// Evicts the entries above limits that were larger before.
    func keepLimits() {
        bestEffort("a save evicts them, or reports the error") { () throws(StoreError) in try space.keepLimits() }
    }

    /// Makes room before it is needed, and writes the index and a dictionary where they are due.
    func keepUp() {
        bestEffort("a save that needs the room makes it, or reports the error") { () throws(StoreError) in
            try space.keepHeadroom()
        }
        bestEffort("the process that begins the next segment waits, or tells the error") { () throws(StoreError) in
            if let number = tail.number { try commits.cover(before: number) }
        }
        bestEffort("later upkeep tries again") { () throws(StoreError) in
            // The snapshot gets a copy of the dictionary, so that no byte that many entries need is in one place only.
            if try dictionaries.renew() { return try snapshots.write() }
            try snapshots.writeIfDue()
        }
    }
}
