import Dispatch
import Synchronization

extension PackedLog {
    /// What is known to be on the device, and who waits for it.
    ///
    /// One at a time has the system write to the device, for all who have appended until then; the others wait, and are
    /// woken all at once. Those who were just served mostly save again: so whoever is next waits for them a little before
    /// it begins, else it would be for half of them each time.
    struct Commits: Sendable {
        /// What was appended before is on the device.
        fileprivate var end = RecordPlace(segment: 0, offset: 0)
        /// What was appended between these may never be there.
        fileprivate var failure: (start: RecordPlace, end: RecordPlace, error: StoreError)?
        /// Whether the names of all segments are.
        fileprivate var hasNames = false

        /// Whether somebody is at it.
        fileprivate var isBusy = false
        /// What wakes the others.
        fileprivate var waiting: [DispatchSemaphore] = []
        /// How many of them have just saved, or removed.
        fileprivate var saverCount = 0
        /// How many savers there were together the last time.
        fileprivate var expectedCount = 0
        /// Wakes whoever is at it once as many have come as there were the last time.
        fileprivate var gathering: DispatchSemaphore?
        /// How long it took the last time, in nanoseconds.
        fileprivate var duration = 0

        /// What part of that time is waited for others at most, and for how many nanoseconds.
        fileprivate static let patience = 2
        fileprivate static let longestPatience = 50_000_000

        /// Enough have come.
        fileprivate mutating func endGathering() {
            gathering?.signal()
            gathering = nil
        }
    }

    /// Where the next record will be, unless it begins a segment.
    var end: RecordPlace {
        tail.withLock { tail in
            RecordPlace(segment: tail?.segment.number ?? 0, offset: UInt32(clamping: tail?.end ?? 0))
        }
    }

    /// Waits until what was just appended up to a place is on the device, if the store is durable.
    func synchronize(upTo end: RecordPlace) throws(StoreError) { try synchronize(upTo: end, isSaver: true) }

    /// Waits until what was appended so far is on the device, if the store is durable.
    func synchronize() throws(StoreError) { try synchronize(upTo: end, isSaver: false) }

    /// As above, but whatever became of what was appended before: whoever appended that was told.
    func synchronizeAnew() throws(StoreError) { try synchronize(upTo: nil, isSaver: false) }

    private func synchronize(upTo end: RecordPlace?, isSaver: Bool) throws(StoreError) {
        guard settings.durability == .power else { return }
        guard try takeTurn(upTo: end, isSaver: isSaver) else { return }
        defer { endTurn(isSaver: isSaver) }
        guard let latest = tail.withLock({ $0 }) else { return }
        let latestEnd = RecordPlace(segment: latest.segment.number, offset: UInt32(clamping: latest.end))
        // Whoever finds another segment says so before that is the tail.
        let hasNames = commits.withLock { commits in
            defer { commits.hasNames = true }
            return commits.hasNames
        }
        let start = DispatchTime.now().uptimeNanoseconds
        do throws(SystemError) {
            // Others need not have waited for the names of those that they began.
            if !hasNames { try root.synchronize() }
            // What is in earlier segments was waited for when they were sealed, or found to be.
            try latest.segment.file.synchronizeData()
        } catch {
            // The system may forget what it could not write: trying again would prove nothing. That may be of what was
            // appended meanwhile, too. The tail is still the same: its seal would be waited for.
            throw fail(error, in: latest.segment, upTo: self.end)
        }
        let duration = DispatchTime.now().uptimeNanoseconds - start
        commits.withLock { commits in
            commits.end = max(commits.end, latestEnd)
            commits.duration = Int(duration)
        }
    }

    /// Waits until a segment is on the device, up to where it ends, if the store is durable.
    func synchronize(_ segment: Segment, upTo end: Int) throws(StoreError) {
        guard settings.durability == .power else { return }
        // At the same time as others, one might be told of a failure, and the other that all is well.
        guard try takeTurn(upTo: nil, isSaver: false) else { return }
        defer { endTurn(isSaver: false) }
        do throws(SystemError) {
            try segment.file.synchronizeData()
        } catch {
            // All who have appended to it are told, for the system tells it once.
            let place = RecordPlace(segment: segment.number, offset: UInt32(clamping: end))
            throw fail(error, in: segment, upTo: place)
        }
    }

    /// Waits until the names of all segments are on the device, if the store is durable.
    func synchronizeNames() throws(StoreError) {
        guard settings.durability == .power else { return }
        guard try takeTurn(upTo: nil, isSaver: false) else { return }
        defer { endTurn(isSaver: false) }
        do {
            try root.synchronize()
        } catch {
            forgetNames()
            throw StoreError(error, path: path, action: "waiting for a segment's name")
        }
    }

    /// There are segments that others began.
    func forgetNames() {
        commits.withLock { $0.hasNames = false }
    }

    private func fail(_ error: SystemError, in segment: Segment, upTo end: RecordPlace) -> StoreError {
        let failure = StoreError(error, path: segments.path(segment.number), action: "waiting for a segment")
        commits.withLock { commits in
            // Some whom the former one is for may not have asked yet.
            let former = commits.failure
            commits.failure = (former?.start ?? commits.end, max(end, former?.end ?? end), failure)
            commits.hasNames = false
        }
        return failure
    }

    private enum Turn {
        case done
        case wait(DispatchSemaphore)
        case begin(gathering: DispatchSemaphore?, nanoseconds: Int)
    }

    /// Waits until nobody else is at it, and says whether there is anything left to do up to a place.
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
                    // Who has the log locked keeps the others from coming.
                    if !isSaver || commits.saverCount + 1 >= commits.expectedCount { commits.endGathering() }
                    return .wait(semaphore)
                }
                commits.isBusy = true
                if isSaver, commits.expectedCount > 1 { commits.gathering = DispatchSemaphore(value: 0) }
                let patience = min(commits.duration / Commits.patience, Commits.longestPatience)
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
