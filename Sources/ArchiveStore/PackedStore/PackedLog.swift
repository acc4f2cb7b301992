import Dispatch
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The log of a packed store: its segments in one opened directory, and the index of what is in them.
///
/// Only the last segment, the tail, is appended to. What the index says follows from the records of all segments in
/// their order, the last one of a key deciding. Segments are given up from the front only, so that nothing older than a
/// removal is ever left when the removal goes.
final class PackedLog: Sendable {
    struct Tail: Sendable {
        let segment: Segment
        /// How much of it is in the index.
        var end: Int
        /// How long it is for those who only look. While somebody of this process changes the log, nothing that they find
        /// there, so that they wait: else they might see a change before others can, or after others have.
        var shownEnd: Int?
        /// Whether it has its seal, so that it will never grow, and what comes next is to be looked for.
        var isSealed = false
    }

    /// What could not be read at the end of a segment that is not the last.
    enum Missing: Sendable {
        case seal
        case records
    }

    /// What whoever changes the log knows of it.
    struct Writer: Sendable {
        /// The last one that was given out.
        var serial: UInt64 = 0
        var previous: PreviousRecord?
        /// Whether the tail has its seal, and the next segment is not there yet.
        var isSealed = false
        /// The bytes of every segment but the tail, and of all of them.
        private(set) var sizes: [UInt32: Int] = [:]
        private(set) var sealedByteCount = 0
        /// The first segment that is not given up.
        var floor: UInt32 = 0
        /// What was damaged just before the next record: where, and how many bytes.
        var damage: (place: RecordPlace, byteCount: Int)?
        /// What is missing of the former segment, if that has no seal.
        var missing: Missing?
        /// What others have changed since somebody asked; `nil`: anything.
        var changes: Set<UInt64>? = []
        /// How many records came since the last snapshot.
        var recordsSinceSnapshot = 0
        /// How many were appended here since a dictionary was tried.
        var recordsSinceTrial = 0
        /// Bytes of records that were appended by this log, and those of them that had been saved before.
        var appendedByteCount = 0
        var carriedByteCount = 0
        /// What was dead in bytes of blocks: in each segment whose blocks were given back, and in all of them after each
        /// was last given up for that.
        var punched: [UInt32: Int] = [:]
        var squeezedByteCount = 0
        /// How much was free, with the reserve, and how much dead, when the last try to give one up found no room.
        var squeezeFailure: (room: Int, dead: Int)?
        /// The tail when the reserve was last looked at.
        var reservedAt: UInt32 = 0
        /// Where the next entry is looked for that gives way where there are too many.
        var clock: SegmentScanner?
        /// No entry stops to be of use before that; in seconds since 2001-01-01 UTC.
        var nextDeadline: UInt32 = 0
        var sweptAt = -Double.infinity
        /// When this log was last saved to, by the clock of whoever did; in seconds since 2001-01-01 UTC.
        var savedAt: Double?
        /// How long the tail was when much was found behind its last record; nobody but who appends looks at that again.
        var longByteCount: Int?
        /// Whether every segment is looked at, sealed or not.
        var isOpening = true
        /// Where following began; `nil`: at the first segment.
        var snapshotPosition: RecordPlace?
        /// Whether the snapshot is of a log that went on otherwise, and must not be taken for this one's some day.
        var hasStrangeSnapshot = false
        /// Hashes of keys whose latest records are missing at the end of the log, which is not written down yet.
        var losses: [UInt64] = []
        /// Segments before the first one that are there nevertheless.
        var strays: [UInt32] = []
        /// Segments that are given up, for as long as the log is locked.
        var closed: [Segment] = []

        /// How many keys are told as changed by others before it is anything.
        private static let mostChanges = 1 << 16

        /// Others have changed what has a hash, or it was given up.
        mutating func noteChange(_ hash: UInt64) {
            changes?.insert(hash)
            if let changes, changes.count > Self.mostChanges { self.changes = nil }
        }

        mutating func setSize(_ byteCount: Int?, of segment: UInt32) {
            // No record is behind 4 GiB, so that the sum of all is a number, whatever somebody has made of files.
            let byteCount = byteCount.map { min($0, 1 << 33) }
            sealedByteCount += (byteCount ?? 0) - (sizes[segment] ?? 0)
            sizes[segment] = byteCount
        }
    }

