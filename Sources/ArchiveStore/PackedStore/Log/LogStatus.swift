import Foundation
import Synchronization

/// Whether a log, and its index, can be used: its parts tell each other, from its opening on.
final class LogStatus: Sendable {
    private let path: String
    private let isBroken = Atomic<Bool>(false)
    private let isIncomplete = Atomic<Bool>(false)
    private let indexFailure = RankedMutex<StoreError?>(nil, rank: PackedLocks.indexFailure)
    private let firstLive = Atomic<UInt32>(0)

    init(path: String) { self.path = path }

    // MARK: The log

    /// - Throws: `.io` with `ESTALE` if the log is no longer the one at its path, or cannot be followed.
    @inline(__always)
    func check() throws(StoreError) {
        if isBroken.load(ordering: .relaxed) { throw stale() }
    }

    /// Has every caller open the log again.
    func markBroken() { isBroken.store(true, ordering: .relaxed) }

    /// The error that makes a store open the log again. Marks this log as broken for every caller.
    func stale() -> StoreError {
        markBroken()
        return Self.stale(path)
    }

    static func stale(_ path: String) -> StoreError {
        StoreError(SystemError(number: ESTALE), path: path, action: "following the log")
    }

    /// The first segment that is not dropped; the index's sources leave out the entries of those before it.
    var firstLiveSegment: UInt32 {
        get { firstLive.load(ordering: .relaxed) }
        set { firstLive.store(newValue, ordering: .relaxed) }
    }

    // MARK: The index

    /// Whether every part of the index that was needed could be loaded.
    var isIndexComplete: Bool { !isIncomplete.load(ordering: .relaxed) }

    /// Throws the error that kept a part of the index from being loaded: an entry that seems missing may exist then.
    func checkIndex() throws(StoreError) {
        guard isIncomplete.load(ordering: .relaxed) else { return }
        throw indexFailure.withLock { $0 } ?? stale()
    }

    /// Notes that a part of the index could not be loaded and seems to be empty.
    func failLoading(_ error: StoreError) {
        indexFailure.withLock { $0 = error }
        isIncomplete.store(true, ordering: .relaxed)
        markBroken()
    }
}
