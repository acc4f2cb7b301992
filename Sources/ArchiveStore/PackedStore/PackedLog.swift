import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The log of a packed store: its segments in one opened directory, and the index of their entries.
///
/// Only the last segment, the tail, is appended to. The index follows from the records of all segments in their order;
/// the last record of a key decides. Segments are given up from the front only, so that no record older than a removal
/// is left when the removal goes.
final class PackedLog: Sendable {
    struct Tail: Sendable {
        let segment: Segment
        /// The length that the index covers.
        var end: Int
        /// The length that readers without the lock may use; `nil` while a writer in this process changes the log.
        /// Readers wait then: otherwise they might see a change before other readers can, or after they have.
        var shownEnd: Int?
        /// Whether it has its seal: it never grows again, and readers look for the next segment.
        var isSealed = false
    }

    /// The part that could not be read at the end of a segment that is not the last.
    enum Missing: Sendable {
        case seal
        case records
    }

    /// State of the log that the `writer` mutex guards.
    struct Writer: Sendable {
        /// The last serial that was given out.
        var serial: UInt64 = 0
        var previous: PreviousRecord?
        /// Whether the tail has its seal and the next segment does not exist yet.
        var isSealed = false
        /// The bytes of each segment but the tail, and their sum.
        private(set) var sizes: [UInt32: Int] = [:]
        private(set) var sealedByteCount = 0
        /// The first segment that is not given up.
        var floor: UInt32 = 0
        /// The damaged bytes just before the next record: their place and number.
        var damage: (place: RecordPlace, byteCount: Int)?
        /// The part missing from the end of the former segment, if that has no seal.
        var missing: Missing?
        /// Hashes of keys that other processes changed, or whose entries were removed, since `changesByOthers()` was
        /// last called; `nil`: any key may have changed.
        var changes: Set<UInt64>? = []
        /// Number of records that were appended or followed since the last snapshot.
        var recordsSinceSnapshot = 0
        /// Number of records that were appended by this log since a dictionary was last tried.
        var recordsSinceTrial = 0
        /// Bytes of records that this log appended, and the part of them that rewrote entries of given-up segments.
        var appendedByteCount = 0
        var carriedByteCount = 0
        /// Dead bytes in allocated blocks: of each segment after its holes were last punched, and of all segments after
        /// each was last given up to free space.
        var punched: [UInt32: Int] = [:]
        var squeezedByteCount = 0
        /// Free bytes, the reserve included, and dead bytes when the last attempt to give up a segment found no room.
        var squeezeFailure: (room: Int, dead: Int)?
        /// The tail's number when the reserve was last checked.
        var reservedAt: UInt32 = 0
        /// The eviction clock: where the search for the next entry to evict goes on when there are too many.
        var clock: SegmentScanner?
        /// No entry's deadline is before this; in seconds since 2001-01-01 UTC.
        var nextDeadline: UInt32 = 0
        var sweptAt = -Double.infinity
        /// When an entry was last saved to this log, by the saver's clock; in seconds since 2001-01-01 UTC.
        var savedAt: Double?
        /// The tail's length when many bytes were found behind its last whole record; only a change reads them again.
        var longByteCount: Int?
        /// Whether the log is still being opened, when every segment is looked at, sealed or not.
        var isOpening = true
        /// Where following began; `nil`: at the first segment.
        var snapshotPosition: RecordPlace?
        /// Whether the snapshot is of a log that continued differently, and must not be taken for this log's later.
        var hasStrangeSnapshot = false
        /// Hashes of keys whose latest records are missing at the end of the log, and which have no loss record yet.
        var losses: [UInt64] = []
        /// Files of segments before the first one that still exist.
        var strays: [UInt32] = []
        /// Given-up segments, kept open while the log is locked.
        var closed: [Segment] = []

        /// The most changed keys that are listed; with more, any key may have changed.
        private static let mostChanges = 1 << 16

        /// Notes that another process changed a key with this hash, or that its entry was removed.
        mutating func noteChange(_ hash: UInt64) {
            changes?.insert(hash)
            if let changes, changes.count > Self.mostChanges { self.changes = nil }
        }

        mutating func setSize(_ byteCount: Int?, of segment: UInt32) {
            // No record is behind 4 GiB. The cap keeps the sum from overflowing, however long a file was made.
            let byteCount = byteCount.map { min($0, 1 << 33) }
            sealedByteCount += (byteCount ?? 0) - (sizes[segment] ?? 0)
            sizes[segment] = byteCount
        }
    }