    /// What others need of a log while it is still being opened.
    final class Shared: Sendable {
        let floor = Atomic<UInt32>(0)
        let isBroken = Atomic<Bool>(false)
        /// Whether a part of the index could not be loaded, and seems to be empty; and why.
        let isIncomplete = Atomic<Bool>(false)
        let loadingFailure = Mutex<StoreError?>(nil)
        /// The tail when upkeep was last due.
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
    /// Whoever changes the log has this first, so that nobody waits for the directory's lock with what readers need.
    let lease = Mutex(Lease())
    let leases = DispatchQueue(label: "packed-store-lease", qos: .userInitiated, autoreleaseFrequency: .workItem)

    /// Opens the log in a directory.
    ///
    /// With a snapshot, this reads a few KiB of it and what was appended since; without one, all segments' records.
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
                // Segments were given up while they were read; or the snapshot and what comes after it are not of one
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
            // Whatever was in memory before may be of another log.
            writer.changes = nil
        }
    }

    var root: Directory { folder.root }
    var path: String { folder.path }

    // MARK: Opening

    private struct Start {
        var snapshot: IndexSnapshot?
        /// A snapshot of segments that are not there any more.
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
            // What was cut off is known to have been there: as damaged, not as what was before. The log goes on in
            // another segment, lest something else come to be where it was.
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
                // Begun since they were listed?
                guard try segments.numbers().last == last else { throw stale(folder.path) }
                start.laterSnapshot = snapshot
            }
            let end = segment.headerByteCount ?? 0
            start.tail = Tail(segment: segment, end: end)
        }
        return start
    }

    /// Lets go of all files, for whoever needs the index only.
    func forgetSegments() {
        _ = segments.close { _ in true }
        tail.withLock { $0 = nil }
    }

    // MARK: Looking

    /// Takes in what others have appended. One `lseek` where there is nothing.
    ///
    /// - Throws: `.io` with `ESTALE` if this log is no more the one at its path, or cannot be followed.
    func catchUp() throws(StoreError) {
        if shared.isBroken.load(ordering: .relaxed) { throw stale() }
        try checkNowAndThen()
        if let tail = tail.withLock({ $0 }), !tail.isSealed, try byteCount(of: tail.segment) == tail.shownEnd {
            return
        }
        try locked { writer throws(StoreError) in try follow(&writer) }
    }

    /// Has `body` look at the log while nobody in this process changes it, after taking in what others have.
    func looking<Result>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try locked { writer throws(StoreError) in
            if shared.isBroken.load(ordering: .relaxed) { throw stale() }
            try follow(&writer)
            return try body(&writer)
        }
    }

    /// Has `body` run while nobody else in this process does.
    func locked<Result>(
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        // Outlives the lock.
        var closed: [Segment] = []
        return try locked(closing: &closed, body)
    }

    /// As ``locked(_:)``, but gives the segments to be closed to whoever has other locks to give back before.
    func locked<Result>(
        closing closed: inout [Segment],
        _ body: (inout Writer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try writer.withLock { writer throws(StoreError) in
            defer { swap(&closed, &writer.closed) }
            return try body(&writer)
        }
    }

    /// Throws what kept a part of the index from being loaded: nothing that seems to be missing is known to be.
    func checkIndex() throws(StoreError) {
        guard shared.isIncomplete.load(ordering: .relaxed) else { return }
        throw shared.loadingFailure.withLock { $0 } ?? stale()
    }

    /// What makes a store open another log. This one is of no use any more, whoever finds that.
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

    /// How long at most a directory that was moved away is not noticed, in nanoseconds.
    private static var checkInterval: UInt64 { 10_000_000 }

    /// Looks whether the directory is still the one at its path, unless somebody did so just before.
    func checkNowAndThen() throws(StoreError) {
        let now = Self.coarseTime
        let next = nextCheck.load(ordering: .relaxed)
        guard now >= next else { return }
        nextCheck.store(now + Self.checkInterval, ordering: .relaxed)
        // A segment that others have given up is left behind by following.
        if try isRemoved() { try locked { writer throws(StoreError) in try follow(&writer) } }
        if try isRemoved() { throw stale() }
        if try !folder.isCurrent() { throw stale() }
    }

    /// A clock of a few nanoseconds and a few milliseconds' grain.
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
