import Synchronization

/// Removals of entries that are gone here, and may not be gone elsewhere. Kept by the store, so that they outlive a log
/// that is opened anew.
final class OwedRemovals: Sendable {
    private struct State {
        var unsynchronized: [KeyDigest: StoreKey] = [:]
        var untold: [KeyDigest: [UInt8]] = [:]
    }

    private let state = RankedMutex(State(), rank: PackedLocks.owedRemovals)
    private let owesTelling = Atomic<Bool>(false)
    private let owedFloor = Atomic<UInt32>(0)

    // MARK: Lost with the power

    /// Removals that a failed wait for the device may have lost: a call that is repeated appends them again.
    var unsynchronized: [KeyDigest: StoreKey] { state.withLock { $0.unsynchronized } }

    func isUnsynchronized(_ digest: KeyDigest) -> Bool { state.withLock { $0.unsynchronized[digest] != nil } }

    /// Notes removals whose wait for the device has failed.
    func addUnsynchronized(_ keys: [(key: StoreKey, digest: KeyDigest)]) {
        state.withLock { state in
            for (key, digest) in keys { state.unsynchronized[digest] = key }
        }
    }

    /// Notes that a removal was appended again. Its caller waits for it.
    func appendedAgain(_ digest: KeyDigest) { state.withLock { $0.unsynchronized[digest] = nil } }

    // MARK: Not told

    /// Whether there are removals without a record, which found no room: other processes that have read the entries do not
    /// hear of them until one is appended.
    var hasUntold: Bool { owesTelling.load(ordering: .relaxed) }

    /// Notes a removal without a record.
    func addUntold(_ key: [UInt8], _ digest: KeyDigest) {
        state.withLock { $0.untold[digest] = key }
        owesTelling.store(true, ordering: .relaxed)
    }

    /// Removes and returns the removals without a record.
    func takeUntold() -> [KeyDigest: [UInt8]] {
        owesTelling.store(false, ordering: .relaxed)
        return state.withLock { state in
            defer { state.untold = [:] }
            return state.untold
        }
    }

    // MARK: Floors

    /// The segment of a floor that hides entries and found no room; 0 if there is none.
    var floor: UInt32 { owedFloor.load(ordering: .relaxed) }

    func setFloor(_ number: UInt32) { owedFloor.store(number, ordering: .relaxed) }
}
