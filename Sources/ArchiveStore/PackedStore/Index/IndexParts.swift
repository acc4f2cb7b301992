/// The parts of an index, each with a lock, in one block of memory: a store that is opened for one entry would otherwise spend a
/// tenth of its time on making and freeing them.
///
/// Why its unsafe code is sound: `start` points to `count` locks that this object alone owns. They are initialized as long as it
/// is there, never move, and are used by their methods alone, which may be called on any thread.
final class IndexParts: @unchecked Sendable {
    struct State: Sendable {
        /// `nil`: not loaded yet.
        var table: IndexTable?
        /// How often a key was looked for without loading the part.
        var looks = 0
        /// The slots that these looks found, until their segments are dropped.
        var found: [IndexSlot] = []
        /// Uses of entries of a part that is not loaded.
        var uses: [IndexSlot] = []
    }

    private let count: Int
    private let start: UnsafeMutablePointer<RankedMutex<State>>

    var indices: Range<Int> { 0..<count }

    /// - Parameter areLoaded: Whether the parts are loaded, and empty.
    init(count: Int, areLoaded: Bool) {
        self.count = count
        start = .allocate(capacity: count)
        for index in 0..<count {
            let state = State(table: areLoaded ? IndexTable() : nil)
            (start + index).initialize(to: RankedMutex(state, rank: PackedLocks.indexPart))
        }
    }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    /// Runs `body` with a part, under its lock.
    @inline(__always)
    func withLock<Result>(_ index: Int, _ body: (inout sending State) -> sending Result) -> sending Result {
        precondition(indices.contains(index))
        return start[index].withLock(body)
    }
}
