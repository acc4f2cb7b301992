import Dispatch
import Foundation

/// Group commit: the part of the log known to be on the device, and the callers that wait for more.
///
/// One caller at a time, the leader, has the system write to the device for all callers that have appended until then.
/// The others wait, and are woken all at once. Callers just served usually save again, so the next leader waits briefly
/// for them; otherwise each write to the device would serve only half of them.
///
/// Saves and removals wait only if the store is durable.
final class GroupCommit: Sendable {
    private struct State: Sendable {
        /// All records before this place are on the device.
        var end = RecordPlace(segment: 0, offset: 0)
        /// Records between these places may never be on the device.
        var failure: (start: RecordPlace, end: RecordPlace, error: StoreError)?
        /// All segments before the one with this number are on the device, and the names of all that there were then.
        var firstUncovered: UInt32 = 0

        /// Whether there is a leader.
        var isBusy = false
        /// Semaphores that wake the waiting callers.
        var waiting: [DispatchSemaphore] = []
        /// How many of the waiting callers have just saved, or removed.
        var saverCount = 0
        /// How many savers there were in the last turn, with its leader.
        var expectedCount = 0
        /// Wakes the leader once as many savers have come as there were in the last turn.
        var gathering: DispatchSemaphore?
        /// How long the last write to the device took, in nanoseconds.
        var duration = 0

        /// Wakes the leader: enough savers have come.
        mutating func endGathering() {
            gathering?.signal()
            gathering = nil
        }
    }

    /// Limits of the leader's wait for other savers: the last write's duration divided by this, and this many
    /// nanoseconds.
    private static let patience = 2
    private static let longestPatience = 50_000_000

    private let folder: StoreFolder
    private let segments: SegmentTable
    private let tail: LogTail
    private let owedRemovals: OwedRemovals
    private let isDurable: Bool
    private let commits = RankedMutex(State(), rank: PackedLocks.commits)

    init(
        folder: StoreFolder,
        segments: SegmentTable,
        tail: LogTail,
        owedRemovals: OwedRemovals,
        isDurable: Bool
    ) {
        self.folder = folder
        self.segments = segments
        self.tail = tail
        self.owedRemovals = owedRemovals
        self.isDurable = isDurable
    }

    /// Waits until the records just appended up to a place are on the device, if the store is durable.
    func synchronize(upTo end: RecordPlace) throws(StoreError) { try synchronize(upTo: end, isSaver: true) }

    /// Waits until all records appended so far are on the device, if the store is durable.
    func synchronize() throws(StoreError) { try synchronize(upTo: tail.end, isSaver: false) }

    /// Waits until all records appended so far are on the device, under either durability and also after a failed wait: the
    /// callers that appended those records got its error.
    func synchronizeAlways() throws(StoreError) { try synchronize(upTo: nil, isSaver: false, always: true) }

    private func synchronize(upTo end: RecordPlace?, isSaver: Bool, always: Bool = false) throws(StoreError) {
        guard isDurable || always else { return }
        guard try takeTurn(upTo: end, isSaver: isSaver) else { return }
        defer { endTurn(isSaver: isSaver) }
        guard let latest = tail.current else { return }
        let latestEnd = RecordPlace(segment: latest.segment.number, offset: UInt32(clamping: latest.end))
        let start = DispatchTime.now().uptimeNanoseconds
        do throws(SystemError) {
            try coverInTurn(before: latest.segment.number)
            try latest.segment.file.synchronizeData()
        } catch {
            // The system may drop data that it could not write, so a retry would prove nothing. That may include
            // records that were appended during the wait.
            throw fail(error, in: latest.segment, upTo: tail.end)
        }
        let duration = DispatchTime.now().uptimeNanoseconds - start
        commits.withLock { commits in
            commits.end = max(commits.end, latestEnd)
            commits.duration = Int(duration)
        }
    }

    /// Notes the last segment of a log that was opened: of those before it, only the one just before may not be on the device.
    func noteOpened(last number: UInt32) {
        commits.withLock { $0.firstUncovered = max($0.firstUncovered, number - min(number, 1)) }
    }