    /// The part of a log that its index sources use while it is still being opened.
    final class Shared: Sendable {
        let floor = Atomic<UInt32>(0)
        let isBroken = Atomic<Bool>(false)
        /// Whether a part of the index could not be loaded, and seems to be empty; and why.
        let isIncomplete = Atomic<Bool>(false)
        let loadingFailure = Mutex<StoreError?>(nil)
        /// The tail's number when upkeep was last due.
        let upkeptSegment = Atomic<UInt32>(0)
        /// How many entries there must be for a dictionary to be tried.
        let nextTrial = Atomic<Int>(PackedLog.fewEntries)
    }

    let folder: StoreFolder
    let settings: StoreSettings
    let hashing: @Sendable ([UInt8]) -> KeyDigest
    let segments: SegmentTable
    let index: PackedIndex
    let shared: Shared
    let tail: Mutex<Tail?>
    let writer: Mutex<Writer>
    private let nextCheck = Atomic<UInt64>(0)
    let commits = Mutex(Commits())
    /// Taken before `writer` by each change, so that no caller waits for the directory's lock while it holds a mutex
    /// that readers need.
    let lease = Mutex(Lease())
    let leases = DispatchQueue(label: "packed-store-lease", qos: .userInitiated, autoreleaseFrequency: .workItem)

    /// Opens the log in a directory.
    ///
    /// With a snapshot, this reads a few KiB of it and the records appended since; without one, all segments' records.
    static func open(
        in folder: StoreFolder,
        settings: StoreSettings,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) throws(StoreError) -> PackedLog {
        var attempts = 0
        while true {
            do throws(StoreError) {
                return try PackedLog(in: folder, settings: settings, usesSnapshot: attempts < 2, hashing: hashing)
            } catch {
                // Segments were given up while they were read, or the snapshot and the records after it are not of one
                // log.
                attempts += 1
                guard error.isStale, attempts < mostAttempts else { throw error }
            }
        }
    }

    private static var mostAttempts: Int { 6 }

    init(
        in folder: StoreFolder,
        settings: StoreSettings,
        usesSnapshot: Bool,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) throws(StoreError) {
        self.folder = folder
        self.settings = settings
        self.hashing = hashing
        let segments = SegmentTable(root: folder.root, path: folder.path)
        self.segments = segments
        let shared = Shared()
        self.shared = shared
        let start = try Self.start(in: folder, segments, usesSnapshot: usesSnapshot)
        shared.floor.store(start.writer.floor, ordering: .relaxed)
        if let snapshot = start.snapshot {
            for dictionary in snapshot.dictionaries { _ = segments.dictionary(dictionary) }
            let rescue = IndexRescue(of: folder, settings: settings, hashing: hashing, shared: shared)
            index = PackedIndex { part in
                let floor = shared.floor.load(ordering: .relaxed)
                return snapshot.table(part: part, floor: floor) ?? rescue.table(part: part)
            }
        } else {
            index = PackedIndex()
        }
        tail = Mutex(start.tail)
        writer = Mutex(start.writer)
        try writer.withLock { writer throws(StoreError) in
            try follow(&writer)
            writer.isOpening = false
            if let snapshot = start.laterSnapshot { loseMissingSegments(snapshot, &writer) }
            try loseDamagedTail(&writer)
            // Entries cached in memory before may be of another log.
            writer.changes = nil
        }
    }

    var root: Directory { folder.root }
    var path: String { folder.path }

    // MARK: Opening

    private struct Start {
        var snapshot: IndexSnapshot?
        /// A snapshot with a position in a segment that does not exist any more.
        var laterSnapshot: IndexSnapshot?
        var tail: Tail?
        var writer = Writer()
    }

