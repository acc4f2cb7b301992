import ArchiveStore
import Foundation
import Synchronization

/// The times of an entry in memory that has more of them than a deadline.
///
/// An idle deadline moves with each reading, in memory exactly. On disk it follows when it lags by more than an eighth
/// of the idle time, so that many readings write little; nothing is removed from disk before that eighth has passed as
/// well.
final class EntryTiming: Sendable {
    private struct State {
        var deadline: TimeInterval
        /// The entry on disk, as far as it is known to be there still.
        var entry: EntryInformation?
        var isMoving = false
        /// How often moving it has failed in a row, and how many readings do not try again.
        var failures = 0
        var pauses = 0
    }

    private let idleTime: TimeInterval?
    /// How many seconds it took to load the value.
    let loadTime: TimeInterval
    private let state: Mutex<State>

    /// `nil` if there is nothing to keep but the deadline.
    init?(_ attributes: EntryAttributes, entry: EntryInformation? = nil) {
        guard attributes.idleTime != nil || attributes.loadTime > 0, let deadline = attributes.expiresAt else {
            return nil
        }
        idleTime = attributes.idleTime
        loadTime = attributes.loadTime
        state = Mutex(State(deadline: deadline.timeIntervalSinceReferenceDate, entry: entry))
    }

    /// Takes in what the store knows of the entry, once it is saved.
    func saved(_ entry: EntryInformation?) { state.withLock { $0.entry = entry } }

    var deadline: TimeInterval { state.withLock { $0.deadline } }

    /// Whether the entry is fresh, which moves an idle deadline; and the entry on disk, if that has to be told.
    func use(at now: TimeInterval) -> (isFresh: Bool, toMove: EntryInformation?) {
        state.withLock { state in
            guard now < state.deadline else { return (false, nil) }
            guard let idleTime else { return (true, nil) }
            // Set, not only moved forward: after the clock was set back, the idle time counts from now as well.
            state.deadline = now + idleTime
            guard let entry = state.entry, !state.isMoving, let onDisk = entry.expiresAt else { return (true, nil) }
            let lag = abs(state.deadline - onDisk.timeIntervalSinceReferenceDate)
            guard lag > idleTime * EntryAttributes.idleLag else { return (true, nil) }
            if state.pauses > 0 {
                state.pauses -= 1
                return (true, nil)
            }
            state.isMoving = true
            return (true, entry)
        }
    }

    /// Whether this is of the save that an entry comes from.
    func isOf(_ entry: EntryInformation) -> Bool { state.withLock { $0.entry?.isSave(of: entry) ?? false } }

    /// Whether the deadline is so far beyond that of the entry on disk that this has to be told.
    func isAhead(of entry: EntryInformation) -> Bool { isAhead(of: entry, deadline) }

    private func isAhead(of entry: EntryInformation, _ deadline: TimeInterval) -> Bool {
        guard let idleTime, let onDisk = entry.expiresAt else { return false }
        return deadline - onDisk.timeIntervalSinceReferenceDate > idleTime * EntryAttributes.idleLag
    }

    /// Ends what ``use(at:)`` asked for, unless reading has moved the deadline much further meanwhile.
    ///
    /// - Parameter entry: the entry on disk with the deadline that it has now; `nil` if it is not there any more.
    /// - Returns: the entry to move once more.
    func moved(_ entry: EntryInformation?) -> EntryInformation? {
        state.withLock { state in
            state.entry = entry
            state.failures = 0
            if let entry, isAhead(of: entry, state.deadline) { return entry }
            state.isMoving = false
            return nil
        }
    }

    /// Ends it without success. The next reading tries again; the more often that fails, the more readings do not.
    func failedToMove() {
        state.withLock { state in
            state.isMoving = false
            state.failures = min(state.failures + 1, 20)
            state.pauses = (1 << state.failures) - 2
        }
    }
}

extension EntryInformation {
    /// Whether this and another entry come from one save, whatever has become of the deadline.
    func isSave(of other: EntryInformation) -> Bool {
        var attributes = attributes
        attributes.expiresAt = other.expiresAt
        return attributes == other.attributes && archiveByteCount == other.archiveByteCount
    }
}
