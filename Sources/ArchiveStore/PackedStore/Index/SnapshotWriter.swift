/// Writes the index to disk, which makes it quick to open the log. Everything in it follows from the segments.
final class SnapshotWriter: Sendable {
    private let folder: StoreFolder
    private let lock: LogLock
    private let reader: RecordReader
    private let file: SnapshotFile
    private let reserve: ReserveFile
    private let commits: GroupCommit
    private let isDurable: Bool

    init(
        folder: StoreFolder,
        lock: LogLock,
        reader: RecordReader,
        file: SnapshotFile,
        reserve: ReserveFile,
        commits: GroupCommit,
        isDurable: Bool
    ) {
        self.folder = folder
        self.lock = lock
        self.reader = reader
        self.file = file
        self.reserve = reserve
        self.commits = commits
        self.isDurable = isDurable
    }

    /// Writes a snapshot if so many records came since the last one that reading them again would take long.
    func writeIfDue() throws(StoreError) {
        if try newRecordCount() > max(Self.fewRecords, reader.index.total.count / 2) { try write() }
    }

    private static let fewRecords = 1 << 14

    /// Leaves a snapshot for the next process that opens the log, if enough has changed.
    func writeBeforeClosing() {
        bestEffort("without a snapshot, the next process reads more records") { () throws(StoreError) in
            let records = try newRecordCount()
            guard records > 0, try folder.isCurrent() else { return }
            if records >= reader.index.total.count / Self.fewChanges { try write(waits: false) }
        }
    }

    /// The share of entries that may have changed without a snapshot when a store is closed.
    private static let fewChanges = 64

    private func newRecordCount() throws(StoreError) -> Int {
        try lock.withWriterLock { $0.log.counts.recordsSinceSnapshot }
    }

    /// Writes a snapshot of the index if the volume has room for it.
    ///
    /// - Parameter waits: whether to wait for another process that has the log's lock, or to throw.
    func write(waits: Bool = true) throws(StoreError) {
        let dictionaries = try reader.segments.dictionaries(from: reader.status.firstLiveSegment)
        guard try hasRoom(for: dictionaries),
            let position = try lock.withWriterLock({ $0.log.takeSnapshotPosition() })
        else { return }
        let session = try folder.session()
        let draft = try session.write(synchronized: isDurable) { file throws(SystemError) in
            try IndexSnapshot.write(
                reader.index,
                position,
                dictionaries: dictionaries,
                seal: reader.segments.keys.map { SnapshotSeal($0.current) },
                to: file
            )
        }
        do throws(StoreError) {
            // Parts that could not be loaded seemed to be empty.
            guard reader.status.isIndexComplete else { throw file.incomplete() }
            // A process that opens the log after a power failure takes the records that it names for whole.
            try commits.synchronizeAlways()
            // Of a log that was replaced or made shorter in the meantime, it would be taken for the other one's.
            try lock.withExclusiveLog(waits: waits) { _ throws(StoreError) in
                try file.replace(with: draft.name, of: session)
            }
        } catch {
            session.discard(draft.name)
            throw error
        }
    }

    /// Whether the index is a small part of the free room. Otherwise entries need that room more: they are worth more
    /// than the time that it takes to open the log without a snapshot.
    private func hasRoom(for dictionaries: [PresetDictionary]) throws(StoreError) -> Bool {
        // The new snapshot replaces the former one.
        let former = try file.allocatedByteCount()
        let free = try reserve.freeByteCount() + former
        let slotCount = reader.index.total.count
        let needed = IndexSnapshot.byteCount(slotCount: slotCount, dictionaries: dictionaries)
        return free / Self.plenty >= needed
    }

    /// A snapshot is written only where this many times its length is free.
    private static let plenty = 8
}