    /// Waits, under either durability, until all segments before one are on the device, and the names of all segments.
    ///
    /// So a power failure can take bytes of the last two segments only.
    func cover(before number: UInt32) throws(StoreError) {
        if commits.withLock({ $0.firstUncovered }) >= number { return }
        guard try takeTurn(upTo: nil, isSaver: false) else { return }
        defer { endTurn(isSaver: false) }
        do throws(SystemError) {
            try coverInTurn(before: number)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "waiting for a segment")
        }
    }

    private func coverInTurn(before number: UInt32) throws(SystemError) {
        let first = commits.withLock { $0.firstUncovered }
        if first >= number { return }
        for number in max(first, 1)..<number {
            let found = Result { () throws(StoreError) in try segments.segment(number) }
            guard case .success(let segment) = found else { throw SystemError(number: EIO) }
            // A segment that was removed needs no wait.
            try segment?.file.synchronizeData()
        }
        try folder.root.synchronize()
        commits.withLock { $0.firstUncovered = max($0.firstUncovered, number) }
    }

    /// Waits until the removals of some keys, which were appended up to a place, are on the device, if the store is durable.
    /// After a failed wait they are owed: a call that is repeated finds no entries, and has them appended again.
    func synchronize(
        upTo end: RecordPlace? = nil,
        removing keys: [(key: StoreKey, digest: KeyDigest)]
    ) throws(StoreError) {
        do throws(StoreError) {
            if let end { try synchronize(upTo: end) } else { try synchronize() }
        } catch {
            owedRemovals.addUnsynchronized(keys)
            throw error
        }
    }

    /// Whether the removal of a key may be lost, or is among records up to a place that may be.
    func owesRemoval(of digest: KeyDigest, upTo end: RecordPlace) -> Bool {
        guard isDurable else { return false }
        if owedRemovals.isUnsynchronized(digest) { return true }
        return commits.withLock { commits in commits.failure.map { end <= $0.end } == true }
    }

    /// Whether a wait has failed, so that some records may never be on the device.
    var hasFailed: Bool { isDurable && commits.withLock { $0.failure != nil } }

    private func fail(_ error: SystemError, in segment: Segment, upTo end: RecordPlace) -> StoreError {
        let failure = StoreError(error, path: segments.path(segment.number), action: "waiting for a segment")
        commits.withLock { commits in
            // Some callers that the former failure concerns may not have asked yet.
            let former = commits.failure
            commits.failure = (former?.start ?? commits.end, max(end, former?.end ?? end), failure)
        }
        return failure
    }

    private enum Turn {
        case done
        case wait(DispatchSemaphore)
        case begin(gathering: DispatchSemaphore?, nanoseconds: Int)
    }

    /// Waits until there is no other leader; returns whether anything is left to write up to a place.
    ///
    /// - Parameter isSaver: whether to wait for other savers then. Not while the log is locked: they could not come.
    private func takeTurn(upTo end: RecordPlace?, isSaver: Bool) throws(StoreError) -> Bool {
        while true {
            let turn = try commits.withLock { commits throws(StoreError) -> Turn in
                if let end {
                    if let failure = commits.failure, failure.start < end, end <= failure.end {
                        throw failure.error
                    }
                    if end <= commits.end { return .done }
                }
                if commits.isBusy {
                    let semaphore = DispatchSemaphore(value: 0)
                    commits.waiting.append(semaphore)
                    if isSaver { commits.saverCount += 1 }
                    // A caller that has the log locked keeps the other savers from coming.
                    if !isSaver || commits.saverCount + 1 >= commits.expectedCount { commits.endGathering() }
                    return .wait(semaphore)
                }
                commits.isBusy = true
                if isSaver, commits.expectedCount > 1 { commits.gathering = DispatchSemaphore(value: 0) }
                let patience = min(commits.duration / Self.patience, Self.longestPatience)
                return .begin(gathering: commits.gathering, nanoseconds: patience)
            }
            switch turn {
            case .done: return false
            case .wait(let semaphore): semaphore.wait()
            case .begin(let gathering, let nanoseconds):
                if let gathering { _ = gathering.wait(timeout: .now() + .nanoseconds(nanoseconds)) }
                return true
            }
        }
    }

    private func endTurn(isSaver: Bool) {
        let waiting = commits.withLock { commits in
            defer {
                commits.waiting = []
                commits.saverCount = 0
            }
            commits.isBusy = false
            commits.gathering = nil
            commits.expectedCount = commits.saverCount + (isSaver ? 1 : 0)
            return commits.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }
}
