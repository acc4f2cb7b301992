import Synchronization

/// Whether the log is opened by its snapshot the next time: not after a part of that turned out to be damaged. Then all records
/// are read, and the next snapshot replaces the damaged one.
final class SnapshotTrust: Sendable {
    private let isLost = Atomic<Bool>(false)

    @Sendable func lose() { isLost.store(true, ordering: .relaxed) }

    /// Whether the snapshot may be used now.
    func use() -> Bool { !isLost.exchange(false, ordering: .relaxed) }
}