    private static func start(
        in folder: StoreFolder,
        _ segments: SegmentTable,
        usesSnapshot: Bool
    ) throws(StoreError) -> Start {
        var start = Start()
        guard let (first, last, strays) = try segments.latestNumbers() else { return start }
        start.writer.floor = first
        start.writer.strays = strays

        let snapshot: IndexSnapshot?
        do {
            snapshot = usesSnapshot ? try IndexSnapshot(in: folder.root) : nil
        } catch {
            throw StoreError(error, path: folder.path + "/" + IndexSnapshot.fileName, action: "reading the index")
        }
        if let snapshot, snapshot.position.segment >= first, snapshot.position.segment <= last,
            let segment = try segments.segment(snapshot.position.segment)
        {
            let size: Int
            do {
                size = try segment.file.byteCount()
            } catch {
                throw StoreError(error, path: segments.path(segment.number), action: "following a segment")
            }
            start.snapshot = snapshot
            start.writer.snapshotPosition = snapshot.position
            // Records that were cut off stay in the index: they read as damaged, not as their former versions. The log
            // continues in another segment, so that no new record takes their place.
            start.writer.isSealed = size < Int(snapshot.position.offset)
            let end = min(size, Int(snapshot.position.offset))
            start.tail = Tail(segment: segment, end: end)
            start.writer.serial = min(snapshot.serial, Record.largestSerial)
            start.writer.previous = snapshot.previous
            for number in first..<segment.number {
                do {
                    let status = try folder.root.status(Segment.fileName(number))
                    if let status { start.writer.setSize(status.byteCount, of: number) }
                } catch {
                    throw StoreError(error, path: segments.path(number), action: "looking for a segment")
                }
            }
        } else if let segment = try segments.segment(first) {
            start.writer.hasStrangeSnapshot = snapshot.map { $0.position.segment > last } ?? !usesSnapshot
            if let snapshot, snapshot.position.segment > last {
                // Was its segment begun after the listing?
                guard try segments.numbers().last == last else { throw stale(folder.path) }
                start.laterSnapshot = snapshot
            }
            let end = segment.headerByteCount ?? 0
            start.tail = Tail(segment: segment, end: end)
        }
        return start
    }

    /// Releases all files, for a caller that needs the index only.
    func forgetSegments() {
        _ = segments.close { _ in true }
        tail.withLock { $0 = nil }
    }

    // MARK: Looking

    /// Applies the records that other processes have appended. One `lseek` where there are none.
    ///
    /// - Throws: `.io` with `ESTALE` if this log is no longer the one at its path, or cannot be followed.
    func catchUp() throws(StoreError) {
        if shared.isBroken.load(ordering: .relaxed) { throw stale() }
        try checkNowAndThen()
        if let tail = tail.withLock({ $0 }), !tail.isSealed, try byteCount(of: tail.segment) == tail.shownEnd {
            return
        }
        try locked { writer throws(StoreError) in try follow(&writer) }
    }

    /// Runs `body` under the writer lock, after applying the records that other processes have appended.
    func looking<Result>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try locked { writer throws(StoreError) in
            if shared.isBroken.load(ordering: .relaxed) { throw stale() }
            try follow(&writer)
            return try body(&writer)
        }
    }

    /// Runs `body` under the writer lock, which excludes other threads of this process.
    func locked<Result>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        // Outlives the lock.
        var closed: [Segment] = []
        return try locked(closing: &closed, body)
    }

    /// As ``locked(_:)``, but hands the segments to be closed to a caller that has other locks to release first.
    func locked<Result>(
        closing closed: inout [Segment],
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try writer.withLock { writer throws(StoreError) in
            defer { swap(&closed, &writer.closed) }
            return try body(&writer)
        }
    }

    /// Throws the error that kept a part of the index from being loaded: an entry that seems missing may exist then.
    func checkIndex() throws(StoreError) {
        guard shared.isIncomplete.load(ordering: .relaxed) else { return }
        throw shared.loadingFailure.withLock { $0 } ?? stale()
    }

    /// The error that makes a store open the log anew. Marks this log as broken for every caller.
    func stale() -> StoreError {
        shared.isBroken.store(true, ordering: .relaxed)
        return Self.stale(path)
    }

    private static func stale(_ path: String) -> StoreError {
        StoreError(SystemError(number: ESTALE), path: path, action: "following the log")
    }

    func isRemoved() throws(StoreError) -> Bool {
        guard let tail = tail.withLock({ $0 }) else { return try !folder.isCurrent() }
        return try extent(of: tail.segment).linkCount == 0
    }

    /// The longest time for which a moved directory is not noticed, in nanoseconds.
    private static var checkInterval: UInt64 { 10_000_000 }

    /// Checks that the directory is still the one at its path, unless another call did so just before.
    func checkNowAndThen() throws(StoreError) {
        let now = Self.coarseTime
        let next = nextCheck.load(ordering: .relaxed)
        guard now >= next else { return }
        nextCheck.store(now + Self.checkInterval, ordering: .relaxed)
        // Following leaves behind a segment that another process has given up.
        if try isRemoved() { try locked { writer throws(StoreError) in try follow(&writer) } }
        if try isRemoved() { throw stale() }
        if try !folder.isCurrent() { throw stale() }
    }

    /// A clock that takes a few nanoseconds to read and advances every few milliseconds.
    static var coarseTime: UInt64 {
        #if canImport(Glibc) || canImport(Musl)
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        #else
            return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
        #endif
    }
}
