import Synchronization

/// Removals that this process has appended, but that a failed wait for the device may have lost. Owned by the store, because
/// its log may be reopened.
final class OwedRemovals: Sendable {
    private let state = RankedMutex([KeyDigest: StoreKey](), rank: PackedLocks.owedRemovals)

    /// A call that is repeated appends them again.
    var unsynchronized: [KeyDigest: StoreKey] { state.withLock { $0 } }

    func isUnsynchronized(_ digest: KeyDigest) -> Bool { state.withLock { $0[digest] != nil } }

    /// Notes removals whose wait for the device has failed.
    func addUnsynchronized(_ keys: [(key: StoreKey, digest: KeyDigest)]) {
        state.withLock { state in
            for (key, digest) in keys { state[digest] = key }
        }
    }

    /// Notes that a removal was appended again. Its caller waits for it.
    func appendedAgain(_ digest: KeyDigest) { state.withLock { $0[digest] = nil } }
}
