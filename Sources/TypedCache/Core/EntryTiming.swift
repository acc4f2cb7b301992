import ArchiveStore
import Foundation
import Synchronization

/// The times of an entry in memory that has more of them than a deadline.
///
/// An idle deadline moves with each reading: in memory to a 65,536th of the idle time; on disk when it lags by more
/// than an eighth of the idle time, so that many readings write little. Nothing is removed from disk before that
/// eighth has passed as well.
final class EntryTiming: Sendable {
    // Memory has one of these for each entry with an idle time. It takes 72 bytes, which is why the fields are in this order,
    // and why a missing one is a number.
    private struct State {
        /// The save that the entry on disk comes from, see ``EntryInformation/saveHash``; 0 if the entry is not known to be
        /// there still.
        private(set) var save = 0
        /// The deadline on disk; infinity if there is none to move.
        private(set) var onDisk = TimeInterval.infinity
        /// How many readings do not try again to move it, and how often moving it has failed in a row.
        var pauses: Int32 = 0
        var failures: UInt8 = 0
        var isMoving = false
        /// Whether the entry was given another deadline, which this one must not replace.
        var isSuperseded = false

        mutating func setEntry(_ entry: EntryInformation?) {
            save = entry?.saveHash ?? 0
            onDisk = entry?.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        }
    }

    /// 0 where reading moves nothing.
    private let idleTime: TimeInterval
    /// A `Double`'s bits, and whether the disk lags behind it: apart from the rest, so that most readings take no
    /// lock. Both change under the lock.
    private let deadlineBits: Atomic<UInt64>
    private let isBehind = Atomic<Bool>(true)
    private let loadSeconds: Float
    private let state = RankedMutex(State(), rank: CacheLocks.timing)

    /// How many seconds it took to load the value.
    var loadTime: TimeInterval { TimeInterval(loadSeconds) }

    /// The timing of an entry; `nil` if there is nothing to keep but the deadline, which is so for most entries.
    static func of(_ attributes: EntryAttributes, entry: EntryInformation? = nil) -> EntryTiming? {
        guard attributes.idleTime != nil || attributes.loadTime > 0, let deadline = attributes.expiresAt else {
            return nil
        }
        return EntryTiming(attributes, deadline: deadline, entry: entry)
    }

    private init(_ attributes: EntryAttributes, deadline: Date, entry: EntryInformation?) {
        idleTime = attributes.idleTime ?? 0
        loadSeconds = Float(attributes.loadTime)
        deadlineBits = Atomic(deadline.timeIntervalSinceReferenceDate.bitPattern)
        if let entry { saved(entry) }
    }

    /// The entry is about to be given another deadline by a call: this one moves it no more, and counts no more.
    func supersede() {
        state.withLock { state in
            state.isSuperseded = true
            state.setEntry(nil)
        }
    }

    /// Takes the store's information of the entry, once it is saved.
    func saved(_ entry: EntryInformation?) { state.withLock { $0.setEntry(entry) } }

    private(set) var deadline: TimeInterval {
        get { TimeInterval(bitPattern: deadlineBits.load(ordering: .relaxed)) }
        set { deadlineBits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The result of reading an entry.
    enum Use {
        case expired
        case fresh
        /// Fresh, and the deadline on disk has to follow.
        case ahead
    }

    /// Reads the entry, which moves an idle deadline.
    ///
    /// Not inlined: a caller that has the entry calls this without counting a reference to the timing, which takes
    /// longer than the call.
    @inline(never) func use(at now: TimeInterval) -> Use {
        let known = deadline
        guard now < known else { return .expired }
        guard idleTime > 0 else { return .fresh }
        if now + idleTime - known < idleTime / 65_536, !isBehind.load(ordering: .relaxed) { return .fresh }
        return move(at: now)
    }

    private func move(at now: TimeInterval) -> Use {
        state.withLock { state in
            guard now < deadline else { return .expired }
            // Never to an earlier moment: a process whose clock is slow must not shorten the entry's life for others.
            deadline = max(deadline, now + idleTime)
            guard !state.isMoving, state.save != 0 else { return .fresh }
            let lag = deadline - state.onDisk
            isBehind.store(lag > idleTime * EntryAttributes.idleLag, ordering: .relaxed)
            guard lag > idleTime * EntryAttributes.idleLag else { return .fresh }
            if state.pauses > 0 {
                state.pauses -= 1
                return .fresh
            }
            state.isMoving = true
            return .ahead
        }
    }

    /// Whether this is of the save that an entry comes from.
    func isOf(_ entry: EntryInformation) -> Bool {
        let save = entry.saveHash
        return state.withLock { $0.save == save }
    }

    /// Whether the deadline is so far beyond that of the entry on disk that the disk has to follow.
    func isAhead(of entry: EntryInformation) -> Bool {
        state.withLock { !$0.isSuperseded } && isAhead(of: entry, deadline)
    }

    private func isAhead(of entry: EntryInformation, _ deadline: TimeInterval) -> Bool {
        guard idleTime > 0, let onDisk = entry.expiresAt else { return false }
        return deadline - onDisk.timeIntervalSinceReferenceDate > idleTime * EntryAttributes.idleLag
    }

    /// Ends the move that ``use(at:)`` asked for, unless reading has moved the deadline much further in the meantime.
    ///
    /// - Parameter entry: the entry on disk with the deadline that it has now; `nil` if it is not there any longer.
    /// - Returns: the entry to move once more.
    func moved(_ entry: EntryInformation?) -> EntryInformation? {
        state.withLock { state in
            state.setEntry(state.isSuperseded ? nil : entry)
            state.failures = 0
            if !state.isSuperseded, let entry, isAhead(of: entry, deadline) { return entry }
            state.isMoving = false
            return nil
        }
    }

    /// Ends a move that failed. After the first failure, the next reading tries again; the more moves fail in a row,
    /// the more readings do not.
    func failedToMove() {
        state.withLock { state in
            state.isMoving = false
            state.failures = min(state.failures + 1, 20)
            state.pauses = (1 << state.failures) - 2
        }
    }
}
